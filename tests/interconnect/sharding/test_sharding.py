"""Sharded training: closed form, the parameter list counted, integers exact."""

from math import prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib.interconnect.schedules.cost import least_share
from stacklib.interconnect.sharding import held, parts, steps
from stacklib.tinylm.config import DATA, read_config, shapes

from ...rows import refusals

TINY = shapes(read_config(DATA / "tiny" / "config.json"))
COUNT = sum(map(prod, TINY.values()))


@pytest.mark.rows("zero", held.STAGES)
@pytest.mark.rows("ranks", [1, 2, 4, 8])
def test_the_list_split_is_the_closed_form(ranks, zero):
    told = held.shard_memory(COUNT, ranks, zero)
    for rank in range(ranks):
        assert parts.count_held(TINY, ranks, rank, zero) == told
    assert parts.padded(TINY, ranks) * ranks == COUNT  # every axis divides


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.integers(1, 40), st.integers(1, 5)), min_size=1, max_size=6),
    st.integers(1, 17),
)
def test_parts_are_the_whole_and_padding_is_what_is_over(listed, ranks):
    table = {str(i): shape for i, shape in enumerate(listed)}
    each = [parts.sharded(table, ranks, rank) for rank in range(ranks)]
    assert sum(each) == sum(map(prod, listed))
    assert parts.padded(table, ranks) == max(each) == each[0]
    least = held.shard_memory(sum(each), ranks, 3, weight=1).weights
    assert each[0] >= least


def test_stages_send_what_their_collectives_must():
    n, size = 8, 1e9
    reduce = least_share("all_reduce", n) * size * 2
    once = least_share("all_gather", n) * size * 2
    assert held.shard_bytes(size, n) == reduce == held.shard_bytes(size, n, 2)
    assert held.shard_bytes(size, n, 3) == 3 * once


def _case(seed, rows=12, inner=6):
    draw = np.random.default_rng(seed)
    ints = lambda *shape: draw.integers(-9, 10, shape)  # noqa: E731
    weights = ints(inner, 5), ints(3, inner)
    momentum = ints(inner, 5), ints(3, inner)
    return weights, momentum, ints(rows, 5), ints(rows, 3)


@pytest.mark.rows("zero", held.STAGES)
@pytest.mark.rows("ranks", [1, 2, 3, 4])
def test_a_step_in_parts_is_the_whole_step(ranks, zero):
    case = _case(ranks)
    wanted, _ = steps.whole_step(*case)
    got, net = steps.data_parallel_step(*case, ranks=ranks, zero=zero)
    for pair in got:
        assert all(np.array_equal(a, b) for a, b in zip(pair, wanted, strict=True))
    sizes = [w.size for w in case[0]]
    filled = sum(-(-size // ranks) * ranks for size in sizes)
    form = held.shard_bytes(filled, ranks, zero, weight=1, gradient=1)
    assert net.sent == pytest.approx(form)


@pytest.mark.rows("ranks", [1, 2, 3])
def test_split_matrices_give_the_same_step(ranks):
    case = _case(7)
    wanted, _ = steps.whole_step(*case)
    got, net = steps.tensor_parallel_step(*case, ranks=ranks)
    assert all(np.array_equal(a, b) for a, b in zip(got, wanted, strict=True))
    assert net.calls == ["all_reduce", "all_reduce"]


def test_a_planted_fault_shows():
    """Gradients of one rank lost: the step is another one."""
    weights, momentum, x, y = _case(1)
    wanted, _ = steps.whole_step(weights, momentum, x, y)
    x = x.copy()
    x[-6:] = 0
    got, _ = steps.data_parallel_step(weights, momentum, x, y, ranks=2)
    assert not np.array_equal(got[0][0], wanted[0])


def test_split_matrices_of_the_tiny_model():
    half = parts.tensor_shapes(TINY, 2)
    whole = [n for n in TINY if half[n] == TINY[n]]
    assert all("norm" in n or "embed" in n for n in whole)
    split = sum(prod(s) for n, s in TINY.items() if n not in whole)
    rest = COUNT - split
    assert sum(map(prod, half.values())) == rest + split // 2


def test_activations_are_the_sum_of_their_list():
    for ways in (1, 2, 8):
        listed = sum(b / ways if split else b for _, b, split in held.KEPT)
        assert held.kept_activations(100, 10, ways) == pytest.approx(listed * 1000)
        every = sum(b for _, b, _ in held.KEPT) / ways
        told = held.kept_activations(100, 10, ways, sequence=True)
        assert told == pytest.approx(every * 1000)


def test_tensor_parallel_bytes():
    assert held.tensor_message(8192, 1) == 16384
    assert held.tensor_bytes(80, 8192, 1, 8) == pytest.approx(160 * 16384 * 2 * 7 / 8)


test_bad_input_is_refused = refusals(
    (lambda: held.shard_memory(1e9, 4, 4), "zero = 4"),
    (lambda: held.shard_memory(0, 4), "parameters = 0"),
    (lambda: held.shard_memory(1e9, 0), "ranks = 0"),
    (lambda: held.shard_bytes(float("nan"), 2), "parameters = nan"),
    (lambda: parts.tensor_shapes(TINY, 3), "ways must divide"),
    (lambda: steps.data_parallel_step(*_case(0), ranks=5), "12 samples among 5"),
    (lambda: parts.count_held(TINY, 2, 0, 7), "zero = 7"),
)
