"""The trend of the memory wall: against lines known beforehand, and its refusals."""

import math
import random

import numpy
import pytest

from stacklib import hardware, roofline
from stacklib.roofline.bound import trend

from ...rows import refusals


@pytest.mark.rows(
    ("freedom", "t"),
    # two-sided 95 %, from printed tables of Student's distribution
    [
        (1, 12.706),
        (2, 4.303),
        (3, 3.182),
        (4, 2.776),
        (5, 2.571),
        (10, 2.228),
        (30, 2.042),
        (120, 1.980),
    ],
)
def test_student_t_is_that_of_the_tables(freedom, t):
    assert trend.student_t(freedom) == pytest.approx(t, abs=6e-4)


@pytest.mark.rows("within", [0.5, 0.9, 0.99])
@pytest.mark.rows("freedom", [1, 2, 3, 8, 25])
def test_the_density_between_minus_t_and_t_holds_the_share(freedom, within):
    scale = math.exp(math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2))
    t, steps = trend.student_t(freedom, within), 20_000
    width = 2 * t / steps
    middles = (-t + (i + 0.5) * width for i in range(steps))
    total = math.fsum((1 + x * x / freedom) ** (-(freedom + 1) / 2) for x in middles)
    share = total * width * scale / math.sqrt(freedom * math.pi)
    assert share == pytest.approx(within, abs=1e-5)


@pytest.mark.rows(("freedom", "within"), [(0, 0.95), (3, 0), (3, 1)])
def test_a_t_there_is_not_is_refused(freedom, within):
    with pytest.raises(ValueError, match="no Student t"):
        trend.student_t(freedom, within)


def test_an_exact_doubling_is_found_without_uncertainty():
    years = [2017, 2019, 2019, 2023]
    rates = [5 * 2 ** ((y - 2017) / 2) for y in years]
    got = trend.fit_trend(years, rates)
    assert got.growth == pytest.approx(2) and got.spread == pytest.approx(1)
    assert got.low == pytest.approx(2) and got.high == pytest.approx(2)
    assert trend.fit_trend(years, rates, period=4).growth == pytest.approx(4)


def test_the_slope_and_its_error_are_numpys():
    years = [2017.0, 2018, 2020, 2020, 2022, 2023, 2024, 2025]
    rates = [1.0, 1.1, 2.6, 2.2, 5.0, 4.1, 9.9, 12.0]
    centred = numpy.array(years) - 2020
    (slope, _), cov = numpy.polyfit(centred, numpy.log(rates), 1, cov=True)
    reach = 2.4469 * math.sqrt(cov[0, 0])  # printed t of six degrees of freedom
    got = trend.fit_trend(years, rates)
    assert got.growth == pytest.approx(math.exp(2 * slope), rel=1e-9)
    assert got.low == pytest.approx(math.exp(2 * (slope - reach)), rel=1e-4)
    assert got.high == pytest.approx(math.exp(2 * (slope + reach)), rel=1e-4)


def test_the_interval_holds_the_truth_as_often_as_it_says():
    draw, held, runs = random.Random(7), 0, 400
    years = [2016 + i * 0.8 for i in range(12)]
    for _ in range(runs):
        rates = [math.exp(0.35 * (y - 2016) + draw.gauss(0, 0.4)) for y in years]
        got = trend.fit_trend(years, rates)
        held += got.low <= math.exp(0.7) <= got.high
    assert 0.92 <= held / runs <= 0.98


test_points_without_a_trend_are_refused = refusals(
    ([2020, 2021], [1, 2], "needs 3 points"),
    ([2020, 2021, 2022], [1, 2], "needs 3 points"),
    ([2020, 2020, 2020], [1, 2, 3], "no trend"),
    ([2020, 2021, 2022], [1, 0, 3], "rate 0"),
    by=trend.fit_trend,
)


def test_the_ridge_grows_by_compute_over_bandwidth():
    wall = roofline.memory_wall()
    ratio = wall.compute.growth / wall.bandwidth.growth
    assert wall.ridge.growth == pytest.approx(ratio, rel=1e-9)
    for one in (wall.compute, wall.bandwidth, wall.ridge):
        assert one.low < one.growth < one.high


