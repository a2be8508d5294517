"""The replay against a twin that skips nothing, a checker, and planted faults."""

import dataclasses
import hashlib
import random
import subprocess
import sys
from fractions import Fraction

import pytest

from stacklib.gpu.issue.machine import machine_of
from stacklib.gpu.issue.replay import POLICIES, replay
from stacklib.gpu.issue.replay_check import Schedule, check_schedule
from stacklib.gpu.issue.streams import Recorder
from stacklib.gpu.issue.sub_core import KINDS, Op, SubCore
from stacklib.gpu.issue.timeline import timeline
from stacklib.gpu.issue.warp_scheduler import run

from .replay_cases import Twin, random_streams

DEVICES = ("v100-pcie-16gb", "t4", "rtx-3090", "h100-sxm", "rtx-5090")


def machine_for(rng):
    """A device's ports; latencies cut so that queues are what it waits for."""
    machine = machine_of(rng.choice(DEVICES), stores=rng.random() < 0.5)
    if rng.random() < 0.3:
        return machine
    return dataclasses.replace(
        machine,
        l1_latency=rng.randint(2, 9),
        l2_latency=rng.randint(4, 30),
        memory_latency=rng.randint(10, 60),
        misses=rng.choice([1, 8, 60, 512]),
        queue=rng.randint(1, 4),
        slots=rng.randint(1, 2),
        lsu_pass=rng.choice([1, 2]),
        written_wait=rng.choice([0, 40, 900]),
        burst=rng.choice([0, 3, 200]),
    )


def held_to_the_twin(seed):
    rng = random.Random(seed)
    streams, machine = random_streams(rng), machine_for(rng)
    resident, policy = rng.randint(1, 3), rng.choice(POLICIES)
    done = replay(streams, machine, resident=resident, policy=policy)
    twin = Twin(streams, machine, resident, policy).run()
    assert list(done.when) == [twin.when[i] for i in range(len(streams))]
    assert list(done.there) == [twin.there[i] for i in range(len(streams))]
    assert done.cycles == twin.end
    if machine.slots == 1:  # with two, a port fills while the second is picked
        found = {reason: cycles for reason, cycles in done.stalls.items() if cycles}
        assert found == {r: c for r, c in twin.stalls.items() if c}
    listed = Schedule(done.when, done.serial, done.sub_core)
    assert check_schedule(streams, machine, resident, listed) == []
    assert all(least <= done.cycles for least in done.bounds.values())
    lived = sum(part.end - part.start for part in timeline(done))
    assert lived == sum(done.stalls.values())


@pytest.mark.rows("seed", range(25))
def test_random_streams_issue_as_the_twin_says(seed):
    held_to_the_twin(seed)


@pytest.mark.slow
@pytest.mark.rows("seed", range(1000, 1600))
def test_more_random_streams_issue_as_the_twin_says(seed):
    held_to_the_twin(seed)


@pytest.mark.parametrize("seed", range(30))
def test_the_loop_gives_the_same_uncompiled(seed, monkeypatch):
    rng = random.Random(seed)
    streams, resident = random_streams(rng), rng.randint(1, 3)
    done = replay(streams, "rtx-4090", resident=resident)
    names = ("when", "ready_at", "why", "held", "there", "serial", "begin", "end")
    compiled = [[int(x) for x in getattr(done, name)] for name in names]
    stalls, bounds = done.stalls, done.bounds
    for module in ("stacklib.gpu.issue.replay",):
        monkeypatch.setattr(f"{module}.compiled", lambda: False)
        monkeypatch.setattr(f"{module}.soon", lambda loop, _: loop)
    plain = replay(streams, "rtx-4090", resident=resident)
    assert isinstance(plain.when, list)
    assert [getattr(plain, name) for name in names] == compiled
    assert (plain.stalls, plain.bounds) == (stalls, bounds)
    assert plain.by_line == done.by_line


def test_it_runs_without_numpy():
    code = """
import sys
sys.modules["numpy"] = sys.modules["numba"] = None
from stacklib.gpu.issue.streams import Recorder
from stacklib.gpu.issue.replay import replay
from stacklib.gpu.issue.timeline import timeline
tape = Recorder()
for warp in range(8):
    tape.warp()
    load = tape.add("load_global", line=1, request=tape.ask(passes=1, memory=4))
    tape.add("fp32", [load], line=2)
done = replay(tape.streams(), "h100-sxm", resident=1)
assert done.stalls["long_scoreboard"] > 8 * 600 and timeline(done)
print(done.cycles)
"""
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert found.returncode == 0, found.stderr
    tape = Recorder()
    for _ in range(8):
        tape.warp()
        load = tape.add("load_global", request=tape.ask(passes=1, memory=4))
        tape.add("fp32", [load])
    assert int(found.stdout) == replay(tape.streams(), "h100-sxm", resident=1).cycles


