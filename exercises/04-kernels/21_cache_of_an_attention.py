"""What a token leaves behind.

level: estimate

Suppose a model of 60 layers with 128 query heads of 128 numbers each, and a cache in
bf16, 2 bytes for each number. Work out with pencil and paper what one token leaves in
the cache of all layers, for four kinds of attention:

- multi-head attention;
- grouped-query attention, suppose with 16 KV heads;
- multi-query attention;
- latent attention: suppose a latent of 512 numbers, from which all keys and values can
  be computed, and 64 numbers that carry the token's place and belong to the keys.

Suppose then that 8 GPUs share out the heads of the model, each with 128 / 8 of the
query heads and the keys and values that these need. Return bytes, and for the last a
whole number of tokens.

hint: For each kind ask what one query head reads of one token, and which other heads
read the very same numbers. In the latent kind values are computed from the same numbers
as keys.
"""

from stacklib.grading import expect
from stacklib.kernels.attention import mla
from stacklib.quantity import Quantity

# ---- your answer ----


def multi_head():
    """Bytes of a token, multi-head attention."""
    return 60 * 128 * (128 + 128) * 2


def grouped():
    """Bytes of a token, 16 KV heads."""
    return 60 * 16 * (128 + 128) * 2


def multi_query():
    """Bytes of a token, multi-query attention."""
    return 60 * (128 + 128) * 2


def latent():
    """Bytes of a token, latent attention."""
    return 60 * (512 + 64) * 2


def latent_on_each():
    """Bytes of a token on each of the 8 GPUs, latent attention."""
    return latent()


def grouped_on_each():
    """Bytes of a token on each of the 8 GPUs, 16 KV heads."""
    return grouped() / 8


def tokens():
    """Whole tokens that 40 GB, 40e9 bytes, of one GPU hold, latent attention."""
    return 40e9 // latent_on_each()


# ---- tests ----

GROUPS, GPUS = 16, 8
SIZES = mla.Latent.of("deepseek-v2")
LAYER = mla.bytes_by_kind("deepseek-v2", groups=GROUPS)
LAYERS = SIZES.layers.si
BYTES = {kind: LAYERS * each.si for kind, each in LAYER.items()}
ONE_WAY = "Those are the keys. Values are kept, too."
ONE_LAYER = "That is one layer."
IN_NUMBERS = "Those are numbers. In bf16 each takes two bytes."
ALL = "Each query head reads keys and values of its own only in multi-head attention."


def held(value, kind, more=None):
    right = BYTES[kind]
    slips = {
        ONE_LAYER: right / LAYERS,
        IN_NUMBERS: Quantity(right / 2, "B"),
        **(more or {}),
    }
    expect.number(value, Quantity(right, "B"), unit="B", rel=1e-6, mistakes=slips)


def one_way(kind):
    """For keys and values apart, half is as many bytes as there are numbers."""
    return {f"{ONE_WAY} Or did you return numbers, not bytes?": BYTES[kind] / 2}


def apart(value, kind, more=None):
    right = BYTES[kind]
    slips = {ONE_LAYER: right / LAYERS, **one_way(kind), **(more or {})}
    expect.number(value, Quantity(right, "B"), unit="B", rel=1e-6, mistakes=slips)


def test_multi_head():
    apart(multi_head(), "MHA")


def test_grouped():
    apart(grouped(), "GQA", {ALL: BYTES["MHA"]})


def test_multi_query():
    apart(
        multi_query(),
        "MQA",
        {
            ALL: BYTES["MHA"],
            "That has a KV head for each group. Here all query heads share one.": (
                BYTES["GQA"]
            ),
        },
    )


def test_latent():
    each = LAYERS * 2
    held(
        latent(),
        "MLA",
        {
            "Keys and values come from the same row: it is kept, and read, once.": (
                2 * BYTES["MLA"]
            ),
            "The numbers that carry the place are kept, too: 576 columns, not 512.": (
                each * SIZES.latent.si
            ),
            "Twice the latent, the place once? Values need no row of their own.": (
                each * (2 * SIZES.latent.si + SIZES.rope.si)
            ),
            "All heads share the one row; it is not kept for each of them.": (
                BYTES["MLA"] * SIZES.heads.si
            ),
        },
    )
    share = BYTES["MLA"] / BYTES["MHA"]
    expect.reading("of what multi-head attention keeps", f"{share:.2%}")


def test_on_each():
    expect.number(
        latent_on_each(),
        Quantity(BYTES["MLA"], "B"),
        unit="B",
        rel=1e-6,
        mistakes={
            "Heads can be shared out, the row cannot: every head needs all of it.": (
                BYTES["MLA"] / GPUS
            )
        },
    )
    expect.number(
        grouped_on_each(),
        Quantity(BYTES["GQA"] / GPUS, "B"),
        unit="B",
        rel=1e-6,
        mistakes={
            "A GPU keeps only the KV heads that its own query heads read.": BYTES[
                "GQA"
            ],
            "Two KV heads lie on each GPU, not one.": BYTES["GQA"] / GROUPS,
        },
    )


def test_tokens():
    expect.number(
        expect.whole(tokens()),
        40e9 // BYTES["MLA"],
        rel=1e-6,
        mistakes={
            "All GPUs together hold no more tokens than one: each keeps every row.": (
                40e9 * GPUS // BYTES["MLA"]
            ),
            "You count GiB.": 40 * 2**30 // BYTES["MLA"],
            "With the one row taken for keys and again for values.": (
                40e9 // (2 * BYTES["MLA"])
            ),
        },
    )
