"""The clock on kernels whose time is known: peaks, latencies, turns, and samples."""

import warnings
from types import SimpleNamespace

import numpy as np
import pytest

from stacklib import gpu, hardware
from stacklib.gpu.issue.machine import machine_of
from stacklib.gpu.issue.ports import fp32_lanes
from stacklib.gpu.issue.streams import KINDS
from stacklib.gpu.issue.timeline import timeline
from stacklib.gpu.simt import kernels, launcher
from stacklib.gpu.simt.sampled import Unmodelled

DEVICES = [
    "v100-sxm2-32gb",
    "t4",
    "a100-sxm-80gb",
    "rtx-3090",
    "rtx-a6000",
    "l40s",
    "rtx-4090",
    "h100-sxm",
    "h200-sxm",
    "rtx-5090",
    "b200-sxm",
]


def chains(t, out, rounds):
    """Eight sums a thread that do not wait for each other, all in registers."""
    half, more = t.to(np.float32, 0.5), t.to(np.float32, 1.5)
    total = [t.to(np.float32, k) for k in range(8)]
    for _ in range(rounds):
        for k in range(8):
            total[k] = t.fma(total[k], more, half)
    done = total[0]
    for k in range(1, 8):
        done = done + total[k]
    out[t.block.x * t.block_dim.x + t.thread.x] = done


@pytest.mark.rows("key", DEVICES)
def test_multiply_adds_in_registers_reach_the_peak(key):
    device = hardware.get(key)
    units = int(device.compute_units.si)
    rate = {}
    for rounds in (64, 128):
        found = gpu.estimate(chains, units, 512, device, gpu.empty(units * 512), rounds)
        rate[rounds] = found.time
    more = 2 * 8 * 64 * 512 * units / (rate[128] - rate[64])
    # A data sheet rounds its peak; lanes and clock are exact.
    lanes = 2 * fp32_lanes(device) * units * device.clock.si
    assert more <= 1.0001 * lanes and 0.85 <= more / device.peak("fp32").si <= 1.01


@pytest.mark.rows("key", ["v100-sxm2-32gb", "h100-sxm", "b200-sxm"])
def test_one_warp_of_dependent_additions_pays_the_latency(key):
    def chain(t, out, rounds):
        total = t.to(np.float32, t.lane)
        for _ in range(rounds):
            total = total + 1.5
        out[t.lane] = total

    cycles = [
        gpu.launch(
            chain, 1, 32, key, gpu.empty(32), rounds
        ).report.times.replayed.cycles
        for rounds in (100, 200)
    ]
    each = machine_of(key).way("fp32").latency
    assert (cycles[1] - cycles[0]) / 100 == pytest.approx(each, rel=0.01)


def test_atomics_on_one_shared_word_take_a_turn_each():
    def count(t, out, wide, rounds):
        own = t.shared(64, np.int32)
        own[t.lane] = 0
        own[t.lane + 32] = 0
        t.syncwarp()
        for _ in range(rounds):
            t.atomic_add(own, t.lane * wide, 1)
        t.syncwarp()
        out[t.lane] = own[t.lane]

    took = {}
    for wide in (0, 1):
        cycles = [
            gpu.launch(
                count, 1, 32, "h100-sxm", gpu.empty(32, np.int32), wide, rounds
            ).report.times.replayed.bounds["lsu"]
            for rounds in (10, 20)
        ]
        took[wide] = (cycles[1] - cycles[0]) / 10
    turn = machine_of("h100-sxm").shared_turn
    assert took[0] == 32 * turn and took[1] <= max(1, turn)


def add_one(t, out, wide):
    t.atomic_add(out, t.thread.x % wide, 1)


@pytest.mark.rows(
    ("dtype", "wide", "held"),
    [
        (np.float32, 1, lambda turn, lane: 32 * lane("atomic_lane_float")),
        (np.int32, 1, lambda turn, lane: 32 * lane("atomic_lane")),
        (np.int32, 8, lambda turn, lane: turn),  # of one sector, four lanes a word
        (np.int32, 32, lambda turn, lane: 4 * turn),
    ],
)
def test_all_units_take_turns_at_one_line_of_the_l2(dtype, wide, held):
    """A lane after the other at a word, a sector after the other otherwise."""
    blocks, given = 132 * 8, np.zeros(32, dtype)
    ran = gpu.launch(add_one, blocks, 256, "h100-sxm", given, wide, check=False)
    assert ran.results["out"][:wide].sum() == blocks * 256
    each = held(hardware.efficiency("atomic_turn"), hardware.efficiency)
    least = blocks * 8 * each / hardware.get("h100-sxm").clock.si
    assert ran.report.time == pytest.approx(least, rel=0.25)
    assert ran.report.time >= 0.99 * least and ran.report.bound == "atomic"


def copy(t, x, y):
    i = t.block.x * t.block_dim.x + t.thread.x
    y[i] = 2 * x[i]


