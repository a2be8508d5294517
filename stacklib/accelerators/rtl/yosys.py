"""A netlist out of what Yosys writes, every cell after those that it reads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .netlist import Netlist, NetlistError

CELLS = {"$_AND_": "&", "$_OR_": "|", "$_XOR_": "^", "$_NOT_": "~"}
CLOCKS = ("clk",)


def from_yosys(
    module: Mapping[str, Any], about: str, probes: Mapping[str, str] | None = None
) -> Netlist:
    """One flat module of ``write_json`` as a ``Netlist``.

    - ``module``: ports, cells and netnames.
    - ``probes``: wires inside that are shown as outputs too: our name, Yosys' name.
    """
    cells = {n: c for n, c in module["cells"].items() if c["type"] != "$scopeinfo"}
    flops = [c["connections"] for c in cells.values() if c["type"] == "$_DFF_P_"]
    gates = {
        c["connections"]["Y"][0]: (CELLS[c["type"]], c["connections"])
        for c in cells.values()
        if c["type"] in CELLS
    }
    if other := {c["type"] for c in cells.values()} - {*CELLS, "$_DFF_P_"}:
        raise NetlistError(
            f"cells of kind {', '.join(sorted(other))}; map to "
            f"{', '.join(CELLS)} and $_DFF_P_ first"
        )
    _begin_at_zero(module, {c["Q"][0] for c in flops})
    ports = module["ports"]
    inputs = {
        name: port["bits"]
        for name, port in ports.items()
        if port["direction"] == "input" and name not in CLOCKS
    }
    number: dict[int | str, int] = {"0": 0, "1": 1, "x": 0}
    for bit in [b for bits in inputs.values() for b in bits]:
        number[bit] = len(number) - 1  # "0" and "x" share one
    for flop in flops:
        number[flop["Q"][0]] = len(number) - 1
    shown = {n: p["bits"] for n, p in ports.items() if p["direction"] == "output"}
    for name, wire in (probes or {}).items():
        shown[name] = module["netnames"][wire]["bits"]
    wanted = [
        *(f["D"][0] for f in flops),
        *(b for bits in shown.values() for b in bits),
    ]
    ordered: list[tuple[str, int, int]] = []
    for bit in _in_order(wanted, gates, number):
        kind, pins = gates[bit]
        a, b = pins["A"][0], pins.get("B", pins["A"])[0]
        ordered.append((kind, number[a], number[b]))
        number[bit] = len(number) - 1
    return Netlist(
        about,
        {name: len(bits) for name, bits in inputs.items()},
        {name: tuple(number[b] for b in bits) for name, bits in shown.items()},
        tuple(number[f["D"][0]] for f in flops),
        tuple(ordered),
    )


def _in_order(
    wanted: list[Any], gates: Mapping[Any, Any], known: Mapping[Any, int]
) -> Iterator[Any]:
    """Bits of gates, each once what it reads is known."""
    waiting = wanted[::-1]
    while waiting:
        bit = waiting.pop()
        if bit in known:
            continue
        pins = gates[bit][1]
        needed = [pins[p][0] for p in ("A", "B") if p in pins]
        missing = [n for n in needed if n not in known]
        if missing:
            waiting += [bit, *missing]
        else:
            yield bit


def _begin_at_zero(module: Mapping[str, Any], states: set[int]) -> None:
    for name, wire in module["netnames"].items():
        begin = wire.get("attributes", {}).get("init", "")
        for bit, value in zip(wire["bits"], reversed(begin), strict=False):
            if value == "1" and bit in states:
                raise NetlistError(f"{name} begins at 1; flip-flops begin at 0 here")
