"""What of Python's language a kernel has, each against a thread at a time."""

import numpy as np
import pytest

from .refusals import refused
from .test_containers import both_ways, told
from .test_machine import launch, same, written

RIGHT = {
    "a tuple chosen by lane": """
        a, (b, c) = (i, (3, i + 1)) if i % 3 else (3, (i, src[i]))
        out[i, 0] = a * 100 + b * 10 + c
    """,
    "the else of a loop with plain ends": """
        r = 0
        for k in range(2, 6):
            if src[i] % k == 0:
                r = k
                break
        else:
            r = -1
        out[i, 0] = r
    """,
    "the else of loops in loops, with ends by lane": """
        n = 0
        while n < i % 7:
            n += 1
            for k in range(n % 4):
                if k == i % 3:
                    break
            else:
                if src[i] == n:
                    break
                out[i, 0] += 10
        else:
            out[i, 1] = n
    """,
    "the else of a long loop": """
        total = 0
        for k in range(90):
            total = (total * 3 + k) % 101
            if total == i:
                break
        else:
            total = -total
        out[i, 0] = total
    """,
    "a name set in a test": """
        x = src[i] % 7 + i
        while (half := x // 2) > 0:
            x = half
            out[i, 0] += half
        if (y := x + i) > 9:
            out[i, 1] = y - (y := 3) + y
        out[i, 2] = half + y
    """,
    "whether a number is in a list": """
        u = [3, i, 12]
        out[i, 0] = 1 if src[i] in (0, 5, i % 9) else 2
        out[i, 1] = 1 if src[i] not in u and 12 in u else 2
        out[i, 2] = 0 if i in () or u is None else i
    """,
    "the rest of a list": """
        first, *rest = [i, src[i], 5]
        *front, last = (1, i)
        a, *none, b = front[0], last
        rest[0] += first
        out[i, 0], out[i, 1], out[i, 2] = rest[0] + rest[1], a * b, len(none)
    """,
    "quotient and remainder": """
        q, r = divmod(src[i] - 6, 4)
        s, t5 = divmod(i - 9, -3)
        out[i, 0], out[i, 1], out[i, 2] = q * 10 + r, s * 10 + t5, pow(i, 3, 7)
    """,
    "sums of what a dict has": """
        d, u = {'a': i, 'b': src[i]}, [i, 3]
        out[i, 0] = sum(d.values()) + max(d.values()) + min(reversed(u))
        out[i, 1] = any(d.values()) + sum(e * k for k, e in zip(u, d.values()))
        out[i, 2] = bool(i % 3) + bool(src[i])
    """,
    "a loop over a list made for it": """
        for n, e in enumerate([k * i for k in range(4) if k != 2]):
            out[i, 0] += n * e
    """,
    "defaults are what they were": """
        z = i
        def late(a, c=z, seen=[1]):
            seen[0] += a
            return c * 100 + seen[0]
        f = lambda a, c=z + 1: a * c + z
        z = 7
        out[i, 0] = late(2) + late(3)
        out[i, 1] = f(2)
        for k in range(70):
            z = (z + late(k % 2)) % 50
        out[i, 2] = z
    """,
    "functions without a name": """
        fs = [lambda a: a + i, lambda a: (a * 3 if a > i else a - 1)]
        x = src[i]
        for f in fs:
            x = f(x)
        out[i, 0] = x + sum([g(k) for g in fs for k in range(2)])
    """,
    "what a lambda is handed to": """
        u = list(map(lambda e: e * 3 + i, [i, src[i], 2]))
        v = sorted([3, 1, 2], key=lambda e: -e)
        out[i, 0], out[i, 1] = sum(u), v[0] * 10 + v[2]
    """,
    "a dict brought up to date under a mask": """
        d = {'a': i, 'b': 3}
        if i % 2:
            d.update({'b': src[i]}, a=d['b'])
        out[i, 0], out[i, 1] = d['a'], d['b']
    """,
    "keys and numbers of a dict, again under a mask": """
        d = {'a': i, 'b': 3}
        for k, v in d.items():
            out[i, 0] += v
        if i % 2:
            for k, v in d.items():
                out[i, 1] = out[i, 1] * 3 + v
    """,
}


@pytest.mark.rows("what", RIGHT)
def test_what_python_says(what):
    slow, found = both_ways(told(RIGHT[what]))
    assert not isinstance(found, str), found
    np.testing.assert_array_equal(found, slow)


