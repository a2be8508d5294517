"""Reductions in the network: one switch, or a tree of switches of two levels.

Ranks send up, switches add what arrives and send the sum down to all at once (NVLink
SHARP, R. L. Graham and others, *Scalable hierarchical aggregation protocol*, 2016). A
rank sends its array once and receives the result once; with pieces that follow one
another both happen at the same time: (chunks + 1) / chunks of the array in each
direction, against 2 (n - 1) / n of a ring.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from stacklib.interconnect.schedules.algorithms_nodes import NODE
from stacklib.interconnect.schedules.compose import Ask, Builder, Built, Rows
from stacklib.quantity.bounds import whole

Levels = list[dict[int, int]]  # node to the switch above it, ranks' level first
Plan = Callable[[Ask], tuple[int, Callable[[int], "Way"]]]
Way = tuple[int, Iterable[int], Iterable[int]]  # first step, who sends, who receives


def one_switch(ask: Ask) -> Levels:
    """All ranks below one switch."""
    return [dict.fromkeys(range(ask.ranks), ask.ranks)]


def two_levels(ask: Ask) -> Levels:
    """A switch for each ``group`` ranks, and one above those if they are several."""
    group = min(NODE, ask.ranks) if ask.group is None else ask.group
    whole(group=group)
    n = ask.ranks
    if n <= group:
        return one_switch(ask)
    leaves = range(n, n + -(-n // group))
    return [
        {rank: leaves[rank // group] for rank in range(n)},
        dict.fromkeys(leaves, leaves.stop),
    ]


def _through(levels: Levels, chunk: int, way: Way) -> Rows:
    """One chunk up from its senders, adding, and down to its receivers."""
    start, senders, receivers = way
    rows: Rows = []
    below = list(senders)
    whole_sum = set()  # switches with all in them already on the way up
    for hop, level in enumerate(levels):
        rows += [(start + hop, node, level[node], chunk, True) for node in below]
        below = sorted({level[node] for node in below})
        whole_sum |= set(below) if len(below) == 1 else set()
    edges: list[list[tuple[int, int]]] = []
    ends = sorted(receivers)
    for level in levels:
        edges.insert(0, [(level[node], node) for node in ends if node not in whole_sum])
        ends = sorted({level[node] for node in ends})
    for hop, pairs in enumerate(edges, len(levels)):
        rows += [(start + hop, above, node, chunk, False) for above, node in pairs]
    return rows


def _all_reduce(ask: Ask) -> tuple[int, Callable[[int], Way]]:
    every = range(ask.ranks)
    return ask.chunks or 1, lambda chunk: (chunk, every, every)


def _reduce_scatter(ask: Ask) -> tuple[int, Callable[[int], Way]]:
    return ask.ranks, lambda chunk: (0, range(ask.ranks), [chunk])


def _all_gather(ask: Ask) -> tuple[int, Callable[[int], Way]]:
    return ask.ranks, lambda chunk: (0, [chunk], _but(chunk, ask.ranks))


def _broadcast(ask: Ask) -> tuple[int, Callable[[int], Way]]:
    others = _but(ask.root, ask.ranks)
    return ask.chunks or 1, lambda chunk: (chunk, [ask.root], others)


def _but(rank: int, ranks: int) -> list[int]:
    return [other for other in range(ranks) if other != rank]


PLANS: dict[str, Plan] = {
    "all_reduce": _all_reduce,
    "reduce_scatter": _reduce_scatter,
    "all_gather": _all_gather,
    "broadcast": _broadcast,
}


def switched(collective: str, network: Callable[[Ask], Levels]) -> Builder:
    """A builder for a collective through switches."""

    def build(ask: Ask) -> Built:
        levels = network(ask)
        chunks, way = PLANS[collective](ask)
        rows = [r for c in range(chunks) for r in _through(levels, c, way(c))]
        switches = len({above for level in levels for above in level.values()})
        return Built(chunks, rows, switches)

    return build
