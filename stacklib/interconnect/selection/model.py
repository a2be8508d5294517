"""NCCL's cost model: latency and bandwidth of an algorithm and protocol on a machine.

    time = latency + size / bandwidth

Latency is a base and a step's time for each step; bandwidth is channels times a
channel's rate, less what the protocol's flags take, as far as a link's ceiling allows,
and turned from bus into array bytes by ``ranks / steps`` (ring, NVLS) or a half. Left
out: calls in a group, fp8's aversion to long rings, IBM Power, a user's environment,
and rounding (the source computes in single precision).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, log2

from . import constants as c

US, GB = 1e-6, 1e9


@dataclass(frozen=True, slots=True)
class Machine:
    """What the model knows of a machine; rates are bytes a second of one channel."""

    ranks: int
    ranks_per_node: int
    architecture: str
    channels: int
    channel_bandwidth: float
    network_bandwidth: float
    nvls_channels: int
    nvls_bandwidth: float
    link: str = "nvlink"
    cpu: str = "intel"
    nvswitch: bool = True
    sharp: bool = False
    ll128: bool = True
    network_latency: float = 0.0  # of the port, added to each step over the network
    tree_bandwidth: float = 0.0  # of a tree's channel in a node; a ring's where zero
    nvls_network: float = 0.0  # of NVLS's channel between nodes; a ring's share if zero

    @property
    def nodes(self) -> int:
        """How many nodes the ranks fill."""
        return self.ranks // self.ranks_per_node

    @property
    def column(self) -> int:
        """Place in the tables by nodes: one, two, more."""
        return min(self.nodes, 3) - 1


def steps(collective: str, ranks: int) -> int:
    """Steps round a ring."""
    if collective == "all_reduce":
        return 2 * (ranks - 1)
    return ranks - 1 if collective in ("all_gather", "reduce_scatter") else ranks


def refusal(collective: str, algorithm: str, protocol: str, on: Machine) -> str:
    """Why a candidate is not in question on a machine; empty where it is."""
    collnet, nvls = algorithm.startswith("collnet"), algorithm.startswith("nvls")
    if collective in ("broadcast", "reduce") and algorithm != "ring":
        return f"{collective} is done by rings only"
    halves = collective in ("all_gather", "reduce_scatter")
    if halves and algorithm in ("tree", "collnet_chain", "nvls_tree"):
        return f"{algorithm} is for all_reduce only"
    if collective == "all_reduce" and algorithm == "pat":
        return "pat is for all_gather and reduce_scatter only"
    if (collnet or nvls or algorithm == "pat") and protocol != "simple":
        return f"{algorithm} is done with the protocol simple only"
    if algorithm == "pat" and on.ranks_per_node > 1:
        return f"pat needs one rank a node, and here are {on.ranks_per_node}"
    if protocol == "ll128" and not on.ll128:
        return "ll128 needs links that keep 128 bytes together all the way"
    if nvls:
        return _refuse_nvls(collective, algorithm, on)
    return _refuse_collnet(algorithm, on) if collnet else ""


def _refuse_nvls(collective: str, algorithm: str, on: Machine) -> str:
    if not on.nvswitch or not c.NVLS_SHARE[on.architecture]:
        return "nvls needs switches that add, from Hopper on"
    if collective != "all_reduce" and on.ranks_per_node > c.NVLS_RANKS:
        return f"nvls takes {c.NVLS_RANKS} ranks a node, here are {on.ranks_per_node}"
    if on.nvls_channels < 2:
        return "nvls needs two channels, one rank of a node each"
    if algorithm == "nvls_tree" and on.nodes == 1:
        return "nvls_tree is for more than one node"
    if algorithm == "nvls" and on.nodes > 1 and not on.sharp:
        return "nvls over several nodes needs a network that adds"
    return ""


def _refuse_collnet(algorithm: str, on: Machine) -> str:
    if on.nodes == 1:
        return f"{algorithm} is for more than one node"
    if not on.sharp:
        return f"{algorithm} needs a network that adds"
    if on.ranks_per_node > c.COLLNET_RANKS:
        return f"{algorithm} takes {c.COLLNET_RANKS} ranks a node at most"
    if algorithm == "collnet_direct" and not on.nvswitch:
        return "collnet_direct needs switches within the node"
    return ""


def latency(collective: str, algorithm: str, protocol: str, on: Machine) -> float:
    """Seconds of a call that moves nothing."""
    at = c.PROTOCOLS.index(protocol)
    inner = c.HOP[on.link][algorithm][at]
    # With one rank a node nothing hides a step: the source takes the tree's.
    outer = c.HOP["network"]["tree" if on.ranks_per_node == 1 else algorithm][at]
    outer += on.network_latency / US * (2 if protocol == "simple" else 1)
    local, hops = on.ranks_per_node - 1, int(log2(on.nodes))
    base = c.BASE[algorithm][at]
    if algorithm == "ring":
        return US * (base + _around(collective, protocol, on, inner, outer))
    if algorithm == "tree":
        return US * (base + 2 * (local * inner + hops * outer))
    if algorithm == "collnet_direct":
        return US * (base + 2 * (min(1, local) * inner + local * c.ARITY) + outer)
    if algorithm == "collnet_chain":
        return US * (base + 2 * local * inner + outer)
    if algorithm == "nvls":
        return US * (inner + (outer if on.nodes > 1 else 0.0))
    if algorithm == "nvls_tree":
        return US * (base + inner + 2 * hops * outer)
    return US * (base + hops * outer / c.PAT_LOG + on.ranks * c.PAT_RANK)


def _around(
    collective: str, protocol: str, on: Machine, inner: float, outer: float
) -> float:
    """Microseconds of a ring's steps, within nodes and between them."""
    if collective in ("broadcast", "reduce"):  # flows through: one step is seen
        kind = on.link if on.nodes == 1 else "network"
        return c.HOP[kind]["ring"][c.PROTOCOLS.index(protocol)]
    if on.nodes > 1:
        post = c.POST[on.cpu] * (3 if protocol == "simple" else 1)
        inner = max(inner, post)
    between = (on.nodes - 1) * (2 if collective == "all_reduce" else 1)
    return (steps(collective, on.ranks) - between) * inner + between * outer


