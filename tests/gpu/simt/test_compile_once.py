"""A program is used again only where it would come out the same."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from stacklib import gpu
from stacklib.gpu.thread import compile_once

FACTOR = 2
TABLE = [3]


def helper(x):
    return x * FACTOR


def other(x):
    return x + 9


def by_number(t, x):
    x[t.thread.x] = FACTOR


def by_helper(t, x):
    x[t.thread.x] = helper(x[t.thread.x])


def by_list(t, x):
    x[t.thread.x] = TABLE[0]


def launched(kernel, *rest, length=32):
    x = np.ones(length, np.int32)
    return gpu.launch(kernel, 1, length, "h100", x, *rest).results["x"]


def counted(monkeypatch):
    """How often a kernel is really compiled."""
    calls, real = [], compile_once.compiled
    compile_once._kept.clear()
    monkeypatch.setattr(
        compile_once, "compiled", lambda *a: calls.append(a) or real(*a)
    )
    return calls


def test_a_second_launch_compiles_nothing_and_leaves_its_own_values(monkeypatch):
    calls = counted(monkeypatch)

    def doubled(t, x):
        x[t.thread.x] = x[t.thread.x] * 2

    first = np.arange(32, dtype=np.int32)
    for given in (first, first + 5):
        made = gpu.launch(doubled, 1, 32, "h100", given).results["x"]
        assert (made == 2 * given).all()
    assert len(calls) == 1


def test_another_shape_type_or_sign_of_zero_is_another_program(monkeypatch):
    calls = counted(monkeypatch)

    def put(t, x, number):
        x[t.thread.x] = 1 if number > 0 else 2

    cases = ((0.0, 32), (-0.0, 32), (1, 32), (1.0, 32), (1.0, 64), (1, 32))
    for number, length in cases:
        made = launched(put, number, length=length)
        assert (made == (1 if number else 2)).all()
    assert len(calls) == len(cases) - 1


def test_names_from_around_are_read_again(monkeypatch):
    calls = counted(monkeypatch)
    for kernel in (by_number, by_helper):
        assert (launched(kernel) == 2).all()
        monkeypatch.setitem(kernel.__globals__, "FACTOR", 5)
        assert (launched(kernel) == 5).all()
        monkeypatch.setitem(kernel.__globals__, "FACTOR", 2)
    assert len(calls) == 4
    monkeypatch.setitem(by_helper.__globals__, "helper", other)
    assert (launched(by_helper) == 10).all()


def test_what_can_change_in_place_is_read_every_time(monkeypatch):
    counted(monkeypatch)
    assert (launched(by_list) == 3).all()
    TABLE[0] = 4
    made = launched(by_list)
    TABLE[0] = 3
    assert (made == 4).all()


def test_a_name_of_python_may_be_covered_later(monkeypatch):
    counted(monkeypatch)

    def least(t, x):
        x[t.thread.x] = len((1, 2, 3))

    assert (launched(least) == 3).all()
    monkeypatch.setitem(least.__globals__, "len", lambda x: 7)
    assert (launched(least) == 7).all()


def test_a_closure_is_read_again(monkeypatch):
    counted(monkeypatch)
    number = 1

    def put(t, x):
        x[t.thread.x] = number

    assert (launched(put) == 1).all()
    number = 6
    assert (launched(put) == 6).all()


def test_what_another_thread_compiles_meanwhile_is_not_noted_here(monkeypatch):
    """One list held the names of all: emptied by the other, a kernel kept none."""
    real = compile_once.compiled

    def put(t, x):
        x[t.thread.x] = FACTOR + 1

    def seven(t, x):
        x[t.thread.x] = 7

    def beside(kernel, *rest):
        made = real(kernel, *rest)
        if kernel is put:
            with ThreadPoolExecutor(1) as pool:
                assert (pool.submit(launched, seven).result() == 7).all()
        return made

    compile_once._kept.clear()
    monkeypatch.setattr(compile_once, "compiled", beside)
    assert (launched(put) == 3).all()
    monkeypatch.setitem(put.__globals__, "FACTOR", 5)
    assert (launched(put) == 6).all()
