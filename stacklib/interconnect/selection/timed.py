"""How long a collective takes on a device: NCCL's choice, and what it leaves out.

    time = latency + size / bandwidth + 2 sqrt(fill size / bandwidth) + call

A pipeline of pieces, each of which costs something and the first of which goes all the
way alone, is best cut so that both extra times are equal: together twice the root of
their product (``fill``; the protocol simple, whose pieces wait for one another; over
PCI Express, slower than a kernel copies, pieces of other channels fill the waits).
Pieces of sums in switches, and of trees over a network, have one size: what fills them
is some rounds and steps, and does not grow. Switches and ports give rates of their own.
``call`` is what a host takes to start it from Python; zero in graphs and in C++. The
protocols whose receivers watch for flags have NCCL's latencies on Hopper's NVLinks, and
a multiple of them on those of other generations.

A rank's own part of a gather is copied, too: as much as it sends where two take part.
What NCCL makes of plain sends, and one-shot and two-shot kernels of other libraries,
have their times here too: bytes over the rate, on a base of NCCL's or of a kernel.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf, log2, sqrt

from stacklib import hardware
from stacklib.quantity import quoted, resolve
from stacklib.quantity.bounds import at_least

from ..networks.price import family as half
from . import constants as c
from .machine import Fabric
from .model import GB, US, latency
from .select import Choice, select

SENDS = ("all_to_all", "send_recv", "gather", "scatter")
COLLECTIVES = (*c.COLLECTIVES, *SENDS)
GATHERS = ("all_gather", "reduce_scatter", "all_to_all")
# Kernels of an engine up to so many bytes, after which engines call NCCL: chosen, the
# least of what vLLM (.25 to 64 MB) and TensorRT-LLM (.5 and 1 MB) ship, rounded; for a
# pair TensorRT-LLM's workspace.
DIRECT_MOST, PAIR_MOST = 1 << 20, 16_000_000
# Null kernels back to back through the driver, as section 4.1 has them; its low end.
KERNEL = quoted("launch_driver.low").si
FEWEST = int(quoted("nvls.fewest").value)
JOINED = quoted("nvls.tree").value
PIECE, FULL = quoted("nvls.piece").si, quoted("nvls.full").value
HOPS, ROUNDS = quoted("network.hops").value, quoted("network.rounds").value
RING_HOPS, FLAGGED = quoted("network.ring").value, quoted("network.flagged").si


@dataclass(frozen=True, slots=True)
class Timed:
    """How long a collective takes, and by what."""

    collective: str
    size: float
    time: float
    algorithm: str
    protocol: str
    alpha: float  # seconds that do not grow with the size
    beta: float  # seconds a byte of the size
    fill: float  # seconds of a pipeline that fills and cuts
    bus: float  # bus bandwidth, bytes a second
    fabric: Fabric
    choice: Choice | None = None


LARGER = 1 << 27  # bytes from which most published runs are at their links' rate


def bus_factor(collective: str, ranks: int) -> float:
    """Bytes that a rank's links must carry, over the size that nccl-tests prints."""
    if collective == "all_reduce":
        return 2 * (ranks - 1) / ranks
    whole = ("broadcast", "reduce", "send_recv")
    return 1.0 if collective in whole else (ranks - 1) / ranks


def cell(
    size: float, on: Fabric, *, direct: bool = False, host: bool = False
) -> tuple[str, ...]:
    """Which band holds: by links, or the network between nodes, by size and software.

    Where links rule, all come near; where latency shares with them, runs scatter.

    >>> from stacklib.interconnect.selection.machine import fabric
    >>> cell(1 << 14, fabric("l40s", 4))
    ('pcie', 'small', 'library')
    """
    link = on.link if on.nodes == 1 else "network"
    software = "eager" if host else "engine" if direct else "library"
    large = "larger" if size >= LARGER else "to 128 MiB"
    return link, "small" if half(size) == "D_small" else large, software


def family(size: float, on: Fabric, *, direct: bool = False, host: bool = False) -> str:
    """Half and cell of family D whose band such a collective carries."""
    return "/".join((half(size), *cell(size, on, direct=direct, host=host)))


