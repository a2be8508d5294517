"""Tokens of an MI300X, before you rent it.

level: estimate
project: P5.2

Suppose a server of `8` MI300X: each has `192` GB, reads `5.3` TB/s and multiplies
`1307` TFLOP/s in bf16. Suppose a model of which every token reads all weights once,
whoever else is answered in the same step, and each reader's own cache.

- `step_ms(weights_gb, cache_gb, readers, chips, tb_per_s)`: milliseconds of a step at
  the roof of the memory, for `readers` at once.
- `tokens_per_s(...)`, of the same arguments: tokens a second of all readers together.
- `readers_that_fit(weights_gb, cache_gb, chips, gb)`: how many conversations lie beside
  the weights.
- `readers_to_compute(tflops, tb_per_s)`: from how many readers on, of a bf16 model and
  without caches, arithmetic takes longer than reading: `2` operations a weight and
  reader, `2` bytes a weight.

With hardware: `vllm bench latency` on a rented server, tensor parallel over the eight;
compare its time a token with `step_ms(139, 1.34, 1, 8, 5.3)`. Published runs take
longer, since an engine loses time between layers.

hint: All chips read at once. Of what a step reads, the weights are shared and the
caches are not. GB over TB/s are milliseconds.
"""

from stacklib.grading import expect

# ---- your answer ----


def step_ms(weights_gb, cache_gb, readers, chips, tb_per_s):
    """Milliseconds of a step."""
    return (weights_gb + readers * cache_gb) / (chips * tb_per_s)


def tokens_per_s(weights_gb, cache_gb, readers, chips, tb_per_s):
    """Tokens a second of all readers."""
    return readers / step_ms(weights_gb, cache_gb, readers, chips, tb_per_s) * 1e3


def readers_that_fit(weights_gb, cache_gb, chips, gb):
    """Whole conversations beside the weights."""
    return int((chips * gb - weights_gb) // cache_gb)


def readers_to_compute(tflops, tb_per_s):
    """Readers at which both take the same time."""
    return tflops / tb_per_s


# ---- tests ----

CASES = [
    {"weights_gb": w, "cache_gb": c, "readers": n, "chips": k, "tb_per_s": 5.3}
    for w, c in ((139.0, 1.34), (16.0, 0.54))
    for n, k in ((1, 8), (64, 8), (7, 1))
]


def moved(weights_gb, cache_gb, readers, chips, tb_per_s):
    """Gigabytes that each chip reads, over its rate."""
    each = weights_gb / chips + readers * cache_gb / chips
    return each / tb_per_s


def test_step_ms():
    expect.function_matches(
        step_ms,
        moved,
        CASES,
        unit="ms",
        rel=1e-6,
        mistakes={
            "Each reader has a cache of its own; yours is read once for all.": (
                lambda weights_gb, cache_gb, readers, chips, tb_per_s: (
                    (weights_gb + cache_gb) / chips / tb_per_s
                )
            ),
            "All chips read at once; that is the time of one of them alone.": (
                lambda weights_gb, cache_gb, readers, chips, tb_per_s: (
                    (weights_gb + readers * cache_gb) / tb_per_s
                )
            ),
            "The weights are read once a step, for all readers together.": (
                lambda weights_gb, cache_gb, readers, chips, tb_per_s: (
                    readers * (weights_gb + cache_gb) / chips / tb_per_s
                )
            ),
        },
    )


def test_tokens_per_s():
    expect.function_matches(
        tokens_per_s,
        lambda readers, **others: readers * 1000 / moved(readers=readers, **others),
        CASES,
        unit="token/s",
        rel=1e-6,
        mistakes={
            "Those are the tokens of one reader; a step writes one for each.": (
                lambda readers, **others: 1000 / moved(readers=readers, **others)
            ),
        },
    )


def test_readers_that_fit():
    cases = [
        {"weights_gb": w, "cache_gb": c, "chips": k, "gb": 192}
        for w, c, k in ((141.1, 1.342, 8), (141.1, 1.342, 1), (16.1, 0.537, 1))
    ]
    expect.function_matches(
        readers_that_fit,
        lambda weights_gb, cache_gb, chips, gb: (
            (chips * gb - weights_gb) / cache_gb // 1
        ),
        cases,
        mistakes={
            "The weights take room, too.": (
                lambda weights_gb, cache_gb, chips, gb: chips * gb // cache_gb
            ),
            "The weights lie on all chips together once, not once on each.": (
                lambda weights_gb, cache_gb, chips, gb: (
                    chips * (gb - weights_gb) // cache_gb
                )
            ),
        },
    )


def test_readers_to_compute():
    cases = [{"tflops": 1307, "tb_per_s": 5.3}, {"tflops": 989, "tb_per_s": 3.35}]
    expect.function_matches(
        readers_to_compute,
        lambda tflops, tb_per_s: 2 * tflops / (2 * tb_per_s),
        cases,
        rel=1e-6,
        mistakes={
            "A multiplication and an addition are two operations.": (
                lambda tflops, tb_per_s: 2 * tflops / tb_per_s
            ),
            "A weight of bf16 has two bytes.": (
                lambda tflops, tb_per_s: tflops / tb_per_s / 2
            ),
        },
    )
    expect.reading(
        "a 70B model in bf16, one reader", step_ms(139, 1.34, 1, 8, 5.3), "ms"
    )
