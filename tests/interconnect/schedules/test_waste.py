"""Wrong or wasteful: `verify` against sums of numbers in every order of arrival."""

import random
from dataclasses import replace
from itertools import permutations, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib.interconnect.schedules import algorithms
from stacklib.interconnect.schedules.algorithms import KNOWN, all_reduce
from stacklib.interconnect.schedules.run import run
from stacklib.interconnect.schedules.schedule import Schedule
from stacklib.interconnect.schedules.verify import verify

PAIRS = [(c, a) for c, table in KNOWN.items() for a in table]


def right(schedule, drawn):
    """Whether every rank ends with its sum of real numbers, whatever arrives first."""
    begins = {
        (rank, chunk): 1 + drawn.random()
        for rank in range(schedule.ranks)
        for chunk in schedule.begins(rank)
    }
    holds = dict(begins)
    for sends in schedule.by_step():
        arrive = {}
        for _, source, node, chunk, reduce in sends:
            if (source, chunk) not in holds:
                return False
            came = holds[source, chunk], reduce
            arrive.setdefault((node, chunk), []).append(came)
        after = {}
        for cell, came in arrive.items():
            orders = permutations(came) if len(came) < 6 else [came, came[::-1]]
            ends = {round(summed(holds.get(cell), order), 9) for order in orders}
            after[cell] = ends.pop() if len(ends) == 1 else float("nan")
        holds |= after
    return all(
        abs(holds.get((rank, chunk), 0) - sum(of(begins, chunk))) < 1e-6
        for rank in range(schedule.ranks)
        for chunk in schedule.ends(rank)
    )


def summed(there, order):
    for value, reduce in order:
        there = value if there is None or not reduce else there + value
    return there


def of(begins, chunk):
    return (value for (_, one), value in begins.items() if one == chunk)


def made(schedule, sends):
    return replace(schedule, sends=tuple(sorted(sends, key=lambda send: send[0])))


@st.composite
def mutated(draw):
    """A right schedule with up to three things changed, of any kind."""
    collective, algorithm = draw(st.sampled_from(PAIRS))
    schedule = getattr(algorithms, collective)(draw(st.integers(2, 6)), algorithm)
    sends = list(schedule.sends)
    nodes = st.integers(0, schedule.nodes - 1)
    steps = st.integers(0, schedule.steps)
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(sends) - 1))
        one = sends[at]
        change = draw(
            st.sampled_from(
                [
                    None,
                    {"destination": draw(nodes)},
                    {"source": draw(nodes)},
                    {"chunk": draw(st.integers(0, schedule.chunks - 1))},
                    {"reduce": not one.reduce},
                    {"step": draw(steps)},
                ]
            )
        )
        if draw(st.booleans()):  # besides, not instead
            sends.append(one)
        if change is not None:
            sends[at] = one._replace(**change)
        elif len(sends) > 1:
            del sends[at]
    return made(schedule, sends)


@settings(deadline=None, max_examples=120)
@given(mutated())
def test_a_schedule_holds_where_every_rank_ends_with_its_sum(schedule):
    proof = verify(schedule)
    assert proof.holds == right(schedule, random.Random(6)), proof
    assert proof.holds or not proof.races
    if proof.holds:  # and what is named as waste can be left out, all of it
        lean = made(schedule, useful(schedule, proof))
        again = verify(lean)
        assert again.holds and not again.waste, (proof.waste, again)


def useful(schedule, proof):
    """Sends but for the wasted, each of which its place tells."""
    left = list(proof.waste)
    for send in reversed(schedule.sends):  # of two alike the second is wasted
        source = f"from {name(send.source, schedule)}"
        place = (send.step, send.destination, send.chunk)
        says = "" if send.source == send.destination else source
        hit = next(
            (f for f in left if f[:3] == place and f.says in (says, source)), None
        )
        if hit is None:
            yield send
        else:
            left.remove(hit)
    assert not left


def name(node, schedule):
    return (
        f"rank {node}" if node < schedule.ranks else f"switch {node - schedule.ranks}"
    )


def test_all_short_schedules_of_two_ranks():
    sends = list(product(range(2), range(2), [0], [True, False]))
    steps = [
        [one for bit, one in enumerate(sends) if mask >> bit & 1]
        for mask in range(1 << len(sends))
        if mask.bit_count() < 3
    ]
    drawn, held = random.Random(0), 0
    for collective, first, second in product(("all_reduce", "broadcast"), steps, steps):
        rows = [(0, *one) for one in first] + [(1, *one) for one in second]
        schedule = Schedule(collective, "mine", 2, 1, rows)
        proof = verify(schedule)
        assert proof.holds == right(schedule, drawn), (rows, proof)
        held += proof.holds
    assert held > 20


