"""Three devices side by side: their rooflines, and every field with its ratio."""

from __future__ import annotations

from typing import Any

from stacklib import hardware, roofline
from stacklib.hardware import Accelerator
from stacklib.hardware.accelerator import FIELDS
from stacklib.plots.live import choices
from stacklib.plots.marks import Spec
from stacklib.plots.rooflines import SPAN, roofline_spec
from stacklib.plots.spec import readout
from stacklib.quantity import Quantity
from stacklib.quantity.times import in_times

START = ("h100_sxm", "mi300x", "tpu_v5p")
FORMATS = ("bf16", "fp8", "fp4")


def controls() -> list[dict[str, Any]]:
    """Menus of ``explore``."""
    names = ("first", "second", "third")
    menus = [
        choices.device(name, f"{name.capitalize()} device", key)
        for name, key in zip(names, START, strict=True)
    ]
    return [*menus, choices.select("dtype", "Roofline in", choices.formats(), "bf16")]


def explore(*, first: str, second: str, third: str, dtype: str) -> Spec:
    """Three rooflines, with a table of all fields against the first device's.

    A device without the format has no roof, and the message says so.
    """
    chips = [hardware.get(key) for key in dict.fromkeys((first, second, third))]
    drawn = [chip for chip in chips if dtype in chip.formats]
    names = ", ".join(chip.short for chip in drawn)
    title = f"{dtype} rooflines of {names}." if drawn else f"None computes in {dtype}."
    spec = roofline_spec([chip.key for chip in drawn], dtype, title=title)
    spec["x"]["limits"] = list(SPAN)
    lacking = [chip.short for chip in chips if chip not in drawn]
    said = f"{', '.join(lacking)}: no {dtype} rate published." if lacking else None
    ridges = [
        readout(f"ridge-{i}", f"Ridge of {chip.short}", roofline.ridge(chip, dtype))
        for i, chip in enumerate(drawn)
    ]
    return {**spec, "readouts": ridges, "message": said, "table": _table(chips)}


def _table(chips: list[Accelerator]) -> dict[str, Any]:
    """Every field and rate that at least one device has."""
    fields = [
        (words, [chip.fields[name] for chip in chips])
        for name, (_, words) in FIELDS.items()
    ]
    rates = [
        (f"{dtype}, dense", [_rate(chip, dtype) for chip in chips]) for dtype in FORMATS
    ]
    rows = [
        {"head": words, "cells": _cells(values, absent)}
        for absent, part in (("none", rates), ("unknown", fields))
        for words, values in part
        if any(value is not None for value in values)
    ]
    years = [{"text": str(chip.year)} for chip in chips]
    return {
        "caption": f"Every field; under it, how many times {chips[0].short}'s it is",
        "head": ["Field", *(chip.short for chip in chips)],
        "rows": [{"head": "year", "cells": years}, *rows],
    }


def _rate(chip: Accelerator, dtype: str) -> Quantity | None:
    return chip.peak(dtype) if dtype in chip.formats else None


def _cells(values: list[Quantity | None], absent: str) -> list[dict[str, Any]]:
    base, *others = values
    return [_cell(base, None, absent), *(_cell(q, base, absent) for q in others)]


def _cell(value: Quantity | None, base: Quantity | None, absent: str) -> dict[str, Any]:
    if value is None:
        return {"text": absent}
    cell = {"text": value.text(digits=4), "tree": value.tree()}
    # A rate each way over one both ways, or dense over sparse, is no ratio.
    if base is not None and base.tags == value.tags:
        near = "the same" if value.si == base.si else "about the same"
        words = f"times|{near}|times less"
        cell["note"] = in_times(value.si / base.si, words, digits=3)
    return cell
