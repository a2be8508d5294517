# ---- quantities: units cancel by themselves
from stacklib.quantity import Quantity


def bytes_per_chip():
    return Quantity(2 * 70e9, "B") / 2


def reading_time():
    return bytes_per_chip() / Quantity(3.35, "TB/s")


def arithmetic_time():
    return Quantity(2 * 70e9, "FLOP") / 2 / Quantity(989, "TFLOP/s")


def waiting_share():
    return 1 - arithmetic_time() / reading_time()


# ---- database: the exact numbers instead of the rounded ones
from stacklib import hardware, models

MODEL, CHIP = models.get("llama-3-70b"), hardware.get("h100-sxm")


def bytes_per_chip():
    return MODEL.weight_bytes("bf16").si / 2 / 1e9


def reading_time():
    return 1e12 * bytes_per_chip() / CHIP.memory_bandwidth.si


def arithmetic_time():
    return 1e6 * MODEL.parameters.si / CHIP.peak("bf16").si


def waiting_share():
    ridge = CHIP.peak("bf16").si / CHIP.memory_bandwidth.si
    return 1 - 1 / ridge
