"""Inside a node first, across nodes with what is left.

A node is ``group`` ranks in a row. A reduce-scatter inside leaves each rank with one
part; ranks at the same place of all nodes then reduce that part among themselves, so
that a link between nodes carries 1/group of the array. Bytes in all are a ring's, steps
2 (group - 1) + 2 (nodes - 1).
"""

from __future__ import annotations

from stacklib.interconnect.schedules.algorithms_ring import ring_gather, ring_scatter
from stacklib.interconnect.schedules.algorithms_tree import heap
from stacklib.interconnect.schedules.compose import Ask, Built, Rows, beside, then
from stacklib.quantity.bounds import whole

NODE = 8  # ranks of a node where nothing else is said: a board of eight


def node_size(ask: Ask) -> int:
    """Ranks of a node: as asked, else the most up to eight that divide all ranks."""
    if ask.group is None:
        fits = range(1, min(NODE, ask.ranks) + 1)
        return max(size for size in fits if ask.ranks % size == 0)
    whole(group=ask.group)
    if ask.ranks % ask.group:
        raise ValueError(
            f"group = {ask.group}: it does not divide {ask.ranks} ranks into nodes;"
            " take a divisor"
        )
    return ask.group


def _rings(ask: Ask) -> tuple[Rows, Rows, Rows, Rows]:
    """Scatter inside and across, gather across and inside."""
    g = node_size(ask)
    nodes = range(ask.ranks // g)
    parts = [range(place, ask.ranks, g) for place in range(g)]  # of a place, all nodes'
    own = [[[rank] for rank in part] for part in parts]
    boards = [range(node * g, node * g + g) for node in nodes]
    return (
        beside(ring_scatter(board, parts) for board in boards),
        beside(ring_scatter(parts[i], own[i]) for i in range(g)),
        beside(ring_gather(parts[i], own[i]) for i in range(g)),
        beside(ring_gather(board, parts) for board in boards),
    )


def hierarchical_all_reduce(ask: Ask) -> Built:
    """Reduce-scatter inside, all-reduce across, all-gather inside."""
    return Built(ask.ranks, then(*_rings(ask)))


def hierarchical_reduce_scatter(ask: Ask) -> Built:
    """Inside, then across."""
    return Built(ask.ranks, then(*_rings(ask)[:2]))


def hierarchical_all_gather(ask: Ask) -> Built:
    """Across, then inside."""
    return Built(ask.ranks, then(*_rings(ask)[2:]))


def hierarchical_all_to_all(ask: Ask) -> Built:
    """To the rank of the own node at the destination's place, then across.

    Between two nodes each rank sends one message of ``group`` chunks, not ``group`` of
    one: as many bytes, fewer messages.
    """
    n, g = ask.ranks, node_size(ask)
    inside: Rows = []
    across: Rows = []
    for source in range(n):
        for destination in range(n):
            chunk = source * n + destination
            place = source // g * g + destination % g
            if place != source:
                inside.append((0, source, place, chunk, False))
            if place != destination:
                across.append((0, place, destination, chunk, False))
    return Built(n * n, then(inside, across))


def hierarchical_broadcast(ask: Ask) -> Built:
    """Down a tree over the nodes, then down a tree in each."""
    n, g = ask.ranks, node_size(ask)
    nodes, (home, place) = n // g, divmod(ask.root, g)

    def rank(node: int, at: int) -> int:
        return (home + node) % nodes * g + (place + at) % g

    across: Rows = [
        (s, rank(at, 0), rank(to, 0), c, r) for s, at, to, c, r in heap(nodes)
    ]
    inside: Rows = [
        (s, rank(node, at), rank(node, to), c, r)
        for node in range(nodes)
        for s, at, to, c, r in heap(g)
    ]
    return Built(1, then(across, inside))
