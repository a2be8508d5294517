"""Section 6.7: What does a network cost that never blocks?"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from stacklib import cost as prices
from stacklib import hardware, models
from stacklib.interconnect import Topology, all_reduce, cost
from stacklib.interconnect.networks.cuts import narrowest
from stacklib.interconnect.networks.shapes_fat_tree import fat_tree_size, levels_for
from stacklib.pages import chain
from stacklib.pages.figures_of import claimed as claimed
from stacklib.pages.interconnect.journey import account
from stacklib.pages.kernels import launches
from stacklib.quantity import Quantity, chosen, counted, counting, quoted

SHEET = "Spreadsheet of what H100 clusters cost, August 2024"
DEVICE, MODEL, RADIX, LEVELS = "h100_sxm", "llama-3-70b", 64, 3
SHEETS = {2048: 96, 16_384: 768, 65_536: 5120, 131_072: 10_240}  # GPUs: switches
PORT = 50e9  # B/s in one direction: NDR, of the small networks that are built
THIN = 960  # hosts of the tree with thinner leaves: 80 leaves of 12
SHAPES = ("fat tree", "fat tree, thinner leaves", "dragonfly", "torus")


# -- a fat tree in closed form ---------------------------------------------------------


def radix() -> Quantity:
    """Ports of a switch."""
    return hardware.link("switch_qm9700").ports


def levels(count: int = LEVELS) -> Quantity:
    """Levels of a tree."""
    return chosen(count, label="levels")


def size(part: str, ports: int = RADIX, high: int = LEVELS) -> Quantity:
    """Hosts, switches or cables of a full tree."""
    label = f"{part} of {high} levels of {ports} ports"
    return counted(fat_tree_size, ports, high, take=part, label=label)


def ports_each(high: int = LEVELS) -> Quantity:
    """Switch ports for each GPU."""
    return (2 * levels(high) - 1).named(f"switch ports for a GPU, {high} levels")


def price(part: str) -> Quantity:
    """Of a spreadsheet: a switch, a cable with both ends, a server of eight."""
    return quoted(f"cluster_sheet.{part}")


def per_gpu() -> Quantity:
    """A GPU's part of a server, its port counted."""
    return (price("server") / chosen(8, label="GPUs")).named("a server, for each GPU")


def network(part: str = "", high: int = LEVELS) -> Quantity:
    """Price of the network for each GPU, or of its switches or its cables."""
    switches = ports_each(high) * price("switch") / radix()
    cables = levels(high) * price("cable")
    told = {"switches": switches, "cables": cables, "": switches + cables}[part]
    return told.named(f"network for a GPU, {part or 'all'}, {high} levels")


def share(high: int = LEVELS) -> Quantity:
    """The network's price over that of the servers."""
    return (network(high=high) / per_gpu()).named(f"network over servers, {high}")


def chip() -> Quantity:
    """The latest price of an H100 by itself."""
    bought = [q for q in prices.prices("h100-sxm") if q.what == "purchase"]
    return bought[-1].value


def of_chips() -> Quantity:
    """The network's price over that of the GPUs alone."""
    return (network() / chip()).named("network over GPUs alone")


def triple() -> Quantity:
    """How much dearer it would have to be to cost as much as the GPUs."""
    return (1 / of_chips()).named("what it would take")


# -- the spreadsheet -------------------------------------------------------------------


@counting("switches for {gpus} GPUs")
def need(gpus: int) -> int:
    """Switches of 64 ports that so many GPUs need: (2 n - 1) N / k."""
    return (2 * levels_for(gpus, RADIX) - 1) * gpus // RADIX


def depth(gpus: int) -> Quantity:
    """Levels that so many GPUs need."""
    return counted(levels_for, gpus, RADIX, label=f"levels for {gpus} GPUs")


def theirs(gpus: int) -> Quantity:
    """Switches as the spreadsheet has them."""
    return quoted(f"cluster_sheet.gpus_{gpus}")


def missing(gpus: int) -> Quantity:
    """Share of the needed switches that it leaves out."""
    return (1 - theirs(gpus) / need(gpus)).named(f"left out for {gpus} GPUs")


# -- built and counted -----------------------------------------------------------------


@cache
def built(hosts: int = 16_384) -> Topology:
    """A tree of switches of 64 ports, cable by cable."""
    return Topology.fat_tree(RADIX, LEVELS, hosts=hosts)


