"""A block of a transformer in fixed point: two ways to one result, near the float."""

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib.diy.silicon import block as fixed


def drawn(seed: int, width: int = 32, tokens: int = 9) -> list[list[int]]:
    pick = random.Random(seed)
    return [[round(pick.gauss(0, 128)) for _ in range(width)] for _ in range(tokens)]


@given(st.integers(0, 999), st.sampled_from([(4, 1), (8, 2), (24, 3)]))
@settings(max_examples=12, deadline=None)
def test_loops_and_arrays_agree_in_every_bit(seed, size):
    block = fixed.drawn_block(*size, seed)
    pick = random.Random(seed)
    few = [
        [pick.randrange(-fixed.ONE, fixed.ONE) for _ in range(size[0])]
        for _ in range(pick.randint(1, 6))
    ]
    assert fixed.run_block(block, few) == fixed.run_arrays(block, few).tolist()


def test_it_stays_near_the_floats_and_a_fault_does_not():
    for seed in range(4):
        block, tokens = fixed.drawn_block(seed=seed), drawn(seed)
        want = fixed.float_block(block, tokens)

        def miss(block, tokens=tokens, want=want):
            told = fixed.run_arrays(block, tokens) / (1 << fixed.FRACTION)
            return float(np.sqrt(((told - want) ** 2).mean()) / want.std())

        assert miss(block._replace(key=block.query)) > 2 * miss(block) < 0.06


@given(st.lists(st.integers(-4000, 4000), min_size=1, max_size=40))
@settings(max_examples=60, deadline=None)
def test_shares_are_those_of_the_softmax(scores):
    told = np.array(fixed.shares(scores)) / fixed.ONE
    powers = 2.0 ** ((np.array(scores) - max(scores)) / (1 << fixed.SCORE))
    assert np.abs(told - powers / powers.sum()).max() < 2e-3
    assert abs(told.sum() - 1) < 2e-3


def test_a_later_token_changes_nothing_before_it():
    block, tokens = fixed.drawn_block(), drawn(3)
    told = fixed.run_block(block, tokens)
    other = [*tokens[:-1], [-x for x in tokens[-1]]]
    assert fixed.run_block(block, other)[:-1] == told[:-1] != told[1:]


def test_products_are_those_that_the_loops_take():
    block = fixed.drawn_block(8, 2)
    dense = 4 * 8 * 8 + 2 * 8 * 32
    assert block.products(1) == dense + 2 * 8
    assert block.products(3) == 3 * dense + 2 * 8 * (1 + 2 + 3)


@pytest.mark.parametrize(
    ("says", "make"),
    [
        ("3 heads", lambda: fixed.drawn_block(32, 3)),
        ("width", lambda: fixed.drawn_block(0)),
        ("no tokens", lambda: fixed.run_block(fixed.drawn_block(), [])),
        ("the block has 32", lambda: fixed.run_block(fixed.drawn_block(), [[1]])),
        ("40000", lambda: fixed.run_arrays(fixed.drawn_block(), [[40000] * 32])),
        ("0.5", lambda: fixed.run_arrays(fixed.drawn_block(), [[0.5] * 32])),
        ("tokens", lambda: fixed.drawn_block().products(True)),
    ],
)
def test_what_is_refused(says, make):
    with pytest.raises(ValueError, match=says):
        make()


def test_narrow_integers_of_numpy_do_not_run_over_and_zeros_pass():
    block = fixed.drawn_block()
    for tokens in (np.array(drawn(1), np.int16) * 9, np.zeros((1, 32), np.int8)):
        told = fixed.run_block(block, tokens.tolist())
        assert told == fixed.run_block(block, tokens)
        assert told == fixed.run_arrays(block, tokens).tolist()
    assert told == [[0] * 32]
