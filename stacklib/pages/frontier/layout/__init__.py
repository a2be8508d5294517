"""Section 10.4: Can you lay it out?"""

from __future__ import annotations

from functools import cache, partial
from typing import Any

from stacklib import hardware
from stacklib.frontier import ir_drop, place, respin, respins, timing
from stacklib.frontier.layout.circuit import stored
from stacklib.frontier.layout.clock import clock_tree
from stacklib.frontier.layout.packing import pack
from stacklib.frontier.layout.placing import HX8K, Placement
from stacklib.frontier.layout.supply_grid import Drop
from stacklib.frontier.layout.timing import Timing
from stacklib.pages.figures_of import rows
from stacklib.quantity import Quantity, chosen, counted, counting, one_of, quoted
from stacklib.quantity.records import recorded

NETLIST, FILE = "serial_mac", "benchmarks/results/placement.json"
OURS, PEERS = ("ours-0", "ours-1", "ours-2", "long"), 3
VOLTS, OHM, AMPS = 1.2, 0.5, 20e-6  # supply, wire from tile to tile, a cell
BUGS, ESCAPE = 1000, (10, 2, 1, 0.5)
DRAWS = 2000
Row = dict[str, Any]


def adder(bits: int = 6) -> list[tuple[str, str, str, str]]:
    """A ripple adder with registered sums, in plain gates."""
    found: list[tuple[str, str, str, str]] = [("zero", "IN", "", "c0")]
    found += [(f"{w}{n}", "IN", "", f"{w}{n}") for w in "xy" for n in range(bits)]
    found += [("clk", "IN", "", "clk")]
    for n in range(bits):
        found += [
            (f"p{n}", "XOR", f"x{n} y{n}", f"p{n}"),
            (f"s{n}", "XOR", f"p{n} c{n}", f"s{n}"),
            (f"g{n}", "AND", f"x{n} y{n}", f"g{n}"),
            (f"t{n}", "AND", f"p{n} c{n}", f"t{n}"),
            (f"c{n}", "OR", f"g{n} t{n}", f"c{n + 1}"),
            (f"r{n}", "DFF", f"s{n} clk", f"q{n}"),
            (f"o{n}", "OUT", f"q{n}", ""),
        ]
    return found


# -- one multiply-adder on its tiles ---------------------------------------------------


@cache
def placed(annealed: bool = True) -> Placement:
    """Its cells as the stored run put them, or as they stood before."""
    if not annealed:
        return place(NETLIST, effort=0)
    row = next(row for row in rows("placement") if row["id"] == OURS[0])
    x, y, z = zip(*(map(int, s.split(",")) for s in row["sites"].split()), strict=True)
    sites = tuple(zip(x, y, z, strict=True))
    return Placement(pack(stored(NETLIST)), HX8K, sites, row["start"], row["moves"])


@cache
def timed(annealed: bool = True, skewed: bool = False) -> Timing:
    """Its paths, at the shortest period; ``skewed``: the clock comes by its tree."""
    here = placed(annealed)
    return timing(here, clock=clock_tree(here).arrivals if skewed else None)


def named(annealed: bool) -> str:
    """What a placement is called."""
    return "annealed" if annealed else "as it begins"


@counting(lambda annealed=True: f"tiles of wire, {named(annealed)}")
def wire(annealed: bool = True) -> int:
    """Half the perimeter of each net's box, all nets together."""
    return placed(annealed).wire_length


@counting(lambda annealed=True: f"shortest period, {named(annealed)}", unit="ns")
def period(annealed: bool = True) -> float:
    """That all paths allow."""
    return timed(annealed).least


@counting("{of} of the worst path", unit="ns")
def spent(of: str, annealed: bool = True) -> float:
    """Its time in ``wire``, in ``logic``, or in its ``register`` and its carries."""
    steps = timed(annealed).worst.steps
    if of == "register":
        return steps[0].logic
    if of == "carry":
        return sum(s.logic for s in steps if s.cell.startswith("carry"))
    if of == "tables":
        return sum(s.logic for s in steps[1:] if not s.cell.startswith("carry"))
    return float(sum(getattr(step, of) for step in steps))


def asked() -> Quantity:
    """The period of chapter 5's array, as nextpnr placed it."""
    cycle = one_of("cycle") / quoted("fpga_hx8k.clock")
    return cycle.to("ns").named("period asked for")


def reported() -> Quantity:
    """The cycle of nextpnr's own placement, on its own delays."""
    each = one_of("cycle") / stored_row("nextpnr-1", "megahertz", "MHz")
    return each.to("ns").named("cycle by nextpnr")


def short() -> Quantity:
    """What that is over the period asked for."""
    return (reported() - asked()).named("too slow by")


def cycle(device: str) -> Quantity:
    """One cycle of a chip's highest clock."""
    each = one_of("cycle") / hardware.get(device).clock
    return each.to("ps").named(f"a cycle of {hardware.get(device).short}")


