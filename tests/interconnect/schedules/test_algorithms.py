"""Every algorithm at every number of ranks: proved, run, and no byte too many."""

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib.interconnect.schedules import algorithms
from stacklib.interconnect.schedules.algorithms import (
    GROUPED,
    KNOWN,
    PIPELINED,
    all_reduce,
    broadcast,
)
from stacklib.interconnect.schedules.algorithms_tree import colours, inorder, two_trees
from stacklib.interconnect.schedules.cost import least_share
from stacklib.interconnect.schedules.run import chunk_width, padding, run
from stacklib.interconnect.schedules.verify import verify
from stacklib.quantity import UnknownName

from ...rows import refusals

PAIRS = [(c, a) for c, table in KNOWN.items() for a in table]
RAGGED = [*range(1, 10), 12, 16, 17, 31, 32, 33]


def make(collective, algorithm, ranks, **asked):
    return getattr(algorithms, collective)(ranks, algorithm, **asked)


@st.composite
def asked(draw, least=1, most=33):
    collective, algorithm = draw(st.sampled_from(PAIRS))
    ranks = draw(st.integers(least, most))
    how = {}
    if algorithm in PIPELINED.get(collective, ()):
        how["chunks"] = draw(st.one_of(st.none(), st.integers(1, 9)))
    if algorithm in GROUPED:
        sizes = [g for g in range(1, ranks + 1) if ranks % g == 0]
        how["group"] = draw(st.one_of(st.none(), st.sampled_from(sizes)))
    if collective == "broadcast":
        how["root"] = draw(st.integers(0, ranks - 1))
    return make(collective, algorithm, ranks, **how)


@pytest.mark.rows(("collective", "algorithm"), PAIRS)
def test_every_algorithm_is_proved(collective, algorithm):
    for ranks in RAGGED:
        proof = verify(make(collective, algorithm, ranks))
        assert proof.holds, (ranks, proof.faults[:3])


def expected(schedule, arrays):
    n, total = schedule.ranks, sum(arrays)
    if schedule.collective == "all_reduce":
        return [total] * n
    if schedule.collective == "broadcast":
        return [arrays[schedule.root]] * n
    if schedule.collective == "all_gather":
        return [np.concatenate(arrays)] * n
    if schedule.collective == "all_to_all":
        blocks = [np.split(array, n) for array in arrays]
        return [np.concatenate([blocks[s][d] for s in range(n)]) for d in range(n)]
    width = chunk_width(schedule, arrays[0].shape) * schedule.chunks // n
    padded = np.pad(total.ravel(), (0, n * width - total.size))
    return list(padded.reshape(n, width))


@settings(deadline=None, max_examples=80)
@given(asked(most=20), st.integers(1, 70), st.integers(1, 2), st.data())
def test_proof_and_run_agree_in_integers(schedule, rows, columns, data):
    assert verify(schedule).holds
    if schedule.collective == "all_to_all":
        rows = schedule.ranks * (1 + rows % 3)
    seed = data.draw(st.integers(0, 2**16))
    arrays = np.random.default_rng(seed).integers(
        -(10**9), 10**9, (schedule.ranks, rows, columns)
    )
    before = arrays.copy()
    got = run(schedule, arrays)
    for mine, right in zip(got, expected(schedule, list(before)), strict=True):
        np.testing.assert_array_equal(mine, right)
    np.testing.assert_array_equal(arrays, before)  # what came in is left as it was


def test_floats_agree_to_rounding_and_padding_is_counted():
    arrays = np.random.default_rng(1).normal(size=(5, 7)).astype(np.float32)
    sums = [run(all_reduce(5, name), arrays)[0] for name in KNOWN["all_reduce"]]
    for one in sums:
        assert one.dtype == np.float32
        np.testing.assert_allclose(one, arrays.sum(0), rtol=1e-4, atol=1e-6)
    assert any((one != sums[0]).any() for one in sums)  # floats add in some order
    assert padding(all_reduce(5), (7,)) == 3


LEAST = ("ring", "direct", "bruck", "hierarchical", "halving_doubling")


@settings(deadline=None, max_examples=60)
@given(
    st.sampled_from(["all_reduce", "reduce_scatter", "all_gather"]),
    st.sampled_from(LEAST),
    st.integers(2, 33),
)
def test_bytes_of_every_rank_are_the_least_there_are(collective, algorithm, ranks):
    if algorithm == "halving_doubling":
        ranks = 1 << ranks.bit_length() - 1  # beyond a power of two it folds
    schedule = make(collective, algorithm, ranks)
    out = Counter(send.source for send in schedule.sends)
    into = Counter(send.destination for send in schedule.sends)
    least = least_share(collective, ranks)
    for rank in range(ranks):
        assert Fraction(out[rank], schedule.chunks) == least
        assert Fraction(into[rank], schedule.chunks) == least


