"""Which card is the cheapest way to hold a model, and what does a token need?

level: estimate

A card has `memory` GB and `rate` GB/s and costs `price` dollars. A model has `weights`
GB that each token reads, a cache of `cache` GB, and each card keeps `buffers` GB for
itself. All of it in GB of `1e9` bytes.

- `cards(memory, weights, cache, buffers)`: the fewest cards that hold the model,
  weights and cache in equal parts.
- `per_gigabyte(price, memory, buffers)`: dollars for each GB that can hold weights.
- `ceiling(many, rate, weights, cache, split)`: tokens a second at the most, by
  `"layers"`, where cards take turns, or by `"tensors"`, where all read at once.

A card that its own buffers fill holds nothing: raise `ValueError`, as for a split that
is neither. Then ask `stacklib plan --budget 5000 --run llama-3-70b:q4_k_m`, and say
which of its parts your sum leaves out.

hint: What a card holds is its memory less its buffers. The last card is bought whole.
"""

import math

from stacklib.grading import expect

# ---- your answer ----


def room(memory, buffers):
    """GB of a card that can hold weights."""
    if not memory > buffers >= 0:
        raise ValueError(f"memory = {memory!r}: above buffers of {buffers!r} is needed")
    return memory - buffers


def cards(memory, weights, cache, buffers):
    """The fewest that hold the model."""
    return math.ceil((weights + cache) / room(memory, buffers))


def per_gigabyte(price, memory, buffers):
    """Dollars for each GB that can hold weights."""
    return price / room(memory, buffers)


def ceiling(many, rate, weights, cache, split):
    """Tokens a second at the most."""
    if split not in ("layers", "tensors"):
        raise ValueError(f"split = {split!r}: layers or tensors")
    busy = many if split == "tensors" else 1
    return busy * rate / (weights + cache)


# ---- tests ----

CASES = [
    {"memory": memory, "buffers": 0.8, "weights": weights, "cache": 1.34}
    for memory in (16, 24, 32, 80)
    for weights in (41.9, 46.2, 18.4)
]
PAIR = {"rate": 1792, "weights": 41.9, "cache": 1.34}


def needed(memory, weights, cache, buffers):
    """Cards, one after the other, until all bytes lie somewhere."""
    many = 1
    while many * (memory - buffers) < weights + cache:
        many += 1
    return many


def read(many, rate, weights, cache, split):
    """The rate of the cards that read, over what they read."""
    return rate / (weights + cache) * {"layers": 1, "tensors": many}[split]


def test_cards():
    mistakes = {
        "Half a card holds nothing: it is bought whole.": (
            lambda **c: (c["weights"] + c["cache"]) / (c["memory"] - c["buffers"])
        ),
        "Each card keeps buffers of its own.": (
            lambda **c: needed(**{**c, "buffers": 0})
        ),
    }
    expect.function_matches(cards, needed, CASES, rel=1e-9, mistakes=mistakes)


def test_per_gigabyte():
    mistakes = {"Buffers hold no weights.": 1999 / 32}
    expect.number(per_gigabyte(1999, 32, 0.8), 1999 / 31.2, mistakes=mistakes)


def test_ceiling():
    ways = [(n, split) for n in (1, 2, 6) for split in ("layers", "tensors")]
    cases = [{"many": n, "split": split, **PAIR} for n, split in ways]
    mistakes = {
        "Cards that take turns are no faster than one.": (
            lambda **c: read(**{**c, "split": "tensors"})
        ),
        "A token reads its cache as well.": lambda **c: read(**{**c, "cache": 0}),
    }
    expect.function_matches(ceiling, read, cases, mistakes=mistakes)


def test_what_holds_nothing_is_refused():
    full = {**CASES[0], "memory": 0.5}
    expect.refuses(cards, full, because="its buffers fill the card")
    rows = {"many": 2, "split": "rows", **PAIR}
    expect.refuses(ceiling, rows, because="a model is split by layers or by tensors")
