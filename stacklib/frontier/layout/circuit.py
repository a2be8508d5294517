"""A netlist of cells between named nets: rows, or the JSON that Yosys writes.

A row is a cell, its kind, the nets that it reads and the net that it drives. ``IN``
drives a net from outside, ``OUT`` reads one; a kind with ``DFF`` in it is a register,
whose first input is taken at the clock and whose others (clock, enable, reset) are its
controls. ``0`` and ``1`` are constants: nothing drives them. Of other makers' cells in
Yosys' JSON, one with a clock pin is a register; a latch is a gate that lets through.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

CONSTANTS = ("0", "1", "")
NEEDED = {"SB_CARRY": 3}  # inputs; of other kinds one at least
SKIPPED = ("$scopeinfo",)
SHOWN = 12  # cells of a loop that are named
DATA = Path(__file__).parent / "data"


class CircuitError(ValueError):
    """A netlist that is none; names the cell or the net."""


@dataclass(frozen=True, slots=True)
class Gate:
    """One cell: ``inputs`` in the order of its pins, one net that it drives."""

    name: str
    kind: str
    inputs: tuple[str, ...]
    output: str

    @property
    def register(self) -> bool:
        """Whether it holds what it takes until the next clock."""
        return "DFF" in self.kind

    @property
    def data(self) -> tuple[str, ...]:
        """Nets that signals arrive by: of a register, its first."""
        return self.inputs[:1] if self.register else self.inputs

    @property
    def controls(self) -> tuple[str, ...]:
        """Clock, enable and reset of a register."""
        return self.inputs[1:] if self.register else ()


Netlist: TypeAlias = "Circuit | str | Mapping[str, Any] | Iterable[Any]"


@dataclass(frozen=True)
class Circuit:
    """Cells that are one circuit: each net has one driver, and no loop of gates."""

    cells: tuple[Gate, ...]

    def __post_init__(self) -> None:
        if not self.cells:
            raise CircuitError("a netlist without cells; one at least")
        names: set[str] = set()
        drivers: dict[str, str] = {}
        for cell in self.cells:
            if cell.name in names:
                raise CircuitError(f"two cells are named {cell.name!r}")
            names.add(cell.name)
            if cell.output in CONSTANTS[:2]:
                raise CircuitError(f"{cell.name!r} drives the constant {cell.output!r}")
            if cell.output in drivers:
                both = f"{drivers[cell.output]!r} and {cell.name!r}"
                raise CircuitError(f"net {cell.output!r} is driven by {both}")
            if cell.output not in CONSTANTS:
                drivers[cell.output] = cell.name
        for name, net in ((c.name, net) for c in self.cells for net in c.inputs):
            if net not in drivers and net not in CONSTANTS:
                raise CircuitError(f"{name!r} reads net {net!r}, which nothing drives")
        if len(self.order) < len(self.cells):
            loop, more = self._loop()[:SHOWN], " ..." * (len(self._loop()) > SHOWN)
            raise CircuitError(f"a loop of gates: {' -> '.join(loop)}{more}")

    @cached_property
    def driver(self) -> dict[str, Gate]:
        """The cell that drives each net."""
        return {c.output: c for c in self.cells if c.output not in CONSTANTS}

    @cached_property
    def readers(self) -> dict[str, list[tuple[Gate, int]]]:
        """Cells that read each net, with the number of the pin."""
        found: dict[str, list[tuple[Gate, int]]] = {net: [] for net in self.driver}
        for cell in self.cells:
            for pin, net in enumerate(cell.inputs):
                if net not in CONSTANTS:
                    found[net].append((cell, pin))
        return found

    def before(self, cell: Gate) -> Iterator[Gate]:
        """Cells whose signal must have settled first; none before a register."""
        if not cell.register:
            for net in cell.inputs:
                if net not in CONSTANTS and not self.driver[net].register:
                    yield self.driver[net]

    @cached_property
    def order(self) -> tuple[Gate, ...]:
        """Every cell after those that it waits for; cells of a loop are left out."""
        missing = {c.name: len(list(self.before(c))) for c in self.cells}
        ready = [c for c in self.cells if not missing[c.name]]
        ready.sort(key=lambda c: not c.register)
        for cell in ready:  # grows while it is read
            if cell.register or cell.output in CONSTANTS:
                continue
            for other, _ in self.readers[cell.output]:
                if not other.register:
                    missing[other.name] -= 1
                    if not missing[other.name]:
                        ready.append(other)
        return tuple(ready)

    def _loop(self) -> list[str]:
        done = {c.name for c in self.order}
        cell = next(c for c in self.cells if c.name not in done)
        walked: dict[str, None] = {}
        while cell.name not in walked:
            walked[cell.name] = None
            cell = next(c for c in self.before(cell) if c.name not in done)
        around = list(walked)[list(walked).index(cell.name) :][::-1]
        return [*around, around[0]]


def circuit(netlist: Netlist) -> Circuit:
    """A netlist from rows, from Yosys' JSON, or by the name of one that is kept."""
    if isinstance(netlist, Circuit):
        return netlist
    if isinstance(netlist, Mapping):
        try:
            return Circuit(tuple(_of_yosys(_top(netlist))))
        except (AttributeError, KeyError, TypeError) as lacking:
            raise CircuitError(f"no JSON of Yosys' write_json: {lacking}") from None
    if not isinstance(netlist, Iterable):
        raise CircuitError(f"{netlist!r}: rows of cells, or Yosys' JSON, are needed")
    if isinstance(netlist, str):
        return stored(netlist)
    return Circuit(tuple(_cell(row) for row in netlist))


