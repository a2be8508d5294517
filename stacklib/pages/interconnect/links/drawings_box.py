"""Drawing of section 6.1: the ways inside a box, by the words that a tool prints."""

from itertools import pairwise
from typing import Any

from stacklib import hardware
from stacklib.interconnect.networks.read_topo import read_topo, topo_sample
from stacklib.interconnect.networks.topo_reading import WAYS
from stacklib.pages.interconnect import links as page
from stacklib.plots import drawing as d
from stacklib.plots.drawing.parts import gpu, machine
from stacklib.quantity import Quantity

__all__ = ["box_as_printed"]

HOST, CARD = "layer-6", "layer-4"
PRINTED = ("NV", "PIX", "NODE", "SYS")  # from near to far
DEVICE = hardware.get("h100_sxm")
INSIDE, PCIE = DEVICE.link, DEVICE.host_link


def box_as_printed() -> d.Drawing:
    """Eight GPUs, their cards, switches and processors; lit, the way of a word."""
    reading = read_topo(topo_sample("h100_eight"))
    steps = []
    for word in PRINTED:
        one, other = next(pair for pair in reading.pairs(word) if pair[0] == "GPU0")
        rate = d.Shown(INSIDE if word == "NV" else PCIE, "GB/s")
        told = [
            d.line(d.Name(f"{one} to {other}: "), rate, " each way", bold=True),
            WAYS[word],
            d.line("small boxes: PCIe switches", role="muted"),
        ]
        if word != "NV":
            near = page.boards(word, peer=True)
            host = page.boards(word, peer=False, under=page.UNDER)
            told.append(d.line("boards without NVLink: ", d.Shown(near, "GB/s")))
            if word == "PIX":
                blocked = d.Shown(host, "GB/s")
                told.append(d.line("without access to peers: ", blocked))
        way = _between(one, other, word == "NV")
        steps.append((reading.ways[one, other], d.below(_box(way), d.Words(told))))
    title = "Each word that nvidia-smi topo prints is a way through the box."
    return d.draw(steps, name="link-box", title=title, devices=[DEVICE.key])


def _up(name: str) -> list[str]:
    """A device, the PCIe switch over it, and the processor over that."""
    place = int(name[3:])
    return [name, f"PCIe {place}", f"processor {place // 4}"]


def _between(one: str, other: str, switched: bool) -> list[str]:
    """The parts that a way goes through: up as far as is needed, and down."""
    if switched:
        return [one, "NVSwitch", other]
    up, down = _up(one), _up(other)
    if up[-1] != down[-1]:
        return [*up, *down[::-1]]
    while len(up) > 1 and up[-2] == down[-2]:
        up, down = up[:-1], down[:-1]
    return [*up, *down[-2::-1]]


def _box(way: list[str]) -> d.Node:
    """The parts in rows, in columns on a phone; the parts of the way are lit."""
    used = {frozenset(pair) for pair in pairwise(way)}
    full = (INSIDE * 2).named("widest band")

    def part(name: str, role: str, **given: Any) -> d.Box:
        told = None if name.startswith("PCIe") else d.Name(name)
        return d.Box(name, told, role=role, lit=name in way, **given)

    def edge(start: str, end: str, rate: Quantity | None = PCIE) -> d.Edge:
        lit = frozenset((start, end)) in used
        return d.Edge(start, end, rate=rate, full=full, lit=lit, role="layer-2")

    edges = [edge("processor 0", "processor 1", None)]
    chips, switches = [], []
    for place in range(8):
        card, chip = f"NIC{place}", f"GPU{place}"
        switch = f"PCIe {place}"
        chips.append(part(chip, gpu.CHIP))
        small = part(switch, machine.LINKS, room=(15.0, 15.0), grow=0.0)
        switches.append(d.flow(small, part(card, CARD), gap=10))
        edges += [
            edge(switch, f"processor {place // 4}"),
            edge(switch, card),
            edge(switch, chip),
            edge(chip, "NVSwitch", INSIDE),
        ]
    halves = []
    for node in (0, 1):
        mine = slice(4 * node, 4 * node + 4)
        rows = (
            part(f"processor {node}", HOST),
            d.flow(*switches[mine], even=True),
            d.flow(*chips[mine], even=True),
        )
        halves.append(d.turned(*rows, gap=24))
    both = d.flow(*halves, gap=26, even=True)
    scene = d.turned(both, part("NVSwitch", machine.LINKS), gap=24)
    return d.joined(scene, *edges)
