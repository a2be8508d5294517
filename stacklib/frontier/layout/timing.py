"""Static timing: when each signal has settled, whatever the data are.

A signal leaves a register at the clock, or an input at once, and passes wires and
gates; the latest of a gate's inputs decides. It must reach the next register before its
clock does, less the setup time: what is left is the slack. The earliest must not reach
it before that register has taken the last one: the hold slack. Clocks that arrive at
different times shift both.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from numbers import Real
from typing import Any, TypeAlias

from stacklib.quantity import quoted

from .annealing import SITES
from .circuit import CONSTANTS, Circuit, CircuitError, Gate, Netlist, circuit
from .placing import Placement

Delay: TypeAlias = "float | tuple[float, ...]"  # of the cell, or by pin
NS = 1e9


@dataclass(frozen=True, slots=True)
class Passed:
    """One cell of a path: the wire that leads to it, and the cell, in ns."""

    cell: str
    pin: int
    wire: float
    logic: float
    arrival: float  # at its output; at a register's or an output's pin, with setup


@dataclass(frozen=True, slots=True)
class Path:
    """The latest way to one endpoint, in ns.

    - ``slack``: what is left of the clock's period
    - ``hold``: what the earliest signal comes too late by, to be above zero
    """

    end: str
    steps: tuple[Passed, ...]
    arrival: float
    slack: float
    hold: float

    @property
    def start(self) -> str:
        """The register or the input it leaves from."""
        return self.steps[0].cell


@dataclass(frozen=True)
class Timing:
    """All endpoints, worst slack first; times in ns."""

    paths: tuple[Path, ...]
    period: float  # asked for
    least: float  # the shortest period that all paths between registers allow

    @property
    def worst(self) -> Path:
        """The path with the least slack."""
        return self.paths[0]

    @property
    def slack(self) -> float:
        """The least slack."""
        return self.worst.slack

    @property
    def hold(self) -> float:
        """The least hold slack."""
        return min(p.hold for p in self.paths)

    @cached_property
    def megahertz(self) -> float:
        """The clock that the least period allows."""
        return 1e3 / self.least


def ice40() -> dict[str, Delay]:
    """Delays of an iCE40 HX's cells in ns, as nextpnr has them."""

    def ns(key: str) -> float:
        return float(quoted(f"ice40.{key}").si) * NS

    return {
        "SB_LUT4": tuple(ns(f"lut_i{pin}") for pin in range(4)),
        "SB_CARRY": (ns("carry_i0"), ns("carry_i1"), ns("carry_in")),
        "SB_DFF": ns("register"),
    }


def timing(
    netlist: Netlist | Placement,
    delays: Mapping[str, Delay] | None = None,
    *,
    wires: Mapping[Any, float] | None = None,
    setup: float = 0.0,
    period: float | None = None,
    clock: Mapping[str, float] | None = None,
) -> Timing:
    """Arrival, slack and hold of every endpoint.

    Parameters
    ----------
    netlist : Circuit, Placement, mapping or iterable of rows
        Of a placement, wires take time by their length in tiles.
    delays : mapping, optional
        Delay in ns by the name of a cell, by its kind, or by what its kind begins with;
        one number, or one a pin. That of a register is from its clock to its output.
        Default those of an iCE40.
    wires : mapping, optional
        Delay in ns by (cell that reads, number of the pin); what is not named takes
        none, or of a placement what its length takes.
    setup : float, optional
        Time in ns that a register's input must be there before the clock.
    period : float, optional
        Of the clock, in ns; by default the shortest that all paths allow.
    clock : mapping, optional
        When the clock reaches each register, in ns; default at once.

    Returns
    -------
    Timing
        One ``Path`` an endpoint, worst slack first.

    Raises
    ------
    CircuitError
        For a loop of gates, by name.
    ValueError
        For a cell without a delay, a delay that is negative or no number, or a netlist
        without an endpoint.

    Examples
    --------
    >>> rows = [("i", "IN", "", "a"), ("g", "NOT", "a", "b"), ("o", "OUT", "b", "")]
    >>> timing(rows, {"NOT": 0.5}, wires={("g", 0): 1.0}).least
    1.5
    """
    told = netlist if isinstance(netlist, Placement) else None
    read = (
        netlist.packed.circuit if isinstance(netlist, Placement) else circuit(netlist)
    )
    clocks = _checked(clock or {})
    names = {c.name: c for c in read.cells}
    pins = [key if isinstance(key, tuple) else (key, -1) for key in wires or ()]
    for name, pin in [*((name, None) for name in clocks), *pins]:
        if name not in names:
            near = get_close_matches(str(name), names, 3) or sorted(names)[:3]
            raise CircuitError(f"no cell is named {name!r}; there is {', '.join(near)}")
        if pin is not None and pin not in range(len(names[name].inputs)):
            raise CircuitError(f"no wire leads to {(name, pin)}: a cell and its pin")
    known = ice40() if delays is None else delays
    model = _Model(read, known, _wires(read, told, wires), clocks)
    late, early = model.arrivals(max), model.arrivals(min)
    _number("setup", setup)
    ends = [c for c in read.cells if c.kind == "OUT" or c.register]
    found = []
    for cell in ends:
        if cell.data[0] in CONSTANTS:
            continue
        wire = model.wires.get((cell.name, 0), 0.0)
        need = setup if cell.register else 0.0
        at = clocks.get(cell.name, 0.0)
        arrival = late[cell.data[0]][0] + wire + need
        hold = early[cell.data[0]][0] + wire - at
        steps = (
            *model.way(late, cell.data[0]),
            Passed(cell.name, 0, wire, need, arrival),
        )
        found.append((cell.name, steps, arrival, arrival - at, hold))
    if not found:
        raise ValueError("no register or output takes a signal: nothing to be timed")
    least = max(need for *_, need, _ in found)
    if period is None:
        period = least
    _number("period", period)
    paths = [Path(e, s, a, period - n, h) for e, s, a, n, h in found]
    paths.sort(key=lambda p: (p.slack, p.end))
    return Timing(tuple(paths), period, least)


