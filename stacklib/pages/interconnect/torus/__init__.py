"""Section 6.8: What does a torus give up?"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from math import prod
from typing import Any

from stacklib import hardware, models
from stacklib.interconnect import Topology, all_reduce
from stacklib.interconnect import cost as price
from stacklib.interconnect.networks.packets import run_packets
from stacklib.interconnect.networks.shapes_optical import (
    CrossConnect,
    cross_connect,
    goodput,
    run_goodput,
)
from stacklib.quantity import (
    Quantity,
    bytes_per_element,
    chosen,
    counted,
    counting,
    quoted,
)

SHORT, WIDE = (4, 4, 8), (4, 8, 8)  # chips along the axes: one long, two long
POD, HALL = (16, 24, 24), (16, 16, 16)  # Ironwood's, and TPU v4's
CUBE, CUBES, RACKS, PORTS = 4, 64, 144, 136
LINKS = 6  # of a chip in three dimensions
HOST, HOSTS = 0.995, 16  # probability that a host is well; hosts of a cube
SLICE = 16  # cubes of a job
TPU4 = "Jouppi et al., TPU v4 (ISCA 2023)"
MODEL, PER_LAYER = "llama-3-70b", 2

Shape = tuple[int, int, int]


# -- all to all, on a plain and on a twisted torus -------------------------------------


@cache
def net(shape: Shape, twist: bool = False) -> Topology:
    """The torus, with links of one byte a second."""
    return Topology.torus(shape, twist or None, link=1.0)


def _named(what: str, shape: Shape, twist: bool) -> str:
    return f"{what}, {'twisted' if twist else 'plain'} {' x '.join(map(str, shape))}"


@counting(lambda shape, twist: _named("busiest link", shape, twist))
def most(shape: Shape, twist: bool = False) -> float:
    """Messages over the busiest link when each chip sends one to each other."""
    return round(max(net(shape, twist).loads(1.0).values()), 9)


@counting(lambda shape, twist: _named("a link's mean", shape, twist))
def mean(shape: Shape, twist: bool = False) -> float:
    """Messages over a link on average."""
    loads = net(shape, twist).loads(1.0).values()
    return round(sum(loads) / len(loads), 9)


@counting(lambda shape, twist: _named("busiest link by paths", shape, twist))
def by_paths(shape: Shape, twist: bool = False) -> float:
    """The busiest link again, every shortest path of every pair counted."""
    bare = replace(net(shape, twist), lattice=None)  # no symmetry to lean on
    return round(max(bare.loads(1.0).values()), 9)


@counting(lambda shape, twist: _named("hops", shape, twist))
def hops(shape: Shape, twist: bool = False) -> float:
    """Links on the way of a message, on average."""
    chips = prod(shape)
    return LINKS * mean(shape, twist).si / (chips - 1)


def gain(shape: Shape) -> Quantity:
    """How many times as fast all-to-all is on the twisted torus."""
    words = " x ".join(map(str, shape))
    return (most(shape) / most(shape, True)).named(f"gain of the twist, {words}")


@counting(lambda shape, twist: _named("slots", shape, twist))
def slots(shape: Shape, twist: bool = False) -> int:
    """Slots until one packet a pair has arrived, by the shortest queue."""
    return run_packets(net(shape, twist), choice="queue").slots


def seen(shape: Shape) -> Quantity:
    """What the paper measured, as this book's sources recall it."""
    return quoted({SHORT: "tpu4.gain_short", WIDE: "tpu4.gain_wide"}[shape])


def rows() -> list[dict[str, Any]]:
    """The table of tori."""
    return [
        {
            "torus": " x ".join(map(str, shape)) + (", twisted" if twist else ""),
            "busiest link": most(shape, twist),
            "every path counted": by_paths(shape, twist),
            "mean link": mean(shape, twist),
            "hops": hops(shape, twist),
        }
        for shape in (SHORT, WIDE)
        for twist in (False, True)
    ]


# -- bisection ---------------------------------------------------------------------


def per_link(key: str = "ici_v7") -> Quantity:
    """One link of a chip, one direction."""
    six = chosen(LINKS, label="links of a chip")
    return (hardware.link(key).per_direction / six).named("a link, one direction")


def longest(shape: Shape) -> Quantity:
    """Chips along the longest axis."""
    return counted(max, shape, label=f"longest of {' x '.join(map(str, shape))}")


