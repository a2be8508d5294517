"""The clock against closed forms, the database's peaks, and its own bounds."""

from dataclasses import replace
from functools import cache

import pytest

from stacklib import hardware
from stacklib.gpu.issue.machine import machine_of, product_cycles
from stacklib.gpu.issue.replay import POLICIES, replay
from stacklib.gpu.issue.streams import Recorder
from stacklib.gpu.issue.timeline import timeline
from stacklib.gpu.issue.waves import blocks_to_replay, busiest, extrapolate
from stacklib.roofline.bound import hierarchy

from ...rows import refusals

H100 = "h100-sxm"
DEVICES = (
    *("v100-pcie-16gb", "t4", "rtx-2080-ti", "a100-sxm-80gb", "rtx-3090"),
    *("rtx-4090", "l4", "l40s", "h100-pcie", "h100-sxm", "h200-sxm"),
    *("b200-sxm", "rtx-5090"),
)


@cache
def chains(warps, ilp, rounds, kind="fp32", block=8):
    """Warps in blocks, each with independent chains of dependent instructions."""
    tape = Recorder()
    for warp in range(warps):
        tape.warp(warp // block)
        for i in range(ilp * rounds):
            tape.add(kind, [i - ilp] if i >= ilp else [])
    return tape.streams()


def requests(kind, count, **asks):
    """A warp that makes so many requests and needs none of them."""
    tape = Recorder()
    row = tape.ask(**asks)
    tape.warp()
    for _ in range(count):
        tape.add(kind, request=row)
    return tape.streams()


@cache
def copies(blocks, warps, rounds, ilp):
    """Blocks that copy: loads of a line each, then as many stores."""
    tape = Recorder()
    row = tape.ask(passes=1, memory=4)
    for block in range(blocks):
        for _ in range(warps):
            tape.warp(block)
            for _ in range(rounds):
                loads = [tape.add("load_global", request=row) for _ in range(ilp)]
                for load in loads:
                    tape.add("store_global", [load], request=row)
    return tape.streams()


@pytest.mark.rows("device", DEVICES)
def test_registers_alone_reach_the_fp32_peak(device):
    chip = hardware.get(device)
    done = replay(chains(16, 8, 256), device, resident=2)
    rate = 2 * 32 * done.issued / done.seconds * chip.compute_units.si
    assert rate >= 0.85 * chip.peak("fp32").si
    lanes = chip.peaks["fp32"].per_unit_per_cycle.si
    assert rate <= lanes * chip.compute_units.si * chip.clock.si
    assert done.bound in ("fma", "issue")


@pytest.mark.rows("device", DEVICES)
def test_one_warp_of_dependent_additions_pays_the_latency(device):
    took = machine_of(device).ways["fp32"].latency
    assert replay(chains(1, 1, 50), device, resident=1).cycles == 50 * took


@pytest.mark.rows(("warps", "ilp"), [(4, 1), (4, 2), (8, 1), (8, 2), (16, 4)])
@pytest.mark.rows("kind", ["fp32", "fp64", "special"])
def test_chains_and_warps_follow_littles_law(warps, ilp, kind):
    way = machine_of("a100-sxm-80gb").ways[kind]
    done = replay(chains(warps, ilp, 200, kind), "a100-sxm-80gb", resident=2)
    share = min(1.0, warps / 4 * ilp * way.hold / way.latency)
    assert done.ports[way.ports[0]] == pytest.approx(share, rel=0.02)


@pytest.mark.rows("device", DEVICES)
def test_a_copy_draws_the_stream_rate_of_the_device(device):
    chip = hardware.get(device)
    done = replay(copies(24, 8, 8, 8), device, resident=8)
    drawn = 24 * 8 * 8 * 8 * 256 / done.seconds * chip.compute_units.si
    share = drawn / hierarchy.stream_rate(chip, "mixed").rate
    assert 0.9 <= share <= 1.0


def test_a_copy_of_one_warp_draws_what_the_latency_lets_it():
    m = replace(machine_of(H100), written_wait=0, burst=0)
    done = replay(copies(1, 1, 20, 1), m, resident=1)
    line = 3 * m.memory_sector  # the last sector of a line comes so much later
    for load, again in zip(range(0, 40, 2), range(2, 40, 2), strict=False):
        apart = done.when[again] - done.when[load]
        assert m.memory_latency + line <= apart <= m.memory_latency + 3 * line


def test_a_loaded_memory_answers_later_the_more_is_asked():
    waits = []
    for warps in (1, 8, 32, 64):
        done = replay(copies(warps // 8 or 1, min(warps, 8), 6, 1), H100, resident=8)
        loads = range(0, len(done.when), 2)
        waits.append(sum(done.there[i] - done.when[i] for i in loads) / len(loads))
    assert waits == sorted(waits) and waits[-1] > 1.05 * waits[0]


def test_lanes_that_meet_at_a_word_take_turns():
    one, all_ = (
        replay(requests("atomic_shared", 64, passes=1, turns=n), H100, resident=1)
        for n in (1, 32)
    )
    turn = machine_of(H100).shared_turn
    assert all_.bounds["lsu"] == 64 * 32 * turn
    assert all_.cycles - one.cycles == 64 * 31 * turn
    far = replay(requests("atomic_global", 64, l2=1, turns=32), H100, resident=1)
    held = machine_of(H100).global_turn
    assert far.bounds["atomic"] == pytest.approx(64 * 32 * held, rel=1e-3)


def test_a_bank_conflict_of_32_takes_32_passes():
    free, worst = (
        replay(requests("load_shared", 40, passes=n), H100, resident=1) for n in (1, 32)
    )
    latency = machine_of(H100).ways["load_shared"].latency
    assert free.cycles == 39 + latency
    assert worst.cycles == 40 * 32 - 1 + latency
    assert worst.stalls["mio_throttle"] > 0 == free.stalls["mio_throttle"]


def test_a_barrier_waits_for_the_last():
    tape = Recorder()
    meet = tape.event(4)
    for warp in range(4):
        tape.warp()
        for i in range(100 if warp == 2 else 1):
            tape.add("fp32", [i - 1] if i else [], line=1)
        tape.add("barrier", arrive=meet, wait=meet, line=2)
        tape.add("fp32", line=3)
    done = replay(tape.streams(), H100, resident=1)
    took = done.machine.ways["barrier"].latency
    last = done.when[int(done.streams.first[3]) - 2]
    ends = [done.when[int(done.streams.first[w + 1]) - 1] for w in range(4)]
    assert ends == [last + took] * 4
    waited = done.by_line[2]["barrier"]  # charged to the line of the barrier
    assert waited == 3 * (last + took - 2) + took - 1


def pipeline(tiles, buffers, load, work):
    """A warp copies tiles into buffers, another works on them."""
    tape = Recorder()
    full = [tape.event(1) for _ in range(tiles)]
    empty = [tape.event(1) for _ in range(tiles)]
    row = tape.ask(memory=load)
    tape.warp()
    for tile in range(tiles):
        wait = empty[tile - buffers] if tile >= buffers else -1
        tape.add("bulk_copy", request=row, arrive=full[tile], wait=wait)
    tape.warp()
    for tile in range(tiles):
        before = tape.add("wait", wait=full[tile])
        for _ in range(work):
            before = tape.add("fp32", [before])
        tape.add("arrive", [before], arrive=empty[tile])
    return tape.streams()


def test_producers_and_consumers_overlap():
    alone = replay(pipeline(24, 1, 16, 200), H100, resident=1)
    two = replay(pipeline(24, 2, 16, 200), H100, resident=1)
    work = 24 * 200 * 4
    assert two.bounds["memory"] < work  # the work is what remains
    assert alone.cycles > work + 24 * 680
    assert work < two.cycles < work + 2 * 680 + 24 * 30


def test_a_fence_waits_for_stores_and_a_branch_for_itself():
    tape = Recorder()
    row = tape.ask(memory=4)
    tape.warp()
    tape.add("store_global", request=row)
    tape.add("fence", line=7)
    tape.add("branch")
    tape.add("int")
    done = replay(tape.streams(), H100, resident=1)
    assert done.when[1] == done.there[0] >= done.machine.l2_latency
    assert done.by_line[7]["membar"] == done.when[1] - 1
    assert done.when[3] - done.when[2] == done.machine.ways["branch"].after
    assert done.stalls["branch_resolving"] == done.when[3] - done.when[2] - 1


def test_a_block_starts_when_one_ends():
    done = replay(copies(6, 4, 1, 1), H100, resident=2)
    assert list(done.begin[:2]) == [0, 0]
    start = done.machine.block_start
    assert sorted(done.begin[2:]) == [end + start for end in sorted(done.end)[:4]]
    assert done.cycles >= max(done.end)


@pytest.mark.rows("resident", [1, 2, 3])
def test_what_is_left_out_takes_as_long_as_what_was_replayed(resident):
    whole = replay(copies(24, 4, 3, 2), H100, resident=resident)
    known = blocks_to_replay(24 * 132, 132, resident)
    some = replay(copies(known, 4, 3, 2), H100, resident=resident)
    launch = extrapolate(some, 24 * 132, 132)
    assert launch.share == known / 24 < 1
    assert launch.cycles == pytest.approx(whole.cycles, rel=0.04)
    assert extrapolate(whole, 24 * 132, 132).cycles == whole.cycles
    assert busiest(133, 132) == 2


@pytest.mark.rows("device", ["v100-pcie-16gb", "a100-sxm-80gb", H100])
def test_tensor_cores_reach_their_peak(device):
    chip = hardware.get(device)
    tape = Recorder()
    passes = product_cycles(chip, "fp16", 16 * 8 * 16)
    row = tape.ask(passes=passes)
    for _ in range(16):
        tape.warp()
        for i in range(64):
            tape.add("mma", [i - 8] if i >= 8 else [], request=row)
    done = replay(tape.streams(), device, resident=1)
    assert done.cycles == pytest.approx(4 * 64 * passes, rel=0.05)
    assert done.ports["tensor"] > 0.95


def test_fewer_units_leave_more_of_the_memory():
    loads = copies(4, 8, 4, 4)
    every, few = (replay(loads, H100, resident=4, active=n) for n in (132, 33))
    assert every.cycles > 1.5 * few.cycles


@pytest.mark.rows("policy", POLICIES)
def test_every_cycle_of_every_warp_has_a_reason(policy):
    done = replay(copies(5, 3, 2, 2), "rtx-3090", resident=2, policy=policy)
    lived = sum(part.end - part.start for part in timeline(done))
    assert lived == sum(done.stalls.values())
    assert lived == sum(sum(line.values()) for line in done.by_line.values())
    assert done.stalls["selected"] == done.issued


def stuck():
    tape = Recorder()
    meet = tape.event(2)
    tape.warp()
    tape.add("barrier", arrive=meet, wait=meet, line=12)
    tape.add("fp32", line=13)
    return tape.streams()


def product():
    tape = Recorder()
    tape.warp()
    tape.add("mma")
    return tape.streams()


test_bad_input = refusals(
    (
        lambda: replay(stuck(), H100, resident=1),
        "line 13 waits for event 0: 1 of 2",
    ),
    (lambda: replay(product(), H100, resident=1), "without a request"),
    (lambda: replay(chains(1, 1, 2), H100, resident=0), "resident = 0"),
    (lambda: replay(chains(1, 1, 2), H100, resident=1, policy="x"), "'x'"),
    (lambda: replay(requests("load_global", 1, l2=4096), H100, resident=1), "4095"),
    (lambda: replay(chains(1, 1, 2), "mi300x", resident=1), "ports of"),
    (lambda: replay(chains(1, 1, 2, "fp64"), "titan-rtx", resident=1), "'fp64'"),
    (
        lambda: extrapolate(replay(copies(4, 1, 1, 1), H100, resident=1), 3, 1),
        "few",
    ),
    error=(ValueError, hardware.UnknownSpec),
)