REFUSED = {
    "y = [(x := k + i) for k in range(3)]": "'x' := in a comprehension",
    "y = i > 3 and (x := i // 2) > 2": "'x' := in a comprehension, or in a part",
    "u = [i] if i > 3 else [3]": "a conditional expression gives [a int of each lane]",
    "a, *b, c = [i]": "1 values for 3 names",
    "y = sum(map(abs, [i]))": "bad operand type for abs()",
    "y = max([i], default=3)": "unexpected keyword argument 'default'",
    "out[i, 0] = (i + 2) ** (2 - i)": "a negative exponent; raise a float",
    "out[i, 0] = 2 ** -i": "thread 1, lane 1",
    "out[i, 0] = pow(i, 2, 0)": "divided by zero",
}


@pytest.mark.rows("line", REFUSED)
def test_what_a_lane_cannot_have(line):
    assert REFUSED[line] in refused(written(told(line), "kernel"), *_ARRAYS, block=32)


_ARRAYS = np.arange(32), np.zeros((32, 32), np.int64)


def test_a_whole_number_to_a_negative_power_is_a_fraction():
    def kernel(t, out):
        out[t.thread.x] = (t.thread.x + 1) ** -2

    found = launch(kernel, 1, 32, np.zeros(32)).results["out"]
    np.testing.assert_allclose(found, (np.arange(32) + 1.0) ** -2)


def test_bits_shifted_out_leave_the_sign():
    """As PTX: a distance is read without a sign, and one too far is the last."""

    def kernel(t, x, by, out):
        out[t.thread.x] = x[t.thread.x] >> by[t.thread.x]

    x, by = np.array([-8, 8, -8, 8], np.int32), np.array([-1, -1, 99, 2], np.int32)
    found = launch(kernel, 1, 4, x, by, np.zeros(4, np.int32)).results["out"]
    assert found.tolist() == [-1, 0, -1, 2]


@pytest.mark.filterwarnings("ignore:overflow encountered")
@pytest.mark.rows("form", [np.int64, np.uint64])
@pytest.mark.rows("to", [np.float32, np.float16])
def test_whole_numbers_are_rounded_once(form, to):
    """To a double first, 2^60 + 2^36 + 1 is a tie; float32's is above it."""

    def kernel(t, x, out):
        out[t.thread.x] = x[t.thread.x]

    ends = [n for e in (52, 53, 54, 60, 62) for n in range(2**e - 3, 2**e + 4)]
    x = np.array([*ends, 2**60 + 2**36 + 1, 2**62 - 2**37 - 1, 2**63 - 1], form)
    for given in (x, -x) if form is np.int64 else (x, x * 2):
        same(kernel, 1, len(x), given, np.zeros(len(x), to))


_NARROW = (np.int8, np.uint8, np.int16, np.uint16)


@pytest.mark.filterwarnings("ignore:overflow encountered")
@pytest.mark.rows("form", [*_NARROW, np.uint32, np.int64, np.uint64])
def test_a_number_of_a_format_is_what_a_lane_of_it_holds(form):
    """C's conversions, not NumPy's: of 8 bits, 100 and 100 are 200."""

    def twice(a):
        return a + a

    def kernel(t, x, out):
        for n, v in enumerate((form(100), x[0])):
            out[n, 0], out[n, 1], out[n, 2] = twice(v), -v, ~v
            out[n, 3], out[n, 4], out[n, 5] = v - 101, v | np.int32(-1), max(v, 7)
            out[n, 6], out[n, 7], out[n, 8] = sum([v, v, v]), t.clz(v), v // 3 * v
            out[n, 9], out[n, 10] = abs(form(28) - v), (v > form(101)) + v

    out = np.zeros((2, 11), np.int64)
    plain, lanes = launch(kernel, 1, 1, np.array([100], form), out).results["out"]
    assert plain.tolist() == lanes.tolist()
    if form in _NARROW:
        assert lanes.tolist() == [200, -100, -101, -1, -1, 100, 300, 25, 3300, 72, 100]


def test_the_largest_of_all_has_no_sign():
    def kernel(t, x, out):
        out[0, t.thread.x] = t.reduce_max(x[t.thread.x])
        out[1, t.thread.x] = t.reduce_min(x[t.thread.x])
        out[2, t.thread.x] = abs(x[t.thread.x])

    x = np.array([1, 2**63, 2**64 - 1, 7], np.uint64)
    same(kernel, 1, 4, x, np.zeros((3, 4), np.uint64))
