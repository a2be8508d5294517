"""The product model: never faster than the roofline, one formula three ways."""

import math
from dataclasses import replace

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib import hardware
from stacklib.hardware import UnknownSpec
from stacklib.quantity import UnknownName
from stacklib.quantity.told import families
from stacklib.roofline import Infeasible
from stacklib.roofline.bound import gemm

SIZES = st.sampled_from([1, 3, 16, 64, 100, 128, 500, 1024, 2112, 4096, 12288, 28672])
DEVICES = ("h100_sxm", "a100_sxm_80gb", "rtx_4090", "mi300x", "b200_sxm", "tpu_v5p")


def formats(key: str) -> list[str]:
    return [f for f in ("bf16", "fp16", "fp8", "fp32") if f in hardware.get(key).peaks]


@settings(max_examples=150, deadline=None)
@given(SIZES, SIZES, SIZES, st.sampled_from(DEVICES), st.data())
def test_never_faster_than_the_roofline(m, n, k, key, data):
    dtype = data.draw(st.sampled_from(formats(key)))
    launch = data.draw(st.sampled_from(["kernel", "host", "sweep"]))
    device, work = hardware.get(key), gemm.product(m=m, n=n, k=k, dtype=dtype)
    found = gemm.gemm_time(work, device, launch)
    operations = work.operations / device.peak(dtype).si
    assert found.time >= max(operations, work.bytes / device.memory_bandwidth.si)


@settings(max_examples=100, deadline=None)
@given(SIZES, SIZES, SIZES, st.sampled_from(DEVICES), st.sampled_from("mnk"))
def test_more_work_never_takes_less_time(m, n, k, key, grown):
    """More rows or columns may draw more bandwidth, but only while units idle."""
    if grown != "k":
        m, n = max(m, 2048), max(n, 2048)
    small = {"m": m, "n": n, "k": k}
    large = {**small, grown: 2 * small[grown]}
    dtype = formats(key)[0]
    times = [
        gemm.gemm_time(gemm.product(**sizes, dtype=dtype), key, "kernel").time
        for sizes in (small, large)
    ]
    assert times[1] >= times[0] * (1 - 1e-9)


def by_memory(work, key, most):
    """Times of a product on a device whose memory is once to ``most`` as fast."""
    chip = gemm.chip_of(key, work.dtype)
    chosen = gemm.tilings(work, int(chip.units))
    made = [replace(chip, bandwidth=x * chip.bandwidth) for x in (1.0, 1.43, most)]
    return [gemm.predict(work, one, "kernel", chosen).time for one in made]


@settings(max_examples=60, deadline=None)
@given(
    *(SIZES, SIZES, SIZES, st.sampled_from(["h100_sxm", "b200_sxm", "l4"])),
    *(st.sampled_from(["bf16", "fp8", "int8"]), st.booleans(), st.floats(1.5, 20)),
)
def test_a_faster_memory_never_costs_time(m, n, k, key, dtype, whole, most):
    work = replace(gemm.product(m=m, n=n, k=k, dtype=dtype), whole=whole)
    first, second, third = by_memory(work, key, most)
    assert first >= second * (1 - 1e-12) and second >= third * (1 - 1e-12)


def test_power_alone_would_make_a_faster_memory_cost_time(monkeypatch):
    """What is held: units that wait less draw more and lower the clock too far."""
    work = gemm.product(m=2048, n=8192, k=2048, dtype="fp8")
    assert sorted(by_memory(work, "l4", 4.0), reverse=True) == by_memory(
        work, "l4", 4.0
    )

    def by_power(compute, memory, floor, ideal, chip, after=0.0):
        return gemm.power_share(chip, ideal / (gemm.join(compute, memory) + floor))

    monkeypatch.setattr(gemm, "slowed", by_power)
    *_, second, third = by_memory(work, "l4", 4.0)
    assert third > second * 1.001


