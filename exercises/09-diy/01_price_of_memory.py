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

MODEL = {"weights": 41.9, "cache": 1.34}
CASES = [
    {"memory": memory, "buffers": 0.8, "weights": weights, "cache": 1.34}
    for memory in (16, 24, 32, 80)
    for weights in (41.9, 46.2, 18.4)
]


def needed(memory, weights, cache, buffers):
    """Cards, one after the other, until all bytes lie somewhere."""
    many = 1
    while many * memory - many * buffers < weights + cache:
        many += 1
    return many


def test_cards():
    expect.function_matches(
        cards,
        needed,
        CASES,
        rel=1e-9,
        mistakes={
            "Half a card holds nothing: it is bought whole.": (
                lambda memory, weights, cache, buffers: (
                    (weights + cache) / (memory - buffers)
                )
            ),
            "Each card keeps buffers of its own.": (
                lambda memory, weights, cache, buffers: needed(
                    memory, weights, cache, 0
                )
            ),
        },
    )


def test_per_gigabyte():
    expect.number(
        per_gigabyte(1999, 32, 0.8),
        1999 / 31.2,
        mistakes={"Buffers hold no weights.": 1999 / 32},
    )


def test_ceiling():
    cases = [
        {"many": n, "rate": 1792, "split": split, **MODEL}
        for n in (1, 2, 6)
        for split in ("layers", "tensors")
    ]
    expect.function_matches(
        ceiling,
        lambda many, rate, weights, cache, split: (
            rate / (weights + cache) * (1 if split == "layers" else many)
        ),
        cases,
        mistakes={
            "Cards that take turns are no faster than one.": (
                lambda many, rate, weights, cache, split: (
                    many * rate / (weights + cache)
                )
            ),
            "A token reads its cache as well.": (
                lambda many, rate, weights, cache, split: (
                    rate / weights * (1 if split == "layers" else many)
                )
            ),
        },
    )


def test_what_holds_nothing_is_refused():
    full = {"memory": 0.5, "buffers": 0.8, **MODEL}
    expect.refuses(cards, full, because="its buffers fill the card")
    rows = {"many": 2, "rate": 1792, "split": "rows", **MODEL}
    expect.refuses(ceiling, rows, because="a model is split by layers or by tensors")
