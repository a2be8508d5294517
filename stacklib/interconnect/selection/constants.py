"""NCCL's constants of its cost model: microseconds and GB/s, as its source has them.

Source: github.com/NVIDIA/nccl, ``src/graph/tuning.cc`` at commit 5067397c (2026-06-11),
read as facts. Order within a row is LL, LL128, Simple; ``None`` where a protocol has no
meaning there. Columns by nodes are one node, two, more than two.

``SEARCHED`` is not in that file: how many channels of which rate a search over the
machine's links ends with. Its rows are judgements of ours, and every call can give its
own.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from stacklib.quantity import Quantity, Source, quoted

ALGORITHMS = (
    "tree",
    "ring",
    "collnet_direct",
    "collnet_chain",
    "nvls",
    "nvls_tree",
    "pat",
)
PROTOCOLS = ("ll", "ll128", "simple")
COLLECTIVES = ("all_reduce", "reduce_scatter", "all_gather", "broadcast", "reduce")
ARCHITECTURES = ("volta", "ampere", "hopper", "blackwell")

BASE = {  # us, once a call
    "tree": (6.8, 14.0, 8.4),
    "ring": (6.6, 14.0, 8.4),
    "collnet_direct": (0.0, 0.0, 0.0),
    "collnet_chain": (0.0, 0.0, 0.0),
    "nvls": (0.0, 0.0, 0.0),
    "nvls_tree": (0.0, 0.0, 0.0),
    "pat": (8.0, 8.0, 8.0),
}
HOP = {  # us, each step over a kind of link
    "nvlink": {
        "tree": (0.6, 1.25, 4.0),
        "ring": (0.6, 1.9, 3.4),
        "collnet_direct": (0.0, 0.0, 3.7),
        "collnet_chain": (0.0, 0.0, 2.8),
        "nvls": (0.0, 0.0, 25.0),
        "nvls_tree": (0.0, 0.0, 25.0),
        "pat": (0.0, 0.0, 4.0),
    },
    "pcie": {
        "tree": (1.0, 1.9, 4.0),
        "ring": (1.0, 2.5, 5.7),
        "collnet_direct": (0.0, 0.0, 3.7),
        "collnet_chain": (0.0, 0.0, 2.8),
        "nvls": (0.0, 0.0, 0.0),
        "nvls_tree": (0.0, 0.0, 0.0),
        "pat": (0.0, 0.0, 4.0),
    },
    "network": {
        "tree": (5.0, 8.5, 14.0),
        "ring": (2.7, 4.0, 14.0),
        "collnet_direct": (0.0, 0.0, 31.0),
        "collnet_chain": (0.0, 0.0, 30.0),
        "nvls": (0.0, 0.0, 18.0),
        "nvls_tree": (0.0, 0.0, 20.9),
        "pat": (0.0, 0.0, 14.0),
    },
}
POST = {"intel": 1.0, "amd": 2.0, "other": 1.0}  # us a host needs to post to its port
ARITY = 0.4  # us a peer that CollNet direct serves one after the other
PAT_RANK = 2.8  # us a rank: the part of PAT that is still linear
PAT_LOG = 3.5  # by which PAT's logarithmic part is divided

# GB/s. On one node LL's row is the GPU's; on several it is the processor's, and the
# source keeps it in the same table: the first row for Intel, the second for AMD.
LL_MOST = {
    "volta": (39.0, 39.0, 20.4),
    "ampere": (87.7, 22.5, 19.0),
    "hopper": (141.0, 45.0, 35.0),
    "blackwell": (282.0, 90.0, 70.0),
}
LL_ROW = {"intel": "volta", "amd": "ampere", "other": "volta"}
RING_LL128_MOST = {  # a channel
    "volta": (20.0, 20.0, 20.0),
    "ampere": (20.0, 20.0, 20.0),
    "hopper": (36.7, 36.7, 36.7),
    "blackwell": (40.0, 40.0, 40.0),
}
TREE_LL128_MOST = {
    "volta": (20.0, 20.0, 20.0),
    "ampere": (20.0, 20.0, 20.0),
    "hopper": (36.7, 36.7, 29.0),
    "blackwell": (55.6, 31.67, 20.0),
}
TREE_MOST = {
    "volta": (26.5, 18.5, 10.0),
    "ampere": (24.0, 23.6, 17.8),
    "hopper": (38.7, 41.4, 36.0),
    "blackwell": (70.0, 42.8, 24.0),
}
NVLS_TREE_MOST = {
    "volta": (26.5, 18.5, 10.0),
    "ampere": (24.0, 23.6, 17.8),
    "hopper": (0.0, 57.7, 45.5),
    "blackwell": (0.0, 96.0, 80.0),
}
NVLS_SHARE = {"volta": 0.0, "ampere": 0.0, "hopper": 0.85, "blackwell": 0.74}
# Rates that the search tries (``search.cc``). A channel of NVLS takes its rate of every
# GPU's links and twice of its own GPU's, so the highest that fits times one more than
# the channels is taken; on one node the rate between nodes is raised to the first.
NVLS_SPEEDS = {
    "hopper": (60.0, 50.0, 40.0, 30.0, 24.0, 20.0, 15.0, 12.0, 11.0, 6.0, 3.0),
    "blackwell": (
        *(90.0, 80.0, 70.0, 60.0, 50.0, 45.0, 40.0, 30.0, 24.0, 20.0, 19.0, 18.0),
    ),
}
NVLS_BLOCKS = {"hopper": (16, 16), "blackwell": (24, 32)}  # ``nvls.cc``: a node, nodes

RING_LL, RING_LL128 = 0.5, 0.92  # of the links' rate that is payload
TREE, TREE_LL, TREE_LL128_NODE, TREE_LL128_NODES = 0.92, 1 / 3.8, 7 / 9, 120 / 128
PAT, COLLNET_NET, COLLNET_HOPPER = 0.75, 0.9, 0.85
PLATEAU = {"volta": 1.9, "ampere": 1.4, "hopper": 1.4, "blackwell": 1.4}
PLATEAU_BYTES = 64  # of a rank's piece on a channel, from which the plateau counts
NVLS_RANKS, COLLNET_RANKS = 32, 8  # a node, at most

# Share of the bandwidth that a tree reaches, by the size: 64 B, 128 B, ... 512 MB.
TREE_SHARE = {
    "ll": (
        *(1.0, 1.0, 1.0, 1.0, 0.9, 0.8, 0.7, 0.7, 0.7, 0.7, 0.6, 0.5),
        *(0.4, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.0, 1.0, 1.0, 1.0),
    ),
    "ll128": (
        *(1.0, 1.0, 1.0, 1.0, 1.0, 0.9, 0.8, 0.8, 0.8, 0.7, 0.6, 0.6),
        *(0.6, 0.6, 0.6, 0.6, 0.8, 0.9, 0.9, 0.9, 0.9, 1.0, 1.0, 1.0),
    ),
    "simple": (
        *(0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.8, 0.7, 0.6, 0.6, 0.5),
        *(0.5, 0.5, 0.5, 0.6, 0.7, 0.8, 0.7, 0.7, 0.8, 0.9, 0.9, 0.9),
    ),
}

# Channels and GB/s a channel: within one node, over several, and NVLS's rate.
Rate = tuple[int, float]


def _searched(architecture: str) -> tuple[Rate, Rate, float]:
    def judged(what: str) -> float:
        return quoted(f"nccl_{architecture}.{what}").value

    return (
        (int(judged("inside")), judged("inside_rate")),
        (int(judged("outside")), judged("outside_rate")),
        judged("switch_rate"),
    )


SEARCHED = {name: _searched(name) for name in ARCHITECTURES}
SOURCE = Source(
    "NVIDIA, NCCL, src/graph/tuning.cc at 5067397c, 2026",
    "constants of the cost model",
    "2026-11-25",
    "secondary",
)


def places() -> Iterator[tuple[str, str, str]]:
    """Table, algorithm and protocol of each constant that ``constant`` knows."""
    return product(("base", "hop"), ALGORITHMS, PROTOCOLS)


def constant(table: str, algorithm: str, protocol: str) -> Quantity:
    """A constant with its record: of ``BASE``, or of ``HOP`` over NVLink as ``hop``."""
    rows = {"base": BASE, "hop": HOP["nvlink"]}[table]
    return Quantity(
        rows[algorithm][PROTOCOLS.index(protocol)],
        "us",
        label=f"{table}, {algorithm} {protocol}",
        source=SOURCE,
        kind="claimed",
        key=f"nccl/{table}-{algorithm}-{protocol}",
    )