def test_an_estimate_is_the_launch_where_all_blocks_are_replayed():
    n = 132 * 2 * 256
    src = np.ones(n, np.float32)
    ran = gpu.launch(copy, n // 256, 256, "h100-sxm", src, gpu.empty(n)).report
    found = gpu.estimate(copy, n // 256, 256, "h100-sxm", src, gpu.empty(n))
    assert found.time == ran.time and found.levels == ran.levels
    assert not hasattr(found, "results")


def test_an_estimate_of_a_slice_is_that_of_the_program():
    """Tiles of a matrix product: only the addresses of most blocks are worked out."""
    size = 256
    a = np.ones((size, size), np.float32)
    args = ((size // 32,) * 2, (32, 32), "t4", a, a, gpu.empty((size, size)), size, 32)
    ran = gpu.launch(kernels.matmul_tiled, *args, check=False).report
    found = gpu.estimate(kernels.matmul_tiled, *args)
    assert found.time == pytest.approx(ran.time, rel=0.1)
    assert found.replayed < found.ran <= 64


def test_a_vast_launch_is_timed_in_a_moment():
    n = 1 << 31
    found = gpu.estimate(copy, n // 256, 256, "v100", gpu.empty(n), gpu.empty(n))
    assert found.bound == "memory" and found.replayed < 100
    drawn = 8 * n / found.time / hardware.get("v100").memory_bandwidth.si
    assert 0.7 < drawn < 1
    assert f"of {n // 256:,} blocks ran in full" in str(found)


def test_blocks_that_wait_for_blocks_have_no_time():
    def chained(t, flags, out):
        if t.thread.x == 0 and t.block.x > 0:
            seen = t.atomic_add(flags, t.block.x - 1, 0)
            while seen == 0:
                seen = t.atomic_add(flags, t.block.x - 1, 0)
        t.sync()
        out[t.block.x * 32 + t.thread.x] = 1.0
        t.fence()
        if t.thread.x == 0:
            t.atomic_add(flags, t.block.x, 1)

    flags = np.zeros(64, np.int32)
    with pytest.raises(Unmodelled, match="blocks wait for values of other blocks"):
        gpu.estimate(chained, 64, 32, "h100-sxm", flags, gpu.empty(64 * 32))


def test_loads_go_ahead_in_a_branch_as_behind_an_early_return():
    """A sum that an ``if`` holds was marked in every round, and its loads waited."""

    def inside(t, a, b, c, n):
        i = t.block.x * t.block_dim.x + t.thread.x
        if i < n:
            total = np.float32(0)
            for k in range(512):
                total += a[k * n + i] * b[k]
            c[i] = total

    def behind(t, a, b, c, n):
        i = t.block.x * t.block_dim.x + t.thread.x
        if i >= n:
            return
        total = np.float32(0)
        for k in range(512):
            total += a[k * n + i] * b[k]
        c[i] = total

    args = gpu.empty(1 << 19), gpu.empty(512), gpu.empty(1024), 1024
    one, other = (gpu.estimate(f, 4, 256, "a100", *args) for f in (inside, behind))
    assert one.time == pytest.approx(other.time, rel=0.1)


def test_no_load_is_moved_over_an_atomic():
    """The order of four loads and what is done with each."""

    def counted(t, src, out):
        own, x = t.shared(64, np.int32), t.thread.x
        own[x] = own[x + 32] = 0
        t.sync()
        for e in range(4):
            t.atomic_add(own, src[x + 32 * e], 1)
        t.sync()
        out[x] = own[x]

    def summed(t, src, out):
        out[t.thread.x] = sum(src[t.thread.x + 32 * e] for e in range(4))

    src = np.arange(128, dtype=np.int32) % 32
    for kernel, behind in ((counted, "atomic_shared"), (summed, "load_global")):
        given = src, gpu.empty(32, np.int32)
        ran = gpu.launch(kernel, 1, 32, "h100-sxm", *given)
        streams = ran.report.times.replayed.streams
        kinds = [KINDS[k] for k in streams.kind]
        assert kinds[kinds.index("load_global") + 1] == behind, kinds


@pytest.mark.parametrize(
    ("change", "says"), [({"grid": 0}, "grid = 0"), ({"block": 2000}, "2,000 threads")]
)
def test_bad_input_of_an_estimate(change, says):
    given = {"grid": 1, "block": 32} | change
    with pytest.raises(ValueError, match=says):
        gpu.estimate(
            copy, given["grid"], given["block"], "h100", gpu.empty(32), gpu.empty(32)
        )


def test_a_long_launch_says_so_and_how_to_sample(monkeypatch):
    monkeypatch.setattr(launcher.time, "monotonic", lambda: 20.0)
    watch = launcher.Warned(1000, 0.0)

    half = SimpleNamespace(tables={"G": np.full(20, 100)})
    with pytest.warns(UserWarning, match=r"about 200 s.*gpu\.estimate"):
        watch(half)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        watch(half)  # once


def test_a_report_has_reasons_lines_and_a_timeline():
    src = np.ones(1 << 14, np.float32)
    report = gpu.launch(copy, 64, 256, "h100-sxm", src, gpu.empty(1 << 14)).report
    assert sum(report.times.stalls.values()) == pytest.approx(1)
    assert max(report.times.stalls, key=report.times.stalls.get) == "long_scoreboard"
    lines = report.times.lines
    store = next(line for line, why in lines.items() if "drain" in why)
    assert lines[store]["long_scoreboard"] > 0
    drawn = report.times.timeline([0, 1])
    assert drawn == timeline(report.times.replayed, [0, 1])
    assert {stretch.warp for stretch in drawn} == {0, 1}
