"""Unit words of published tables, as units of ``quantity``."""

from __future__ import annotations

import re
from functools import lru_cache

from stacklib.quantity import Quantity, UnitError

from ..measurements import Refusal

# What tables print -> the units it can mean, first that fits. Operations of an
# integer product are printed as FLOPS by some tables and as OPS by others.
WORDS: dict[str, tuple[str, ...]] = {
    "GFLOPS": ("GFLOP/s", "GOP/s"),
    "TFLOPS": ("TFLOP/s", "TOP/s"),
    "PFLOPS": ("PFLOP/s", "POP/s"),
    "TFLOP/s": ("TFLOP/s", "TOP/s"),
    "TOPS": ("TOP/s", "TFLOP/s"),
    "B/s": ("B/s",),
    "MB/s": ("MB/s",),
    "GB/s": ("GB/s",),
    "TB/s": ("TB/s",),
    "GiB/s": ("GiB/s",),
    "Gbit/s": ("Gbit/s",),
    "Gbps": ("Gbit/s",),
    "s": ("s",),
    "ms": ("ms",),
    "us": ("µs",),
    "µs": ("µs",),
    "ns": ("ns",),
    "h": ("h",),
    "GPU-h": ("h",),
    "cycles": ("cycle",),
    "cycle": ("cycle",),
    "MHz": ("MHz",),
    "GHz": ("GHz",),
    "tokens": ("token",),
    "tokens/s": ("token/s",),
    "token/s": ("token/s",),
    "tok/s": ("token/s",),
    "TFLOPS/GPU": ("TFLOP/s", "TOP/s"),
    "TFLOP/s/GPU": ("TFLOP/s", "TOP/s"),
    "TFLOPS/chip": ("TFLOP/s", "TOP/s"),
    "tokens/s/GPU": ("token/s",),
    "tokens/s/chip": ("token/s",),
    "samples/s": ("1/s",),
    "sequences/s": ("1/s",),
    "tokens/s/node": ("token/s",),
    "ktokens/s": ("ktoken/s",),
    "inferences/s": ("1/s",),
    "frames/s": ("1/s",),
    "requests/s": ("1/s",),
    "bit": ("bit",),
    "GB": ("GB",),
    "GiB": ("GiB",),
    "MB": ("MB",),
    "W": ("W",),
    "J": ("J",),
    "pJ": ("pJ",),
    "pJ/bit": ("pJ/bit",),
    "mm2": ("mm2",),
    "%": ("%",),
    "x": ("",),
    "fraction": ("",),
    "ratio": ("",),
    "ppl": ("",),
    "USD": ("USD",),
    "USD/h": ("USD/h",),
    "USD/GPU-h": ("USD/h",),
    "USD/GB": ("USD/GB",),
    "USD/Mtok": ("USD/Mtoken",),
}
# Elements have no symbol in quantity: rates of them are counts a second.
ELEMENTS = {"elem/s": 1.0, "Melem/s": 1e6, "Gelem/s": 1e9, "Telem/s": 1e12}


def words(unit: str) -> str:
    """A unit as tables print it, without remarks in brackets."""
    return re.sub(r"\s*\([^)]*\)", "", unit).strip()


@lru_cache(maxsize=4096)
def factor(model_unit: str, row_unit: str) -> float:
    """What a value in the model's unit is multiplied with to be in the row's."""
    said = words(row_unit)
    if said not in WORDS and said not in ELEMENTS:
        raise Refusal(f"unit {row_unit!r} is not in the table of units")
    for meant in WORDS.get(said, ("1/s",)):
        try:
            value = Quantity(1.0, model_unit or "1").to(meant or "1").value
            return value / ELEMENTS.get(said, 1.0)
        except UnitError:
            continue
    raise Refusal(f"the model gives {model_unit or 'a ratio'}, the row {row_unit!r}")
