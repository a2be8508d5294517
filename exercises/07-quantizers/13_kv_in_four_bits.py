"""Keys and values in `int4`.

level: build
project: P7.3

A page of the KV cache is an array with a row for each token and a column for each
channel. A group of its numbers shares a scale: it keeps its least number and a step,
and of each number a code from zero up, a whole number of steps above the least. The
largest number of the group gets the largest code that so many bits have.

- `restored(x, bits, axis, group)`: the page as it is read again, each number moved to
  the nearest code. Along `"channel"`, a group is `group` tokens after one another of
  one channel; along `"token"`, it is `group` channels beside one another of one token.
  Both divide the page evenly. A group of equal numbers comes back as it was. Keep least
  numbers and steps as exactly as you like.
- `stored_bits(bits, group)`: bits of a number, with its share of the least number and
  the step, which are stored in fp16.
- `cache_bytes(tokens, numbers, bits, group)`: bytes of the cache of one sequence, where
  each token leaves `numbers` keys and as many values. Keys are coded along channels,
  values along tokens. A token is complete when it comes; keys wait in bf16 until their
  group is full.

Pages that look like keys and like values are in the tests, in `int8` and in
`int4`; the readings say which axis suits which.

hint: Reshape so that the numbers of a group lie along one axis of their own; take `min`
and `max` along it with `keepdims=True`. How many steps lie between so many codes, and
how many tokens are without a full group?
"""

import numpy as np

from stacklib.grading import expect

# ---- your answer ----


def restored(x, bits, axis, group):
    """The page as it is read again."""
    rows = x.T if axis == "channel" else x
    parts = rows.reshape(len(rows), -1, group)
    low = parts.min(axis=2, keepdims=True)
    step = (parts.max(axis=2, keepdims=True) - low) / (2**bits - 1)
    codes = np.rint((parts - low) / np.where(step == 0, 1, step))
    found = (low + codes * step).reshape(rows.shape)
    return found.T if axis == "channel" else found


def stored_bits(bits, group):
    """Bits of a number, scales counted."""
    return bits + 2 * 16 / group


def cache_bytes(tokens, numbers, bits, group):
    """Bytes of the cache of one sequence."""
    wait = tokens % group
    keys = (tokens - wait) * stored_bits(bits, group) + wait * 16
    values = tokens * stored_bits(bits, group)
    return numbers * (keys + values) / 8


# ---- tests ----

RNG = np.random.default_rng(73)
MEANS = np.array([0, 9, -1, 1, 0, -6, 2, 0] * 2, dtype=float)
KEYS = MEANS + RNG.standard_normal((32, 16))
VALUES = RNG.standard_normal((32, 16)) * np.geomspace(0.3, 3, 32)[:, None]
PAGES = {"keys": KEYS, "values": VALUES}
CASES = [
    (name, bits, axis, group)
    for name in PAGES
    for bits in (8, 4, 2)
    for axis in ("channel", "token")
    for group in (8, 16)
]


def by_group(x, bits, axis, group, top=None, symmetric=False):
    """Group by group, in plain loops."""
    found = np.empty_like(x)
    steps = (1 << bits) - 1 if top is None else top
    down, across = (group, 1) if axis == "channel" else (1, group)
    for i in range(0, x.shape[0], down):
        for j in range(0, x.shape[1], across):
            part = x[i : i + down, j : j + across]
            low, high = part.min(), part.max()
            if symmetric:
                high = np.abs(part).max()
                low = -high
            step = (high - low) / steps or 1.0
            found[i : i + down, j : j + across] = (
                low + np.rint((part - low) / step) * step
            )
    return found


def read(x, *how):
    """The reader's page."""
    try:
        found = np.asarray(restored(x.copy(), *how), dtype=float)
    except (TypeError, ValueError) as error:
        raise expect.Mistake(f"restored{(x.shape, *how)}: {error}") from None
    if found.shape != x.shape:
        raise expect.Mistake(f"a page of {found.shape} instead of {x.shape}")
    return found


