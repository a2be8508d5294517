"""What sixty-four share.

level: estimate

Sixty-four people talk to Llama-3-70B on eight H100s, and each has `4_096` tokens in the
cache. Work out with pencil and paper what a step for all of them reads, and what
sharing it is worth.

From the model's card: 70 billion weights, two bytes each in bf16; a token leaves
328 kB. Suppose that a step takes as long as its bytes take, that the weights are read
once for everyone, and that each reads the cache of its own conversation.

Return plain numbers in the unit that each function names. Within a twentieth of the
exact number counts as right.

hint: Weights are on the bill once, caches once for each. The bandwidth cancels in every
ratio: you never need it. For `even_batch`, set the two parts of the bill equal.
"""

from stacklib import models, roofline
from stacklib.grading import expect

# ---- your answer ----


def step_alone():
    """GB that a step for one person reads."""
    return 140 + 4096 * 328e3 / 1e9


def step_together():
    """GB that a step for all sixty-four reads."""
    return 140 + 64 * 4096 * 328e3 / 1e9


def slower():
    """How many times as long each waits for a token, with the others there."""
    return step_together() / step_alone()


def more_tokens():
    """How many times as many tokens the machine makes in a second."""
    return 64 / slower()


def even_batch():
    """People at whom the caches weigh as much as the weights, not rounded."""
    return 140 / (4096 * 328e3 / 1e9)


# ---- tests ----

MODEL, TOKENS, ALL = models.get("llama-3-70b"), 4096, 64


def read(batch):
    """Bytes of a step, as the book counts them."""
    work = roofline.decode_work(MODEL, dtype="bf16", batch=batch, context=TOKENS)
    return work.bytes


CACHE = MODEL.kv_bytes(TOKENS, "bf16")
WEIGHTS = MODEL.read_bytes(1, "bf16")
RATIO = (read(ALL) / read(1)).si


def test_step_alone():
    expect.number(step_alone(), read(1), unit="GB", rel=0.05)


def test_step_together():
    expect.number(
        step_together(),
        read(ALL),
        unit="GB",
        rel=0.05,
        mistakes={
            "The weights are read once for all, and yours once for each.": (
                read(1) * ALL
            ),
            "Each reads a cache of its own; yours reads one for all.": read(1),
            "That is the caches alone.": CACHE * ALL,
        },
    )


def test_slower():
    expect.number(
        slower(),
        RATIO,
        rel=0.05,
        mistakes={
            "As long as one after the other: the weights are shared.": ALL,
            "The other way round: they wait longer, not shorter.": 1 / RATIO,
            "The caches of the others are read, too; it is not the same step.": 1,
        },
    )


def test_more_tokens():
    expect.number(
        more_tokens(),
        ALL / RATIO,
        rel=0.05,
        mistakes={
            "So many if nobody waited longer: their caches are read, too.": ALL,
            "That is how much longer each waits, not what the machine makes.": RATIO,
        },
    )


def test_even_batch():
    expect.number(
        even_batch(),
        WEIGHTS / CACHE,
        rel=0.05,
        mistakes={"The other way round: weights over a cache.": CACHE / WEIGHTS},
    )