def sub_core_cases():
    """400 random programs and sub-cores, always the same."""
    rng = random.Random(15)
    for _ in range(400):
        programs = []
        for _ in range(rng.randint(1, 6)):
            ops = []
            for at in range(rng.randint(1, 20)):
                few = min(at, rng.randint(0, 2))
                needs = tuple(sorted(rng.sample(range(at), few))) if at else ()
                ops.append(Op(rng.choice(KINDS), needs))
            programs.append(ops)
        core = SubCore(
            math=rng.randint(1, 6),
            shared=rng.randint(1, 12),
            memory=rng.randint(1, 40),
            queue=rng.choice([1, 2, 3, 6, 10**6]),
            interval=rng.choice([0, 1, 2, Fraction(7, 3)]),
            issue=rng.randint(1, 3),
        )
        yield programs, core, rng.choice(POLICIES)


def test_one_sub_core_issues_as_it_did_before_it_had_ports():
    # of the scheduler of one sub-core as it stood before there were four
    told = hashlib.sha256()
    for programs, core, policy in sub_core_cases():
        done = run(programs, core, policy=policy)
        told.update(repr([(o.cycle, o.warp, o.at) for o in done.issued]).encode())
    assert (
        told.hexdigest()
        == "4837ccbb942f7d6720a623a6f8852b951a3d817475fd39854a232feefe126ce4"
    )


def planted():
    """A schedule with everything in it, and its streams."""
    tape = Recorder()
    line = tape.ask(passes=1, memory=4)
    near, copied = tape.ask(passes=4), tape.event(1)
    for block in range(2):
        meet = tape.event(5)
        for warp in range(5):
            tape.warp(block)
            load = tape.add("load_global", request=line)
            tape.add("fp32", [load])
            tape.add("fp32")
            tape.add("fp64")
            tape.add("fp64")
            for _ in range(3):
                tape.add("load_shared", request=near)
            tape.add("store_global", request=line)
            tape.add("fence")
            tape.add("barrier", arrive=meet, wait=meet)
            tape.add("branch")
            last = tape.add("int")
            if block == warp == 0:
                tape.add("async_copy", [last], request=line, arrive=copied)
                tape.add("wait", wait=copied)
    machine = dataclasses.replace(machine_of("rtx-3090"), misses=8, queue=2)
    return tape.streams(), machine


def at(streams, warp, place):
    return streams.first[warp] + place


FAULTS = {
    "no slot": (1, 2, lambda s, w: w[at(s, 0, 3)]),
    "needs instruction 0": (0, 1, lambda s, w: w[at(s, 0, 0)] + 1),
    "port fp64 is taken": (0, 4, lambda s, w: w[at(s, 0, 3)] + 1),
    "wait in the queue": (0, 8, lambda s, w: w[at(s, 0, 7)] + 1),
    "sectors under way": (3, 0, lambda s, w: 0),
    "store before the fence": (0, 9, lambda s, w: w[at(s, 0, 8)] + 1),
    "event 1": (0, 11, lambda s, w: w[at(s, 0, 10)] + 1),
    "branch before it": (0, 12, lambda s, w: w[at(s, 0, 11)] + 1),
    "event 0": (0, 14, lambda s, w: w[at(s, 0, 13)] + 1),
    "not after": (0, 3, lambda s, w: w[at(s, 0, 2)]),
    "one too many": (5, 0, lambda s, w: 3),
}


@pytest.mark.rows("says", FAULTS)
def test_the_checker_sees_a_planted_fault(says):
    streams, machine = planted()
    done = replay(streams, machine, resident=1)
    when = [int(x) for x in done.when]
    good = Schedule(when, done.serial, done.sub_core)
    assert check_schedule(streams, machine, 1, good) == []
    warp, place, cycle = FAULTS[says]
    moved = list(when)
    moved[at(streams, warp, place)] = cycle(streams, when)
    cores = list(done.sub_core)
    if says == "no slot":
        cores[1] = cores[0]
    order = sorted(range(len(moved)), key=lambda i: (moved[i], done.serial[i]))
    serial = [0] * len(order)
    for n, i in enumerate(order):
        serial[i] = n
    found = check_schedule(streams, machine, 1, Schedule(moved, serial, cores))
    assert any(says in fault for fault in found), found


def test_a_schedule_out_of_order_is_named():
    streams, machine = planted()
    done = replay(streams, machine, resident=1)
    swapped = [int(x) for x in done.serial]
    swapped[0], swapped[5] = swapped[5], swapped[0]
    found = check_schedule(
        streams, machine, 1, Schedule(done.when, swapped, done.sub_core)
    )
    assert any("is counted after" in fault for fault in found)