def collective_time(
    collective: str,
    size: float,
    on: Fabric,
    *,
    algorithm: str | None = None,
    protocol: str | None = None,
    direct: bool = False,
    host: bool = False,
) -> Timed:
    """Predict a collective's time.

    - ``size``: bytes, as nccl-tests counts them: of one rank's whole array.
    - ``algorithm``, ``protocol``: taken, as if a user had set it; else NCCL's choice.
    - ``direct``: by kernels of an engine, which read all others' memory, while small.
    - ``host``: each call is started from Python, and waited for.
    - raises ``ValueError`` for a size below one byte, or what is out of question.

    >>> from stacklib.interconnect.selection.machine import fabric
    >>> one = collective_time("all_reduce", 1 << 14, fabric("h100_sxm", 8))
    >>> one.algorithm, one.protocol, f"{one.time * 1e6:.1f} us"
    ('ring', 'll', '15.2 us')
    """
    collective = resolve(collective, COLLECTIVES, "collective")
    at_least(1, size=size)
    call = hardware.efficiency("launch_host") if host else 0.0
    # Engines turn their kernels off where boards do not reach each other's memory.
    near = on.nodes == 1 and (on.link == "nvlink" or on.ranks == 2)
    once = direct and near and algorithm is None
    most = PAIR_MOST if on.ranks == 2 else DIRECT_MOST
    if once and collective in GATHERS:
        found = _one_step(size, on)
    elif once and collective == "all_reduce" and size <= most:
        found = _direct(size, on)
    elif collective in SENDS:
        found = _sends(collective, size, on)
    else:
        return _chosen(collective, size, on, algorithm, protocol, call)
    name, way, alpha, beta = found
    return _timed(collective, size, on, name, way, alpha, beta, call, None)


def _timed(
    collective: str,
    size: float,
    on: Fabric,
    algorithm: str,
    protocol: str,
    alpha: float,
    beta: float,
    call: float,
    choice: Choice | None,
) -> Timed:
    """A time from its parts, on this generation's links."""
    fill = 0.0
    if on.nodes > 1 and algorithm in c.HOP["network"]:
        fill = _far_fill(collective, size, on, algorithm, protocol, beta)
    elif algorithm == "nvls":
        fill = _rounds(size, on, on.heads, beta)
    elif protocol == "simple" and on.link != "pcie":
        fill = 2 * sqrt(hardware.efficiency("collective_fill") * size * beta)
    flags = on.link == "nvlink" and protocol != "simple"
    if flags and on.architecture != "hopper":
        ports = 0.0  # what they add is of no generation's links
        if choice and on.latency:
            plain = replace(choice.machine, network_latency=0.0)
            ports = alpha - latency(collective, algorithm, protocol, plain)
        alpha = ports + (alpha - ports) * hardware.efficiency("collective_flags")
    alpha += call
    if collective in GATHERS and on.ranks > 1:  # its own part is copied
        beta += 2 / on.ranks / on.memory
    time = alpha + size * beta + fill
    bus = bus_factor(collective, on.ranks) * size / time if time else inf
    return Timed(
        collective, size, time, algorithm, protocol, alpha, beta, fill, bus, on, choice
    )


def _rounds(size: float, on: Fabric, heads: int, beta: float, wait: float = 0) -> float:
    """Seconds until pieces follow each other, where pieces have one size.

    A few rounds in which each head sends a piece of each thread block, and a ``wait``:
    both do not grow with the array. Of one of few rounds pieces are cut smaller.
    """
    blocks = c.NVLS_BLOCKS.get(on.architecture, (16, 16))[on.nodes > 1]
    together = PIECE * blocks * heads
    whole = wait + ROUNDS * together * beta
    return whole * min(1.0, sqrt(size / (FULL * together)))


def _far_fill(
    collective: str, size: float, on: Fabric, algorithm: str, protocol: str, beta: float
) -> float:
    """Seconds until pieces follow each other over a network: some of its steps."""
    hop = US * c.HOP["network"][algorithm][c.PROTOCOLS.index(protocol)]
    if protocol != "simple":
        deep = log2(on.nodes) if algorithm == "tree" else 0.0
        return HOPS * hop * deep * min(1.0, sqrt(size / FLAGGED))
    hop += 2 * on.latency
    if algorithm.endswith("tree"):
        heads = on.heads if algorithm == "nvls_tree" else 1
        return _rounds(size, on, heads, beta, HOPS * hop)
    # Of a sum's ring NCCL's constant has it.
    return 0.0 if collective == "all_reduce" else RING_HOPS * hop


