"""Lists of registers in loops too long to stand round by round."""

import numpy as np
import pytest

from stacklib.gpu.lang import compiler, loops

from .test_containers import both_ways, told
from .test_machine import same, written

ROUNDS = {
    "a list read ahead": """
        now, acc = [src[i], src[0]], [0, 0]
        for k in range(1, 90):
            ahead = [src[(i + k) % 32], src[k % 32]]
            for j in range(2):
                acc[j] = acc[j] * 3 % 97 + now[j]
            now = ahead
        out[i, 0], out[i, 1], out[i, 2] = acc[0], acc[1], now[1]
    """,
    "two lists change places": """
        a, b = [i, 1, 2], [0, 0, 0]
        for k in range(91):
            for j in range(3):
                b[j] = (a[j] * 5 + a[(j + 1) % 3] + k) % 101
            a, b = b, a
        for j in range(3):
            out[i, j], out[i, 3 + j] = a[j], b[j]
    """,
    "a window moves": """
        w = [src[(i + j) % 32] for j in range(4)]
        u = [1, 2, i]
        for k in range(90):
            out[i, 0] += w[0] * 3 + w[3]
            w.pop(0)
            w.append(src[(i + k) % 32])
            u = [*u[1:], (u[0] + w[2]) % 13]
        out[i, 1], out[i, 2] = w[0] + w[3], u[0] * 10 + u[2]
    """,
    "a row for the next": """
        last = [0, 1, 2, 3]
        for k in range(90):
            row = [k % 5]
            for j in range(3):
                row.append(max(last[j] + i, row[j]) % 31)
            last = row
        out[i, 0], out[i, 1] = last[0], last[3]
    """,
    "lists in a dict and in a tuple": """
        d, p = {'a': [i, 1], 'b': [2, 3]}, ([0, i], [5])
        for k in range(90):
            d['a'], d['b'] = d['b'], [(v + k) % 17 for v in d['a']]
            q, (r,) = p
            p = ([q[1], (q[0] + r) % 19], [(r + d['a'][0]) % 23])
        out[i, 0], out[i, 1], out[i, 2] = d['a'][1], p[0][0], p[1][0]
    """,
    "two names of one list": """
        a = [i, 0]
        b = a
        for k in range(90):
            b[0] = (b[0] + k) % 50
            a = [a[1], a[0] + 1]
        out[i, 0], out[i, 1] = a[0], b[0]
    """,
    "lanes that leave and skip": """
        w = [i, 1, 2]
        for k in range(90):
            if (w[0] + k) % 7 == i % 7:
                continue
            if k > 80 and w[1] % 2:
                break
            w = [w[1], w[2], (w[0] * 3 + k) % 64]
        out[i, 0], out[i, 1], out[i, 2] = w[0], w[1], w[2]
    """,
    "so many rounds as the lane": """
        w, k = [i, 1, 2], 0
        while k < i * 5:
            w = w[1:] + [(w[0] + k) % 41]
            k += 1 + w[2] % 2
        out[i, 0], out[i, 1], out[i, 2] = w[0], w[1], w[2]
    """,
    "a list by the number of the round": """
        ring, odd = [0, 1, i], [i, 2]
        for k in range(7, 200):
            ring[k % 3] = (ring[(k + 1) % 3] * 3 + ring[(k - 1) % 3] + k) % 89
            odd[k & 1] += ring[k % 3]
        for j in range(3):
            out[i, j] = ring[j]
        out[i, 3], out[i, 4] = odd
    """,
    "an inner loop that stands, an outer that goes back": """
        v = [0] * 16
        for k in range(40):
            for a in range(16):
                v[a] = src[(a * 5 + i + k) % 32]
            for a in range(16):
                for b in range(a % 2, 15, 2):
                    if v[b] > v[b + 1]:
                        v[b], v[b + 1] = v[b + 1], v[b]
            out[i, k % 32] = v[0] + 100 * v[15] + 10 * v[7]
    """,
    "a loop's variable that was a list": """
        pair, a, b = [1, 2], [i, 3], [4, i]
        for k in range(60):
            out[i, 0] = (out[i, 0] * 3 + pair[0] * k) % 103
            for pair in (a, b):
                out[i, 1] = (out[i, 1] + pair[0] + pair[1]) % 103
            a[0] = (a[0] + k) % 7
    """,
}


@pytest.mark.rows("what", ROUNDS)
def test_a_round_begins_with_what_the_last_one_left(what, monkeypatch):
    """No more instructions than a compiler would have, whatever the lists."""
    most = 6000 if "inner" in what or "variable" in what else 800
    for place in (compiler, loops):
        monkeypatch.setattr(place, "MOST_ROWS", most)
    monkeypatch.setattr(loops, "UNROLL", 64)
    slow, found = both_ways(told(ROUNDS[what]))
    assert not isinstance(found, str), found
    np.testing.assert_array_equal(found, slow)


@pytest.mark.parametrize("made", ["iter(u)", "zip(u, u)", "enumerate(u)"])
def test_an_iterator_is_kept_by_no_name(made):
    """A loop is tried round by round first, and went on where that had stopped."""
    body = """
        u = [3, 5, 7] * 60
        it = MADE
        for k in range(90):
            out[i, 0] += next(it)[0]
    """
    _, found = both_ways(told(body.replace("MADE", made)))
    assert "keep list(...) of it" in found
    _, found = both_ways(told("        out[i, 0] = next(iter([3]))"))
    assert "index a list" in found


def test_a_loop_takes_no_copy_of_its_counter_to_index_with_it():
    """Two lists that change places, by four rounds: no moves, an address each."""
    text = """
def kernel(t, src, far, out):
    i = t.thread.x
    a, b = [src[i], 1.0], [0.0, 0.0]
    for k in range(400):
        for j in range(2):
            b[j] = a[j] * 0.5 + a[1 - j] * far[i, k]
        a, b = b, a
    far[i, 3] += a[1]
    out[i, 0], out[i, 1] = a[0], b[1]
"""
    src, far = np.arange(32.0), np.ones((32, 400))
    ran = same(written(text, "kernel"), 1, 32, src, far, np.zeros((32, 2)))
    assert ran.counters.warps["move"] <= 4
    assert ran.counters.warps["int"] <= 400
