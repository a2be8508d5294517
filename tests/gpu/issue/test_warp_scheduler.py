"""The sub-core against closed forms, bounds of any scheduler, and its own checker."""

import dataclasses
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib.gpu.issue.sub_core import KINDS, Issued, Op, SubCore, check
from stacklib.gpu.issue.warp_programs import (
    chain_cycles,
    chain_share,
    chains,
    schedule,
    stream,
    stream_share,
)
from stacklib.gpu.issue.warp_scheduler import POLICIES, run

from ...rows import refusals

policies = st.sampled_from(POLICIES)


@st.composite
def programs(draw):
    """Random instructions with random needs, for up to five warps."""
    found = []
    for _ in range(draw(st.integers(1, 5))):
        ops: list[Op] = []
        for at in range(draw(st.integers(1, 12))):
            needs = draw(st.sets(st.integers(0, at - 1), max_size=2)) if at else set()
            ops.append(Op(draw(st.sampled_from(KINDS)), tuple(sorted(needs))))
        found.append(ops)
    return found


cores = st.builds(
    SubCore,
    math=st.integers(1, 6),
    shared=st.integers(1, 12),
    memory=st.integers(1, 40),
    queue=st.integers(1, 6),
    interval=st.sampled_from([0, 1, 2, Fraction(7, 3)]),
    issue=st.integers(1, 3),
)


@given(programs(), cores, policies)
def test_every_schedule_passes_the_checker_and_accounts_for_every_cycle(w, core, how):
    done = run(w, core, policy=how)
    assert check(w, core, done.issued) == []
    assert len(done.issued) == sum(map(len, w))
    assert sum(done.states.values()) == done.warps * done.cycles
    filled = [one.cycle for one in done.issued]
    assert done.utilisation * core.issue * done.cycles == pytest.approx(len(filled))
    assert len(set(filled)) + done.stalled == done.cycles


@given(programs(), policies)
def test_no_scheduler_escapes_grahams_bound(warps, policy):
    core = SubCore(math=3, shared=7, memory=20)
    alone = max(run([w], core).cycles for w in warps)
    total = sum(map(len, warps))
    assert max(alone, total) <= run(warps, core, policy=policy).cycles <= alone + total


@given(st.integers(1, 9), st.integers(1, 6), st.integers(1, 12), st.integers(1, 6))
def test_chains_take_exactly_the_closed_form(warps, ilp, latency, rounds):
    core = SubCore(math=latency)
    listed = [chains(ilp, rounds)] * warps
    turns = run(listed, core, policy="lrr")
    assert turns.cycles == chain_cycles(warps, ilp, latency, rounds)
    assert run(listed, core, policy="gto").cycles >= turns.cycles


@pytest.mark.rows("policy", POLICIES)
@pytest.mark.rows(("warps", "ilp"), [(1, 1), (1, 2), (2, 2), (1, 4), (4, 1)])
def test_chains_reach_littles_law(warps, ilp, policy):
    done = run([chains(ilp, 400)] * warps, SubCore(math=4), policy=policy)
    assert done.utilisation == pytest.approx(chain_share(warps, ilp, 4), rel=0.02)


def test_the_oldest_first_leave_the_youngest_alone_at_the_end():
    # two warps fill every slot, and the third begins when they have finished
    done = run([chains(2, 400)] * 3, SubCore(math=4), policy="gto")
    assert done.cycles == pytest.approx(2 * 800 + 2 * 800, rel=0.01)
    fair = run([chains(2, 400)] * 3, SubCore(math=4), policy="lrr")
    assert fair.cycles == 3 * 800


def test_the_policies_part_when_the_first_comes_back():
    # in cycle 4 warp 0 can go on again, and warp 2 has been ready from the start
    told = {
        "lrr": [0, 1, 2] * 4,
        "gto": [0, 0, 1, 1, 0, 0, 1, 1, 2, 2, 2, 2],
        "greedy": [0, 0, 1, 1, 2, 2] * 2,
    }
    for policy in POLICIES:
        done = run([chains(2, 2)] * 3, SubCore(math=4), policy=policy)
        assert [one.warp for one in done.issued] == told[policy]


