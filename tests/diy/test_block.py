"""A block of a transformer in fixed point: loops to the same bits, near the float."""

import random
from math import isqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib.diy.silicon import block as fixed
from stacklib.diy.silicon.fixed import cut, rounded, shifted


def norm(row):
    """A residual over the root of its mean square, as eight bits."""
    square = sum(x * x for x in row)
    # The root with eight bits of fraction, one at least.
    root = max(isqrt((square << 16) // len(row)), 1)
    return [cut((2 * (x << 8 + fixed.NORMED) + root) // (2 * root)) for x in row]


def times(matrix, row):
    """Sums of products of a row with every row of a matrix."""
    return [sum(w * x for w, x in zip(line, row, strict=True)) for line in matrix]


def shares(scores):
    """Softmax of whole numbers with ``fixed.SCORE`` bits of fraction: parts of 2^15."""
    most = max(scores)
    powers = []
    for score in scores:
        below = score - most
        steps, part = -(below >> fixed.SCORE), below & (1 << fixed.SCORE) - 1
        # 2^-away = 2^(part/16) / 2^steps, and the table has half of that.
        powers.append(2 * fixed.TABLE[part] >> steps if steps < 17 else 0)
    total = sum(powers)
    return [(p * fixed.ONE + total // 2) // total for p in powers]


def run_block(block, tokens):
    """A block over residuals, each with those before it, as loops."""
    size = block.width // block.heads
    # Scores are sums with 2 * PASSED bits of fraction over the root of the size.
    scale = round(fixed.LOG2E / size**0.5)
    out = []
    kept = [[], [], []]
    q, k, v = kept
    for at, here in enumerate(fixed.check(block, tokens)):
        normed = norm(here)
        for rows, matrix in zip(kept, block[2:5], strict=True):
            rows.append([rounded(t, fixed.NARROW) for t in times(matrix, normed)])
        mixed = []
        for left in range(0, block.width, size):
            cols = range(left, left + size)
            dots = [sum(q[at][c] * k[s][c] for c in cols) for s in range(at + 1)]
            weights = shares([shifted(d * scale, fixed.SCALED) for d in dots])
            sums = [sum(w * v[s][c] for s, w in enumerate(weights)) for c in cols]
            mixed += [rounded(total, 15) for total in sums]
        more = times(block.out, mixed)
        here = [x + shifted(t, fixed.BACK) for x, t in zip(here, more, strict=True)]
        hidden = [max(rounded(t, fixed.NARROW), 0) for t in times(block.up, norm(here))]
        more = times(block.down, hidden)
        both = zip(here, more, strict=True)
        out.append([x + shifted(t, fixed.BACK) for x, t in both])
    return out


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
    assert run_block(block, few) == fixed.run_arrays(block, few).tolist()


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
    told = np.array(shares(scores)) / fixed.ONE
    powers = 2.0 ** ((np.array(scores) - max(scores)) / (1 << fixed.SCORE))
    assert np.abs(told - powers / powers.sum()).max() < 2e-3
    assert abs(told.sum() - 1) < 2e-3


def test_a_later_token_changes_nothing_before_it():
    block, tokens = fixed.drawn_block(), drawn(3)
    told = run_block(block, tokens)
    other = [*tokens[:-1], [-x for x in tokens[-1]]]
    assert run_block(block, other)[:-1] == told[:-1] != told[1:]


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
        ("no tokens", lambda: run_block(fixed.drawn_block(), [])),
        ("the block has 32", lambda: run_block(fixed.drawn_block(), [[1]])),
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
        told = run_block(block, tokens.tolist())
        assert told == run_block(block, tokens)
        assert told == fixed.run_arrays(block, tokens).tolist()
    assert told == [[0] * 32]
