"""Warps that wait: mbarriers, copies that go on meanwhile, clusters."""

import re

import numpy as np
import pytest

from stacklib import gpu
from stacklib.gpu.vm.parted import AT_A_BARRIER, next_group

from .refusals import refused

F32 = np.float32


def at(text, name, file=__file__):
    """The line of the first text like this behind a kernel's definition."""
    lines = open(file).read().splitlines()
    first = next(n for n, line in enumerate(lines) if line.startswith(f"def {name}("))
    return first + 1 + next(n for n, line in enumerate(lines[first:]) if text in line)


# -- mbarriers -----------------------------------------------------------------


def ring(t, src, dst, rounds):
    """A warp loads, a warp stores, three stages between them."""
    stages = 3
    cells = t.shared((stages, 32))
    full = [t.mbarrier(32) for _ in range(stages)]
    empty = [t.mbarrier(32) for _ in range(stages)]
    lane = t.lane
    if t.warp == 0:
        for k in range(rounds):
            s = k % stages
            empty[s].wait((k // stages & 1) ^ 1)
            cells[s, lane] = src[k * 32 + lane] * 2
            full[s].arrive()
    else:
        for k in range(rounds):
            s = k % stages
            full[s].wait(k // stages & 1)
            dst[k * 32 + lane] = cells[s, lane] + 1
            empty[s].arrive()


@pytest.mark.rows("rounds", [1, 3, 7, 20, 300])
def test_a_producer_and_a_consumer(rounds):
    src = np.arange(rounds * 32, dtype=F32)
    ran = gpu.launch(
        ring, 2 if rounds == 0 else 1, 64, "h100", src, gpu.empty(src.shape), rounds
    )
    np.testing.assert_array_equal(ran.results["dst"], src * 2 + 1)
    assert ran.report.counters.warps["arrive"] == 2 * rounds
    assert ran.report.counters.warps["wait"] == 2 * rounds


def test_the_clock_waits_too():
    src = np.arange(20 * 32, dtype=F32)
    long = gpu.launch(ring, 1, 64, "h100", src, gpu.empty(src.shape), 20)
    short = gpu.launch(ring, 1, 64, "h100", src[:32], gpu.empty(32), 1)
    assert long.report.time > 3 * short.report.time


def no_wait_for_empty(t, src, dst):
    cells = t.shared(32)
    full = t.mbarrier(32)
    if t.warp == 0:
        for k in range(2):
            cells[t.lane] = src[k * 32 + t.lane]
            full.arrive()
    else:
        for k in range(2):
            full.wait(k & 1)
            dst[k * 32 + t.lane] = cells[t.lane]


def test_a_stage_that_is_still_read():
    said = refused(no_wait_for_empty, np.arange(64, dtype=F32), gpu.empty(64))
    assert "shared array 1[0]" in said and "lane 0" in said


def never_arrives(t, out):
    bar = t.mbarrier(33)
    if t.warp == 0:
        bar.arrive()
    bar.wait(0)
    out[t.thread.x] = 1.0


def test_nobody_arrives():
    said = refused(never_arrives, gpu.empty(64), words=["deadlock", "32 of 33"])
    assert f"warp 1 waits in line {at('bar.wait', 'never_arrives')}" in said


def wrong_phase(t, out):
    bar = t.mbarrier(64)
    bar.arrive()
    bar.wait(0)
    bar.wait(1)
    out[t.thread.x] = 1.0


def test_the_wrong_phase():
    said = refused(wrong_phase, gpu.empty(64), words=["deadlock", "phase 1", "0 of 64"])
    assert f"in line {at('bar.wait(1)', 'wrong_phase')}" in said
    assert refused(one_lane_waits, gpu.empty(64)).count(" of mbarrier") == 2


def one_lane_waits(t, out):
    bar = t.mbarrier(64)
    if t.lane == 0:
        bar.wait(0)
    out[t.thread.x] = 1.0


def test_who_arrives_goes_on():
    def ahead(t, out):
        if t.warp == 0:
            t.bar_arrive(1, 64)
            t.bar_sync(2, 64)
        else:
            t.bar_sync(2, 64)
            t.bar_sync(1, 64)
        out[t.thread.x] = 1.0

    assert gpu.launch(ahead, 1, 64, "h100", gpu.empty(64)).results["out"].all()


def test_lanes_at_a_barrier_go_on_last():
    aside = [(0, 1, 0, 7), (0, 2, 0, AT_A_BARRIER), (0, 0, 0, 0), (0, 0, 0, 0)]
    found = [next_group(0, np.array([aside]), *now) for now in ((7, True), (7, False))]
    assert found == [0, -1] and next_group(0, np.array([aside]), 8, False) == 0


def test_a_grid_meets():
    """Each thread reads what the other block wrote, and all wait for the slowest."""

    def crossed(t, src, out, rounds):
        i = t.block.x * 64 + t.thread.x
        for _ in range(t.block.x * rounds):
            src[i] = src[i] + 1
        t.grid_sync()
        out[i] = src[(i + 64) % 128]

    arrays = np.zeros(128, np.int32), gpu.empty(128, np.int32)
    found = gpu.launch(crossed, 2, 64, "h100", *arrays, 20)
    assert found.results["out"].tolist() == [20] * 64 + [0] * 64
    streams = found.report.times.replayed.streams
    assert streams.events.tolist() == [2]  # the warps of a block on a unit of its own


def no_parity(t, out):
    bar = t.mbarrier(64)
    bar.wait(t.lane)
    out[t.thread.x] = 1.0


def test_a_phase_is_a_parity():
    said = refused(no_parity, gpu.empty(64), words=["wait(2)", "lane 2"])
    assert f"line {at('bar.wait', 'no_parity')}" in said


def one_too_many(t, out):
    bar = t.mbarrier(32)
    if t.warp == 1:
        bar.expect(16 if t.lane == 0 else 0)
        bar.arrive()


def test_an_arrival_too_many():
    refused(one_too_many, gpu.empty(64), words=["more than the 32", "lane 0"])


def many_bars(t, out, n):
    bars = [t.mbarrier(64) for _ in range(2)]
    bars[n].arrive()
    bars[t.thread.x // 32 + 1].wait(1)
    out[t.thread.x] = 1.0


def test_an_index_outside_the_list():
    refused(many_bars, gpu.empty(64), 1, words=["mbarrier [2] of a list of 2"])


def flag_without_wait(t, src, dst):
    cells = t.shared(32)
    full = t.mbarrier(32)
    if t.warp == 0:
        cells[t.lane] = src[t.lane]
        full.arrive()
    else:
        dst[t.lane] = cells[t.lane]


def test_a_consumer_that_does_not_wait():
    refused(flag_without_wait, np.arange(32, dtype=F32), gpu.empty(32))


# -- cp.async ------------------------------------------------------------------


def doubled(t, src, dst, tiles):
    """Two stages: the next tile comes while this one is worked on."""
    cells = t.shared((2, 64))
    i = t.thread.x
    t.copy_async(cells, (0, i), src, i)
    t.commit()
    for k in range(tiles):
        if k + 1 < tiles:
            t.copy_async(cells, ((k + 1) % 2, i), src, (k + 1) * 64 + i)
        t.commit()
        t.wait_group(1)
        t.sync()
        dst[k * 64 + i] = cells[k % 2, 63 - i]
        t.sync()


@pytest.mark.rows("tiles", [1, 2, 9, 100])
def test_copies_of_two_stages(tiles):
    src = np.arange(64 * tiles, dtype=F32)
    ran = gpu.launch(doubled, 1, 64, "a100-sxm-80gb", src, gpu.empty(src.shape), tiles)
    expected = src.reshape(tiles, 64)[:, ::-1].ravel()
    np.testing.assert_array_equal(ran.results["dst"], expected)


def wide(t, src, dst):
    cells = t.shared(128)
    t.copy_async(cells, 4 * t.lane, src, 4 * t.lane, 4)
    t.commit()
    t.wait_group(0)
    for k in range(4):
        dst[4 * t.lane + k] = cells[4 * t.lane + k]


def test_copies_of_sixteen_bytes():
    src = np.arange(128, dtype=F32)
    ran = gpu.launch(wide, 1, 32, "a100-sxm-80gb", src, gpu.empty(128))
    np.testing.assert_array_equal(ran.results["dst"], src)
    refused(wide, src, gpu.empty(128), device="v100-sxm2-32gb", block=32, words=["8.0"])


def not_waited(t, src, dst):
    cells = t.shared(64)
    t.copy_async(cells, t.thread.x, src, t.thread.x)
    t.commit()
    dst[t.thread.x] = cells[t.thread.x]


def not_committed(t, src, dst):
    cells = t.shared(64)
    t.copy_async(cells, t.thread.x, src, t.thread.x)
    t.wait_group(0)
    dst[t.thread.x] = cells[t.thread.x]


def no_barrier_after(t, src, dst):
    cells = t.shared(64)
    t.copy_async(cells, t.thread.x, src, t.thread.x)
    t.commit()
    t.wait_group(0)
    dst[t.thread.x] = cells[63 - t.thread.x]


def overwritten(t, src, dst):
    cells = t.shared(64)
    t.copy_async(cells, t.thread.x, src, t.thread.x)
    t.commit()
    cells[t.thread.x] = 1.0


@pytest.mark.rows("kernel", [not_waited, not_committed, overwritten])
def test_a_copy_that_nobody_waited_for(kernel):
    line = at("copy_async", kernel.__name__)
    words = [f"the copy of line {line} has not been waited for", "lane 0"]
    refused(kernel, np.arange(64, dtype=F32), gpu.empty(64), words=words)


def test_others_need_a_barrier_besides():
    line = at("copy_async", "no_barrier_after")  # of the other warp
    words = [f"the copy of line {line} has not been waited for", "lane 0"]
    refused(no_barrier_after, np.arange(64, dtype=F32), gpu.empty(64), words=words)


def read_by_several(early):
    """Every element of a stage is read by two warps, then written anew."""

    def kernel(t, src, dst):
        cells = t.shared(64)
        full, empty = t.mbarrier(64), t.mbarrier(64)
        i = t.thread.x % 64
        if t.warp < 2:
            for k in range(5):
                empty.wait(k % 2 ^ 1)
                cells[i] = src[64 * k + i]
                full.arrive()
        else:
            for k in range(5):
                full.wait(k % 2)
                if early:
                    empty.arrive()
                dst[64 * k + i] = cells[i] + cells[63 - i]
                if not early:
                    empty.arrive()

    return kernel


def test_a_stage_that_two_warps_read():
    src = np.arange(320, dtype=F32)
    ran = gpu.launch(read_by_several(early=False), 1, 128, "h100", src, gpu.empty(320))
    rows = src.reshape(5, 64)
    np.testing.assert_array_equal(ran.results["dst"], (rows + rows[:, ::-1]).ravel())
    said = refused(read_by_several(early=True), src, gpu.empty(320), block=128)
    assert "shared array 1" in said


# -- bulk copies ---------------------------------------------------------------


def boxes(t, src, dst, row, column):
    tile = t.shared((8, 16))
    bar = t.mbarrier(1)
    if t.thread.x == 0:
        bar.expect(8 * 16 * 4)
        t.bulk_copy(tile, src, (row, column), (8, 16), bar)
    bar.wait(0)
    for k in range(t.thread.x, 128, 64):
        dst[k // 16, k % 16] = tile[k // 16, k % 16]


@pytest.mark.rows("corner", [(0, 0), (3, 5), (-2, -3), (17, 26), (40, 0)])
def test_a_box_and_zeros_around_the_array(corner):
    src = np.arange(20 * 32, dtype=F32).reshape(20, 32) + 1
    ran = gpu.launch(boxes, 1, 64, "h100", src, gpu.empty((8, 16)), *corner)
    large = np.zeros((120, 120), F32)
    large[50:70, 50:82] = src
    r, c = corner[0] + 50, corner[1] + 50
    np.testing.assert_array_equal(ran.results["dst"], large[r : r + 8, c : c + 16])


def test_boxes_need_hopper():
    src = np.zeros((20, 32), F32)
    for device in ("a100-sxm-80gb", "rtx-4090"):
        said = refused(boxes, src, gpu.empty((8, 16)), 0, 0, device=device)
        assert "compute capability 9.0" in said


def staged(t, src, dst, rounds):
    """A thread starts the copies, a warp uses them: four stages."""
    tiles = t.shared((4, 4, 32))
    full = [t.mbarrier(1) for _ in range(4)]
    empty = [t.mbarrier(32) for _ in range(4)]
    if t.warp == 0:
        if t.lane == 0:
            for k in range(rounds):
                s = k % 4
                empty[s].wait(k // 4 % 2 ^ 1)
                full[s].expect(4 * 32 * 4)
                t.bulk_copy(tiles[s], src, (4 * k, 0), (4, 32), full[s])
    else:
        total = 0.0
        for k in range(rounds):
            s = k % 4
            full[s].wait(k // 4 % 2)
            for r in range(4):
                total += tiles[s, r, t.lane]
            empty[s].arrive()
        dst[t.lane] = total


@pytest.mark.rows("rounds", [1, 4, 5, 33])
def test_boxes_through_a_ring(rounds):
    src = np.arange(4 * rounds * 32, dtype=F32).reshape(-1, 32) % 17
    ran = gpu.launch(staged, 1, 64, "h100", src, gpu.empty(32), rounds)
    np.testing.assert_array_equal(ran.results["dst"], src.sum(0))


def box_not_waited(t, src, dst):
    tile = t.shared((8, 16))
    bar = t.mbarrier(1)
    if t.thread.x == 0:
        bar.expect(512)
        t.bulk_copy(tile, src, (0, 0), (8, 16), bar)
        dst[0] = tile[0, 0]


def box_others_not_waited(t, src, dst):
    tile = t.shared((8, 16))
    bar = t.mbarrier(1)
    if t.thread.x == 0:
        bar.expect(512)
        t.bulk_copy(tile, src, (0, 0), (8, 16), bar)
    t.syncwarp()
    if t.thread.x == 32:
        dst[0] = tile[0, 0]


def box_of_bytes(count):
    def kernel(t, src, dst):
        tile = t.shared((8, 16))
        bar = t.mbarrier(1)
        if t.thread.x == 0:
            bar.expect(count)
            t.bulk_copy(tile, src, (0, 0), (8, 16), bar)
        bar.wait(0)

    return kernel


def box_of_all(t, src, dst):
    tile = t.shared((8, 16))
    bar = t.mbarrier(1)
    t.bulk_copy(tile, src, (0, 0), (8, 16), bar)


def box_too_large(t, src, dst):
    tile = t.shared((8, 16))
    bar = t.mbarrier(1)
    if t.thread.x == 0:
        t.bulk_copy(tile, src, (0, 0), (8, 20), bar)


@pytest.mark.rows(
    ("kernel", "words"),
    [
        (box_not_waited, ["tile" * 0, "lane 0", "shared array 1[0, 0]"]),
        (box_others_not_waited, ["thread 32, lane 0"]),
        (box_of_bytes(256), ["256 bytes more have landed", "lane 0"]),
        (box_of_bytes(1024), ["deadlock", "512 bytes are to come"]),
        (box_of_all, ["32 lanes start the same bulk copy"]),
        (box_too_large, ["(8, 16), the box (8, 20)"]),
    ],
)
def test_boxes_gone_wrong(kernel, words):
    said = refused(kernel, np.zeros((20, 32), F32), gpu.empty(1), words=words)
    assert re.search(r"line \d+", said)