@pytest.mark.rows("policy", POLICIES)
def test_two_slots_by_hand(policy):
    done = run([chains(1, 2)] * 3, SubCore(math=3, issue=2), policy=policy)
    order = [(one.cycle, one.warp) for one in done.issued]
    assert order == [(0, 0), (0, 1), (1, 2), (3, 0), (3, 1), (4, 2)]
    assert (done.cycles, done.stalled, done.utilisation) == (5, 1, 6 / 10)


@settings(deadline=None)
@given(st.integers(1, 24), st.integers(1, 6), st.integers(2, 12), st.integers(1, 3))
def test_a_stream_draws_littles_law_at_most(warps, ilp, interval, work):
    core, rounds = SubCore(math=1, memory=120, interval=interval), 30
    done = run([stream(ilp, rounds, work)] * warps, core)
    reached = ilp * rounds * warps * interval / done.cycles
    law = stream_share(warps, ilp, core.memory, interval, work)
    assert reached <= law * (1 + 1e-9)
    # at the worst a warp waits for every request and slot of all the others
    slots = ilp * (1 + work)
    worst = core.memory + slots + warps * (ilp * interval + slots)
    assert reached >= warps * ilp * interval / worst


def test_a_stream_without_a_line_draws_exactly_littles_law():
    for warps, ilp in ((1, 1), (4, 1), (1, 4), (2, 3)):
        core = SubCore(math=1, memory=600, interval=1)
        done = run([stream(ilp, 50)] * warps, core)
        reached = ilp * 50 * warps / done.cycles
        assert reached == pytest.approx(stream_share(warps, ilp, 600, 1), rel=0.02)


def test_warps_and_ilp_are_the_same_thing():
    cycles = {
        run([chains(ilp, 60)] * (8 // ilp), SubCore(math=8), policy="lrr").cycles
        for ilp in (1, 2, 4, 8)
    }
    assert len(cycles) == 1


def test_it_agrees_with_the_loop_of_chapter_1():
    # one load at a time and work on its value that does not depend on other work
    for warps in (1, 3, 8):
        listed = []
        for i in range(10):
            listed += [Op("global", (5 * i - 1,) if i else ())]
            listed += [Op("math", (5 * i,))] * 4
        here = run([listed] * warps, SubCore(math=1, memory=36), policy="lrr")
        there = schedule(warps, work=4, latency=36, rounds=10, policy="lrr")
        assert here.cycles == there.cycles


def test_a_full_queue_is_charged_to_the_queue():
    listed = [stream(4, 4)] * 4
    free = run(listed, SubCore(memory=50))
    tight = run(listed, SubCore(memory=50, queue=2))
    assert free.states["queue full"] == 0 < tight.states["queue full"]
    assert tight.cycles > free.cycles


def test_the_checker_sees_planted_faults():
    core = SubCore(math=4, memory=30, queue=2)
    listed = [stream(2, 2)] * 2
    good = list(run(listed, core).issued)
    assert check(listed, core, good) == []
    twice = [*good]
    twice[1] = dataclasses.replace(twice[1], cycle=good[0].cycle)
    assert "issue" in check(listed, core, twice)[0]
    pair, wide = [Issued(0, 0, 0), Issued(0, 0, 1)], SubCore(issue=2)
    assert "warps [0, 0] issue" in check([[Op("math")] * 2], wide, pair)[0]
    early = [Issued(n, i.warp, i.at) for n, i in enumerate(good)]
    assert any("needs" in fault for fault in check(listed, core, early))
    assert "of 8 issued" in " ".join(check(listed, core, good[:-1]))
    swapped = [dataclasses.replace(i, at=1 - i.at) if i.at < 2 else i for i in good]
    assert "was next" in check(listed, core, swapped)[0]
    wide = list(run(listed, SubCore(math=4, memory=30)).issued)
    assert check(listed, core, wide) == ["4 loads under way, 2 fit"]


test_bad_input = refusals(
    (lambda: run([]), "no programs"),
    (lambda: run([[]]), "no instructions"),
    (lambda: run([[Op("maths")]]), "'maths'"),
    (lambda: run([[Op("math", (0,))]]), "earlier ones only"),
    (lambda: run([[Op("math")]], policy="rr"), "'rr'"),
    (lambda: SubCore(math=0), "math = 0"),
    (lambda: SubCore(queue=True), "queue = True"),
    (lambda: SubCore(interval=0.5), "interval = 0.5"),
    (lambda: chains(0, 1), "ilp = 0"),
    (lambda: stream(1, 1, 0), "work = 0"),
)
