"""Claims on NVL72: its switches and ports, its islands, its one memory."""

import math

from stacklib import hardware, models
from stacklib.evidence import Finding, claim
from stacklib.interconnect.networks.paths import islands
from stacklib.interconnect.networks.shapes_scaleup import port_graph
from stacklib.interconnect.networks.topology import Topology
from stacklib.quantity import Quantity, counted, counting, quoted

SHEET = "NVIDIA, GB200 NVL72 data sheet"
TRAYS, TRAY_PORTS = 9, 144  # as the post wires them: a tray taken for one chip
RACK, SWITCH = "gb200", "nvswitch4"


def gpus() -> Quantity:
    """GPUs that NVLink joins in a rack."""
    return hardware.get(RACK).link_domain.named("GPUs of an NVL72")


def links() -> Quantity:
    """Links of a GPU: its bandwidth over a link's."""
    link = hardware.link("nvlink5")
    return (link.per_direction / link.link_bandwidth).named("links of a B200")


def one_way() -> Quantity:
    """All links of a GPU, one direction."""
    return hardware.link("nvlink5").per_direction.named("a GPU, one direction")


def ports() -> Quantity:
    """Ports of a switch chip."""
    return hardware.link(SWITCH).ports.named("ports of a switch chip")


def chips() -> Quantity:
    """Switch chips that all links of all GPUs fill."""
    return (gpus() * links() / ports()).named("switch chips of an NVL72")


def rack() -> Topology:
    """NVL72 as a graph."""
    sizes = {"links": int(links().si), "ports": int(ports().si)}
    return Topology.nvswitch(int(gpus().si), int(chips().si), **sizes, link="nvlink5")


def island_count(ranks: int, links: int, chips: int, ports: int, wiring: str) -> int:
    """Sets of GPUs that a wiring holds together, found by a search."""
    wired = port_graph(ranks, links, chips, ports, wiring)
    found = islands(ranks + chips, list(wired))
    return sum(one[0] < ranks for one in found)


def packed(wiring: str = "packed") -> Quantity:
    """Islands of the post's nine trays."""
    sizes = (int(gpus().si), int(links().si), TRAYS, TRAY_PORTS)
    return counted(island_count, *sizes, wiring, label=f"islands, {wiring}")


@counting("all links of an NVL72, both ways", unit="B/s")
def total() -> float:
    """Every link of every GPU, both directions."""
    return rack().bandwidth


def per_switch() -> Quantity:
    """What of it passes a switch chip."""
    return (total() / chips()).named("a switch chip, both ways")


@claim("nvl72-aggregate")
def aggregate() -> Finding:
    """Every link of the graph, both directions."""
    return Finding(
        total(),
        why="All links of all GPUs, both directions. Between two halves of the rack "
        "goes half of it.",
    )


@claim("nvl72-gpu-count")
def gpu_count() -> Finding:
    """As the vendor prints it."""
    return Finding(gpus(), why="Two GPUs a superchip.")


@claim("nvl72-nvswitch-count")
def switch_count() -> Finding:
    """By ports."""
    return Finding(chips(), why="As many as have ports for every link of every GPU.")


def pair() -> Quantity:
    """Switch chips of a tray."""
    return quoted("gb200_sheet.tray_chips")


def tray_ports() -> Quantity:
    """Ports of a tray of switch chips."""
    return (pair() * ports()).named("ports of a tray")


def trays() -> Quantity:
    """Trays of switch chips of a rack."""
    return (chips() / pair()).named("trays of switch chips")


@claim("nvswitch-ports")
def port_count() -> Finding:
    """Of one chip, by its bandwidth."""
    return _ports(None)


@claim("nvswitch-chip-ports", right_if="the tray of two chips is meant")
def tray_count() -> Finding:
    """Of one chip, by its bandwidth, or of a tray."""
    return _ports(tray_ports())


def _ports(other: Quantity | None) -> Finding:
    switch = hardware.link(SWITCH)
    of = (switch.per_direction / switch.link_bandwidth).named("ports by bandwidth")
    return Finding(
        of,
        why="A chip needs one port for each GPU of the rack. A chip of NVSwitch 3 has "
        f"{hardware.link('nvswitch3').ports.text()}, a tray of two chips "
        f"{tray_ports().text()}.",
        then=other,
    )