def slack() -> Quantity:
    """What that leaves of the worst path."""
    return (asked() - period()).named("slack")


def clock(annealed: bool = True) -> Quantity:
    """The clock that the period allows."""
    return (one_of("cycle") / period(annealed)).to("MHz").named("clock")


@counting("cells of kind {kind}")
def cells(kind: str) -> int:
    """Of the netlist."""
    return sum(c.kind.startswith(kind) for c in stored(NETLIST).cells)


@counting("tiles with a cell")
def tiles() -> int:
    """Of the floor that cells stand on."""
    here = placed()
    pairs = zip(here.packed.blocks, here.sites, strict=True)
    return len({site[:2] for block, site in pairs if not block.pad})


def stored_row(id: str, field: str, unit: str = "") -> Quantity:
    """A value of the stored runs."""
    return recorded(FILE, id, field, unit=unit, label=f"{field} of {id}")


def compared() -> list[Row]:
    """The table of placements: how long their wires are, and how fast."""

    def row(name: str, length: Quantity, by_length: Quantity, own: Any) -> Row:
        return {
            "placement": name,
            "wire (tiles)": length,
            "clock by length": by_length,
            "clock by nextpnr": own,
        }

    found = [row("as it begins", wire(False), clock(False), None)]
    for at, id in enumerate(OURS):
        words = f"ours, seed {at}" if id != "long" else "ours, eight times the swaps"
        values = stored_row(id, "wire_length"), stored_row(id, "megahertz", "MHz")
        found.append(row(words, *values, None))
    for seed in range(1, PEERS + 1):
        id = f"nextpnr-{seed}"
        told = stored_row(id, "megahertz_by_length", "MHz")
        own = stored_row(id, "megahertz", "MHz")
        found.append(
            row(f"nextpnr, seed {seed}", stored_row(id, "wire_length"), told, own)
        )
    return found


@counting("ns between nextpnr's worst path and ours, on its delays", unit="ns")
def apart() -> float:
    """Its netlist, its delays of cells and wires, our timing."""
    kept = next(row for row in rows("placement") if row["id"] == "paths")
    delays = {r[0]: tuple(r[4]) for r in kept["rows"] if r[4]}
    wires = {(r[0], pin): d for r in kept["rows"] for pin, d in enumerate(r[5])}
    told = timing([r[:4] for r in kept["rows"]], delays, wires=wires).least
    return round(abs(told - kept["paths"][0]["ns"]), 6)


# -- clock and supply ------------------------------------------------------------------


@counting("{of} of the clock's tree")
def tree(of: str) -> float:
    """``buffers``, or tiles of ``wire``."""
    return float(getattr(clock_tree(placed()), of))


@counting("skew of the clock", unit="ns")
def skew() -> float:
    """The last register's clock less the first's."""
    return clock_tree(placed()).skew


@counting("least hold slack, {skewed}", unit="ns")
def hold(skewed: bool) -> float:
    """With the clock at once everywhere, or by its tree."""
    return timed(skewed=skewed).hold


@counting("shortest period with the tree", unit="ns")
def skewed_period() -> float:
    """The skew helps the worst path or hurts it."""
    return timed(skewed=True).least


@cache
def fed() -> Drop:
    """The supply of the placed cells."""
    return ir_drop(placed(), volts=VOLTS, ohm=OHM, amps=AMPS)


@counting("largest drop of the supply", unit="V", shown="mV")
def drop() -> float:
    """At the tile that is worst off."""
    return fed().worst


# -- a mistake in the masks ------------------------------------------------------------


@counting("first silicon works, {escape} bugs escaping")
def first(escape: float) -> float:
    """Chance, in closed form."""
    return respin(BUGS, 1 - escape / BUGS).first


@counting("the same, drawn bug by bug")
def drawn(escape: float) -> float:
    """Of so many tape-outs."""
    return respins.drawn(BUGS, 1 - escape / BUGS, draws=DRAWS)[0]


def chances() -> list[Row]:
    """The table of verification: what escapes, and what comes of it."""
    found = []
    for escape in ESCAPE:
        told = partial(counted, respin, BUGS, 1 - escape / BUGS)
        cost = respin(BUGS, 1 - escape / BUGS).cost
        row = {
            "bugs that escape": chosen(escape, label="bugs that escape"),
            "first silicon works": first(escape),
            "the same, drawn": drawn(escape),
            "sets of masks": told(take="sets", label="sets of masks"),
            "months lost": told(take="months", label="months lost"),
            "more masks": cost.high if cost else None,
        }
        found.append(row)
    return found


def industry() -> Quantity:
    """Share that verification finds where first silicon works as often as surveyed."""
    surveyed = quoted("wilson_2022.first")
    return counted(respins.caught_for, surveyed, BUGS, label="share found")


def stages() -> list[Row]:
    """The seven stages from text to masks."""
    return [
        {"stage": s.name, "tools": s.tools, "in this book": s.here or "-"}
        for s in respins.STAGES
    ]
