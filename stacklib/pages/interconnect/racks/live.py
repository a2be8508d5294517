"""Build a rack, live: do the ports suffice, what is joined, and what it carries."""

from __future__ import annotations

from typing import Any

from stacklib.interconnect.networks.paths import islands
from stacklib.interconnect.networks.shapes_scaleup import port_graph
from stacklib.plots.live import choices
from stacklib.plots.live.parts import counted
from stacklib.plots.marks import Spec, axis, cells, chart
from stacklib.plots.spec import readout

GPUS = (4, 8, 16, 32, 36, 64, 72, 144)
LINKS = (2, 4, 6, 12, 18, 36)
CHIPS = (1, 2, 4, 6, 9, 12, 18, 24, 36)
PORTS = (16, 18, 32, 36, 64, 72, 128, 144)
WIRINGS = {
    "spread": "each GPU's links over all chips",
    "packed": "all links to one chip while it has room",
}
LINK = 100.0  # GB/s of a link of NVLink 5, both directions


def controls() -> list[dict[str, Any]]:
    """GPUs, links, switch chips, ports, and the wiring."""
    return [
        choices.slider("gpus", "GPUs", GPUS, 72),
        choices.slider("links", "Links of a GPU", LINKS, 18),
        choices.slider("chips", "Switch chips", CHIPS, 18),
        choices.slider("ports", "Ports of a chip", PORTS, 72),
        choices.select("wiring", "Wiring", WIRINGS, "spread"),
    ]


def built(
    gpus: int, links: int, chips: int, ports: int, wiring: str
) -> list[set[int]] | str:
    """Sets of nodes that are joined, those with a GPU; or why it cannot be built."""
    try:
        wired = port_graph(gpus, links, chips, ports, wiring)
    except ValueError as no:
        return str(no)
    found = islands(gpus + chips, list(wired))
    return [set(one) for one in found if one[0] < gpus]


def explore(*, gpus: int, links: int, chips: int, ports: int, wiring: str) -> Spec:
    """Which GPU has a link to which chip; lit, what the first GPU reaches."""
    found = built(gpus, links, chips, ports, wiring)
    x = axis("GPU", limits=(-0.5, gpus - 0.5))
    y = axis("Switch chip", limits=(-0.5, chips - 0.5))
    used = readout("used", "Ports used", counted(gpus * links, "ports used"), digits=4)
    offered = readout(
        "offered", "Ports in all", counted(chips * ports, "ports"), digits=4
    )
    if isinstance(found, str):
        title = "Some links find no port."
        return chart(title, x=x, y=y, marks=[], readouts=[used, offered], message=found)
    wired = port_graph(gpus, links, chips, ports, wiring)
    own = next(one for one in found if 0 in one)
    near = [(gpu, node - gpus) for gpu, node in wired if gpu in own]
    far = [(gpu, node - gpus) for gpu, node in wired if gpu not in own]
    joined = sum(node < gpus for node in own)
    rate = counted(gpus * links * LINK / 1e3, "all links, both ways", "TB/s")
    return chart(
        "One island: every GPU reaches every other over one switch chip."
        if len(found) == 1
        else "The ports suffice, and the rack falls apart.",
        x=x,
        y=y,
        marks=[
            cells(near, "joined with GPU 0", "simulated", at="key", series=0),
            cells(far, "not joined with it", "simulated", at="key", series=4),
        ],
        readouts=[
            readout("islands", "Islands", counted(len(found), "islands")),
            readout("reach", "GPUs with GPU 0", counted(joined, "GPUs joined")),
            used,
            offered,
            readout("rate", "Both directions", rate, "part", unit="TB/s", digits=4),
        ],
    )
