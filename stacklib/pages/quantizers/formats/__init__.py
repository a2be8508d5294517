"""Section 7.1: What does a number in FP8 look like?"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

from stacklib import gpu
from stacklib.quantity import Quantity, chosen, counted
from stacklib.quantizers import FORMATS, Format
from stacklib.roofline import decode_step

SHOWN = ("fp32", "bf16", "fp16", "e5m2", "e4m3fn", "e3m2", "e2m3", "e2m1")
RACED = ("e2m1", "int4", "e3m0")  # formats of four bits whose errors are compared
LADDER = ("h100_sxm", "b200_sxm")
RATES = ("bf16", "fp8", "fp4")
STEPS, UPDATE = 1000, 1e-3  # additions to one, and what is added
EXAMPLE = 0.3  # the number of the drawing
SPECIAL = {
    "ieee": "infinity, NaN",
    "fn": "NaN only",
    "fnuz": "one NaN, no negative zero",
    "finite": "none",
    "scale": "NaN; no sign, no zero",
    "integer": "none",
    "table": "a table",
}


def reading(bits: int) -> Quantity:
    """Time in which eight H100s read the weights for a token in so many bits."""
    wide = decode_step("llama-3-70b", on="h100_sxm", tp=8, context=4096).time
    return (wide * chosen(bits / 16, label=f"{bits} bits over those of bf16")).named(
        f"reading in {bits} bits"
    )


# -- a format, as its row says ---------------------------------------------------------


def _of(name: str, what: str) -> float:
    return float(getattr(Format(name), what))


def largest(name: str) -> Quantity:
    """The largest number of a format."""
    return counted(_of, name, "largest", label=f"largest number of {name}")


def smallest(name: str) -> Quantity:
    """The smallest number above zero."""
    return counted(_of, name, "smallest", label=f"smallest number of {name}")


def least_normal(name: str) -> Quantity:
    """The smallest number with a leading one."""
    return counted(_of, name, "least_normal", label=f"least normal of {name}")


def _digits(name: str) -> float:
    return (Format(name).row.significand + 1) * math.log10(2)


def digits(name: str) -> Quantity:
    """Decimal digits of the significand, its leading one counted."""
    return counted(_digits, name, label=f"decimal digits of {name}")


def how_many(name: str) -> Quantity:
    """Numbers of a format that can be listed."""
    return counted(_count, name, label=f"numbers of {name}")


def _count(name: str) -> int:
    return len(Format(name).values)


def _text(x: Quantity) -> str:
    return f"{x.si:.3g}"  # from 1e-45 to 1e+38: no one unit serves


def zoo(names: Sequence[str] | None = None) -> list[dict[str, Any]]:
    """The rows of the table of formats; all where none are named.

    Nothing of it is written down: a format added to ``FORMATS`` has its row here.
    """
    rows = []
    for name in names or FORMATS:
        form = Format(name)
        row = form.row
        bits = f"{int(form.bits > row.exponent + row.significand)}"
        rows.append(
            {
                "format": name,
                "bits": f"{bits} + {row.exponent} + {row.significand}",
                "largest": _text(largest(name)),
                "least normal": _text(least_normal(name)),
                "least": _text(smallest(name)),
                "digits": digits(name),
                "no numbers": SPECIAL[row.special],
            }
        )
    return rows


# -- four bits on a normal distribution ------------------------------------------------


def _density(x: float) -> float:
    return math.exp(-x * x / 2) / math.sqrt(2 * math.pi)


def _below(x: float) -> float:
    return (1 + math.erf(x / math.sqrt(2))) / 2


def squared_error(values: Sequence[float]) -> float:
    """Mean squared error of standard normal numbers, each taken to the nearest value.

    By integral: between two half ways the numbers ``x`` become ``q``, and the second
    moment of ``x - q`` under the normal density has a closed form.
    """
    total = 0.0
    half = [(a + b) / 2 for a, b in itertools.pairwise(values)]
    edges = [-math.inf, *half, math.inf]
    for q, (low, high) in zip(values, itertools.pairwise(edges), strict=True):
        share = _below(high) - _below(low)
        ends = [x * _density(x) if math.isfinite(x) else 0.0 for x in (low, high)]
        first = _density(low) - _density(high)
        second = share + ends[0] - ends[1]
        total += second - 2 * q * first + q * q * share
    return total


def best_scale(name: str) -> float:
    """The scale with which a format loses least of standard normal numbers."""
    values = Format(name).values
    tried = [2 ** (k / 64) / max(values) for k in range(192)]
    return min(tried, key=lambda scale: squared_error([scale * v for v in values]))


def error_of(name: str) -> float:
    """Root of the mean squared error at the best scale, relative to the numbers."""
    scale = best_scale(name)
    return squared_error([scale * v for v in Format(name).values]) ** 0.5


def normal_error(name: str) -> Quantity:
    """The same with its derivation."""
    return counted(error_of, name, label=f"error on normal numbers, {name}")


# -- rounding, many times --------------------------------------------------------------


def added(rounding: str, seed: int = 0) -> float:
    """One, with a small number added many times, in bf16."""
    form, total = Format("bf16"), 1.0
    for step in range(STEPS):
        draw = seed * STEPS + step if rounding == "stochastic" else None
        total = form.decode(form.encode(total + UPDATE, rounding=rounding, seed=draw))
    return total


def sum_of(rounding: str) -> Quantity:
    """Where the sum ends."""
    return counted(added, rounding, label=f"sum, rounded {rounding}")


def step_at(name: str, power: int) -> Quantity:
    """Distance between two numbers of a format from a power of two on."""
    return counted(_step, name, power, label=f"step of {name} from 2^{power} on")


def _step(name: str, power: int) -> float:
    return 2.0 ** (power - Format(name).row.significand)


# -- rates -----------------------------------------------------------------------------


def rate(device: str, dtype: str) -> Quantity:
    """Dense peak, from units, multiply-adds and clock, added in FP32."""
    return gpu.peak_of(device, dtype).built


def sparse(device: str, dtype: str) -> Quantity:
    """The same with 2:4 sparsity."""
    row = gpu.peak_of(device, dtype)
    return row.built.retag("sparse", row.device.peaks[row.name].sparse_factor)


def every_code(name: str) -> float:
    """The largest number of a format if every code were a number."""
    row = Format(name).row
    power = (1 << row.exponent) - 1 - row.bias
    return (2 - 2.0**-row.significand) * 2.0**power


def octaves(name: str) -> Quantity:
    """Powers of two from one to the end of a format."""
    return counted(_octaves, name, label=f"octaves of {name} above one")


def _octaves(name: str) -> int:
    return math.frexp(Format(name).largest)[1]
