"""How many chips until the model lies in SRAM, and for how long a context.

level: derive

Suppose a chip without HBM holds `memory` MB and reads `rate` TB/s. A model has
`weights` GB in `layers` layers; a token leaves `token` bytes in a cache. Every layer
lies on as many chips as every other and is read there; a token passes the layers in
turn.

- `chips(memory, weights, token, readers, context)`: the fewest chips that hold the
  weights and the caches of all readers.
- `longest(many, memory, weights, token, readers)`: tokens of the longest context that
  so many chips hold for each reader.
- `token_ms(many, rate, weights, token, context, layers)`: milliseconds in which one
  reader's token is read, layer after layer.
- `fits(many, domain)`: `many`, where at most `domain` chips can be joined; raise
  `ValueError` with both numbers where they are more.

Refuse what is no size: `readers` of `0`, a `context` below `0`, NaN. Then run
`sram_machine("llama-3-70b", on="groq-lpu", dtype="int8")` and compare.

hint: The first is a sum and a division, rounded up; watch MB and GB. A layer has only
its own chips' bandwidth, while the others wait.
"""

import math

from stacklib.grading import expect

# ---- your answer ----


def sized(least, **sizes):
    """Refuse what is below the least, and NaN."""
    for name, value in sizes.items():
        if not least <= value < math.inf:
            raise ValueError(f"{name} = {value!r}: from {least} up is needed")


def chips(memory, weights, token, readers, context):
    """The fewest chips that hold all."""
    sized(1, memory=memory, readers=readers)
    sized(0, weights=weights, token=token, context=context)
    need = weights * 1e9 + readers * context * token
    return math.ceil(need / (memory * 1e6))


def longest(many, memory, weights, token, readers):
    """Tokens that each reader may have."""
    sized(1, many=many, readers=readers, token=token)
    left = many * memory * 1e6 - weights * 1e9
    return int(left // (readers * token))


def token_ms(many, rate, weights, token, context, layers):
    """Milliseconds of one reader's token."""
    sized(1, many=many, layers=layers)
    read = weights * 1e9 + token * context
    return layers * read / (many * rate * 1e12) * 1e3


def fits(many, domain):
    """The chips, where they can be joined."""
    if many > domain:
        raise ValueError(f"{many} chips > {domain} that can be joined")
    return many


# ---- tests ----

MODEL = {"weights": 70.55, "token": 163_840}
CASES = [
    {"memory": memory, "readers": readers, "context": context, **MODEL}
    for memory in (230, 500, 44_000)
    for readers, context in ((1, 4096), (64, 4096), (1, 0), (8, 131_072))
]


def need(memory, weights, token, readers, context, kilo=1e9, shared=1):
    """Chips, one after the other, until all bytes lie somewhere."""
    bytes = weights * kilo + max(readers / shared, 1) * context * token
    return math.ceil(bytes / 1e6 / memory)


def test_chips():
    expect.function_matches(
        chips,
        need,
        CASES,
        rel=1e-9,
        mistakes={
            "What lies on a part of a chip needs a whole one.": (
                lambda memory, weights, token, readers, context: (
                    need(memory, weights, token, readers, context) - 1
                )
            ),
            "Every reader has a cache of its own.": (
                lambda memory, weights, token, readers, context: need(
                    memory, weights, token, 1, context
                )
            ),
            "A GB is a thousand MB here, not 1,024.": (
                lambda memory, weights, token, readers, context: need(
                    memory, weights, token, readers, context, kilo=1024**3
                )
            ),
        },
    )


def test_longest():
    cases = [
        {"many": n, "memory": m, "readers": r, **MODEL}
        for n, m in ((310, 230), (150, 500), (4, 44_000))
        for r in (1, 3)
    ]
    expect.function_matches(
        longest,
        lambda many, memory, weights, token, readers: (
            (many * memory / 1e3 - weights) * 1e9 // token // readers
        ),
        cases,
        rel=1e-9,
        mistakes={
            "The weights lie there, too.": (
                lambda many, memory, weights, token, readers: (
                    many * memory * 1e6 // token // readers
                )
            ),
            "What is left is shared by all readers.": (
                lambda many, memory, weights, token, readers: (
                    (many * memory * 1e6 - weights * 1e9) // token
                )
            ),
        },
    )


def test_token_ms():
    cases = [
        {"many": n, "rate": r, "context": c, "layers": 80, **MODEL}
        for n, r in ((310, 80), (256, 150))
        for c in (0, 4096)
    ]
    expect.function_matches(
        token_ms,
        lambda many, rate, weights, token, context, layers: (
            (weights + token * context / 1e9) / (many / layers) / rate
        ),
        cases,
        unit="ms",
        rel=1e-6,
        mistakes={
            "Not all chips read at once: only those that hold the layer.": (
                lambda many, rate, weights, token, context, layers: (
                    (weights + token * context / 1e9) / many / rate
                )
            ),
            "A token reads its cache as well.": (
                lambda many, rate, weights, token, context, layers: (
                    weights * layers / many / rate
                )
            ),
        },
    )
    expect.reading(
        "one reader on 310 LPUs", token_ms(310, 80, 70.55, 163_840, 4096, 80)
    )


def test_what_cannot_be_joined_is_refused():
    expect.equal(fits(60, 256), 60)
    expect.refuses(
        fits,
        {"many": 814, "domain": 256},
        because="more than can be joined fit nowhere",
    )


def test_what_is_no_size_is_refused():
    for change, why in (
        ({"readers": 0}, "nobody reads, and nothing is held for them"),
        ({"context": -1}, "a context has no fewer tokens than none"),
        ({"memory": math.nan}, "NaN is no memory"),
    ):
        expect.refuses(chips, CASES[0] | change, because=why)
