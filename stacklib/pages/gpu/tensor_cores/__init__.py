"""Section 2.5: What does one instruction multiply?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache

from stacklib import hardware
from stacklib.gpu.issue.instructions import ROWS, arithmetic
from stacklib.gpu.tensor.peaks import peak_of, per_mac
from stacklib.quantity import Quantity, chosen, counted

H100, B200, RUBIN = "h100-sxm", "b200-sxm", "rubin"


def kept(dtype: str, field: str = "fraction") -> Quantity:
    """A number of the rule by which Hopper adds products, as others found it."""
    rule = arithmetic("hopper", dtype)
    label = {"fraction": "bits kept", "terms": "products an addition"}[field]
    return Quantity(
        getattr(rule, field),
        label=f"hopper {dtype} {label}",
        source=rule.source,
        kind="measured",
        key=f"{ROWS}/arithmetic/hopper/{dtype}/{field}",
    )


def whole(share: Quantity) -> Quantity:
    """Buffers that fit where so many would, parts included."""
    return counted(math.floor, share, label="whole buffers")


@cache
def lost(products: int) -> float:
    """Share that a sum of so many equal FP8 products loses on Hopper."""
    from stacklib.gpu.tensor.exact_dot import dot_exactly

    ones = [1.125] * products
    found = dot_exactly(ones, ones, dtype="e4m3fn", generation="hopper")
    return 1 - found / (1.125**2 * products)


BOTH, ONE = "normal", "uniform, 0 to 1"  # signs of the random numbers
OUTPUTS = 128  # rows and columns of a random product


@cache
def sum_errors(drawn: str, products: int) -> dict[str, float]:
    """Errors of Hopper's FP8 sums of random numbers, by definition."""
    from stacklib.gpu.tensor.sum_errors import by_definition

    return by_definition(drawn, k=products, size=OUTPUTS)


def sum_error(products: int, drawn: str, definition: str) -> float:
    """One of them."""
    return sum_errors(drawn, products)[definition]


# Kind of product; MMA-Sim's vectors; answers of chips.
WITNESSES = (
    ("FP16, BF16, TF32", "all generations", "V100 to B200"),
    ("FP8", "Ada, Hopper, Blackwell", "Ada, H100, B200"),
    ("MXFP8", "B200, RTX 50", None),
    ("MXFP4, NVFP4", "B200, RTX 50", None),
    ("FP6, MXFP6, FP4 without scales", None, None),
    ("INT8, INT4, FP64", None, None),
    ("NaN, infinity, overflow", "all generations", None),
)


def witnesses() -> list[dict[str, str | None]]:
    """What each kind of product is held to, beside exact fractions."""
    names = ("product", "MMA-Sim", "answers of chips")
    return [
        {**dict(zip(names, row, strict=True)), "exact fractions": "yes"}
        for row in WITNESSES
    ]


def sparse_gain(dtype: str) -> Quantity:
    """Printed rate with 2:4 sparsity over the printed dense rate, of an H100."""
    peak = hardware.get(H100).peaks[dtype]
    return Quantity(
        peak.sparse_factor,
        label="sparse rate over dense rate, H100",
        kind="spec",
        source=peak.rate.source,
        key=f"{H100}.peak.{dtype}.sparse_factor",
    )


def rubin_clock(claimed: Quantity) -> Quantity:
    """Clock at which twice a B200's width in FP4 would give a claimed rate."""
    wide = 2 * peak_of(B200, "fp4").macs * per_mac("fp4")
    return claimed / (hardware.get(RUBIN).compute_units * wide)


def one_tile(blocks: Quantity, units: Quantity) -> Quantity:
    """Share of the peak that blocks of one tile can use, one a unit at a time."""
    from stacklib.gpu.tensor.tile_waves import tile_waves

    rows, columns = (chosen(n, label=f"{n} of a tile") for n in (128, 256))
    found = tile_waves(
        m=rows * blocks, n=columns, rows=rows, columns=columns, units=units
    )
    share: Quantity = found.share
    return share


def falls(shares: Sequence[float], tiles: Sequence[object]) -> tuple[int, int]:
    """Falls of the sawtooth, and those at which the library's tile is another."""
    at = [i for i in range(1, len(shares)) if shares[i] < shares[i - 1] - 0.02]
    return len(at), sum(tiles[i] != tiles[i - 1] for i in at)