def _cell(row: Any) -> Gate:
    if isinstance(row, Gate):
        row = row.name, row.kind, row.inputs, row.output
    told = f"row {str(row)[:60]!r}"
    try:
        name, kind, inputs, output = row
        if isinstance(inputs, str):
            inputs = inputs.split()
        nets = tuple(str(net) for net in inputs)
    except (TypeError, ValueError):
        raise CircuitError(f"{told}: cell, kind, inputs and output needed") from None
    out = "" if output is None else str(output)
    if not name or not kind or (kind == "OUT") != (not out) or (kind == "IN" and nets):
        raise CircuitError(f"{told}: name and kind; OUT drives no net, IN reads none")
    if len(nets) < (need := NEEDED.get(kind, int(kind != "IN"))):
        raise CircuitError(f"{name!r}, {kind}, reads {len(nets) or 'nothing'}: {need}")
    return Gate(str(name), str(kind), nets, out)


def _top(design: Mapping[str, Any]) -> Mapping[str, Any]:
    """The module to lay out: the one marked as top, or the only one with cells."""
    if "cells" in design:
        return design
    modules = design.get("modules")
    if not isinstance(modules, Mapping):
        raise CircuitError("no modules: the JSON of Yosys' write_json is needed")

    def marked(name: str, *marks: str) -> bool:
        told = modules[name].get("attributes", {})
        return any(_bits(told.get(mark, 0)) for mark in marks)

    own = {n for n in modules if not marked(n, "blackbox", "whitebox")}
    tops = [n for n in modules if marked(n, "top")]
    tops = tops or [n for n in modules if n in own and modules[n]["cells"]]
    if len(tops) != 1:
        raise CircuitError(f"{len(tops)} tops in {', '.join(modules)}: hand over one")
    for name, cell in modules[tops[0]].get("cells", {}).items():
        if cell["type"] in own:
            raise CircuitError(f"cell {name!r} is a module, {cell['type']}; flatten")
    return modules[tops[0]]


def _bits(value: Any) -> int:
    """A parameter or an attribute: a number, or a text of bits, of which x are 0."""
    return value if isinstance(value, int) else int(value.replace("x", "0"), 2)


PINS = {"SB_LUT4": ("I0", "I1", "I2", "I3"), "SB_CARRY": ("I0", "I1", "CI")}
CLOCKS = ("C", "CLK", "CK", "CP", "CLK_N", "CKN")
CONTROLS = (*CLOCKS, "E", "R", "S")
TAKEN = ("D", "DI")  # what a register takes


