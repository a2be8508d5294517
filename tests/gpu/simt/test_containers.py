"""Python containers, functions and counters where only some lanes are."""

import textwrap
from types import SimpleNamespace

import numpy as np
import pytest

from stacklib.gpu.lang.builder import KernelError

from .stranger_helpers import HELPERS
from .stranger_texts import Stranger
from .test_machine import launch, written

THREADS = 32


def both_ways(text):
    """What one thread at a time leaves, and the machine; errors as text."""
    src = np.arange(THREADS, dtype=np.int32) * 7 % 13
    out = np.full((THREADS, 32), -1, np.int64)
    slow = out.copy()
    try:
        kernel = written(text, "kernel")
        for n in range(THREADS):
            at = SimpleNamespace(x=n)
            kernel(SimpleNamespace(thread=at, local=np.zeros), src.tolist(), slow)
    except Exception as wrong:
        slow = f"{type(wrong).__name__}: {wrong}"
    try:
        found = launch(written(text, "kernel"), 1, THREADS, src, out).results["out"]
    except KernelError as wrong:
        found = str(wrong)
    return slow, found


def told(body):
    """A kernel's text."""
    head = "import numpy as np\n" + HELPERS + "\ndef kernel(t, src, out):\n"
    first = "    i = t.thread.x\n"
    return head + first + textwrap.indent(textwrap.dedent(body), "    ")


RIGHT = {
    "a running best": """
        best = (0, 0)
        for k in range(4):
            v = src[(i * 3 + k) % 32]
            if v > best[0]:
                best = (v, k)
        out[i, 0], out[i, 1] = best
    """,
    "a dict made anew": """
        d = {'a': 1, 'b': 2}
        if i % 2:
            d = {'a': i, 'b': 7}
        out[i, 0] = d['a'] * 100 + d['b']
    """,
    "a reversed slice": """
        u = [1, 2, i]
        if i % 3 == 1:
            u = u[::-1]
        out[i, 0] = u[0] * 100 + u[2]
    """,
    "a comprehension in rounds of lanes": """
        u = [1, 2, i]
        for k in range(i % 5):
            u = [e + k for e in u]
        out[i, 0] = u[0] * 100 + u[2]
    """,
    "a constant set by a helper": """
        u, v = [1, 2, 3], [4, 5, i]
        if i % 3 == 1:
            setc(u)
        for k in range(i % 4):
            setc(u)
            setc(v)
        out[i, 0] = u[0] * 10000 + u[2] * 100 + v[2]
    """,
    "a loop's variable again": """
        x, y = i, 3
        for k2 in range(i % 5):
            for k3 in range(i % 5):
                pass
        for k1 in range(i % 5):
            x = 2
            for k3 in range(y % 5):
                x, y = (y, x)
        out[i, 0], out[i, 1] = x, y
    """,
    "a counter read behind its loop": """
        k = 9
        if i % 2:
            for k in range(3):
                pass
            for k in range(i % 4):
                pass
        out[i, 0] = k
    """,
    "what a round computed that some lanes skipped": """
        s, x = 0, 1
        for k in range(3):
            if k > 0:
                s = s + x + (i * i) % 7
            if i % 3 == k:
                continue
            x = 2 + k
            s = s * 10 + (i * i) % 7
        out[i, 0] = s
    """,
    "a plain number in a loop that was begun twice": """
        z = i
        if i % 2 == 0:
            c = 1
            while True:
                c += 1
                if c > 3 or z < 5:
                    break
            out[i, 1] = c
        out[i, 0] = z
    """,
    "an operand before the call that changes it": """
        u = [i, 2, 3]
        if i % 2:
            out[i, 0] = u[0] + bump(u)
            a = u[0]
            u[0] = 50
            out[i, 1] = a
        out[i, 2] = u[0]
    """,
    "an element set behind a helper's early return": """
        u, w = [1, 2, i], [[i, 2], [3, 4]]
        s = some(u, i % 3, i) + some(w[1], i % 2, 7)
        for k in range(i % 4):
            s = s + some(u, k, s)
        out[i, 0], out[i, 1], out[i, 2] = s, u[0], w[1][0] + u[1]
    """,
    "an end that the rounds make a fraction": """
        x = i
        for k in range(x):
            x = 0.5
        out[i, 0] = x * 2
    """,
    "a list that grows in place": """
        w = [1]
        v = w
        w += [i]
        out[i, 0] = len(v)
    """,
    "a list gone through while it changes": """
        u = [i, 2, 3]
        for e in reversed(u):
            u[0] = e + 1
            out[i, 0] += e
    """,
    "rows that are swapped": """
        w = [[1, 2], [i, 4]]
        if i % 2:
            w[0] = [7, i]
            w[1][:] = w[0][::-1]
        out[i, 0] = w[0][0] * 100 + w[1][0]
    """,
}
REFUSED = {
    "another name's list": ("u = v", "u = [1, 2]\nv = [i, 6]", "'u' holds a Python"),
    "another text": ("u = 'b'", "u = 'a'\nv = 1", "'u' holds a Python str"),
    "another function": ("u = bump", "u = setc\nv = 1", "'u' holds a Python function"),
    "a definition": ("def u(a):\n        return a", "u = setc\nv = 1", "'u' holds"),
    "bits of a test": ("v = ~(i > 2)", "u = v = 1", "~ of bool"),
    "an element more": ("u.append(2)", "u = [1]\nv = 1", ".append()"),
    "an element less, in a sum": ("v = u.pop() + 1", "u = [1]\nv = 1", ".pop()"),
    "rows": ("u[0], u[1] = u[1], u[0]", "u = [[1], [2]]\nv = 1", "a Python list"),
    "what a list counts": ("v = u.count(i)", "u = [i, 1]\nv = 1", "differs by lane"),
    "what a dict has": ("v = u.get(i, 3)", "u = {1: 2}\nv = 1", "differs by lane"),
}


@pytest.mark.rows("what", RIGHT)
def test_containers_hold_what_each_lane_put_there(what):
    slow, found = both_ways(told(RIGHT[what]))
    assert not isinstance(found, str), found
    np.testing.assert_array_equal(found, slow)


@pytest.mark.rows("what", REFUSED)
def test_what_no_lane_can_have_alone_is_refused(what):
    line, before, words = REFUSED[what]
    _, found = both_ways(told(f"{before}\nif i % 2:\n    {line}\nout[i, 0] = 1\n"))
    assert isinstance(found, str) and words in found, found


def as_a_stranger_writes(seed, size, deep):
    """Right, or refused; whether it was right."""
    text = Stranger(seed, size, deep).text()
    slow, found = both_ways(text)
    if isinstance(found, str):
        return False
    assert not isinstance(slow, str), f"{text}\n{slow}"
    np.testing.assert_array_equal(found, slow, err_msg=text)
    return True


@pytest.mark.rows("first", range(0, 100, 10))
def test_kernels_of_strangers(first):
    right = [as_a_stranger_writes(first + n, 4, 2) for n in range(10)]
    assert sum(right) >= 3


@pytest.mark.slow
@pytest.mark.rows("first", range(0, 1000, 50))
def test_deeper_kernels_of_strangers(first):
    right = [as_a_stranger_writes(first + n, 5, 3) for n in range(50)]
    assert sum(right) >= 10