def bandwidth(collective: str, algorithm: str, protocol: str, on: Machine) -> float:
    """Bytes of the array a second, for a call that never ends."""
    halves = collective in ("all_gather", "reduce_scatter")
    if algorithm == "collnet_direct" and halves:
        net = on.network_bandwidth * c.COLLNET_NET
        return on.ranks_per_node * min(on.channel_bandwidth, net)
    bus = _bus(collective, algorithm, protocol, on)
    if algorithm != "ring" and halves:
        return bus
    if algorithm in ("ring", "nvls", "nvls_tree"):
        return bus * on.ranks / steps(collective, on.ranks)
    return bus / 2


def _bus(collective: str, algorithm: str, protocol: str, on: Machine) -> float:
    """Bytes a second on the bus: channels and rate, less what flags take."""
    chip, at, n = on.architecture, on.column, on.channels
    within = on.nodes <= 2 or algorithm.startswith("collnet")
    inner = on.tree_bandwidth if algorithm == "tree" else 0.0
    bus = n * ((inner or on.channel_bandwidth) if within else on.network_bandwidth)
    most = c.LL_MOST[chip if on.nodes == 1 else c.LL_ROW[on.cpu]][at] * GB
    if algorithm.startswith("nvls"):
        return on.nvls_channels * _nvls_channel(collective, algorithm, on)
    if algorithm == "ring" and protocol == "ll":
        return min(most, bus * c.RING_LL)
    if algorithm == "ring" and protocol == "ll128":
        return min(bus * c.RING_LL128, n * c.RING_LL128_MOST[chip][at] * GB)
    if algorithm == "tree":
        bus = min(bus * c.TREE, n * c.TREE_MOST[chip][at] * GB)
        if protocol == "ll":
            return min(bus * c.TREE_LL, most)
        if protocol == "ll128":
            share = c.TREE_LL128_NODE if on.nodes == 1 else c.TREE_LL128_NODES
            return min(bus * share, n * c.TREE_LL128_MOST[chip][at] * GB)
    if algorithm == "collnet_direct":  # each GPU a port of its own, or less
        factor = on.ranks_per_node / n
        bus /= factor - (factor - 1) / 2
        return bus * (c.COLLNET_HOPPER if chip in ("hopper", "blackwell") else 1.0)
    return bus * c.PAT if algorithm == "pat" else bus


def _nvls_channel(collective: str, algorithm: str, on: Machine) -> float:
    """Bytes a second of one channel through switches that add."""
    n, local = on.nvls_channels, on.ranks_per_node
    inner = on.nvls_bandwidth * c.NVLS_SHARE[on.architecture] * (n - 1) / n
    inner *= 2 if collective == "all_reduce" else (local - 1) / local
    tree = algorithm == "nvls_tree"
    outer = on.nvls_network or on.network_bandwidth * on.channels / n
    if on.nodes == 1:
        outer = c.NVLS_SPEEDS[on.architecture][0] * GB
    most = c.NVLS_TREE_MOST[on.architecture][on.column] * GB if tree else inf
    return min(inner, outer * (2 if tree and on.nodes <= 2 else 1), most)


def tree_share(algorithm: str, protocol: str, size: float, on: Machine) -> float:
    """Share of its bandwidth that a tree reaches at a size, from the source's table."""
    place = int(size) // 64
    place = place.bit_length() - 1  # -1 below 64 bytes
    tree = algorithm == "tree" and place < 23  # the table's last place is not read
    steep = on.architecture == "blackwell" and on.cpu != "other"
    late = algorithm == "nvls_tree" and place < 24 and steep
    return c.TREE_SHARE[protocol][place] if place >= 0 and (tree or late) else 1.0


def time(
    collective: str, algorithm: str, protocol: str, size: float, on: Machine
) -> float:
    """Seconds of a call, whether or not the candidate is in question."""
    rate = bandwidth(collective, algorithm, protocol, on)
    wait = latency(collective, algorithm, protocol, on)
    if collective == "all_reduce":
        rate *= tree_share(algorithm, protocol, size, on)
        piece = int(size) // (on.channels * on.ranks)
        far = algorithm == "ring" and protocol == "simple" and on.nodes > 1
        if far and piece >= c.PLATEAU_BYTES:
            wait *= c.PLATEAU[on.architecture]
    return wait + size / rate