def _of_yosys(module: Mapping[str, Any]) -> Iterator[Gate]:
    """Cells of one flat module; a lookup table's kind holds its table."""
    taken = set(CONSTANTS)

    def once(told: str, bit: Any) -> str:
        """A name that no other wire has: brackets may be part of one."""
        taken.add(told := f"{told}:{bit}" if told in taken else told)
        return told

    best: dict[Any, tuple[int, str]] = {}
    for name, wire in module.get("netnames", {}).items():
        for bit, told in _wires(name, wire):
            best[bit] = min(best.get(bit, (len(told), told)), (len(told), told))
    nets = {bit: once(told, bit) for bit, (_, told) in best.items()}
    nets.update({"0": "0", "1": "1", "x": "0", "z": "0"})  # unknown: may be either
    for name, port in module.get("ports", {}).items():
        if port["direction"] not in ("input", "output"):
            raise CircuitError(f"port {name!r} is {port['direction']}: split it in two")
        for bit, told in _wires(name, port):
            net = nets.get(bit, f"net{bit}")
            if port["direction"] == "input":
                yield Gate(once(f"in:{told}", bit), "IN", (), net)
            else:
                yield Gate(once(f"out:{told}", bit), "OUT", (net,), "")
    for name, cell in module["cells"].items():
        if cell["type"] not in SKIPPED:
            yield _of_yosys_cell(name, cell, nets)


def _wires(name: str, wire: Mapping[str, Any]) -> Iterator[tuple[Any, str]]:
    """Each bit of a wire, and its name."""
    for at, bit in enumerate(wire["bits"]):
        yield bit, f"{name}[{at}]" if len(wire["bits"]) > 1 else name


def _of_yosys_cell(name: str, cell: Mapping[str, Any], nets: Mapping[Any, str]) -> Gate:
    kind, ways = cell["type"], cell.get("port_directions", {})
    joined = {p: bits for p, bits in cell["connections"].items() if bits}
    outputs = [p for p in joined if ways.get(p) == "output" and joined[p] != ["x"]]
    wide = [p for p in joined if len(joined[p]) != 1 and (kind, p) != ("$lut", "A")]
    if len(outputs) != 1 or wide:
        raise CircuitError(
            f"cell {name!r} of kind {kind}: one output of one bit is needed; flatten, "
            "map to gates or to an iCE40 without memories and multipliers first"
        )
    reads = sorted(p for p in joined if ways.get(p) != "output")
    data = next((p for p in TAKEN if p in reads), "D")
    pins: Iterable[str] = PINS.get(kind, reads)
    if "DFF" in kind or (data in reads and set(CLOCKS) & set(reads)):
        others = [p for p in reads if p not in CONTROLS and p != data]
        pins = [data, *(p for p in CONTROLS if p in reads), *others]
        kind = kind if "DFF" in kind else f"{kind}:DFF"
    read = tuple(nets.get(bit, f"net{bit}") for p in pins for bit in joined.get(p, "0"))
    table = cell.get("parameters", {}).get("LUT_INIT")
    kind += "" if table is None else f":{_bits(table):04x}"
    out = joined[outputs[0]][0]
    return Gate(name, kind, read, nets.get(out, f"net{out}"))


def write(circuit: Circuit) -> str:
    """A text that ``read`` reads: a line a cell, nets by number."""
    number = {net: str(at + 2) for at, net in enumerate(circuit.driver)}
    number.update({"0": "0", "1": "1"})
    lines = []
    for c in circuit.cells:
        pins = ",".join(number[net] for net in c.inputs)
        lines.append(f"{c.name} {c.kind} {pins or '-'} {number.get(c.output, '-')}")
    return "\n".join(lines) + "\n"


def read(text: str) -> Circuit:
    """A circuit from its text; lines that begin with ``#`` are remarks."""
    rows = []
    for line in text.splitlines():
        if line and line[0] != "#":
            words = line.split()
            if len(words) != 4:
                raise CircuitError(f"line {line[:60]!r}: four words are needed")
            name, kind, pins, out = words
            inputs = [] if pins == "-" else pins.split(",")
            rows.append((name, kind, inputs, "" if out == "-" else out))
    return circuit(rows)


def stored(name: str = "serial_mac") -> Circuit:
    """A netlist that the book keeps."""
    path = DATA / f"{name}.netlist"
    if not path.exists():
        known = ", ".join(sorted(p.stem for p in DATA.glob("*.netlist")))
        other = "or hand over rows, or Yosys' JSON as a dictionary"
        raise CircuitError(f"no netlist {name[:40]!r} is kept: {known}; {other}")
    return read(path.read_text("utf-8"))
