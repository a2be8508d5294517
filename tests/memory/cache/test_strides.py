"""Strides: sets by formula and counted, a transpose by formula and run."""

from itertools import product

import numpy as np
import pytest

from stacklib.memory import Cache
from stacklib.memory.cache.strides import (
    _lines_by_set,
    column_fills,
    count_fullest_set,
    fullest_set,
    transpose_fills,
    transpose_trace,
)


def test_the_formula_counts_every_small_walk():
    for count, s, sets in product(range(1, 40), range(1, 40), range(1, 20)):
        told = fullest_set(count, 64 * s, 64, sets)
        assert told == count_fullest_set(count, 64 * s, 64, sets)


@pytest.mark.rows("side", [16, 32, 48, 64, 80, 96, 128, 144, 256, 272])
@pytest.mark.rows(("sets", "ways"), [(64, 12), (64, 4), (16, 8)])
def test_a_transpose_fills_what_the_sets_say(side, sets, ways):
    # Between two touches of a line the result takes a line or two as well: where a set
    # is just full, that decides, and the formula does not see it.
    if any(ways - 1 <= n <= ways + 1 for n in _lines_by_set(side, 4 * side, 64, sets)):
        pytest.skip("a set that is just full")
    trace, stores = transpose_trace(side, 4)
    run = Cache(sets * ways * 64, ways, 64).run(trace, stores)
    cold = side * side * 4 / 64
    if 2 * cold <= sets * ways:
        assert run.fills == 2 * cold  # everything fits
    else:
        told = column_fills(side, 4, line=64, sets=sets, ways=ways) * side * side
        assert run.fills == pytest.approx(told, rel=0.02)


def test_the_trace_transposes():
    side = 5
    trace, stores = transpose_trace(side, 4)
    x = np.arange(side * side)
    y = np.full(side * side, -1)
    y[(trace[stores] - 4096) // 4] = x[trace[~stores] // 4]
    assert (y.reshape(side, side) == x.reshape(side, side).T).all()


def test_a_warm_transpose_by_level():
    near, far = Cache(48 * 1024, 12, 64), Cache(2**20, 16, 64)
    assert transpose_fills(128, 4, [near, far]) == [1.0625, 0]
    assert transpose_fills(64, 4, [near, far]) == [0, 0]  # the first holds it all
    shape = {"line": 64, "sets": 1024, "ways": 16}
    told = column_fills(512, 4, line=64, sets=64, ways=12)
    assert transpose_fills(512, 4, [near, far])[0] == pytest.approx(told, rel=0.01)
    # hashing the number of the line mends the power of two
    hashed = Cache(2**18, 16, 64, hashed=True)
    plain = Cache(2**18, 16, 64)
    assert transpose_fills(512, 4, [near, plain])[1] > 1
    assert transpose_fills(512, 4, [near, hashed])[1] == pytest.approx(1 / 8, rel=0.01)
    assert column_fills(528, 4, **shape) == 1 / 8


def test_what_is_no_walk_is_refused():
    with pytest.raises(ValueError, match="stride = 100 is no multiple"):
        fullest_set(4, 100, 64, 8)
    with pytest.raises(ValueError, match="a row of 544 bytes is no whole number"):
        column_fills(136, 4, line=64, sets=64, ways=12)
    for call in (
        lambda: fullest_set(0, 64, 64, 8),
        lambda: transpose_trace(True, 4),
        lambda: count_fullest_set(4, 64, 64, -1),
        lambda: column_fills(8, 4, line=64, sets=8, ways=0),
    ):
        with pytest.raises(ValueError, match="a whole number from 1"):
            call()