def test_what_is_on_its_way_is_half_of_every_shared_memory():
    """Little's law: a memory that is fast for it loses more of its bandwidth."""
    work, lost = gemm.product(m=1, n=8192, k=8192), {}
    for key in ("b200-sxm", "h100-sxm", "l40s"):
        chip = gemm.chip_of(key, "bf16")
        shared, dram = (hardware.level(key, name) for name in ("shared", "dram"))
        half = shared.capacity.si / 2 * chip.units
        assert chip.flight == pytest.approx(half / dram.latency.si)
        chosen = gemm.tilings(work, int(chip.units))
        free = replace(chip, flight=None)
        times = [gemm.predict(work, c, "kernel", chosen).memory for c in (free, chip)]
        lost[key] = 1 - times[0] / times[1]
    assert lost["b200-sxm"] > 3 * lost["h100-sxm"] > 5 * lost["l40s"] > 0


def test_a_chip_is_read_once_and_a_changed_device_anew():
    device = hardware.get("h100-sxm")
    assert gemm.chip_of(device, "bf16") is gemm.chip_of("h100-sxm", "bf16")
    faster = replace(device, fields={**device.fields, "tdp": 2 * device.tdp})
    assert gemm.chip_of(faster, "bf16").tdp == 2 * gemm.chip_of(device, "bf16").tdp


def test_ten_calls_after_a_rest_keep_the_clock_of_an_nvidia_board():
    work = gemm.product(m=16384, n=12288, k=12288, dtype="fp16")
    for key, keeps in (("a100-sxm-80gb", True), ("mi210", False)):
        chip = gemm.chip_of(key, "fp16")
        cold, warm = (gemm.gemm_time(work, key, how) for how in ("host", "stream"))
        assert (cold.compute < 0.99 * warm.compute) == keeps == chip.averages
        trace = gemm.gemm_trace(work, key, "host")
        assert trace.si == pytest.approx(cold.time, rel=1e-12)


@settings(max_examples=60, deadline=None)
@given(SIZES, SIZES, SIZES, st.sampled_from(DEVICES))
def test_the_trace_is_the_float_and_stands_on_sourced_leaves(m, n, k, key):
    work = gemm.product(m=m, n=n, k=k, dtype=formats(key)[0])
    traced, found = gemm.gemm_trace(work, key), gemm.gemm_time(work, key)
    assert traced.si == pytest.approx(found.time, rel=1e-12)
    assert dict(traced.shown.dims) == {"s": 1}
    assert any(leaf.kind == "spec" and leaf.source for leaf in traced.leaves())


def test_arrays_sweep_as_floats_do():
    chip = gemm.chip_of("h100_sxm", "bf16")
    work = gemm.product(m=4096, n=4096, k=4096)
    wear = gemm.wear_of(chip, chip.bandwidth, hardware.efficiency)
    units = numpy.array([64.0, 132.0, 200.0])
    for tiling in gemm.tilings(work, 132):
        swept = gemm.compute_time(work, tiling, units, wear)
        each = [gemm.compute_time(work, tiling, float(u), wear) for u in units]
        assert swept == pytest.approx(each)


