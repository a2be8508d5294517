# ---- quantities: units cancel by themselves
from stacklib.quantity import Quantity

WEIGHED, KEPT = 2 * 70e9, 4096 * 328e3


def step_alone():
    return Quantity(WEIGHED + KEPT, "B")


def step_together():
    return Quantity(WEIGHED + 64 * KEPT, "B")


def slower():
    return step_together() / step_alone()


def more_tokens():
    return 64 * step_alone() / step_together()


def even_batch():
    return WEIGHED / KEPT


# ---- database: the exact numbers instead of the rounded ones
from stacklib import models

LLAMA = models.get("llama-3-70b")


def bill(people):
    cache = people * LLAMA.kv_bytes(4096, "bf16").si
    return (LLAMA.weight_bytes("bf16").si + cache) / 1e9


def step_alone():
    return bill(1)


def step_together():
    return bill(64)


def slower():
    return bill(64) / bill(1)


def more_tokens():
    return 64 * bill(1) / bill(64)


def even_batch():
    return bill(0) / (bill(1) - bill(0))