def bisection(shape: Shape, key: str = "ici_v7") -> Quantity:
    """Bandwidth into the other half for each chip of one: 4 links over the length."""
    share = 4 * per_link(key) / longest(shape)
    return share.named(f"bisection a chip, {' x '.join(map(str, shape))}")


def switched() -> Quantity:
    """The same behind a switch that never blocks: all of a GPU's links."""
    return hardware.link("nvlink5").per_direction


def smaller() -> Quantity:
    """How many times less."""
    return (switched() / bisection(POD)).named("NVL72 over the pod, for each chip")


def chips(shape: Shape) -> Quantity:
    """Chips of a torus."""
    return counted(prod, shape, label=f"chips of {' x '.join(map(str, shape))}")


def cubes(shape: Shape) -> Quantity:
    """Cubes of a pod."""
    edge = quoted("scaling_book.cube")
    return (chips(shape) / edge**3).named("cubes")


@counting("exponent of the bisection")
def exponent() -> float:
    """Slope of the built cubes' bisection against their chips, on log axes."""
    from math import log

    sides = (4, 6, 8, 10)
    wide = [net((k, k, k)).bisection().bandwidth for k in sides]
    return log(wide[-1] / wide[0]) / log(sides[-1] ** 3 / sides[0] ** 3)


# -- cubes and mirrors -----------------------------------------------------------------


def hall() -> CrossConnect:
    """All cubes of a v4 pod, joined."""
    return cross_connect(HALL)


def switches() -> Quantity:
    """Optical switches of a pod: one for each place of a face, on three axes."""
    return counted(cross_connect, HALL, take="switches", label="optical switches")


def used_ports() -> Quantity:
    """Ports of each that the cubes need."""
    return counted(cross_connect, HALL, take="ports_used", label="ports in use")


def ports_for(cubes: int) -> Quantity:
    """Ports of each switch that so many cubes need."""
    two = chosen(2, label="ports of a cube")
    return (two * chosen(cubes, label=f"{cubes} cubes")).named("ports of a switch")


def refused() -> str:
    """What the allocator says of Ironwood's racks on 136-port switches."""
    try:
        cross_connect(POD, installed=RACKS, ports=PORTS)
    except ValueError as error:
        return str(error)
    raise AssertionError("the racks fit")


@counting("connections moved")
def moved() -> int:
    """Connections that change when a spare takes a broken cube's place."""
    before = cross_connect((8, 8, 16))
    return before.replaced(3).moved(before)


def well() -> Quantity:
    """Probability that all hosts of a cube are well."""
    one = chosen(HOST, label="a host is well")
    return (one**HOSTS).named("a cube is well")


@counting(
    lambda mirrors: f"cubes in jobs, {('mirrors' if mirrors else 'fixed cables')}"
)
def running(mirrors: bool) -> float:
    """Share of the cubes that run in jobs of a quarter of the pod."""
    return goodput(CUBES, SLICE, HOST**HOSTS, mirrors=mirrors)


@counting(
    lambda mirrors: (
        f"cubes in jobs, {('mirrors' if mirrors else 'fixed cables')}, drawn"
    )
)
def running_drawn(mirrors: bool) -> float:
    """The same by draws."""
    return run_goodput(CUBES, SLICE, HOST**HOSTS, mirrors=mirrors, runs=4000)


# -- the token -------------------------------------------------------------------------


def exchanges() -> Quantity:
    """Exchanges of a token."""
    each = chosen(PER_LAYER, label="exchanges a layer")
    return (models.get(MODEL).size("layers", "layers") * each).named("exchanges")


def _exchanges(shape: Shape) -> Quantity:
    """Time of a token's exchanges: halving and doubling, an axis at a time."""
    box = Topology.torus(shape, link="ici_v7")
    plan = all_reduce(prod(shape), algorithm="halving_doubling")
    size = models.get(MODEL).size("hidden", "hidden size") * bytes_per_element("bf16")
    found: Quantity = price(plan, box, size=size).time * exchanges()
    return found.to("us")


def token() -> Quantity:
    """Exchanges of a token on eight chips of a torus."""
    return _exchanges((2, 2, 2)).named("a token's exchanges, 2 x 2 x 2 torus")


def token_line() -> Quantity:
    """The same on eight chips in a ring."""
    return _exchanges((8, 1, 1)).named("a token's exchanges, ring of eight")