@pytest.mark.rows("m", [1, 16, 17, 32, 33, 64, 65, 128, 129, 256, 257])
@pytest.mark.rows(("n", "k"), [(64, 511), (65, 512), (3000, 9000)])
def test_a_tile_is_left_out_where_one_as_wide_of_fewer_rows_covers_all(m, n, k):
    found = gemm.tilings(gemm.product(m=m, n=n, k=k), 132)
    for rows, columns in gemm.TILES:
        lower = any(c == columns and m <= r < rows for r, c in gemm.TILES)
        mine = [t for t in found if (t.rows, t.columns) == (rows, columns)]
        assert bool(mine) is not lower
        grid = math.ceil(m / rows) * math.ceil(n / columns)
        assert [t.blocks for t in mine] == [grid * t.split for t in mine]
        for t in mine:
            assert t.split == 1 or (k // t.split >= 256 and t.blocks <= 2 * 132)


def test_the_time_is_the_least_over_all_tilings():
    work = gemm.product(m=200, n=3000, k=5000)
    chip = gemm.chip_of("h100_sxm", "bf16")
    every = gemm.tilings(work, 132)
    alone = [gemm.predict(work, chip, "kernel", (t,)).time for t in every]
    assert gemm.predict(work, chip, "kernel", every).time == min(alone)


@pytest.mark.rows("blocks", [1, 131, 132, 133, 264, 265, 1000])
def test_waves_are_those_of_a_scheduler(blocks):
    """Whole waves when the empty part of the last is paid for in full."""
    chip = gemm.chip_of("h100_sxm", "bf16")
    work = gemm.product(m=128, n=128 * blocks, k=4096)
    tiling = gemm.Tiling(128, 128, 1, blocks)
    free = [0.0] * 132  # when each unit is free, blocks handed out in turn
    for _ in range(blocks):
        i = free.index(min(free))
        free[i] += 1.0
    with hardware.efficiency_override({"wave_tail": 1.0}):
        wear = gemm.wear_of(chip, chip.bandwidth, hardware.efficiency)
        one = gemm.Tiling(128, 128, 1, 132)
        waves = gemm.compute_time(work, tiling, 132.0, wear) / gemm.compute_time(
            work, one, 132.0, wear
        )
    assert waves == pytest.approx(max(free))


def test_tilings_cover_the_result():
    work = gemm.product(m=300, n=1000, k=2000, groups=3)
    for tiling in gemm.tilings(work, 100):
        grid = tiling.blocks / tiling.split
        assert grid * tiling.rows * tiling.columns >= 3 * 300 * 1000
        assert tiling.split == 1 or tiling.blocks <= 200


def test_power_sets_the_clock_between_its_cube_root_and_itself():
    chip = gemm.chip_of("h100_sxm", "bf16")
    share = gemm.power_share(chip)
    assert share < 1
    quarter = gemm.power_share(replace(chip, tdp=chip.tdp / 4))
    assert 1 / 4 < quarter / share < (1 / 4) ** (1 / 3)
    # units that wait half of the time draw half
    assert gemm.power_share(chip, 0.5) == pytest.approx(
        gemm.power_share(replace(chip, tdp=2 * chip.tdp))
    )
    assert gemm.power_share(replace(chip, tdp=chip.tdp * 9)) == 1
    assert gemm.power_share(replace(chip, tdp=None)) == 1
    assert gemm.power_share(replace(chip, energy=())) == 1


def test_operands_that_stay_in_the_l2_are_read_from_there():
    work = gemm.product(m=1, n=2048, k=2048)
    chip = gemm.chip_of("h100_sxm", "bf16")
    repeated = gemm.predict(work, chip, "stream", gemm.tilings(work, 132))
    cold = gemm.predict(work, chip, "kernel", gemm.tilings(work, 132))
    assert repeated.memory < cold.memory


def test_a_kernel_that_leaves_k_whole_writes_when_it_has_multiplied():
    """Where one block fills a unit; where two share it, one multiplies meanwhile."""
    work = gemm.Product(8192, 8192, 256, "fp8", 1, 1, 2, whole=True)
    for key, alone in (("h100-sxm", True), ("l40s", False)):
        chip = gemm.chip_of(key, "fp8")
        chosen = gemm.tilings(work, int(chip.units))
        assert gemm.drained(work, chip) == alone * 8192 * 8192 * 2
        shared = gemm.predict(work, replace(chip, alone=False), "kernel", chosen)
        found = gemm.predict(work, chip, "kernel", chosen)
        drawn = gemm._bandwidth(chip, 0.0, hardware.efficiency)
        assert (found.time > shared.time) == alone
        assert found.time <= shared.time + gemm.drained(work, chip) / drawn * 1.001
        assert found.memory == pytest.approx(work.bytes / drawn)
    assert gemm.drained(replace(work, whole=False), chip) == 0


def test_a_group_of_products_fills_the_units_that_one_leaves_idle():
    one = gemm.gemm_time(gemm.product(m=256, n=256, k=4096), "h100", "kernel")
    many = gemm.gemm_time(
        gemm.product(m=256, n=256, k=4096, groups=16), "h100", "kernel"
    )
    assert many.time < 8 * one.time


def test_weights_to_expand_cost_at_most_less_bytes_and_at_least_some_time():
    plain = gemm.Product(1, 8192, 8192, "fp16", 2, 2, 2)
    packed = gemm.Product(1, 8192, 8192, "fp16", 2, 0.5, 2, expand=True)
    free = gemm.Product(1, 8192, 8192, "fp16", 2, 0.5, 2)
    times = [gemm.gemm_time(w, "a100-sxm-80gb").time for w in (plain, packed, free)]
    assert times[0] > times[1] >= times[2]


@pytest.mark.rows("size", [0, -1, 1.5, True, "8", math.nan])
@pytest.mark.rows("name", ["m", "n", "k"])
def test_sizes_that_are_none_are_refused(name, size):
    sizes = {"m": 8, "n": 8, "k": 8} | {name: size}
    with pytest.raises(ValueError, match=name):
        gemm.product(**sizes)


def test_what_is_unknown_is_refused_by_name():
    work = gemm.product(m=8, n=8, k=8)
    with pytest.raises(ValueError, match="kernel, stream, host, sweep"):
        gemm.gemm_time(work, "h100", "strem")
    with pytest.raises(UnknownName, match="h100"):
        gemm.gemm_time(work, "h1000-sxm")
    with pytest.raises(UnknownSpec, match="fp4"):
        gemm.gemm_time(gemm.product(m=8, n=8, k=8, dtype="fp4"), "h100-sxm")
    with pytest.raises(ValueError, match="left"):
        gemm.Product(8, 8, 8, "bf16", 0, 2, 2)
    with pytest.raises(ValueError, match="traced"):
        gemm.gemm_trace(work, "h100-sxm", "sweep")
    with pytest.raises(ValueError, match="plain"):
        gemm.gemm_trace(replace(work, whole=True), "h100-sxm")


def test_what_does_not_fit_has_no_time_but_a_sum():
    with pytest.raises(Infeasible, match=r"80 GB on H100: does not fit"):
        gemm.gemm_time(gemm.product(m=10**6, n=10**6, k=8), "h100-sxm")


def test_every_device_with_a_rate_and_a_bandwidth_has_a_time():
    for key in hardware.names():
        device = hardware.get(key)
        if device.fields["memory_bandwidth"] is None or not device.peaks:
            continue
        if device.fields["compute_units"] is None:
            continue
        dtype = next(f for f in device.formats if "/" not in f)
        found = gemm.gemm_time(gemm.product(m=512, n=512, k=512, dtype=dtype), device)
        assert 0 < found.time < 10, key


def test_a_neighbours_energy_limits_and_is_named():
    chip = gemm.chip_of("mi355x", "bf16")
    own = gemm.chip_of("mi300x", "bf16")
    assert (chip.borrowed, own.borrowed) == ("cdna3", "")
    assert chip.energy == own.energy and gemm.power_share(chip) < 1
    trace = gemm.gemm_trace(gemm.product(m=8192, n=8192, k=8192), "mi355x")
    assert "tensor energy of cdna3" in trace.label
    assert families(trace) == {"products of cdna3's neighbours"}  # not family A's band


@pytest.mark.rows("key", ["rx_7900_xtx", "mi308x", "tpu_v5p"])
def test_an_unknown_energy_or_power_is_no_limit_in_silence(key):
    work = gemm.product(m=8192, n=8192, k=8192)
    trace = gemm.gemm_trace(work, key)
    assert "no limit of power" in trace.tree()["label"]
    assert families(trace) == {"products of chips of unknown power"}  # not A's band
    vector = gemm.gemm_trace(gemm.product(m=64, n=64, k=64, dtype="fp32"), "l40s")
    assert "no limit" not in vector.tree()["label"]
