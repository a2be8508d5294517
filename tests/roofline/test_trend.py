"""The trend of the memory wall: against lines known beforehand, and its refusals."""

import math
import random

import numpy
import pytest

from stacklib import hardware, roofline
from stacklib.roofline import trend


@pytest.mark.parametrize(
    ("freedom", "t"),
    # two-sided 95 %, from printed tables of Student's distribution
    [(1, 12.706), (2, 4.303), (3, 3.182), (4, 2.776), (5, 2.571), (10, 2.228),
     (30, 2.042), (120, 1.980)],
)  # fmt: skip
def test_student_t_is_that_of_the_tables(freedom, t):
    assert trend.student_t(freedom) == pytest.approx(t, abs=6e-4)


@pytest.mark.parametrize("within", [0.5, 0.9, 0.99])
@pytest.mark.parametrize("freedom", [1, 2, 3, 8, 25])
def test_the_density_between_minus_t_and_t_holds_the_share(freedom, within):
    scale = math.exp(math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2))
    t, steps = trend.student_t(freedom, within), 20_000
    width = 2 * t / steps
    middles = (-t + (i + 0.5) * width for i in range(steps))
    total = math.fsum((1 + x * x / freedom) ** (-(freedom + 1) / 2) for x in middles)
    share = total * width * scale / math.sqrt(freedom * math.pi)
    assert share == pytest.approx(within, abs=1e-5)


@pytest.mark.parametrize(("freedom", "within"), [(0, 0.95), (3, 0), (3, 1)])
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


@pytest.mark.parametrize(
    ("years", "rates", "says"),
    [
        ([2020, 2021], [1, 2], "needs 3 points"),
        ([2020, 2021, 2022], [1, 2], "needs 3 points"),
        ([2020, 2020, 2020], [1, 2, 3], "no trend"),
        ([2020, 2021, 2022], [1, 0, 3], "rate 0"),
    ],
)
def test_points_without_a_trend_are_refused(years, rates, says):
    with pytest.raises(ValueError, match=says):
        trend.fit_trend(years, rates)


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
