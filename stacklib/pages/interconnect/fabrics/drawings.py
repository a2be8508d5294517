"""The drawing of section 6.7: two servers on rails, and switches over the rails."""

from typing import Any

from stacklib import hardware
from stacklib.pages.interconnect import fabrics as page
from stacklib.plots import drawing as d
from stacklib.quantity import Quantity, chosen

__all__ = ["rails"]

GPU, SWITCH, TOP, LINK = "layer-3", "layer-5", "layer-6", "layer-2"
GPUS, SPINES, ONE, OTHER = 8, 4, 2, 5  # the rails of the two GPUs that talk
HERE, RAIL = {ONE}, {OTHER}
# Of each way the GPUs and switches that a message passes, by array.
WAYS: dict[str, dict[str, set[int]]] = {
    "same place": {"GPUs of A": HERE, "rails": HERE, "GPUs of B": HERE},
    "another place": {
        "GPUs of A": HERE,
        "rails": HERE | RAIL,
        "spines": {1},
        "GPUs of B": RAIL,
    },
    "another place, by NVLink": {
        "GPUs of A": HERE | RAIL,
        "NVSwitch of A": {0},
        "rails": RAIL,
        "GPUs of B": RAIL,
    },
}
FOOT = {
    "same place": "one switch, however full the rest of the network is",
    "another place": "up and down: three switches",
    "another place, by NVLink": "across inside the server, then one switch",
}


def rails() -> d.Drawing:
    """What is lit carries a message between two GPUs of two servers."""
    steps = [(words, _network(words)) for words in WAYS]
    title = "A GPU meets its own place of every other server at one switch."
    return d.draw(steps, name="fabrics-rails", title=title)


def _network(words: str) -> d.Node:
    lit = WAYS[words]
    many = chosen(GPUS * 2, label="ports of the servers drawn")
    both = (page.port() * many).named("up from the rails")
    inside = hardware.link("nvlink4").per_direction
    full = (inside * 2.4).named("widest band")

    def wide(start: str, end: str, rate: Quantity, **given: Any) -> d.Edge:
        on = all(_on(lit, name) for name in (start, end))
        return d.Edge(start, end, rate=rate, full=full, lit=on, role=LINK, **given)

    edges = [wide("rails box", "spines box", both)]
    for server in "AB":
        gpus, switch = f"GPUs of {server}", f"NVSwitch of {server}"
        for at in range(GPUS):
            edges += [
                wide(f"{gpus}[{at}]", f"rails[{at}]", page.port()),
                wide(f"{gpus}[{at}]", switch, inside),
            ]
    rails = d.Box("rails box", None, _cells("rails", GPUS, SWITCH, lit), role=SWITCH)
    spines = d.Box(
        "spines box",
        [d.line("spines", bold=True), d.Shown(both, "GB/s")],
        d.with_(_cells("spines", SPINES, TOP, lit), columns=1, gap=5.0),
        role=TOP,
        grow=0,
    )
    told = d.line("rails", bold=True), "a switch", "for a place,", "to each GPU"
    port = d.Note("rails box", [*told, d.Shown(page.port(), "GB/s")])
    right = d.below(d.Nothing(), spines, port, gap=12, grow=0)
    servers = d.below(
        _server("A", lit, inside), rails, _server("B", lit, inside), gap=34
    )
    foot = [d.line(FOOT[words], bold=True), d.line("rates: in one direction")]
    return d.below(
        d.joined(d.right_of(servers, right, gap=30), *edges), d.Words(foot), gap=8
    )


def _on(lit: dict[str, set[int]], name: str) -> bool:
    """Whether a message passes a part or a cell of an array."""
    array, _, cell = name.rstrip("]").partition("[")
    here = lit.get(array.removesuffix(" box"), set())
    return int(cell) in here if cell else bool(here)


def _cells(name: str, count: int, role: str, lit: dict[str, set[int]]) -> d.Cells:
    on = frozenset(lit.get(name, ()))
    return d.Cells(name, count, side=(16.0, 14.0), gap=11.0, role=role, lit=on)


def _server(name: str, lit: dict[str, set[int]], inside: Quantity) -> d.Box:
    """GPUs on the side of the rails, their NVSwitch on the other."""
    gpus = _cells(f"GPUs of {name}", GPUS, GPU, lit)
    label = ["NVSwitch, ", d.Shown(inside, "GB/s"), " per GPU"]
    switch = f"NVSwitch of {name}"
    crossbar = d.Box(switch, tuple(label), role=SWITCH, lit=switch in lit)
    rows = (crossbar, gpus) if name == "A" else (gpus, crossbar)
    told = d.line(f"server {name}", bold=True)
    if name == "A":
        return d.Box(f"server {name}", told, d.below(*rows, gap=20), role="layer-1")
    under = d.below(*rows, d.Words([told]), gap=20)
    return d.Box(f"server {name}", None, under, role="layer-1")