def mine(*sends, ranks=2, chunks=1, collective="all_reduce", **more):
    return verify(Schedule(collective, "mine", ranks, chunks, sends, **more))


SUM = ((0, 0, 1, 0, True), (1, 1, 0, 0, False))


@pytest.mark.rows(
    ("proof", "notes"),
    [
        # the sum is spoilt at rank 1, and overwritten by the right one
        (
            mine(
                (0, 1, 0, 0, True),
                (0, 0, 1, 0, True),
                (1, 0, 1, 0, True),
                (2, 0, 1, 0, False),
            ),
            [
                "step 0, rank 1, chunk 0: sent for nothing: from rank 0",
                "step 1, rank 1, chunk 0: sent for nothing: from rank 0",
            ],
        ),
        (
            mine(*SUM, (2, 0, 1, 0, False)),
            ["step 2, rank 1, chunk 0: there already: from rank 0"],
        ),
        (
            mine(*SUM, (2, 1, 1, 0, False)),
            ["step 2, rank 1, chunk 0: sends to itself"],
        ),
        # two alike in one step: which comes first makes no difference
        (
            mine(*SUM, (1, 1, 0, 0, False)),
            ["step 1, rank 0, chunk 0: there already: from rank 1"],
        ),
        # a rank that does not need it, and a switch that passes nothing on
        (
            mine(
                (0, 0, 1, 1, True),
                (0, 1, 0, 0, True),
                (1, 0, 1, 0, False),
                chunks=2,
                collective="reduce_scatter",
            ),
            ["step 1, rank 1, chunk 0: sent for nothing: from rank 0"],
        ),
        (
            mine(*SUM, (1, 0, 2, 0, False), switches=1),
            ["step 1, switch 0, chunk 0: sent for nothing: from rank 0"],
        ),
        # swapped sums: each sends what the other's comes over
        (mine((0, 0, 1, 0, True), (0, 1, 0, 0, True)), []),
    ],
)
def test_what_is_wasted_is_named_and_holds(proof, notes):
    assert proof.holds, proof
    told = [note for note in proof.notes if "in one step" not in note]
    assert told == notes, proof


def test_a_fault_is_named_where_waste_came_before_it():
    """Rank 2's own part is lost at step 1; a spoilt copy at rank 1 is not to blame."""
    sends = [
        (0, 0, 1, 0, True),
        (1, 0, 1, 0, False),  # over a sum that nobody needs
        (1, 0, 2, 0, False),  # over what nobody has
        (2, 1, 0, 0, False),
    ]
    proof = mine(*sends, ranks=3)
    assert "step 1, rank 2, chunk 0: overwritten before it was sent: rank 2" in str(
        proof
    )


def test_what_is_right_in_steps_alone_is_said():
    swap = mine((0, 0, 1, 0, True), (0, 1, 0, 0, True))
    assert swap.holds and not swap.waste and len(swap.races) == 2
    assert "step 0, rank 1, chunk 0: sent and received in one step" in str(swap)
    assert not mine(*SUM).races
    for collective, algorithm in PAIRS:
        assert not verify(getattr(algorithms, collective)(8, algorithm)).notes


@settings(deadline=None, max_examples=20)
@given(st.integers(2, 6), st.randoms(use_true_random=False))
def test_without_races_a_step_needs_no_order_of_its_own(ranks, drawn):
    """Sends of a step one by one, in any order, each seeing what came before."""
    for algorithm in ("ring", "tree", "direct", "halving_doubling", "bruck"):
        schedule = all_reduce(ranks, algorithm)
        mixed = []
        for sends in schedule.by_step():
            one_by_one = list(sends)
            drawn.shuffle(one_by_one)
            mixed += [s._replace(step=len(mixed) + i) for i, s in enumerate(one_by_one)]
        assert verify(made(schedule, mixed)).holds


def test_fewest_sends_are_known():
    for collective, algorithm in PAIRS:
        for ranks in (1, 2, 5, 8):
            schedule = getattr(algorithms, collective)(ranks, algorithm)
            assert verify(schedule).least <= len(schedule.sends)
    for ranks in (2, 3, 4, 7):
        ring = verify(all_reduce(ranks))
        assert ring.least == ring.sends and "would do" not in str(ring)
    doubling = [(s, at, at ^ 1 << s, 0, True) for s in range(2) for at in range(4)]
    assert "8 sends in 2 steps; 6 sends would do" in str(mine(*doubling, ranks=4))


def test_what_is_wasted_runs_as_well():
    sends = ((0, 1, 1, 0, False), *SUM, (2, 0, 1, 0, False))
    ends = run(Schedule("all_reduce", "mine", 2, 1, sends), [[1.5], [2.0]])
    assert [end.tolist() for end in ends] == [[3.5], [3.5]]
