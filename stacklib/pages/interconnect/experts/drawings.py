"""The drawing of section 6.12: a token's copies between two nodes."""

from functools import cache

from stacklib.interconnect.experts.count import count
from stacklib.interconnect.experts.route import Routing, route_experts
from stacklib.pages.interconnect import experts as page
from stacklib.plots import drawing as d
from stacklib.plots.drawing.parts import gpu, machine, model
from stacklib.quantity import counting

__all__ = ["to_its_experts"]
RANKS, SEED = 16, 11  # two nodes; a token with experts in both
WAYS = {"expert": "a copy for each expert", "node": "a copy for each node"}


@cache
def _token() -> Routing:
    return route_experts(
        1, experts=page.EXPERTS, top_k=page.TOP, groups=2, top_groups=2, seed=SEED
    )


WIRES = {"network": "the network", "nvlink": "NVLink"}


@counting(lambda once, way: f"copies over {WIRES[way]}, {once}")
def moved(once: str, way: str) -> int:
    """Copies of the token that are drawn on one of the wires."""
    found = count(_token(), ranks=RANKS, ranks_per_node=page.NODE, once=once)
    return round(getattr(found.copies, way))


def to_its_experts() -> d.Drawing:
    """One token and its experts on two nodes, by two ways of sending."""
    steps = [(words, _nodes(once)) for once, words in WAYS.items()]
    title = "The port is the narrow way, and the one where a copy per node saves most."
    return d.draw(steps, name="experts-two-nodes", title=title, devices=["h800_sxm"])


def _nodes(once: str) -> d.Node:
    network = moved(once, "network")
    wire = d.Pipe(
        "switch here",
        "switch there",
        page.nic(),
        page.nvlink(),
        [d.line("copies: ", network, bold=True), page.nic(), "per port"],
        role=machine.LINKS,
        least=64.0,
    )
    return d.flow(_node("here", 0, once), wire, _node("there", 1, once), gap=2)


def _node(name: str, number: int, once: str) -> d.Node:
    first = number * page.NODE
    held = {expert * RANKS // page.EXPERTS for expert in _token().chosen[0]}
    lit = frozenset(r - first for r in held if first <= r < first + page.NODE)
    label = "the token's node" if number == 0 else "another node"
    cells = d.Cells(
        f"GPUs {name}",
        page.NODE,
        side=(17.0, 17.0),
        gap=3.0,
        role=gpu.CHIP,
        lit=lit,
        words="those that hold one of its experts are lit",
    )
    wire = d.Pipe(
        f"GPUs {name}",
        f"switch {name}",
        page.nvlink(),
        page.nvlink(),
        [page.nvlink(), "per GPU"],
        both=True,
        down=(True, True),
        role=machine.LINKS,
        least=70.0,
    )
    switch = d.Box(
        f"switch {name}",
        ["NVSwitch, and a port per GPU"],
        role=machine.LINKS,
    )
    told = [d.line(label, bold=True)]
    if number == 0:
        near = moved(once, "nvlink")
        told.append(d.line("over NVLink in all: ", near, " copies"))
    else:
        told.append(d.line("lit: holds an expert of it", role="muted"))
    role = model.TOKEN if number == 0 else machine.NODE
    return d.Box(f"node {name}", told, d.below(cells, wire, switch, gap=2), role=role)
