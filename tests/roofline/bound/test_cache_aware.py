"""The cache-aware roofline: which level feeds a working set, and how fast."""

import math
from pathlib import Path

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stacklib import hardware, roofline
from stacklib.quantity import Quantity, UnitError
from stacklib.roofline import HostRoofline, Infeasible
from stacklib.roofline.bound import cache_aware, hierarchy

GPUS = ("a100-sxm-80gb", "h100-sxm", "b200-sxm", "rtx-4090", "mi300x")
RESULT = Path(__file__).parents[3] / "benchmarks" / "results" / "host_roofline.json"
SIZES, RATES = (64.0, 1024.0, 1e6), (900.0, 300.0, 40.0)
rates = st.floats(1e-3, 1e15)


@pytest.fixture(scope="module")
def host():
    return HostRoofline.load(RESULT)


@pytest.mark.rows("name", GPUS)
def test_nearer_levels_are_smaller_and_faster_and_need_less_work(name):
    levels = cache_aware.slopes_of(name, "bf16")
    peak = hardware.get(name).peak_at_clock("bf16")
    ridges = [level.ridge(peak).si for level in levels]
    speeds = [level.bandwidth.si for level in levels]
    sizes = [level.capacity.si for level in levels]
    assert sizes == sorted(sizes) and ridges == sorted(ridges)
    assert speeds == sorted(speeds, reverse=True)
    assert ridges[-1] == pytest.approx(roofline.ridge(name, "bf16").si)


def test_a_ridge_is_refused_unless_peak_and_cache_are_at_one_clock():
    h100 = hardware.get("h100-sxm")
    printed, own = h100.peak("bf16"), h100.peak_at_clock("bf16")
    at_boost, at_tensor = (cache_aware.slopes_of(h100, d)[1] for d in ("", "bf16"))
    for peak, level in ((printed, at_boost), (own, at_boost), (printed, at_tensor)):
        with pytest.raises(UnitError, match=r"1\.98 GHz|1\.83 GHz|@1980MHz"):
            level.ridge(peak)
        with pytest.raises(UnitError, match="clock"):
            _ = level.bandwidth / peak
    ridge = at_tensor.ridge(own)
    per_cycle = h100.peaks["bf16"].per_unit_per_cycle / hardware.level(h100, "l2").width
    assert ridge.si == pytest.approx(per_cycle.si, rel=1e-3)  # at any clock
    assert ridge.text() == "111 FLOP/B"
    assert (printed / h100.memory_bandwidth).text() == "295 FLOP/B"


@pytest.mark.rows("name", GPUS)
def test_cache_rates_are_those_of_the_hierarchy(name):
    for level in cache_aware.slopes_of(name)[:-1]:
        told = hierarchy.cache_rate(name, level.name.lower()).rate
        assert level.bandwidth.si == pytest.approx(told)
        assert level.bandwidth.tree()["inputs"], "a rate names what it is made of"


@pytest.mark.parametrize("name", ("h100-sxm", "a100-sxm-80gb"))
def test_a_set_far_from_every_step_is_fed_as_the_hierarchy_says(name):
    l1, l2, memory = cache_aware.slopes_of(name)
    between = math.sqrt(l1.capacity.si * l2.capacity.si * 0.5)
    if between > l1.capacity.si:
        told = hierarchy.read_rate(name, between).rate
        rule = cache_aware.served_at(
            between,
            [x.capacity.si for x in (l1, l2, memory)],
            [x.bandwidth.si for x in (l1, l2, memory)],
        )
        assert told == pytest.approx(rule, rel=0.05)
    far = hierarchy.read_rate(name, 40 * l2.capacity.si)
    assert far.bound == "dram"
    assert far.rate == pytest.approx(memory.bandwidth.si, rel=0.15)


def test_at_its_size_a_set_still_fits_and_one_byte_more_does_not():
    for size, near, far in zip(SIZES, RATES, RATES[1:], strict=False):
        assert cache_aware.served_at(size, SIZES, RATES) == near
        assert cache_aware.served_at(size + 1, SIZES, RATES) == far


@given(st.floats(1.0, 1e6), st.floats(1.0, 1e6))
def test_a_larger_set_is_never_fed_faster(a, b):
    small, large = sorted((a, b))
    fed = [cache_aware.served_at(s, SIZES, RATES) for s in (small, large)]
    assert fed[0] >= fed[1]


