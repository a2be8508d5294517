"""Triton's names in plain Python, held to NumPy and to what they refuse."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib.gpu import interpreter as tl
from stacklib.gpu.interpreter.launch import Counts
from stacklib.gpu.interpreter.tile import Tile, each, meeting

sides = st.sampled_from([1, 2, 4, 8])


def tile_of(array):
    return Tile(array.shape, [float(x) for x in array.ravel()])


def array_of(tile):
    return np.reshape(tile.data, tile.shape)


def inside(what):
    """What a function gives while a program runs, and what was counted."""
    found = []

    def program():
        found.append(what())

    return found, tl.run(program, 1)


@settings(max_examples=20, deadline=None)
@given(sides, sides, sides, st.integers(0, 99))
def test_matrices_are_numpys(rows, deep, columns, seed):
    a, b = (
        np.random.default_rng(seed).normal(size=s)
        for s in ((rows, deep), (deep, columns))
    )
    x, y = tile_of(a), tile_of(b)
    (made,), counts = inside(lambda: tl.dot(x, y))
    assert np.allclose(array_of(made), a @ b)
    assert counts.multiply_adds == rows * deep * columns
    assert np.allclose(array_of(tl.trans(x)), a.T)
    for axis in (0, 1):
        assert np.allclose(array_of(tl.sum(x, axis)), a.sum(axis))
        assert (array_of(tl.max(x, axis)) == a.max(axis)).all()
        assert (array_of(tl.argmax(x, axis)) == a.argmax(axis)).all()
    row, column = tile_of(a[0]), tile_of(a[:, :1])
    assert np.allclose(array_of(row[None, :] * column - 2), a[:1] * a[:, :1] - 2)
    seen = tl.where((x > 0) & ~(x > 1), x, -1.0)
    assert (array_of(seen) == np.where((a > 0) & ~(a > 1), a, -1)).all()
    assert (~Tile((2,), [5, -1])).data == [-6, 0]  # of numbers each bit


def test_loads_and_stores_are_counted_by_format_and_mask():
    x, out = tl.Array([1.0, 2.25, 3.0, 440.0], "e4m3fn"), tl.Array([None] * 4, "bf16")

    def copy(source, target, n):
        at = tl.arange(0, 4)
        tl.store(
            target + at, tl.load(source + at, mask=at < n, other=-1.0), mask=at < 4
        )

    counts = tl.run(copy, 1, x, out, 3)
    assert out.values == [1.0, 2.25, 3.0, -1.0] and x.values[3] == 448
    assert counts == Counts(read={"source": 3}, written={"target": 8})
    assert counts.total("read") == 3


def reads(place, values=(1.0, None)):
    def program(x):
        tl.load(x + place)

    return lambda: tl.run(program, 1, tl.Array(values))


@pytest.mark.parametrize(
    ("wrong", "error", "said"),
    [
        (reads(2), IndexError, r"x has 2 elements, and element 2 .* mask"),
        (reads(-1), IndexError, "element -1"),
        (reads(1), ValueError, "element 1 of x is unset"),
        (lambda: tl.program_id(0), RuntimeError, "no program runs"),
        (lambda: tl.arange(0, 12), ValueError, r"\[12\]: 12 is no power of two"),
        (lambda: tl.run(lambda: None, 0), ValueError, "grid = 0"),
        (lambda: tl.run(lambda: None, True), ValueError, "grid = True"),
        (lambda: bool(tl.arange(0, 2)), ValueError, "tl.where"),
        (lambda: tl.arange(0, 4)[1], ValueError, "only `:` and None"),
        (lambda: tl.sum(tl.arange(0, 4), 1), ValueError, "axis = 1"),
        (lambda: meeting((4,), (2,)), ValueError, r"\[4\] and \[2\] do not meet"),
        (lambda: tl.load(3), TypeError, "tl.load of 3"),
        (lambda: tl.Array([300], "int8"), ValueError, "300: int8 holds from -128"),
    ],
)
def test_what_is_refused(wrong, error, said):
    with pytest.raises(error, match=said):
        wrong()


def test_numbers_without_a_tile_stay_numbers():
    assert each(max, 2, 3) == 3 and tl.cdiv(7, 4) == 2 and tl.minimum(2, 1) == 1
    found, counts = inside(lambda: (tl.exp(0.0), tl.exp(1e9), tl.num_programs(1)))
    assert found == [(1.0, float("inf"), 1)] and counts.exponentials == 2


def test_threads_run_programs_of_their_own():
    """The last to start was the one that runs, for all threads."""
    meet = Barrier(2, timeout=5)

    def program(out, first):
        meet.wait()  # both run
        tl.store(out + tl.program_id(0), first + tl.num_programs(1))
        meet.wait()

    def run(asked):
        out = tl.Array([None])
        counts = tl.run(program, (1, 1), out, asked)
        return out.values, counts.written["out"]

    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(run, (5, 6))) == [([6], 4), ([7], 4)]
