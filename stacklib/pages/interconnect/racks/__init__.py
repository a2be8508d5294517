"""Section 6.6: How do the GPUs of a rack become one?"""

from __future__ import annotations

import math
from functools import cache
from typing import NamedTuple

from stacklib import hardware, models
from stacklib.hardware.links import Link
from stacklib.interconnect.networks.price import cost
from stacklib.interconnect.networks.shapes_fat_tree import fat_tree_size
from stacklib.interconnect.networks.topology import Topology
from stacklib.interconnect.schedules.algorithms import all_reduce
from stacklib.interconnect.schedules.closed import closed_count
from stacklib.pages.figures_of import measured
from stacklib.pages.interconnect.links import vector as vector
from stacklib.pages.interconnect.racks import claims
from stacklib.quantity import Quantity, chosen, counted, counting, quoted
from stacklib.roofline.work.moving import link_time

MODEL, TP, EXCHANGES = "llama-3-70b", 8, 2  # all-reduces of a layer
ALGORITHM = "direct"  # two steps: every part to its owner, every sum to everybody


class Rack(NamedTuple):
    """GPUs, links of each, switch chips, ports of each, and how they are wired."""

    gpus: int
    links: int
    chips: int
    ports: int
    wiring: str
    link: str


MORE = "more of these chips"
RACKS = {
    "HGX H100": Rack(8, 18, 4, 64, "spread", "nvlink4"),
    "HGX B200": Rack(8, 18, 2, 72, "spread", "nvlink5"),
    "NVL72": Rack(72, 18, 18, 72, "spread", "nvlink5"),
    "a tray as one chip": Rack(72, 18, 9, 144, "spread", "nvlink5"),
    "the post's planes": Rack(72, 18, 9, 144, "packed", "nvlink5"),
    "chips of an H100 board": Rack(72, 18, 18, 64, "spread", "nvlink5"),
    MORE: Rack(72, 18, 21, 64, "spread", "nvlink5"),
}
POST = RACKS["the post's planes"]


# -- graphs ----------------------------------------------------------------------------


@cache
def topology(name: str, gpus: int = 0) -> Topology:
    """A rack as a graph, or so many of its GPUs on all its switch chips."""
    of = RACKS[name]
    sizes = {"links": of.links, "ports": of.ports, "wiring": of.wiring}
    return Topology.nvswitch(gpus or of.gpus, of.chips, **sizes, link=of.link)


def island_count(name: str) -> Quantity:
    """Sets of GPUs of a rack that are joined, found by a search."""
    sizes = RACKS[name][:5]
    return counted(claims.island_count, *sizes, label=f"islands, {name}")


@counting("GPUs reached in the post's rack")
def reached() -> int:
    """Other GPUs that one of the post's rack can reach."""
    return claims.reached(0, "packed") - 1


def used(name: str) -> Quantity:
    """Ports that a rack's links take."""
    of = RACKS[name]
    gpus, links = (chosen(n, label=w) for n, w in ((of.gpus, "GPUs"), (of.links, "")))
    return (gpus * links.named("links of a GPU")).named(f"ports used, {name}")


@counting("links between GPUs, {name}")
def hops(name: str) -> int:
    """Links from the first GPU to the last."""
    return topology(name).routes(0, RACKS[name].gpus - 1).hops


@counting("ways between two GPUs of an NVL72")
def planes() -> int:
    """Shortest ways between two GPUs of an NVL72."""
    return topology("NVL72").routes(0, 71).count


@counting("chips that two GPUs share, at least")
def shared() -> int:
    """The fewest chips at which two GPUs meet where each leaves some out."""
    of, net = RACKS[MORE], topology(MORE)
    return min(net.routes(0, other).count for other in range(1, of.gpus))


def pair() -> Quantity:
    """What two such GPUs have between them, one direction."""
    link = hardware.link("nvlink5").link_bandwidth
    return (shared() * link).named("between two GPUs that leave chips out")


