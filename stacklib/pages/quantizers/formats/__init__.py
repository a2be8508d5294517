"""Section 7.1: What does a number in FP8 look like?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from stacklib import gpu
from stacklib.pages import figures_of
from stacklib.quantity import Quantity, counted, counting, recorded
from stacklib.quantizers import FORMATS, Format
from stacklib.quantizers.scheme import fact

SHOWN = ("fp32", "bf16", "fp16", "e5m2", "e4m3fn", "e3m2", "e2m3", "e2m1")
LADDER = ("h100_sxm", "b200_sxm")
RATES = ("bf16", "fp8", "fp4")
STEPS, UPDATE = 1000, 1e-3  # additions to one, and what is added
EVERY = "every_number"  # the result file: rows by format and library
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


# -- a format, as its row says ---------------------------------------------------------


def largest(name: str) -> Quantity:
    """The largest number of a format."""
    return fact(name, "largest", label=f"largest number of {name}")


def smallest(name: str) -> Quantity:
    """The smallest number above zero."""
    return fact(name, "smallest", label=f"smallest number of {name}")


def least_normal(name: str) -> Quantity:
    """The smallest number with a leading one."""
    return fact(name, "least_normal", label=f"least normal of {name}")


@counting("decimal digits of {name}")
def digits(name: str) -> float:
    """Decimal digits of the significand, its leading one counted."""
    return (Format(name).row.significand + 1) * math.log10(2)


@counting("numbers of {name}")
def how_many(name: str) -> int:
    """Numbers of a format that can be listed."""
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
                "bits": f"{bits}+{row.exponent}+{row.significand}",
                "largest": _text(largest(name)),
                "least normal": _text(least_normal(name)),
                "least": _text(smallest(name)),
                "digits": digits(name),
                "no numbers": SPECIAL[row.special],
            }
        )
    return rows


# -- four bits -----------------------------------------------------------------------

# numbers of a distribution in blocks of 32, and what the reader calls them
TAILS = {
    "normal": "normal",
    "laplace": "Laplace",
    "student_3": "Student's t, three degrees",
}
SHARED = 32  # numbers of such a block
FOUR = ("int4", "e2m1", "e3m0")  # formats of four bits


@counting(
    lambda name, distribution: f"error of {name} in blocks of {SHARED}, {distribution}"
)
def tail_error(name: str, distribution: str) -> float:
    """Error of blocks whose scale puts the largest number at the format's end."""
    from stacklib.quantizers import expected_error

    return expected_error(name, SHARED, "exact", distribution) ** 0.5


def first_step(name: str) -> Quantity:
    """The smallest number above zero over the largest."""
    return (smallest(name) / largest(name)).named(f"first step of {name}, of its end")


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


def octave() -> Quantity:
    """Where the highest octave of e4m3fn begins."""
    found = fact("e4m3fn", "octave") / 2
    return found.named("two to the highest exponent of e4m3fn")


def below(name: str) -> Quantity:
    """Places that a format loses below the end of its highest octave."""
    end = fact(name, "octave")
    found = (end - largest(name)) / (end / 2) * fact(name, "places")
    return found.named(f"places below the end, {name[:4].upper()}")


@counting("step of {name} from 2^{power} on")
def step_at(name: str, power: int) -> float:
    """Distance between two numbers of a format from a power of two on."""
    return 2.0 ** (power - Format(name).row.significand)


# -- every number of FP32 --------------------------------------------------------------


def encoded() -> list[dict[str, Any]]:
    """Formats beside the libraries that have them, and how many codes differ."""
    return [
        {
            "format": row["format"],
            "library": row["peer"],
            "saturates": "yes" if row["peer"] == "torch" else "no",
            "codes that differ": recorded(
                f"benchmarks/results/{EVERY}.json",
                row["id"],
                "differ",
                label=f"codes that differ, {row['id']}",
            ),
        }
        for row in figures_of.rows(EVERY)
    ]


# -- rates -----------------------------------------------------------------------------


def rate(device: str, dtype: str) -> Quantity:
    """Dense peak, from units, multiply-adds and clock, added in FP32."""
    return gpu.peak_of(device, dtype).built


def sparse(device: str, dtype: str) -> Quantity:
    """The same with 2:4 sparsity."""
    row = gpu.peak_of(device, dtype)
    return row.built.retag("sparse", row.device.peaks[row.name].sparse_factor)


@counting("every code a number")
def every_code(name: str) -> float:
    """The largest number of a format if every code were a number."""
    row = Format(name).row
    power = (1 << row.exponent) - 1 - row.bias
    return (2 - 2.0**-row.significand) * 2.0**power


@counting("octaves of {name} above one")
def octaves(name: str) -> int:
    """Powers of two from one to the end of a format."""
    return round(math.log2(Format(name).octave))