def _number(name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, Real):
        raise ValueError(f"{name} {value!r}: a number of nanoseconds is needed")
    if not math.isfinite(value) or value < 0:
        raise ValueError(f"{name} {value!r}: a delay is finite and not negative")
    return float(value)


def _checked(given: Mapping[Any, float]) -> dict[Any, float]:
    return {key: _number(f"delay of {key}", value) for key, value in given.items()}


def _wires(
    read: Circuit, placement: Placement | None, given: Mapping[Any, float] | None
) -> dict[Any, float]:
    """Delays of wires by reader and pin."""
    found: dict[Any, float] = {}
    if placement:
        at, packed = placement.at, placement.packed
        first = float(quoted("ice40.wire").si) * NS
        each = float(quoted("ice40.wire_tile").si) * NS
        for net in packed.nets:
            driver = packed.circuit.driver[net]
            x, y, z = at[driver.name]
            for cell, pin in read.readers[net]:
                up = (at[cell.name][1] - y) * SITES + at[cell.name][2] - z
                chained = driver.kind == "SB_CARRY" and pin > 1 and 0 < up <= 2
                if x == at[cell.name][0] and (chained or (cell.register and not up)):
                    continue  # up the chain, or inside one site
                far = abs(at[cell.name][0] - x) + abs(at[cell.name][1] - y)
                found[cell.name, pin] = first + each * far
        out = float(quoted("ice40.carry_out").si) * NS
        for carry in read.cells:
            if carry.kind == "SB_CARRY":
                for cell, pin in read.readers[carry.output]:
                    if cell.kind != "SB_CARRY":
                        found[cell.name, pin] = found.get((cell.name, pin), 0.0) + out
    return {**found, **_checked(given or {})}


class _Model:
    """Delays of one circuit."""

    def __init__(
        self,
        read: Circuit,
        delays: Mapping[str, Delay],
        wires: dict[Any, float],
        clocks: dict[str, float],
    ) -> None:
        self.circuit, self.delays, self.wires = read, delays, wires
        self.clocks = clocks

    def logic(self, cell: Gate, pin: int) -> float:
        """From a pin to the output."""
        for key in (cell.name, cell.kind, cell.kind.partition(":")[0]):
            if key in self.delays:
                break
        else:
            begun = [k for k in self.delays if cell.kind.startswith(k)]
            if not begun:
                known = f"no delay is known; there are {', '.join(self.delays)}"
                raise ValueError(f"{cell.name!r} of kind {cell.kind}: {known}")
            key = max(begun, key=len)
        told = self.delays[key]
        if isinstance(told, tuple):
            if pin >= len(told):
                raise ValueError(
                    f"{key!r}: delays of {len(told)} pins, and {pin} is read"
                )
            told = told[pin]
        return _number(f"delay of {key}", told)

    def arrivals(self, choose: Any) -> dict[str, tuple[float, Gate, int]]:
        """When each net has settled: latest or earliest, by which cell and pin."""
        found: dict[str, tuple[float, Gate, int]] = {}
        for cell in self.circuit.order:
            if cell.output in CONSTANTS:
                continue
            if cell.kind == "IN":
                found[cell.output] = (0.0, cell, -1)
            elif cell.register:
                begin = self.clocks.get(cell.name, 0.0) + self.logic(cell, 0)
                found[cell.output] = (begin, cell, -1)
            else:
                ways = [
                    (self.at(found, cell, pin) + self.logic(cell, pin), pin)
                    for pin, net in enumerate(cell.inputs)
                    if net not in CONSTANTS
                ]
                time, pin = choose(ways, default=(0.0, -1))
                found[cell.output] = (time, cell, pin)
        return found

    def at(self, found: dict[str, Any], cell: Gate, pin: int) -> float:
        """When a pin has settled."""
        return found[cell.inputs[pin]][0] + self.wires.get((cell.name, pin), 0.0)

    def way(self, found: dict[str, Any], net: str) -> tuple[Passed, ...]:
        """The cells that a net's arrival came through, first one first."""
        steps = []
        while True:
            time, cell, pin = found[net]
            if pin < 0:
                logic = self.logic(cell, 0) if cell.register else 0.0
                steps.append(Passed(cell.name, pin, 0.0, logic, time))
                return tuple(steps[::-1])
            wire = self.wires.get((cell.name, pin), 0.0)
            steps.append(Passed(cell.name, pin, wire, self.logic(cell, pin), time))
            net = cell.inputs[pin]
