"""Launches and their reports: occupancy, caches, time, and what is refused."""

import random

import numpy as np
import pytest

from stacklib import gpu, hardware
from stacklib.gpu.simt import kernels

H100 = hardware.get("h100-sxm")


def tiny(t, out):
    out[t.block.x * t.block_dim.x + t.thread.x] = 1.0


def test_occupancy_of_a_launch_is_the_calculators():
    """Two hundred random launches."""
    draw = random.Random(7)
    devices = [
        "v100-sxm2-32gb",
        "t4",
        "a100-sxm-80gb",
        "rtx-3090",
        "rtx-4090",
        "h100-sxm",
        "b200-sxm",
        "rtx-5090",
    ]
    tried = 0
    while tried < 200:
        device, threads = draw.choice(devices), draw.randint(1, 1024)
        registers, shared = (
            draw.randint(16, 255),
            draw.choice([0, draw.randint(1, 90000)]),
        )

        def kernel(t, out, size=shared):
            if size:
                t.shared(size, np.int8)
            if t.thread.x == 0:
                out[0] = 1.0

        expected = gpu.occupancy(
            threads=threads, registers=registers, shared_bytes=shared, device=device
        )
        call = (kernel, 1, threads, device, np.zeros(1), shared)
        if not expected.blocks:
            with pytest.raises((ValueError, gpu.KernelError)):
                gpu.launch(*call, registers=registers)
        else:
            report = gpu.launch(*call, registers=registers).report
            assert report.occupancy == expected and report.shared_bytes == shared
        tried += 1


def test_report_of_a_copy():
    n = 1 << 16
    ran = gpu.launch(
        kernels.copy, n // 256, 256, "h100-sxm", np.ones(n, np.float32), gpu.empty(n), n
    )
    report = ran.report
    assert ran.results["dst"].sum() == n
    # An index is a multiplication and an addition, then a test, a branch, two requests.
    assert report.instructions == 6 * n // 32
    assert report.active_lanes == 32 and report.branch_efficiency == 1
    assert report.sectors_per_request == 4 and report.efficiency == 1
    assert report.levels.l1_sectors == n // 8 and report.levels.l1_hits == 0
    assert report.levels.read == 4 * n
    assert "sectors a request" in str(report) and "copy on H100" in str(report)
    assert dict(report.rows())["estimated time (µs)"] == 1e6 * report.time


def test_lines_add_up_to_the_whole():
    src = np.arange(64 * 64, dtype=np.float32).reshape(64, 64)
    call = (kernels.transpose_tiled, (2, 2), (32, 8), "h100-sxm")
    report = gpu.launch(*call, src, gpu.empty((64, 64)), 0).report
    rows = report.lines()
    assert sum(row["instructions"] for row in rows) == report.instructions
    assert sum(row["passes"] for row in rows) == sum(report.traffic.passes.values())
    assert report.bank_conflicts == 31 * 64 * 64 // 32


def test_what_was_read_before_is_found_in_the_caches():
    def again(t, src, out):
        i = t.thread.x
        out[t.block.x * 128 + i] = src[i] + src[i]

    # One block a unit: the second read is an L1 hit, the other units' an L2 hit.
    report = gpu.launch(
        again, 132, 128, H100, np.ones(128), gpu.empty(132 * 128)
    ).report
    assert report.levels.l1_hit_rate == 0.5
    assert report.levels.read == 128 * 8

    def once(t, src, out):
        out[t.block.x * 32 + t.thread.x] = src[t.thread.x]

    report = gpu.launch(once, 2, 32, H100, np.ones(32), gpu.empty(64)).report
    assert report.levels.l1_hits == 0


def test_time_follows_the_scarcest_part():
    src = np.zeros((1024, 1024), np.float32)
    call = ((32, 32), (32, 8), "a100-sxm-80gb", src, gpu.empty((1024, 1024)))
    plain = gpu.launch(kernels.transpose_tiled, *call, 0).report
    padded = gpu.launch(kernels.transpose_tiled, *call, 1).report
    # A warp's round: a global load and a store of four sectors, a shared store in one
    # pass, a shared load in 32 passes or in one.
    far = 2 * 4 * float(plain.times.replayed.machine.l1_sector)
    assert plain.times.parts()["lsu"] == pytest.approx(
        padded.times.parts()["lsu"] * (far + 1 + 32) / (far + 1 + 1), rel=1e-3
    )
    assert plain.bound == "lsu" and plain.time > padded.time
    assert plain.time >= max(plain.times.parts().values())


def test_one_block_too_many_takes_twice_as_long():
    def busy(t, out):
        x = t.thread.x
        for _ in range(50):
            x = x * 3 + 1
        out[t.block.x * 256 + t.thread.x] = x

    full, over = (
        gpu.launch(busy, blocks, 256, H100, gpu.empty(blocks * 256)).report.times
        for blocks in (132, 133)
    )
    assert over.parts()["issue"] == pytest.approx(2 * full.parts()["issue"])
    assert over.total > full.total


@pytest.mark.rows(
    ("change", "says"),
    [
        ({"block": 1025}, "1,025 threads > 1,024"),
        ({"block": (32, 0)}, "block ="),
        ({"grid": 2.5}, "grid = 2.5"),
        ({"grid": (1, 1, 1, 1)}, "one to three"),
        ({"registers": 300}, "registers = 300"),
        ({"block": 1024, "registers": 128}, "no block fits"),
    ],
)
def test_sizes_that_make_no_sense(change, says):
    given = {"grid": 1, "block": 32, "registers": 32} | change
    with pytest.raises((ValueError, TypeError), match=says):
        gpu.launch(
            tiny,
            given["grid"],
            given["block"],
            H100,
            np.zeros(2048),
            registers=given["registers"],
        )


def test_other_devices_and_arguments():
    with pytest.raises(hardware.UnknownSpec):
        gpu.launch(tiny, 1, 32, "mi300x", np.zeros(32))
    with pytest.raises(TypeError, match="out: an array"):
        gpu.launch(tiny, 1, 32, H100, np.array(["a"]))
    with pytest.raises(TypeError, match="a Python function"):
        gpu.launch(len, 1, 32, H100)


def test_without_checks_the_results_and_counts_are_the_same():
    src = np.arange(256.0)
    for kernel, args in (
        (kernels.reduce_sequential, (src, gpu.empty(2, np.float64))),
        (kernels.vector_add, (src, src, gpu.empty(256, np.float64), 256)),
    ):
        one, other = (
            gpu.launch(kernel, 2, 128, H100, *args, check=check)
            for check in (True, False)
        )
        for name, value in one.results.items():
            assert (value == other.results[name]).all()
        assert one.report.counters == other.report.counters