@counting("{name} counted, 16,384 GPUs")
def parts(name: str) -> int:
    """Switches or cables counted in the graph."""
    return built().parts()[name]


@counting("maximum flow for a GPU, {over} to 1", unit="B/s", shown="GB/s")
def flow(over: float = 1) -> float:
    """B/s of each GPU of a half to the other half, by a maximum flow."""
    tree = Topology.fat_tree(8, 3, over, link=PORT)
    half = tree.ranks // 2
    return narrowest(range(half), range(half, tree.ranks), tree.capacity)[0] / half


def port() -> Quantity:
    """A GPU's port, one direction."""
    return hardware.link("ib_ndr").per_direction


# -- other shapes ----------------------------------------------------------------------


@cache
def shape(name: str) -> Topology:
    """A network of about a thousand GPUs, its switches of 16 ports at most."""
    made: Topology = {
        "fat tree": lambda: Topology.fat_tree(16, 3, link=PORT),
        "fat tree, thinner leaves": lambda: Topology.fat_tree(
            16, 3, 3, hosts=THIN, link=PORT
        ),
        "dragonfly": lambda: Topology.dragonfly(8, 4, 4, link=PORT),
        "torus": lambda: Topology.torus((10, 10, 10), link=PORT),
    }[name]()
    return made


@counting("{part} for a GPU, {name}")
def each(name: str, part: str) -> float:
    """Switch ports or cables for each GPU, counted in the graph."""
    net = shape(name)
    return net.parts()[part] / net.ranks


def paid(name: str) -> Quantity:
    """USD for each GPU at the same price for a port and for a cable."""
    ports = each(name, "switch port") * price("switch") / radix()
    return (ports + each(name, "link") * price("cable")).named(f"price, {name}")


@counting("bisection for a GPU, {name}", unit="B/s", shown="GB/s")
def across(name: str) -> float:
    """B/s of each GPU of a half to the other half."""
    return shape(name).bisection().per_chip


# -- switches as sold ------------------------------------------------------------------


def sold(key: str, part: str) -> Quantity:
    """Ports, a port's rate, or all of a switch's, one direction."""
    if key == "tomahawk6":
        lanes = quoted("tomahawk6.ports")
        rate = quoted("tomahawk6.port")
    else:
        fields = hardware.link(key).fields
        found, width = fields["ports"], fields["link_bandwidth"]
        assert found is not None and width is not None
        lanes, rate = found, width.to("Gbit/s")
    told = {"ports": lanes, "rate": rate, "": lanes * rate}[part]
    return told if part else told.named(f"all ports of {key}").to("Tbit/s")


def reach(key: str, high: int) -> Quantity:
    """GPUs under so many levels of it, a port each."""
    return size("hosts", round(sold(key, "ports").si), high)


def planes() -> Quantity:
    """GPUs of three levels of the Quantum-X800, as published."""
    return quoted("cpo.three_levels")


# -- a token ---------------------------------------------------------------------------


def exchanges() -> Quantity:
    """Exchanges of a token: two a layer."""
    layers = models.get(MODEL).size("layers", "layers")
    return (2 * layers).named("exchanges of a token")


def vector() -> Quantity:
    """Bytes of an exchange."""
    return chosen(16, "KiB", label="an exchange")


def once(servers: int) -> Quantity:
    """One exchange, rings inside each server and between those of a rail."""
    if servers == 1:
        net, made = Topology.nvswitch(8), all_reduce(8)
    else:
        net = Topology.rail(servers, 8)
        made = all_reduce(8 * servers, "hierarchical", group=8)
    found: Quantity = cost(made, net, size=vector()).time
    return found.named(f"an exchange over {servers} servers, rings").to("µs")


def exchange(servers: int) -> Quantity:
    """All exchanges of a token."""
    told = exchanges() * once(servers)
    return told.named(f"exchanges of a token, {servers} servers, rings").to("ms")


def reading(servers: int) -> Quantity:
    """Reading of a token, the weights on so many servers of eight."""
    told = launches.reading() / chosen(servers, label="servers")
    return told.named(f"reading, {servers} servers").to("ms")


def both(servers: int) -> Quantity:
    """A token's account with these exchanges in it."""
    own = account(DEVICE, 8 * servers)
    told: Quantity = own.with_(
        replace(own[chain.EXCHANGES], t_fixed=exchange(servers))
    ).total()
    return told.named(f"a token, {servers} servers, rings").to("ms")
