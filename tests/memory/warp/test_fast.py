"""A loop runs without numba, and says once what that costs."""

import operator
import sys
import threading
import warnings
from collections import Counter
from importlib.util import find_spec
from pathlib import Path

import numpy as np
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


def test_numba_is_there_or_is_not(monkeypatch):
    assert _fast.compiled() == (find_spec("numba") is not None)
    monkeypatch.setitem(sys.modules, "numba", None)
    assert not _fast.compiled()


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


def test_who_comes_while_another_compiles_waits_and_finds_it_in_the_cache(
    monkeypatch, tmp_path
):
    fcntl = pytest.importorskip("fcntl")
    numba = pytest.importorskip("numba")
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    given = np.array([1.0, 2.0]), np.zeros(1)
    mine = _fast.once(add)
    waits = threading.Thread(target=mine, args=given)
    lock = Path(f"{mine._cache._cache_file._index_path}.lock")
    with lock.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        waits.start()
        numba.njit(cache=True)(add)(*given)  # as another process would
    waits.join()
    assert given[1].tolist() == [3.0]
    assert (mine._cache_hits.total(), mine._cache_misses.total()) == (1, 0)


def test_where_no_folder_can_be_written_a_loop_is_compiled_all_the_same(monkeypatch):
    pytest.importorskip("numba")
    from numba.core.caching import CacheImpl

    monkeypatch.setattr(CacheImpl, "_locator_classes", [])
    made, out = _fast.once(add), np.zeros(1)
    assert _fast.is_cold(made)
    made(np.array([1.0, 2.0]), out)
    assert out.tolist() == [3.0] and not _fast.is_cold(made)


def test_few_steps_are_done_before_numba_is_asked(monkeypatch):
    monkeypatch.setattr(_fast, "_taken", Counter())
    half, made = _fast.FEW // 2, object()
    found = [_fast.soon(add, half, lambda loop: made) for _ in range(3)]
    assert found == [add, add, made]


def test_numba_gives_the_same_types_asked_once_and_again(monkeypatch):
    """And refuses the same; afterwards it is as it was."""
    numba = pytest.importorskip("numba")
    from numba.core.registry import cpu_target
    from numba.core.types.functions import BaseFunction

    from stacklib.memory.warp._typing import remembered

    ask, asked = BaseFunction.get_call_type, []
    values = True, 2, 2.5, np.int8(3), 1j, np.zeros(2), (1, 2.0)
    kinds = [numba.typeof(value) for value in values]
    asks = operator.add, operator.lt, operator.getitem
    pairs = [(f, a, b) for f in asks for a in kinds for b in kinds]
    context = cpu_target.typing_context
    context.refresh()

    def answers():
        for f, *args in pairs:
            try:
                yield str(context.resolve_function_type(f, tuple(args), {}))
            except numba.core.errors.NumbaError as wrong:
                yield type(wrong).__name__

    plain = [*answers()]
    assert len({*plain}) > 20
    with remembered(), remembered():
        told = BaseFunction.get_call_type
        assert [*answers()] == plain and told is not ask
        monkeypatch.setattr(BaseFunction, "get_impl_key", asked.append)
        assert [*answers()] == plain and not asked
    assert BaseFunction.get_call_type is ask
    with pytest.raises(ZeroDivisionError), remembered():
        _ = 1 / 0
    assert BaseFunction.get_call_type is ask
