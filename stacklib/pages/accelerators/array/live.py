"""An array that the reader types: formula, stepped cells and gates, cycle by cycle."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil
from typing import Any

from stacklib.accelerators.array.cycles import (
    cycles,
    folds,
    sram_reads,
    utilisation,
)
from stacklib.accelerators.array.systolic import Frame, Run, SystolicArray
from stacklib.accelerators.rtl.feed import Cycle, first_difference
from stacklib.accelerators.rtl.gates import by_gates
from stacklib.accelerators.rtl.stepped import as_cycles
from stacklib.plots.live import choices
from stacklib.plots.live.parts import counted
from stacklib.plots.marks import Spec, axis, chart, line
from stacklib.plots.spec import readout
from stacklib.roofline.work.moving import moving_time

NAMES = ("m", "n", "k", "rows", "cols")
MOST = 60_000  # multiplier-cycles that are stepped in a page
MORE = 8  # cells whose operands are listed
GATES = 16  # multipliers whose gates run there
BYTES = (1, 2, 4, 8, 16, 32, 64)
STARTS = {
    "4 × 4 × 4": "m = 4\nn = 4\nk = 4\nrows = 4\ncols = 4\ndataflow = os",
    "weights standing": "m = 6\nn = 8\nk = 8\nrows = 4\ncols = 4\ndataflow = ws",
    "one token": "m = 1\nn = 16\nk = 16\nrows = 8\ncols = 8\ndataflow = ws",
    "ragged": "m = 7\nn = 5\nk = 9\nrows = 3\ncols = 4\ndataflow = is",
    "a layer's matrix": "m = 1\nn = 8192\nk = 8192\nrows = 128\ncols = 128\n"
    "dataflow = ws",
}


def controls() -> list[dict[str, Any]]:
    """The product and its array, the cycle that is shown, and the memory."""
    return [
        choices.program("program", "Product and array", STARTS, STARTS["4 × 4 × 4"]),
        choices.slider("cycle", "Cycle whose operands are listed", range(64), 5),
        choices.slider("bandwidth", "Memory (bytes per cycle)", BYTES, 16),
    ]


def read(text: str) -> dict[str, Any]:
    """Sizes, dataflow and whether folds overlap, from lines ``name = value``."""
    found: dict[str, Any] = {"dataflow": "os", "overlap": False}
    for at, words in enumerate(text.splitlines(), 1):
        words = words.partition("#")[0].strip()
        if not words:
            continue
        name, equals, value = (word.strip() for word in words.partition("="))
        if not equals or name not in (*NAMES, "dataflow", "overlap"):
            raise ValueError(
                f"line {at}: {words!r}; write one of {', '.join(NAMES)}, dataflow, "
                "overlap, then = and its value"
            )
        if name == "overlap":
            found[name] = value.lower() in ("yes", "true", "1")
        elif name == "dataflow":
            found[name] = value
        elif not value.isdecimal() or len(value) > 6:
            raise ValueError(f"line {at}: {name} = {value!r} is no whole number")
        else:
            found[name] = int(value)
    if missing := [name for name in NAMES if name not in found]:
        raise ValueError(f"no line says what {missing[0]} is")
    return found


def operands(m: int, n: int, k: int) -> tuple[list[list[int]], list[list[int]]]:
    """Activations and weights, the same for the same sizes."""
    a = [[(37 * r + 101 * c + 11) % 255 - 127 for c in range(k)] for r in range(m)]
    b = [[(59 * r + 83 * c + 29) % 255 - 127 for c in range(n)] for r in range(k)]
    return a, b


def explore(*, program: str, cycle: int, bandwidth: int) -> Spec:
    """The product on the array that the text describes."""
    try:
        asked = read(program)
        overlap = asked.pop("overlap")
        last = cycles(**asked, overlap=overlap)
    except (ValueError, LookupError) as fault:
        return chart(
            "This is no product on an array.",
            x=axis("Cycle", limits=[0, 1], ticks=()),
            y=axis("Multipliers at work", limits=[0, 1], ticks=()),
            marks=[],
            message=str(fault).splitlines()[0] + ".",
        )
    size = {name: asked[name] for name in NAMES}
    many = size["rows"] * size["cols"]
    readouts = [
        readout("last", "Last cycle, by the formula", counted(last, "last cycle")),
        readout(
            "used",
            "Of the multipliers' cycles, used",
            counted(utilisation(**asked, overlap=overlap), "used"),
            "share",
            unit="%",
        ),
    ]
    names = ("array", "ports", "memory")
    waits = dict(zip(names, _waits(asked, last, bandwidth), strict=True))
    readouts += [
        readout(name, f"Cycles that the {name} needs", counted(value, name))
        for name, value in waits.items()
    ]
    binds = max(waits, key=lambda name: waits[name])
    if (last + 1) * many > MOST:
        return chart(
            f"Too long to step in a page; the formula says that the {binds} binds.",
            x=axis("Cycle", limits=[0, last + 1]),
            y=axis("Multipliers at work", limits=[0, many]),
            marks=[_level(asked, last, many)],
            readouts=readouts,
        )
    array = SystolicArray(
        size["rows"], size["cols"], asked["dataflow"], overlap=overlap
    )
    run = array.run(*operands(size["m"], size["n"], size["k"]))
    film = list(run.frames())
    readouts.append(
        readout("stepped", "Last cycle, stepped", counted(run.last_cycle, "stepped"))
    )
    gates = list(_gates(asked, run))
    differs = first_difference(gates, as_cycles(film)) if gates else None
    if gates:
        agreed = len(gates) if differs is None else differs.cycle
        readouts.append(
            readout(
                "gates", "Cycles in which the gates agree", counted(agreed, "gates")
            )
        )
    frame = film[min(cycle, run.last_cycle)]
    return chart(
        _title(run, last, differs, bool(gates), binds),
        x=axis("Cycle", limits=[0, last + 1]),
        y=axis("Multipliers at work", limits=[0, many * 1.05]),
        marks=[_busy(film), _level(asked, last, many)],
        readouts=readouts,
        table=_listed(frame),
    )


def _waits(asked: dict[str, Any], last: int, bandwidth: int) -> tuple[int, int, int]:
    """Cycles of the array, of the ports beside it, of a memory behind them."""
    read_ = sram_reads(**asked)
    left, top = read_.activations, read_.weights
    if asked["dataflow"] == "is":
        left, top = top, left
    ports = max(-(-left // asked["rows"]), -(-top // asked["cols"]))
    moved = asked["k"] * (asked["m"] + asked["n"])
    return last + 1, ports, ceil(moving_time(moved, bandwidth))


def _gates(asked: dict[str, Any], run: Run) -> Iterator[Cycle]:
    """The same array as gates, where sums stand and one small tile is enough."""
    cut = folds(**asked)
    small = cut.rows * cut.cols <= GATES and cut.count == 1
    if not small or asked["dataflow"] != "os":
        return iter(())
    left = run.work.left
    return by_gates(left, run.work.top)


def _busy(film: list[Frame]) -> Any:
    at = [frame.cycle for frame in film]
    many = [sum(map(sum, frame.busy)) for frame in film]
    return line(at, many, "stepped", "simulated", at="key")


def _level(asked: dict[str, Any], last: int, many: int) -> Any:
    """The mean of the formula, a level over the run."""
    work = asked["m"] * asked["n"] * asked["k"]
    mean = work / (last + 1)
    return line([0, last + 1], [mean, mean], "formula, mean", "predicted", at="key")


def _title(run: Run, last: int, differs: Any, gates: bool, binds: str) -> str:
    if run.last_cycle != last:
        return f"Formula and stepped array differ: cycles {last} and {run.last_cycle}."
    if differs is not None:
        return f"Gates and stepped array differ first in {differs}."
    both = "Formula, stepped array and gates" if gates else "Formula and stepped array"
    return f"{both} agree to the cycle; the {binds} binds."


def _listed(frame: Frame) -> dict[str, Any]:
    """What each cell multiplies in a cycle, the busy ones, eight at most."""
    found = [
        (r, c) for r, row in enumerate(frame.busy) for c, busy in enumerate(row) if busy
    ]
    rows = []
    for r, c in found[:MORE]:
        values = [int(x[r][c]) for x in (frame.activations, frame.weights, frame.sums)]
        rows.append(
            {
                "head": f"({r}, {c})",
                "cells": [{"text": str(value)} for value in values],
            }
        )
    more = f", the first {MORE} of {len(found)} at work" if len(found) > MORE else ""
    return {
        "caption": f"Operands in cycle {frame.cycle}{more}.",
        "head": ["Cell", "Activation", "Weight", "Sum"],
        "rows": rows,
    }
