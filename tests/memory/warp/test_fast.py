"""A loop runs without numba, and says once what that costs."""

import warnings

import pytest

from stacklib.memory.warp import _fast


def add(numbers, out):
    out[0] = sum(numbers)


@pytest.fixture
def bare(monkeypatch):
    """An environment without numba, in which nobody has waited yet."""
    monkeypatch.setattr(_fast, "compiled", lambda: False)
    monkeypatch.setattr(_fast, "_waited", 0.0)
    _fast.fast.cache_clear()
    yield monkeypatch
    _fast.fast.cache_clear()


def test_a_loop_that_takes_long_without_numba_says_so_once(bare):
    out = [0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        _fast.fast(add)([1, 2], out)  # a short one says nothing
    bare.setattr(_fast, "PATIENCE", 1e-3)
    with pytest.warns(UserWarning, match="pip install numba") as told:
        for _ in range(3):
            _fast.fast(add)(range(1_000_000), out)
    assert out == [sum(range(1_000_000))] and len(told) == 1