@given(st.floats(1e-3, 1e6), rates, st.lists(rates, min_size=1, max_size=4))
def test_every_roof_is_under_the_peak_and_a_faster_level_never_below(i, peak, speeds):
    speeds = sorted(speeds, reverse=True)
    roofs = cache_aware.attainable_by_level(i, peak, speeds)
    assert all(r <= peak for r in roofs) and list(roofs) == sorted(roofs, reverse=True)


@given(st.floats(1, 1e15), st.lists(st.floats(1, 1e12), min_size=3, max_size=3))
def test_with_the_bytes_of_one_level_it_is_the_roofline(operations, moved):
    peak, speeds = 1e12, (1e11, 1e10, 1e9)
    time = cache_aware.traffic_time(operations, moved, peak, speeds)
    alone = [
        roofline.bound_time(operations, b, peak, s)
        for b, s in zip(moved, speeds, strict=True)
    ]
    assert time == max(alone)


def test_floats_quantities_and_arrays_agree():
    sets = (10.0, 64.0, 65.0, 5000.0)
    plain = [cache_aware.served_at(s, SIZES, RATES) for s in sets]
    swept = cache_aware.served_at(numpy.array(sets), SIZES, RATES)
    traced = [
        cache_aware.served_at(
            Quantity(s, "B"),
            [Quantity(c, "B") for c in SIZES],
            [Quantity(r, "B/s") for r in RATES],
        )
        for s in sets
    ]
    assert list(swept) == plain == [q.si for q in traced]
    args = (Quantity(8, "FLOP/B"), Quantity(1, "TFLOP/s"), [Quantity(1, "GB/s")])
    (roof,) = cache_aware.attainable_by_level(*args)
    assert roof.si == 8e9
    time = cache_aware.traffic_time(
        numpy.array([1.0, 8.0]), [numpy.array([4.0, 4.0])], 2.0, [4.0]
    )
    assert list(time) == [1.0, 4.0]


def test_home_is_the_nearest_level_that_holds():
    levels = cache_aware.slopes_of("h100-sxm")
    homes = {mb: cache_aware.home(mb * 1e6, levels).name for mb in (1, 40, 1000)}
    assert homes == {1: "L1", 40: "L2", 1000: "memory"}
    assert cache_aware.home(Quantity(40, "MB"), levels).name == "L2"


def test_what_fits_nowhere_has_no_rate():
    levels = cache_aware.slopes_of("h100-sxm")
    with pytest.raises(Infeasible, match="does not fit"):
        cache_aware.home(Quantity(81, "GB"), levels)


@pytest.mark.rows("bad", [0, -1.0, math.nan, math.inf])
def test_a_set_that_is_none_is_refused(bad):
    with pytest.raises(ValueError, match="above zero"):
        cache_aware.home(bad, cache_aware.slopes_of("h100-sxm"))


def test_lists_of_different_length_and_no_levels_are_refused():
    with pytest.raises(ValueError, match="one each"):
        cache_aware.served_at(1.0, [1.0], [1.0, 2.0])
    with pytest.raises(ValueError, match="one each"):
        cache_aware.traffic_time(1.0, [1.0, 2.0], 1.0, [1.0])
    with pytest.raises(ValueError, match="no levels"):
        cache_aware.home(1.0, [])


def test_a_device_without_published_caches_is_refused():
    with pytest.raises(hardware.UnknownSpec):
        cache_aware.slopes_of("tpu-v5p")


# -- this machine ---------------------------------------------------------------


def test_levels_of_the_measured_machine(host):
    levels = cache_aware.host_slopes(host)
    assert [level.name for level in levels] == ["L1", "L2", "L3", "memory"]
    speeds = [level.bandwidth.si for level in levels]
    assert speeds == sorted(speeds, reverse=True)
    assert all(x.key for level in levels for x in level.bandwidth.leaves())


def test_most_measured_points_lie_near_the_roof_of_their_level(host):
    levels = cache_aware.host_slopes(host)
    sizes = [level.capacity.si for level in levels]
    speeds = [level.bandwidth.si for level in levels]
    points = host.stream("read")
    near = [
        abs(p.rate / cache_aware.served_at(float(p.size), sizes, speeds) - 1) < 0.35
        for p in points
    ]
    assert sum(near) > 0.75 * len(near)


def test_a_machine_without_points_in_a_level_says_so(host):
    machine = {
        **host.machine,
        "caches": [{"level": 1, "kind": "data", "bytes": 64, "shared_by": 1}],
    }
    few = HostRoofline(
        **{
            **{f: getattr(host, f) for f in host.__dataclass_fields__},
            "machine": machine,
        }
    )
    with pytest.raises(ValueError, match="L1: no working set"):
        cache_aware.host_slopes(few)