def test_only_data_centre_gpus_make_the_trend():
    chosen = trend.data_centre_gpus()
    keys = [d.key for d in chosen]
    assert "h100_sxm" in keys
    for other in ("rtx_4090", "tpu_v5p", "rubin"):  # a gamer's, not a GPU, announced
        assert other in hardware.names() and other not in keys
    assert [d.year for d in chosen] == sorted(d.year for d in chosen)
    assert roofline.memory_wall().compute.keys == tuple(keys)


def test_the_devices_can_be_chosen():
    three = [hardware.get(k) for k in ("h100_sxm", "b200_sxm", "tpu_v5p")]
    wall = roofline.memory_wall(three, dtype="bf16")
    assert wall.compute.keys == ("h100_sxm", "b200_sxm", "tpu_v5p")


def test_the_line_passes_through_the_middle_and_its_band_widens_away_from_it():
    years, rates = [2016.0, 2018, 2020, 2022], [1.0, 2.5, 3.5, 8.5]
    got = trend.fit_trend(years, rates)
    low, mid, high = got.at(2019)
    assert mid == pytest.approx(math.prod(rates) ** 0.25)
    assert got.at(2021)[1] / mid == pytest.approx(got.growth)
    far = got.at(2029)
    assert low < mid < high and far[2] / far[0] > high / low


def test_the_band_holds_the_true_line_as_often_as_it_says():
    draw, held, runs = random.Random(8), 0, 400
    years = [2016 + i * 0.8 for i in range(12)]
    for _ in range(runs):
        rates = [math.exp(0.35 * (y - 2016) + draw.gauss(0, 0.4)) for y in years]
        low, _, high = trend.fit_trend(years, rates).at(2024)
        held += low <= math.exp(0.35 * 8) <= high
    assert 0.92 <= held / runs <= 0.98


def test_doubling_is_two_years_for_a_doubling_in_two():
    years = [2017, 2019, 2021]
    assert trend.fit_trend(years, [1, 2, 4]).doubling == pytest.approx(2)
    assert trend.fit_trend(years, [4, 2, 1]).doubling == math.inf


@pytest.mark.rows("name", trend.FAMILIES)
def test_a_family_is_of_its_kind_and_within_its_years(name):
    found = trend.family(name, 2018, 2024)
    assert len(found) >= 3
    assert all(2018 <= d.year <= 2024 for d in found)
    assert all(trend.FAMILIES[name].dtype in d.formats for d in found)
    assert trend.family(name, 2025, 2018) == []


def test_families_part_what_differs():
    keys = {name: {d.key for d in trend.family(name)} for name in trend.FAMILIES}
    assert keys["nvidia"] | keys["amd"] < keys["hbm"]
    assert not keys["nvidia"] & keys["amd"]
    assert "rtx_4090" in keys["gddr"] and "tpu_v5p" in keys["tpu"]


def test_an_unknown_family_is_refused():
    with pytest.raises(ValueError, match="no family 'npu': one of hbm"):
        trend.family("npu")


def test_drawing_again_agrees_with_the_closed_interval_where_errors_are_even():
    draw = random.Random(3)
    years = [2014 + i % 12 for i in range(60)]
    rates = [math.exp(0.35 * (y - 2014) + draw.gauss(0, 0.4)) for y in years]
    closed, (low, high) = trend.fit_trend(years, rates), trend.resampled(years, rates)
    assert math.log(low) == pytest.approx(math.log(closed.low), rel=0.15)
    assert math.log(high) == pytest.approx(math.log(closed.high), rel=0.15)
    assert trend.resampled(years, rates) == (low, high)


def test_an_exact_line_is_drawn_again_exactly():
    years = [2017, 2019, 2021]
    assert trend.resampled(years, [1, 2, 4]) == pytest.approx((2, 2))


@pytest.mark.parametrize(
    ("years", "runs", "says"),
    [([2020, 2020, 2020], 100, "no trend"), ([2020, 2021, 2022], 39, "runs=39")],
)
def test_points_that_cannot_be_drawn_again_are_refused(years, runs, says):
    with pytest.raises(ValueError, match=says):
        trend.resampled(years, [1, 2, 3], runs=runs)