def _chosen(
    collective: str,
    size: float,
    on: Fabric,
    algorithm: str | None,
    protocol: str | None,
    call: float,
) -> Timed:
    if (algorithm or "").startswith("nvls") and on.ranks < FEWEST:
        algorithm = "ring"  # what NCCL runs then
    machine = on.select()
    machine["ll128"] |= protocol == "ll128"  # set by a user, it is not asked for
    choice = select(collective, size, **machine)
    rows = [
        (row.time, i)
        for i, row in enumerate(choice.table)
        if row.time is not None
        and (algorithm is None or row.algorithm == algorithm)
        and (protocol is None or row.protocol == protocol)
    ]
    if not rows:
        named = [  # the last protocol, simple, is what no algorithm is done without
            f"{row.algorithm}/{row.protocol}: {row.refused}"
            for row in reversed(choice.table)
            if row.algorithm == (algorithm or row.algorithm)
            and row.protocol == (protocol or row.protocol)
        ]
        known = ", ".join(f"{row.algorithm}/{row.protocol}" for row in choice.table)
        raise ValueError(named[0] if named else f"known algorithms: {known}")
    least, at = min(rows)
    row = choice.table[at]
    alpha = row.latency or 0.0
    beta = max(0.0, least - alpha) / size
    if collective == "all_reduce" and row.algorithm == "nvls":
        beta = 1 / on.switch_rate
    elif on.nodes > 1 and row.bandwidth and row.protocol == "simple":
        rate = row.bandwidth  # without a tree's share: what fills it is counted here
        if row.algorithm == "nvls_tree":
            rate = min(rate, on.switch_rate * JOINED, on.tree_rate)
        beta = 1 / rate
    way = row.algorithm, row.protocol
    return _timed(collective, size, on, *way, alpha, beta, call, choice)


def _direct(size: float, on: Fabric) -> tuple[str, str, float, float]:
    """Every rank reads all others' arrays, or first adds its part and then gathers."""
    far = (on.ranks - 1) / on.rate
    one, two = _shots(1, on), _shots(2, on)
    if one + size * far <= two + 2 * size * far / on.ranks:
        return "one-shot", "", one, far
    return "two-shot", "", two, 2 * far / on.ranks


def _shots(many: int, on: Fabric) -> float:
    """Seconds of a kernel that so often waits for all others' flags, then reads."""
    return KERNEL + 2 * many * US * c.HOP[on.link]["tree"][0]


def _one_step(size: float, on: Fabric) -> tuple[str, str, float, float]:
    """Each rank reads a part of every other's array, and no sum is passed on."""
    return "one-shot", "", _shots(1, on), (on.ranks - 1) / on.ranks / on.rate


def _sends(collective: str, size: float, on: Fabric) -> tuple[str, str, float, float]:
    """What NCCL makes of sends: the slower of links and ports, by the better protocol.

    Each rank has a part for each rank, or all for one.
    """
    n, local = on.ranks, on.local
    if n == 1:
        return "none", "", 0.0, 0.0
    parts = collective != "send_recv"
    near = (local - 1) / n if parts else float(on.nodes == 1)
    far = (n - local) / n if parts else float(on.nodes > 1)
    rows = []
    for at, (protocol, share) in enumerate((("ll", c.RING_LL), ("simple", 1.0))):
        place = 2 * at
        wait = c.BASE["ring"][place] + c.HOP[on.link]["ring"][place]
        if on.nodes > 1:
            wait += c.HOP["network"]["ring"][place]
        rate = on.rate * share
        if protocol == "ll":
            rate = min(rate, c.LL_MOST[on.architecture][0] * GB)
        beta = max(near / rate, far / (on.port * on.sends * share))
        rows.append((US * wait + size * beta, protocol, US * wait, beta))
    _, protocol, alpha, beta = min(rows)
    return "sends", protocol, alpha, beta