@claim("nvswitch-bandwidth")
def switch_bandwidth() -> Finding:
    """All ports, both directions."""
    link = hardware.link("nvlink5").link_bandwidth
    one = link / hardware.link("nvlink4").link_bandwidth
    return Finding(
        per_switch(),
        why="The claim has the ports of NVSwitch 3 at the next link's rate, "
        f"{one.text()} times its own.",
    )


def store() -> Quantity:
    """From a GPU of such a rack to another, as derived from a ping-pong."""
    return quoted("gb200.store")


def there_and_back() -> Quantity:
    """The ping-pong: a store and a read of the cache, twice."""
    return (2 * (store() + quoted("gb200.fence"))).named("there and back")


@claim("nvl72-latency", right_if="a message there and back is meant")
def latency() -> Finding:
    """Hops counted, and a store measured; there and back it passes both caches."""
    hops = rack().routes(0, int(gpus().si) - 1).hops
    return Finding(
        store(),
        why=f"One switch chip is right: {hops} links from any GPU to any other. NVIDIA "
        "publishes no time; others derived this one from a ping-pong. A small "
        "all-reduce takes many times as long and proves nothing about it.",
        then=there_and_back(),
    )


def even_shares(gpus: int, heads: int) -> int:
    """The most GPUs that share so many heads evenly."""
    return math.gcd(gpus, heads)


@claim("nvl72-tp72")
def tp() -> Finding:
    """The most GPUs of 72 that share the heads of a model evenly."""
    heads = models.get("llama-3-70b").heads
    return Finding(
        counted(even_shares, int(gpus().si), heads, label="even shares of the heads"),
        why=f"{heads} heads do not divide by 72, nor do 96 or 128. So many do that "
        "divide both; the other GPUs hold other experts, layers or requests.",
    )


@claim("blackwell-nvlink-ports")
def gpu_ports() -> Finding:
    """As the vendor prints it."""
    return Finding(hardware.link("nvlink5").links)


@claim("nvl72-port-math")
def islands_of_post() -> Finding:
    """The post's wiring, searched."""
    return Finding.false(
        computed=packed(),
        why="Nine trays of 144 ports have a port for each link, and each takes all "
        "links of eight GPUs: nothing joins one tray's GPUs to the next one's. One "
        f"link from each GPU to each of the chips gives {packed('spread').text()}.",
    )


@claim("nvlink-max-72", "depends", "It holds if one tier of switches is meant. ")
@claim("nvlink-72-shared-memory", "true")
def most(word: str, on: str = "") -> Finding:
    """One port for each GPU on every chip."""
    b200 = hardware.get(RACK)
    far = (b200.memory_bandwidth / b200.link).text(digits=2)
    return Finding(
        counted(reached, 0, label="GPUs that one can address, itself too"),
        verdict=word,
        why=f"{on}One tier joins as many GPUs as a chip has ports; with a second the "
        "vendor names 576. Each may read every other's memory, which is "
        f"{far} times slower than its own and not coherent in its caches.",
    )


def reached(start: int, wiring: str = "spread") -> int:
    """GPUs in the island of one, itself included."""
    size = int(gpus().si)
    count = int(chips().si) if wiring == "spread" else TRAYS
    room = int(ports().si) if wiring == "spread" else TRAY_PORTS
    wired = port_graph(size, int(links().si), count, room, wiring)
    (own,) = (one for one in islands(size + count, list(wired)) if start in one)
    return sum(node < size for node in own)


@claim("nvlink6-larger-domain")
def larger() -> Finding:
    """Packages of a domain, before and after."""
    rubin, link = hardware.get("rubin"), hardware.link("nvlink6")
    return Finding.false(
        "Source: NVIDIA, Inside the Rubin platform, and NVL72's data sheet. "
        f"{gpus().text()} packages before and {rubin.link_domain.text()} after. What "
        f"grows is the bandwidth of each, to {link.bidirectional.text()} in both "
        "directions together. Counted in dies, two a package, the number is larger "
        "and the domain the same."
    )