@counting("all links both ways, {name}", unit="B/s")
def total(name: str) -> float:
    """All links of a rack, both directions."""
    return topology(name).bandwidth


@counting("between halves of an NVL72, one way", unit="B/s")
def half() -> float:
    """From one half of the rack to the other, one direction."""
    return topology("NVL72").bisection().bandwidth


@counting("a GPU's, one switch chip gone", unit="B/s")
def without_one() -> float:
    """What a GPU has left between halves when a switch chip fails, one direction."""
    rack = topology("NVL72")
    return rack.fail(rack.ranks).bisection().per_chip


def cables() -> Quantity:
    """Wire pairs of the rack: links, lanes, directions."""
    link: Link = hardware.link("nvlink5")
    ways = chosen(2, label="directions")
    return (claims.gpus() * claims.links() * link.lanes * ways).named("pairs of wires")


def cables_told() -> Quantity:
    """Copper cables of the rack as they are told."""
    return quoted("nvl72_cables.cables")


def two_tiers() -> Quantity:
    """GPUs that two tiers of the same chip join at full bandwidth."""
    label = "GPUs on two tiers"
    return counted(fat_tree_size, claims.ports(), 2, take="hosts", label=label)


def old_ports() -> Quantity:
    """Ports of a switch chip of an H100 board."""
    return hardware.link("nvswitch3").ports.named("ports of NVSwitch 3")


def lacking() -> Quantity:
    """GPUs of a rack that such a chip has no port for."""
    return (claims.gpus() - old_ports()).named("GPUs without a port")


def vendor_most() -> Quantity:
    """GPUs that the vendor names for NVLink with two tiers."""
    return quoted("nvlink_page.domain")


# -- the token -------------------------------------------------------------------------


def once(name: str) -> Quantity:
    """One exchange of eight GPUs, by its sends over the graph."""
    made = all_reduce(TP, ALGORITHM)
    found: Quantity = cost(made, topology(name, TP), size=vector()).time
    return found.named(f"an exchange of eight GPUs, {name}").to("µs")


def exchange(name: str) -> Quantity:
    """All exchanges of a token."""
    layers = models.get(MODEL).size("layers", "layers")
    each = chosen(EXCHANGES, label="all-reduces of a layer")
    return (layers * each * once(name)).named(f"exchanges of a token, {name}").to("µs")


def closed(ranks: int) -> Quantity:
    """One exchange in closed form, for any number of GPUs of an NVL72."""
    link = hardware.link("nvlink5")
    steps, share = (
        counted(count_of, ranks, part, label=f"{words} of {ranks} GPUs")
        for part, words in enumerate(("steps", "share of the vector sent"))
    )
    told = steps * link.latency + link_time(share * vector(), link)
    return told.named(f"an exchange of {ranks} GPUs, closed form").to("µs")


def count_of(ranks: int, part: int) -> float:
    """Steps (0) of such an exchange, or the share of the vector sent (1)."""
    found = closed_count("all_reduce", ALGORITHM, ranks)
    return (found.steps, float(found.share))[part]


def crossing() -> Quantity:
    """From a GPU over a switch chip to another, as estimated."""
    return hardware.link("nvlink5").latency.named("a crossing of NVLink 5")


def heads() -> Quantity:
    """Heads of the model."""
    return models.get(MODEL).size("heads", "heads")


def even() -> Quantity:
    """The most GPUs of the rack that share the heads evenly."""
    return counted(math.gcd, claims.gpus(), heads(), label="GPUs that share heads")


def large() -> Quantity:
    """Bus bandwidth of a large all-reduce over two trays, measured."""
    return (measured("D-0266") * 1).named("all-reduce of 32 GiB over two trays")


def small() -> Quantity:
    """The same of eight bytes, time."""
    return (measured("D-0267") * 1).named("all-reduce of 8 B over two trays").to("µs")


def far() -> Quantity:
    """A GPU's own memory over another's, by bandwidth in one direction."""
    device = hardware.get(claims.RACK)
    return (device.memory_bandwidth / device.link).named("own memory over another's")
