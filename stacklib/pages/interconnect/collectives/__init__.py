"""Section 6.2: What is the least a sum over eight chips can cost?"""

from __future__ import annotations

from functools import cache
from math import log2

from stacklib import hardware, models
from stacklib.interconnect.networks.simulate import simulate
from stacklib.interconnect.networks.topology import Topology
from stacklib.interconnect.schedules import cost as costs
from stacklib.interconnect.schedules.algorithms import all_reduce
from stacklib.interconnect.schedules.closed import closed_cost
from stacklib.interconnect.schedules.schedule import Schedule
from stacklib.quantity import Quantity, chosen, counted, counting
from stacklib.quantity.constants import case
from stacklib.quantity.core import _make
from stacklib.quantity.stored import bytes_per_element
from stacklib.roofline.work.moving import link_time

MODEL, TP, RACK = "llama-3-70b", case("chips"), 72
SERVERS, PIECES = 2, 8  # where no step waits for all
LINK = "nvlink4"
LARGE = 64 * 2**20  # B: gradients of a layer rather than a token's activations
NAMES = {
    "ring": "ring",
    "tree": "binary tree",
    "halving_doubling": "halving and doubling",
    "double_binary_tree": "two trees",
    "direct": "all at once",
    "in_switch": "in the switch",
}
PIPED = ("tree", "double_binary_tree", "in_switch")
SIZES = tuple(2.0**power for power in range(10, 31))  # 1 KiB to 1 GiB


# -- what is given ---------------------------------------------------------------------


def size() -> Quantity:
    """Bytes that a token's all-reduce sums up: one activation of the model, bf16."""
    hidden = models.get(MODEL).size("hidden", "hidden size")
    wide = bytes_per_element("bf16")
    return (hidden * wide).named("bytes of a token's all-reduce")


def chunk() -> Quantity:
    """What a step of a ring of eight carries."""
    return (size() / chosen(TP, label="parts")).named("chunk of a ring of eight")


def large() -> Quantity:
    """A larger array."""
    return chosen(LARGE, "B", label="a large array")


def alpha() -> Quantity:
    """Time from one chip to another, nothing sent."""
    found = hardware.link(LINK).latency
    return _make(found, label="one step's latency, NVLink 4")


def wait(algorithm: str) -> Quantity:
    """Latency of a step: a chip and its switch are half as far apart as two chips."""
    if algorithm != "in_switch":
        return alpha()
    half = alpha() / chosen(2, label="links between two chips")
    return half.named("latency to the switch")


def bandwidth() -> Quantity:
    """What a chip sends, in one direction."""
    return hardware.link(LINK).per_direction


def exchanges() -> Quantity:
    """All-reduces of a token."""
    layers = models.get(MODEL).size("layers", "layers")
    return (layers * chosen(2, label="all-reduces a layer")).named("exchanges a token")


# -- counted from the schedules --------------------------------------------------------


@cache
def made(algorithm: str, ranks: int = TP, chunks: int | None = None) -> Schedule:
    """An all-reduce's schedule."""
    return all_reduce(ranks, algorithm, chunks=chunks)


@counting(lambda algorithm, ranks: f"steps, {NAMES[algorithm]}, {ranks} chips")
def steps(algorithm: str, ranks: int = TP) -> int:
    """Steps of an algorithm, one chunk at a time where it is piped."""
    return made(algorithm, ranks).steps


@counting(lambda algorithm, ranks: f"arrays moved, {NAMES[algorithm]}, {ranks} chips")
def share(algorithm: str, ranks: int = TP) -> float:
    """Arrays that the busiest chip of each step sends or receives, summed."""
    return float(costs.count(made(algorithm, ranks)).share)


def time(
    algorithm: str, of: Quantity | None = None, ranks: int = TP, part: str = "time"
) -> Quantity:
    """Steps times latency, and arrays moved over the bandwidth.

    ``part``: time, alpha or beta.
    """
    of = size() if of is None else of
    waits = steps(algorithm, ranks) * wait(algorithm)
    moves = link_time(share(algorithm, ranks) * of, LINK)
    found = {"time": waits + moves, "alpha": waits, "beta": moves}[part]
    told = f"{part}, {NAMES[algorithm]}, {of.text()} on {ranks} chips"
    return found.named(told).to("µs")


def token(algorithm: str = "ring") -> Quantity:
    """All exchanges of a token."""
    return (exchanges() * time(algorithm)).named(f"exchanges, {NAMES[algorithm]}")


