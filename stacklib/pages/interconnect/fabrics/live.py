"""Topologies with loads, live: which link a pattern of traffic keeps busy longest."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from stacklib.interconnect.networks.topology import Topology
from stacklib.plots.live import choices
from stacklib.plots.live.parts import counted
from stacklib.plots.marks import Mark, Spec, axis, chart, dots, rule
from stacklib.plots.spec import SpecError, readout

WIRE, INSIDE = 50e9, 25e9  # B/s of a cable in one direction: a port, an NVLink
GPUS = 16
NAMES = {
    "tree": "Fat tree",
    "thin": "Fat tree, leaves 3 to 1",
    "rail": "Servers of four on rails",
    "dragonfly": "Dragonfly",
    "torus": "Torus 4 x 2 x 2",
}
TRAFFIC = {
    "all": "Each to all others",
    "half": "Each to the one half-way round",
    "next": "Each to the next",
    "incast": "All to the first",
    "shuffle": "Each to its number turned round",
}


def controls() -> list[dict[str, Any]]:
    """A network of sixteen GPUs, and what they send."""
    return [
        choices.select("network", "Network of 16 GPUs", NAMES, "thin"),
        choices.select("traffic", "Traffic", TRAFFIC, "half"),
    ]


@cache
def network(name: str) -> Topology:
    """One of the networks, links of 50 GB/s in each direction."""
    made: dict[str, Callable[[], Topology]] = {
        "tree": lambda: Topology.fat_tree(8, 2, hosts=GPUS, link=WIRE),
        "thin": lambda: Topology.fat_tree(8, 2, 3, hosts=GPUS, link=WIRE),
        "rail": lambda: Topology.rail(
            4, 4, ports=8, inside=INSIDE, cables=18, link=WIRE
        ),
        "dragonfly": lambda: Topology.dragonfly(2, 2, 2, groups=4, link=WIRE),
        "torus": lambda: Topology.torus((4, 2, 2), link=WIRE),
    }
    if name not in made:
        raise SpecError(f"no network {name!r}")
    return made[name]()


def asked(traffic: str) -> dict[tuple[int, int], float]:
    """Bytes from each GPU to each; a GPU that sends at all sends 1 GB."""
    everyone = range(GPUS)
    if traffic == "all":
        each = 1e9 / (GPUS - 1)
        return {(a, b): each for a in everyone for b in everyone if a != b}
    if traffic == "incast":
        return {(a, 0): 1e9 for a in everyone if a}
    to: dict[str, Callable[[int], int]] = {
        "half": lambda a: (a + GPUS // 2) % GPUS,
        "next": lambda a: (a + 1) % GPUS,
        "shuffle": lambda a: int(f"{a:04b}"[::-1], 2),
    }
    if traffic not in to:
        raise SpecError(f"no traffic {traffic!r}")
    return {(a, to[traffic](a)): 1e9 for a in everyone if to[traffic](a) != a}


def explore(*, network: str, traffic: str) -> Spec:
    """Milliseconds for which each link is busy, the busiest first."""
    net, wanted = _net(network), asked(traffic)
    loads = net.loads(wanted)
    busy = sorted(
        ((1e3 * load / net.capacity[pair], pair) for pair, load in loads.items()),
        reverse=True,
    )
    series: dict[str, tuple[list[int], list[float]]] = {}
    for at, (time, pair) in enumerate(busy, 1):
        ends = sum(node >= net.ranks for node in pair)
        kind = ("between GPUs", "GPU and switch", "between switches")[ends]
        xs, ys = series.setdefault(kind, ([], []))
        xs.append(at)
        ys.append(time)
    marks: list[Mark] = [
        dots(xs, ys, kind, "simulated", at="key") for kind, (xs, ys) in series.items()
    ]
    alone = 1e3 * _ends(wanted) / WIRE
    worst, idle = busy[0][0], sum(not time for time, _ in busy)
    return chart(
        "The ports of the GPUs are the limit, and the network blocks nothing."
        if worst <= alone * (1 + 1e-9)
        else "Some link is needed for longer than a GPU's port.",
        x=axis("Links in one direction, busiest first"),
        y=axis("Busy (ms)"),
        marks=[*marks, rule("a GPU's port alone", "predicted", y=alone)],
        readouts=[
            readout(
                "worst", "Busiest link", counted(worst, "busiest", "ms"), unit="ms"
            ),
            readout("alone", "A port alone", counted(alone, "a port", "ms"), unit="ms"),
            readout(
                "links", "Links that carry some", counted(len(busy) - idle, "links")
            ),
            readout("idle", "Links that carry none", counted(idle, "idle links")),
        ],
    )


def _ends(wanted: dict[tuple[int, int], float]) -> float:
    """Bytes that the busiest GPU sends, or takes."""
    sums: dict[tuple[int, int], float] = {}
    for pair, amount in wanted.items():
        for side in (0, 1):
            end = side, pair[side]
            sums[end] = sums.get(end, 0.0) + amount
    return max(sums.values())


def _net(name: str) -> Topology:
    return network(name)
