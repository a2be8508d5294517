"""A netlist: two-input gates and flip-flops, in a text short enough to be kept.

Every bit has a number. 0 and 1 are the constants; then come the inputs in their order,
the flip-flops, and the cells, each of which reads bits with smaller numbers only. A
cell is written as its kind and what it reads: ``&12,40`` and ``~7``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, reduce
from operator import add
from pathlib import Path
from textwrap import wrap
from typing import Any

from stacklib.quantity import quoted, resolve
from stacklib.quantity.bounds import is_whole

KINDS = {"&": "AND", "|": "OR", "^": "XOR", "~": "NOT"}
# Of a cell in static CMOS, as Yosys counts.
CMOS = {kind: quoted(f"yosys.{kind.lower()}") for kind in (*KINDS.values(), "DFF")}
TRANSISTORS = {kind: int(each.si) for kind, each in CMOS.items()}
DATA = Path(__file__).parent / "data"


class NetlistError(ValueError):
    """A netlist that is none; names the cell or the line."""


@dataclass(frozen=True)
class Netlist:
    """Gates between named inputs, named outputs and flip-flops that begin at zero."""

    about: str  # what it is of, by which tool
    inputs: dict[str, int]  # widths
    outputs: dict[str, tuple[int, ...]]  # the bit that each shows, lowest first
    states: tuple[int, ...]  # of each flip-flop, the bit that it takes next
    cells: tuple[tuple[str, int, int], ...]

    def __post_init__(self) -> None:
        for name, width in self.inputs.items():
            if not is_whole(width) or width < 1:
                raise NetlistError(f"input {name} of {width!r} bits: one at least")
        known = self.first_cell
        for at, (kind, a, b) in enumerate(self.cells):
            if kind not in KINDS:
                raise NetlistError(
                    f"cell {at} of kind {kind!r}: {', '.join(KINDS)} are known"
                )
            if not 0 <= a < known + at or not 0 <= b < known + at:
                raise NetlistError(
                    f"cell {at} reads bits {a} and {b}; only the {known + at} before "
                    "it are there"
                )
        bits = known + len(self.cells)
        for name, shown in {"states": self.states, **self.outputs}.items():
            if any(not 0 <= bit < bits for bit in shown):
                raise NetlistError(f"{name} shows {max(shown)}; there are {bits} bits")

    @property
    def first_state(self) -> int:
        """The number of the first flip-flop's bit."""
        return 2 + sum(self.inputs.values())

    @property
    def first_cell(self) -> int:
        """The number of the first cell's bit."""
        return self.first_state + len(self.states)

    def taken(self, bits: tuple[int, ...]) -> tuple[int, ...]:
        """The bits that flip-flops take at the end of a cycle."""
        if any(not self.first_state <= bit < self.first_cell for bit in bits):
            raise NetlistError(f"bits {bits}: flip-flops are needed, no cells")
        return tuple(self.states[bit - self.first_state] for bit in bits)

    @property
    def counts(self) -> dict[str, int]:
        """Cells by kind, flip-flops as DFF."""
        found = dict.fromkeys(KINDS.values(), 0)
        for kind, _, _ in self.cells:
            found[KINDS[kind]] += 1
        return {**found, "DFF": len(self.states)}


def transistors(cells: Mapping[str, Any]) -> Any:
    """Transistors of so many cells of each kind in static CMOS, as Yosys counts."""
    return reduce(add, (CMOS[resolve(k, CMOS, "cell")] * n for k, n in cells.items()))


def write(netlist: Netlist) -> str:
    """The text that ``read`` reads."""
    lines = [f"# {netlist.about}"]
    lines += [f"input {name} {width}" for name, width in netlist.inputs.items()]
    lines += _wrapped("state", _ranges(netlist.states))
    for name, shown in netlist.outputs.items():
        lines += _wrapped(f"output {name}", _ranges(shown))
    cells = [k + (f"{a}" if k == "~" else f"{a},{b}") for k, a, b in netlist.cells]
    return "\n".join([*lines, *_wrapped("cells", cells)]) + "\n"


def read(text: str) -> Netlist:
    """A netlist from its text; a line that continues another begins with a blank."""
    about, *lines = text.replace("\n ", " ").splitlines() or [""]
    inputs: dict[str, int] = {}
    outputs: dict[str, tuple[int, ...]] = {}
    states: tuple[int, ...] = ()
    cells: list[tuple[str, int, int]] = []
    for line in lines:
        word, *rest = line.split() or [""]
        try:
            if word == "input" and rest[0] not in inputs:
                inputs[rest[0]] = int(rest[1])
            elif word == "output":
                outputs[rest[0]] = tuple(_bits(rest[1:]))
            elif word == "state":
                states = tuple(_bits(rest))
            elif word == "cells":
                cells = [_cell(cell) for cell in rest]
            else:
                raise ValueError(word)
        except (ValueError, IndexError) as error:
            raise NetlistError(
                f"line {line[:40]!r}: input, output, state or cells is needed, then "
                "numbers"
            ) from error
    return Netlist(about.removeprefix("# "), inputs, outputs, states, tuple(cells))


@cache
def stored(name: str) -> Netlist:
    """A synthesised netlist that the book keeps, such as ``array_2x2``."""
    found = {path.stem: path for path in sorted(DATA.glob("*.netlist"))}
    if name not in found:
        raise NetlistError(
            f"no netlist {name!r} is kept; synthesise it, or take one of: "
            f"{', '.join(found)}"
        )
    return read(found[name].read_text("utf-8"))


def _cell(text: str) -> tuple[str, int, int]:
    a, b = text[1:], text[1:]
    if text[0] in "&|^":
        a, _, b = a.partition(",")
    return text[0], int(a), int(b)


def _bits(words: list[str]) -> Iterator[int]:
    for word in words:
        first, _, last = word.partition("-")
        run = range(int(first), int(last or first) + 1)
        if not run:
            raise ValueError(word)
        yield from run


def _ranges(bits: tuple[int, ...]) -> list[str]:
    """Numbers, runs of them as first and last."""
    runs: list[list[int]] = []
    for bit in bits:
        if runs and bit == runs[-1][-1] + 1:
            runs[-1][1:] = [bit]
        else:
            runs.append([bit])
    return ["-".join(map(str, run)) for run in runs]


def _wrapped(head: str, words: list[str]) -> list[str]:
    return wrap(" ".join([head, *words]), 88, subsequent_indent=" ")