@cache
def network(servers: int) -> Topology:
    """Eight GPUs on one switch, or servers of eight with a port for each GPU."""
    if servers > 1:
        return Topology.rail(servers, TP)
    hop, link = wait("in_switch").si, bandwidth().si
    return Topology.nvswitch(TP, 1, links=1, link=link, latency=hop)


@counting(
    lambda algorithm, of, barrier=True, servers=1, pieces=None: (
        f"{'in steps' if barrier else 'at its own pace'}, {NAMES[algorithm]}, "
        f"{of.text()} on {servers * TP} chips"
    ),
    unit="s",
    shown="µs",
)
def simulated(
    algorithm: str,
    of: Quantity,
    barrier: bool = True,
    servers: int = 1,
    pieces: int | None = None,
) -> float:
    """The same link by link, in steps or each GPU at its own pace."""
    schedule = made(algorithm, servers * TP, pieces)
    return simulate(schedule, network(servers), of.si, barrier=barrier).time


def across() -> Quantity:
    """Latency of a ring's hop between servers: to its rail, a spine, a rail, a port."""
    pairs = chosen(2, label="pairs of cables on the way")
    return (hardware.link("ib_ndr").latency * pairs).named("hop between two servers")


@counting(
    lambda algorithm, of: f"closed form, {NAMES[algorithm]}, {of.text()}",
    unit="s",
    shown="µs",
)
def closed(algorithm: str, of: Quantity) -> float:
    """The same in closed form, no schedule built."""
    found = closed_cost(
        "all_reduce",
        algorithm,
        TP,
        size=of.si,
        alpha=wait(algorithm).si,
        beta=link_time(1, LINK),
    )
    return float(found.time)


# -- pipelines, and where lines cross --------------------------------------------------


@cache
def piped(algorithm: str, ranks: int) -> tuple[costs.Count, costs.Count, int]:
    """A pipeline counted with so many pieces, and with twice as many."""
    few = 16
    one, many = (costs.count(made(algorithm, ranks, c)) for c in (few, 2 * few))
    return one, many, few


def counts(algorithm: str, ranks: int, of: float) -> list[costs.Count]:
    """Steps and share; of a pipeline whole, and with the pieces that the model likes.

    More pieces than were counted grow as a line: steps with their number, the share
    with one over it.
    """
    whole = costs.count(made(algorithm, ranks))
    if algorithm not in PIPED:
        return [whole]
    one, many, few = piped(algorithm, ranks)
    given = {"size": of, "alpha": wait(algorithm).si, "beta": link_time(1, LINK)}
    pieces = costs.best_chunks(one, many, few, **given)
    if pieces <= few:
        return [whole, costs.count(made(algorithm, ranks, pieces + pieces % 2))]
    slope = (many.steps - one.steps) / few
    tail = (one.share - many.share) * 2 * few
    share_ = one.share - tail / few + tail / pieces
    return [whole, costs.Count(round(one.steps + slope * (pieces - few)), share_)]


def seconds(algorithm: str, ranks: int, of: float) -> float:
    """Time of an array of so many bytes, in as many pieces as are best."""
    least = costs.least_share("all_reduce", ranks)
    given = {"size": of, "alpha": wait(algorithm).si, "beta": link_time(1, LINK)}
    found = (
        costs.priced(one, least, **given).time for one in counts(algorithm, ranks, of)
    )
    return min(map(float, found))


@counting("size where {one} passes {other}, {ranks} chips", unit="B")
def crossing(
    one: str = "ring", other: str = "double_binary_tree", ranks: int = TP
) -> float:
    """Size from which a ring beats a pipelined tree, by halving the range of sizes."""
    low, high = 2.0**10, 2.0**36
    for _ in range(50):
        middle = (low * high) ** 0.5
        ahead = seconds(one, ranks, middle) < seconds(other, ranks, middle)
        low, high = (low, middle) if ahead else (middle, high)
    return high


def gain(ranks: int = TP) -> Quantity:
    """What a sum in the switch saves at best: a ring's arrays over one."""
    one = chosen(1, label="arrays through a switch")
    return (share("ring", ranks) / one).named(f"gain of a sum in the switch, {ranks}")


def levels(ranks: int) -> Quantity:
    """Base-two logarithm of a number of chips."""
    return counted(log2, ranks, label=f"log2 of {ranks}")