@pytest.mark.rows("ranks", [2, 5, 8, 33])
def test_steps_are_those_of_the_books(ranks):
    log = (ranks - 1).bit_length()
    assert all_reduce(ranks).steps == 2 * (ranks - 1)
    assert all_reduce(ranks, "bruck").steps == 2 * log
    assert all_reduce(ranks, "direct").steps == 2
    assert all_reduce(ranks, "in_switch").steps == 2
    assert all_reduce(ranks, "in_switch").switches == 1
    assert all_reduce(ranks, "tree").steps == 2 * (ranks.bit_length() - 1)
    leaves = -(-ranks // 4)
    through = all_reduce(ranks, "collnet", group=4)
    assert through.switches == (leaves + 1 if leaves > 1 else 1)
    assert through.steps == (4 if leaves > 1 else 2)


def test_of_two_trees_no_rank_passes_on_in_both():
    for ranks in range(2, 130):
        trees = two_trees(ranks)
        one, two = (set(parents.values()) for parents in trees)
        assert not one & two
        assert all(len(parents) == ranks - 1 for parents in trees)
        found = colours(trees)
        for child in range(ranks):
            ups = [found[t, child] for t in (0, 1) if child in trees[t]]
            assert len(set(ups)) == len(ups)
        for tree, parents in enumerate(trees):
            for parent in set(parents.values()):
                downs = [found[tree, c] for c in parents if parents[c] == parent]
                assert len(set(downs)) == len(downs) <= 2
    assert inorder(7) == {0: 1, 2: 1, 1: 3, 4: 5, 6: 5, 5: 3}


@settings(deadline=None, max_examples=40)
@given(st.integers(2, 33), st.integers(1, 9), st.booleans())
def test_two_trees_send_and_receive_one_chunk_a_step(ranks, chunks, spread):
    build = broadcast if spread else all_reduce
    schedule = build(ranks, "double_binary_tree", chunks=chunks)
    for sends in schedule.by_step():
        assert max(Counter(s.source for s in sends).values()) == 1
        assert max(Counter(s.destination for s in sends).values()) == 1


def test_across_nodes_goes_one_message_in_a_group():
    """Nodes of four: between two of them 4 messages of 4 chunks, not 16 of one."""
    grouped = make("all_to_all", "hierarchical", 16, group=4)
    crossing = [
        Counter((s[1], s[2]) for s in schedule.sends if s[1] // 4 != s[2] // 4)
        for schedule in (make("all_to_all", "direct", 16), grouped)
    ]
    assert [sum(c.values()) for c in crossing] == [192, 192]
    assert [len(c) for c in crossing] == [192, 48]


test_bad_input_is_refused = refusals(
    (lambda: all_reduce(0), "ranks = 0"),
    (lambda: all_reduce(2.5), "ranks = 2.5"),
    (lambda: all_reduce(8, chunks=4), "cuts the array by its ranks"),
    (lambda: all_reduce(8, "tree", chunks=0), "chunks = 0"),
    (lambda: all_reduce(8, "tree", group=4), "knows no nodes"),
    (lambda: all_reduce(8, "hierarchical", group=3), "does not divide 8 ranks"),
    (lambda: broadcast(4, root=4), "ranks are 0 to 3"),
    (lambda: run(all_reduce(2), [[1]]), "1 arrays for 2 ranks"),
    (lambda: run(all_reduce(2), [[1], [1, 2]]), "rank 1 has int64 of shape"),
    (lambda: run(all_reduce(2), [["a"], ["b"]]), "no numbers to add"),
    (lambda: run(all_reduce(2), [[], []]), "empty"),
    (lambda: run(make("all_to_all", "ring", 2), [[1]] * 2), "in 2 blocks"),
)


def test_an_unknown_algorithm_brings_those_like_it():
    with pytest.raises(UnknownName, match="did you mean: double_binary_tree"):
        all_reduce(8, "double_binary_trees")
    with pytest.raises(UnknownName, match="algorithm of all_to_all"):
        make("all_to_all", "tree", 8)
    assert all_reduce(8, "Halving-Doubling").algorithm == "halving_doubling"
