"""Loops of loads and work: cases done by hand, closed forms, and Little's law."""

from itertools import pairwise

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib import gpu
from stacklib.gpu.issue.sub_core import Op, Segment, check
from stacklib.gpu.issue.warp_programs import (
    lockstep_utilisation,
    round_cycles,
    round_slots,
    schedule,
    stream,
    utilisation,
    warps_needed,
)
from stacklib.gpu.issue.warp_scheduler import POLICIES
from stacklib.quantity import Quantity
from stacklib.roofline.bound import littles_law

loops = st.fixed_dictionaries(
    {"ilp": st.integers(1, 6), "work": st.integers(1, 8), "latency": st.integers(1, 80)}
)
SAME = settings(max_examples=60, deadline=None)


def test_one_warp_by_hand():
    found = schedule(1, work=2, latency=5, rounds=2)
    assert [(i.cycle, found.op(i).kind) for i in found.issued] == [
        (0, "global"),
        (5, "math"),
        (6, "math"),
        (7, "global"),
        (12, "math"),
        (13, "math"),
    ]
    assert (found.cycles, found.stalled) == (14, 8)
    assert found.utilisation == 6 / 14


def test_two_warps_by_hand():
    found = schedule(2, work=2, latency=5, rounds=1)
    order = [(i.cycle, i.warp) for i in found.issued]
    assert order == [(0, 0), (1, 1), (5, 0), (6, 0), (7, 1), (8, 1)]
    turns = schedule(2, work=2, latency=5, rounds=1, policy="lrr")
    order = [(i.cycle, i.warp) for i in turns.issued]
    assert order == [(0, 0), (1, 1), (5, 0), (6, 1), (7, 0), (8, 1)]


def test_loads_ahead_by_hand():
    load = Op("global")
    assert stream(1, 3, ahead=1) == [
        load,
        load,
        Op("math", (0,)),
        load,
        Op("math", (1,)),
        Op("math", (3,)),
    ]


@SAME
@given(loops, st.integers(1, 12), st.integers(1, 20))
def test_one_warp_alone_takes_exactly_the_closed_form(loop, warps, rounds):
    found = schedule(1, rounds=rounds, **loop)
    assert found.cycles == rounds * round_cycles(**loop)


@SAME
@given(loops, st.integers(1, 12), st.integers(0, 3), st.sampled_from([8, 40]))
def test_greedy_is_never_faster_and_at_most_one_start_up_slower(loop, warps, ahead, n):
    """Stated tolerance: one and a half times a latency and a turn of all warps."""
    slots = round_slots(loop["ilp"], loop["work"])
    found = schedule(warps, rounds=n, ahead=ahead, **loop)
    share = utilisation(warps, ahead=ahead, **loop)
    ideal = n * warps * slots / share
    assert (
        ideal - 1e-6 <= found.cycles <= ideal + 1.5 * (loop["latency"] + warps * slots)
    )


@SAME
@given(loops, st.integers(1, 20), st.integers(1, 20))
def test_round_robin_keeps_warps_in_step_exactly(loop, warps, rounds):
    found = schedule(warps, rounds=rounds, policy="lrr", **loop)
    assert found.utilisation == pytest.approx(lockstep_utilisation(warps, **loop))
    assert found.utilisation <= utilisation(warps, **loop) + 1e-12


@SAME
@given(
    loops,
    st.integers(1, 8),
    st.integers(1, 4),
    st.integers(0, 2),
    st.sampled_from(POLICIES),
)
def test_every_schedule_keeps_the_rules(loop, warps, issue, ahead, policy):
    rounds, latency = 3, loop["latency"]
    found = schedule(
        warps, issue=issue, ahead=ahead, rounds=rounds, policy=policy, **loop
    )
    per_cycle: dict[int, list[int]] = {}
    for one in found.issued:
        per_cycle.setdefault(one.cycle, []).append(one.warp)
    for warps_now in per_cycle.values():
        assert len(warps_now) <= issue and len(set(warps_now)) == len(warps_now)
    listed = stream(loop["ilp"], rounds, loop["work"], ahead)
    for warp in range(warps):
        mine = [i for i in found.issued if i.warp == warp]
        assert [found.op(i) for i in mine] == listed
        for one, op in zip(mine, listed, strict=True):
            assert all(one.cycle >= mine[at].cycle + latency for at in op.needs)
    assert check(found.programs, found.core, found.issued) == []
    assert len(per_cycle) + found.stalled == found.cycles


@SAME
@given(loops, st.integers(1, 6), st.sampled_from(POLICIES))
def test_the_timeline_covers_every_cycle_once(loop, warps, policy):
    found = schedule(warps, rounds=2, policy=policy, **loop)
    for warp in range(warps):
        mine = [s for s in found.timeline() if s.warp == warp]
        assert mine[0].start == 0 and mine[-1].end == found.cycles
        assert all(a.end == b.start for a, b in pairwise(mine))
        assert {s.kind for s in mine} <= {"global", "math", "wait", "done"}


def test_a_timeline_by_hand():
    assert schedule(1, work=1, latency=3, rounds=1).timeline() == [
        Segment(0, 0, 1, "global"),
        Segment(0, 1, 3, "wait"),
        Segment(0, 3, 4, "math"),
    ]


@given(loops, st.integers(1, 64))
def test_the_closed_form_is_little_s_law(loop, warps):
    """Slots in flight over the time they take, against one slot a cycle."""
    slots, cycles = round_slots(loop["ilp"], loop["work"]), round_cycles(**loop)
    assert utilisation(warps, **loop) == pytest.approx(
        littles_law.share(warps * slots, cycles, 1)
    )


@given(loops, st.integers(1, 64))
def test_floats_quantities_and_arrays_agree(loop, warps):
    plain = utilisation(warps, **loop)
    traced = utilisation(
        Quantity(warps, "1"), **{k: Quantity(v, "1") for k, v in loop.items()}
    )
    swept = utilisation(numpy.array([warps, 2 * warps]), **loop)
    assert traced.si == pytest.approx(plain)
    assert swept == pytest.approx([plain, utilisation(2 * warps, **loop)])


def test_ilp_and_warps_trade_one_for_one():
    need = [warps_needed(ilp=k, work=4, latency=400 * k) for k in (1, 2, 4)]
    assert need == pytest.approx([need[0]] * 3)  # the same loads in flight a cycle
    assert warps_needed(ilp=4, work=4, latency=400) < need[0] / 3


@pytest.mark.rows(
    "bad",
    [
        {"warps": 0},
        {"work": 0},
        {"latency": 1.5},
        {"ilp": -1},
        {"issue": True},
        {"ahead": -1},
        {"rounds": 0},
        {"policy": "lottery"},
    ],
)
def test_bad_input_is_named(bad):
    with pytest.raises(ValueError, match=f"{next(iter(bad))} = "):
        gpu.schedule(**{"warps": 2, "work": 2, "latency": 5, **bad})
