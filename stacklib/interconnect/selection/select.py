"""Which algorithm and protocol NCCL's model takes, and why none of the others.

Every candidate is timed, or refused with its reason; the least time wins, and of equal
times the first, as in the source. Channels and rates come from a search over a
machine's links, which is no part of this model: they are inputs, with what eight-GPU
machines report as a default.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from stacklib.quantity import resolve
from stacklib.quantity.bounds import above_zero, at_least, whole

from . import constants as c
from .model import GB, Machine, bandwidth, latency, refusal, time


@dataclass(frozen=True, slots=True)
class Candidate:
    """One algorithm with one protocol: its time, or the reason why it is out."""

    algorithm: str
    protocol: str
    time: float | None
    latency: float | None
    bandwidth: float | None  # bytes of the array a second, a tree's share not in it
    refused: str = ""


@dataclass(frozen=True, slots=True)
class Choice:
    """What is taken, and all that was in question."""

    collective: str
    size: float
    algorithm: str
    protocol: str
    time: float
    table: tuple[Candidate, ...]
    machine: Machine

    def of(self, algorithm: str, protocol: str) -> Candidate:
        """The candidate of that name."""
        for row in self.table:
            if (row.algorithm, row.protocol) == (algorithm, protocol):
                return row
        raise ValueError(f"no candidate {algorithm!r} with {protocol!r}")


def select(
    collective: str,
    size: Any,
    *,
    ranks: int,
    ranks_per_node: int = 8,
    architecture: str = "hopper",
    channels: int | None = None,
    channel_bandwidth: float | None = None,
    network_bandwidth: float | None = None,
    nvls_bandwidth: float | None = None,
    **machine: Any,
) -> Choice:
    """Choose an algorithm and a protocol as NCCL's cost model does.

    Parameters
    ----------
    collective : str
        ``all_reduce``, ``reduce_scatter``, ``all_gather``, ``broadcast`` or ``reduce``.
    size : float or Quantity
        Bytes of one rank's whole array: of what is gathered, or not yet scattered.
    ranks, ranks_per_node : int
        How many in all, and in a node, at most.
    architecture : str
        ``volta``, ``ampere``, ``hopper`` or ``blackwell``.
    channels : int, optional
        Rings and trees side by side.
    channel_bandwidth, network_bandwidth : float, optional
        Bytes a second of a channel within a node, and between nodes.
    nvls_bandwidth : float, optional
        Bytes a second of one of NVLS's channels, of which each rank of a node has one.
    **machine
        ``link`` (nvlink, pcie), ``cpu`` (intel, amd, other), ``nvswitch``, ``sharp``
        (a network that adds), ``ll128`` (lines of 128 bytes kept together all the way;
        not over PCI Express), ``network_latency`` in seconds, ``tree_bandwidth`` and
        ``nvls_network``, where a search gives trees and switches rates of their own.

    Returns
    -------
    Choice
        ``.algorithm``, ``.protocol``, ``.time`` in seconds, and ``.table`` of all 21.

    Raises
    ------
    ValueError
        For a size or count below its least, or ranks that leave a node half full.
    UnknownName
        For a collective, architecture, link or processor that the model has not.

    Examples
    --------
    >>> small = select("all_reduce", 4096, ranks=8)
    >>> small.algorithm, small.protocol
    ('ring', 'll')
    >>> large = select("all_reduce", 1 << 30, ranks=8)
    >>> large.algorithm, large.protocol, f"{large.time * 1e3:.2f} ms"
    ('nvls', 'simple', '3.97 ms')
    >>> large.of("pat", "simple").refused
    'pat is for all_gather and reduce_scatter only'
    """
    if collective == "all_to_all":
        raise ValueError("all_to_all has no model here: NCCL makes it of plain sends")
    collective = resolve(collective, c.COLLECTIVES, "collective")
    architecture = resolve(architecture, c.ARCHITECTURES, "architecture")
    at_least(1, size=size)
    size = float(getattr(size, "si", size))
    whole(ranks=ranks, ranks_per_node=ranks_per_node)
    ranks_per_node = min(ranks, ranks_per_node)
    if ranks % ranks_per_node:
        raise ValueError(
            f"ranks = {ranks}, ranks_per_node = {ranks_per_node}: a node is left with "
            f"{ranks % ranks_per_node}; take a multiple"
        )
    found = c.SEARCHED[architecture]
    count, rate = found[0] if ranks == ranks_per_node else found[1]
    on = _machine(
        ranks=ranks,
        ranks_per_node=ranks_per_node,
        architecture=architecture,
        channels=count if channels is None else channels,
        channel_bandwidth=rate * GB if channel_bandwidth is None else channel_bandwidth,
        network_bandwidth=network_bandwidth,
        nvls_channels=min(ranks_per_node, c.NVLS_RANKS),
        nvls_bandwidth=found[2] * GB if nvls_bandwidth is None else nvls_bandwidth,
        **machine,
    )
    return _choose(collective, size, on)


def _machine(**given: Any) -> Machine:
    """A machine whose every value has been looked at."""
    if given["network_bandwidth"] is None:
        given["network_bandwidth"] = given["channel_bandwidth"]
    known = set(Machine.__dataclass_fields__)
    for name in given:
        if name not in known:
            raise TypeError(f"select has no {name!r}: {', '.join(sorted(known))}")
    given["link"] = resolve(given.get("link", "nvlink"), ("nvlink", "pcie"), "link")
    given["cpu"] = resolve(given.get("cpu", "intel"), tuple(c.POST), "processor")
    given.setdefault("ll128", given["link"] == "nvlink")
    on = Machine(**given)
    whole(channels=on.channels)
    above_zero(
        channel_bandwidth=on.channel_bandwidth, network_bandwidth=on.network_bandwidth
    )
    named = ("nvls_bandwidth", "network_latency", "tree_bandwidth", "nvls_network")
    at_least(0, **{name: getattr(on, name) for name in named})
    return on


def _choose(collective: str, size: float, on: Machine) -> Choice:
    rows = []
    for algorithm in c.ALGORITHMS:
        for protocol in c.PROTOCOLS:
            rows.append(_candidate(collective, algorithm, protocol, size, on))
    timed = [(r.time, i) for i, r in enumerate(rows) if r.time is not None]
    least, at = min(timed)  # a ring with the protocol simple is never refused
    best = rows[at]
    return Choice(
        collective, size, best.algorithm, best.protocol, least, tuple(rows), on
    )


def _candidate(
    collective: str, algorithm: str, protocol: str, size: float, on: Machine
) -> Candidate:
    if on.ranks == 1:
        if (algorithm, protocol) == ("ring", "simple"):
            return Candidate(algorithm, protocol, 0.0, 0.0, None)
        return Candidate(algorithm, protocol, None, None, None, "one rank has it all")
    why = refusal(collective, algorithm, protocol, on)
    if not why and algorithm.startswith("nvls") and not on.nvls_bandwidth:
        why = "nvls_bandwidth is not known"
    if why:
        return Candidate(algorithm, protocol, None, None, None, why)
    case = (collective, algorithm, protocol)
    return Candidate(
        algorithm,
        protocol,
        time(*case, size, on),
        latency(*case, on),
        bandwidth(*case, on),
    )
