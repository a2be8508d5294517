"""Streams of tile programs, their time, and how long launching them takes."""

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))

import cases
import corpus

from stacklib import gpu, hardware
from stacklib.gpu.issue.streams import KINDS


def run(case, **words):
    program = getattr(corpus, case.program)
    return gpu.launch_tiles(program, case.grid, *case.args, **case.words, **words)


def kinds(report):
    streams = report.times.replayed.streams
    numbers, counts = np.unique(np.asarray(streams.kind), return_counts=True)
    return {KINDS[n]: int(c) for n, c in zip(numbers, counts, strict=True)}


def test_streams_hold_the_requests_and_the_products():
    blocks = (64, 64, 32)
    case = cases.product("matmul", 64, 64, 128, blocks, np.float32)
    report = run(case).report
    found = kinds(report)
    # four turns of two tiles of 8 KiB, 16 bytes a thread, by four warps
    assert found["async_copy"] == 4 * 2 * 4 * 4
    assert found["mma"] == 4 * report.tensor_instructions  # wgmma: each of four warps
    assert found["store_global"] == report.traffic.requests["store"]
    streams = report.times.replayed.streams
    asked = np.asarray(streams.requests)[np.asarray(streams.request)]
    asked[np.asarray(streams.request) < 0] = 0
    loads = np.asarray(streams.kind) == KINDS.index("async_copy")
    assert asked[loads, 1:4].sum() == report.traffic.sectors["load"]


def test_a_copy_takes_what_memory_takes():
    n = 1 << 20
    x = np.zeros(n, np.float32)
    case = cases.Case(
        "vector_add", (n // 1024,), (x, x.copy(), gpu.empty(n), n), {"BLOCK": 1024}
    )
    report = run(case).report
    least = 3 * x.nbytes / hardware.get("h100-sxm").memory_bandwidth.si
    assert least < report.time < 2.5 * least
    assert report.bound == "memory"


def test_a_tile_program_asks_for_what_a_kernel_asks_for():
    def kernel(t, x, y, out):
        i = t.block.x * t.block_dim.x + t.thread.x
        out[i] = x[i] + y[i]

    n = 1 << 16
    x = np.zeros(n, np.float32)
    case = cases.Case(
        "vector_add", (n // 128,), (x, x.copy(), gpu.empty(n), n), {"BLOCK": 128}
    )
    tiles = run(case).report
    lanes = gpu.launch(kernel, n // 128, 128, "h100-sxm", x, x, gpu.empty(n)).report
    for kind in ("load", "store"):
        assert tiles.traffic.sectors[kind] == lanes.traffic.sectors[kind]
        assert tiles.traffic.requests[kind] == lanes.traffic.requests[kind]
    assert tiles.levels.read == lanes.levels.read
    assert tiles.levels.l2_hits == lanes.levels.l2_hits
    assert 0.7 < tiles.time / lanes.time < 1.4


def test_flash_attention_of_a_thousand_keys_is_attention():
    case = cases.attention(0, 1, 1024, 64, (128, 128), False)
    ran = run(case)
    q, k, v = (x[0].astype(float) for x in case.args[:3])
    scores = np.exp(q @ k.T / 8)
    wanted = scores @ v / scores.sum(axis=1, keepdims=True)
    assert np.abs(ran.results["out"][0] - wanted).max() < 1e-3
    products = 4 * 1024 * 1024 * 64
    peak = hardware.get("h100-sxm").peak("fp16").si / 132 * 8  # eight programs
    assert ran.report.time > products / peak


def test_programs_that_part_are_run_apart():
    def parted(x, out):
        pid = tl.program_id(0)
        total = 0
        for n in range(pid % 3 + 1):
            total += tl.load(x + n)
        if pid == 5:
            tl.store(out + pid, -total)
            return
        tl.store(out + pid, total)

    from stacklib.gpu import tiles as tl

    x = np.array([1, 10, 100], np.int32)
    ran = gpu.launch_tiles(parted, 7, x, gpu.empty(7, np.int32))
    assert ran.results["out"].tolist() == [1, 11, 111, 1, 11, -111, 1]
    # as if each had run alone: what was undone is not counted
    assert ran.report.traffic.requests == {"load": 4 * (3 + 4 + 6), "store": 7}


def test_the_busiest_unit_is_replayed():
    case = cases.attention(0, 1, 512, 64, (64, 64), True)
    report = run(case).report
    longest = kinds(report)["mma"]
    every = report.tensor_instructions * 4
    assert longest == every * 8 // 36  # the last of 1 + 2 + ... + 8 turns


@pytest.mark.rows("device", ["v100-sxm2-16gb", "a100-80gb-sxm", "rtx-4090"])
def test_other_devices_have_a_time_or_say_why(device):
    case = cases.rows(0, 4, 100)[0]
    report = run(case, device=device).report
    assert (report.time is None) == bool(report.timeless)
    assert report.time is None or 0 < report.time < 1e-4