def off(x, found):
    """Relative error of a page."""
    return float(np.sqrt(((x - found) ** 2).sum() / (x**2).sum()))


def told(x, bits, axis, group, mine):
    """What makes the reader's page what it is."""
    other = "token" if axis == "channel" else "channel"
    slips = {
        "numbers of the other axis share the scale": by_group(x, bits, other, group),
        "so many bits have one step less than codes; you divide by the codes": by_group(
            x, bits, axis, group, top=1 << bits
        ),
        "the group's least number is where the codes begin; yours reach as far below "
        "zero as above": by_group(x, bits, axis, group, symmetric=True),
        "one group for the whole line; so many numbers share a scale, and no more": (
            by_group(x, bits, axis, x.shape[axis == "token"])
        ),
    }
    for text, wrong in slips.items():
        if np.allclose(mine, wrong, atol=2e-3):
            return text
    if off(x, mine) > off(x, by_group(x, bits, axis, group)):
        return f"off by {off(x, mine):.3f} where the nearest codes are closer"
    return "closer than so many bits can be"


def test_restored():
    for name, bits, axis, group in CASES:
        x = PAGES[name]
        mine = read(x, bits, axis, group)
        right = by_group(x, bits, axis, group)
        step = np.abs(right - x).max()
        # A number half way between two codes may go to either.
        if np.mean(np.abs(mine - right) > 1e-3 * (1 + step)) > 0.005:
            why = told(x, bits, axis, group, mine)
            raise expect.Mistake(f"{name}, {bits} bits, by {axis}, {group}: {why}")
    for name, x in PAGES.items():
        for bits in (8, 4):
            for axis in ("channel", "token"):
                error = off(x, read(x, bits, axis, 16))
                expect.reading(
                    f"{name} in {bits} bits by {axis}", f"{100 * error:.2f} %"
                )


def test_equal_numbers():
    x = np.full((16, 16), 0.75)
    x[:, 3] = 2.0
    with np.errstate(all="ignore"):
        mine = read(x, 4, "channel", 16)
    if not np.allclose(mine, x):
        raise expect.Mistake("a group of equal numbers has no step, and comes back")


def test_stored_bits():
    expect.function_matches(
        stored_bits,
        lambda bits, group: (bits * group + 16 + 16) / group,
        [{"bits": b, "group": g} for b in (2, 4, 8) for g in (16, 32, 128)],
        unit="bits",
        mistakes={
            "One number in fp16 is counted; a group keeps two.": (
                lambda bits, group: bits + 16 / group
            ),
            "Each number pays for the whole group's scale.": (
                lambda bits, group: bits + 32
            ),
            "The codes alone: the scales are stored, too.": lambda bits, group: bits,
        },
    )


SEQUENCES = [
    {"tokens": 4096, "numbers": 1024, "bits": 4, "group": 32},
    {"tokens": 4127, "numbers": 1024, "bits": 4, "group": 32},
    {"tokens": 31, "numbers": 256, "bits": 2, "group": 32},
    {"tokens": 1000, "numbers": 81_920, "bits": 8, "group": 128},
]


def full(tokens, numbers, bits, group, keys=True, values=False):
    """With tails of keys, and of values."""
    total = 0.0
    for waits in (keys, values):
        left = tokens - group * (tokens // group) if waits else 0
        coded = (tokens - left) * (bits + 32 / group)
        total += numbers * (coded + 16 * left)
    return total / 8


def test_cache_bytes():
    expect.function_matches(
        cache_bytes,
        full,
        SEQUENCES,
        unit="B",
        mistakes={
            "No key waits there: those of a group that is not full are in bf16.": (
                lambda **c: full(**c, keys=False)
            ),
            "Values wait there, too; a token has all it needs when it comes.": (
                lambda **c: full(**c, values=True)
            ),
            "Those are bits; bytes are asked for.": lambda **c: 8 * full(**c),
            "That is half of it: a token leaves keys and values.": (
                lambda tokens, numbers, bits, group: (
                    numbers * tokens * (bits + 32 / group) / 8
                )
            ),
        },
    )
