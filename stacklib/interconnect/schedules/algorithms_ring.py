"""Rings, direct exchanges, and Bruck's doubling distances, for any number of ranks.

A ring sends to one neighbour only: n - 1 steps for a reduce-scatter or an all-gather,
each of one chunk (P. Patarasuk, X. Yuan, *Bandwidth optimal all-reduce algorithms*,
2009). ``direct`` sends to all at once. Bruck's all-gather doubles what a rank holds in
each step, ceil(log2 n) in all (J. Bruck and others, *Efficient algorithms for
all-to-all communications*, 1997); backwards it is a reduce-scatter.
"""

from __future__ import annotations

from collections.abc import Sequence

from stacklib.interconnect.schedules.compose import Ask, Built, Rows, mirror, then

Parts = Sequence[Sequence[int]]  # for each member, the chunks that are its own


def ring_scatter(members: Sequence[int], parts: Parts) -> Rows:
    """Reduce-scatter around a ring: a part starts behind its owner and ends at it."""
    n = len(members)
    return [
        (step, members[i], members[(i + 1) % n], chunk, True)
        for step in range(n - 1)
        for i in range(n)
        for chunk in parts[(i - 1 - step) % n]
    ]


def ring_gather(members: Sequence[int], parts: Parts) -> Rows:
    """All-gather around a ring: each passes on what it got last."""
    n = len(members)
    return [
        (step, members[i], members[(i + 1) % n], chunk, False)
        for step in range(n - 1)
        for i in range(n)
        for chunk in parts[(i - step) % n]
    ]


def _own(ranks: int) -> list[list[int]]:
    return [[rank] for rank in range(ranks)]


def ring_reduce_scatter(ask: Ask) -> Built:
    """n - 1 steps of one chunk each."""
    return Built(ask.ranks, ring_scatter(range(ask.ranks), _own(ask.ranks)))


def ring_all_gather(ask: Ask) -> Built:
    """n - 1 steps of one chunk each."""
    return Built(ask.ranks, ring_gather(range(ask.ranks), _own(ask.ranks)))


def ring_all_reduce(ask: Ask) -> Built:
    """Reduce-scatter, then all-gather: 2 (n - 1) steps."""
    scattered, gathered = ring_reduce_scatter(ask), ring_all_gather(ask)
    return Built(ask.ranks, then(scattered.rows, gathered.rows))


def ring_all_to_all(ask: Ask) -> Built:
    """Every chunk from neighbour to neighbour, as many steps as it has to go."""
    n = ask.ranks
    rows: Rows = [
        (step, rank, (rank + 1) % n, source * n + (source + far) % n, False)
        for step in range(n - 1)
        for rank in range(n)
        for source in [(rank - step) % n]
        for far in range(step + 1, n)
    ]
    return Built(n * n, rows)


def ring_broadcast(ask: Ask) -> Built:
    """A chain from the root, ``chunks`` pieces one behind the other."""
    n, pieces = ask.ranks, ask.chunks or 1
    rows: Rows = [
        (hop + piece, (ask.root + hop) % n, (ask.root + hop + 1) % n, piece, False)
        for piece in range(pieces)
        for hop in range(n - 1)
    ]
    return Built(pieces, rows)


def direct_all_gather(ask: Ask) -> Built:
    """Each sends its part to all others in one step."""
    n = ask.ranks
    pairs = [(at, (at + far) % n) for far in range(1, n) for at in range(n)]
    return Built(n, [(0, at, to, at, False) for at, to in pairs])


def direct_reduce_scatter(ask: Ask) -> Built:
    """Each sends every other the part that is the other's."""
    return Built(ask.ranks, mirror(direct_all_gather(ask).rows))


def direct_all_reduce(ask: Ask) -> Built:
    """Two steps: to each part's owner, and back from it."""
    gathered = direct_all_gather(ask).rows
    return Built(ask.ranks, then(mirror(gathered), gathered))


def direct_all_to_all(ask: Ask) -> Built:
    """Every chunk straight to where it belongs."""
    n = ask.ranks
    pairs = [(at, (at + far) % n) for far in range(1, n) for at in range(n)]
    return Built(n * n, [(0, at, to, at * n + to, False) for at, to in pairs])


def direct_broadcast(ask: Ask) -> Built:
    """The root sends all to everyone."""
    others = [rank for rank in range(ask.ranks) if rank != ask.root]
    return Built(1, [(0, ask.root, rank, 0, False) for rank in others])


def bruck_all_gather(ask: Ask) -> Built:
    """Each gives what it holds to the rank 1, 2, 4, ... below it."""
    n, held, step = ask.ranks, 1, 0
    rows: Rows = []
    while held < n:
        for rank in range(n):
            for far in range(min(held, n - held)):
                rows.append((step, rank, (rank - held) % n, (rank + far) % n, False))
        held, step = 2 * held, step + 1
    return Built(n, rows)


def bruck_reduce_scatter(ask: Ask) -> Built:
    """Bruck's all-gather backwards."""
    return Built(ask.ranks, mirror(bruck_all_gather(ask).rows))


def bruck_all_reduce(ask: Ask) -> Built:
    """Backwards, then forwards: 2 ceil(log2 n) steps and no more bytes than a ring."""
    gathered = bruck_all_gather(ask).rows
    return Built(ask.ranks, then(mirror(gathered), gathered))


def bruck_all_to_all(ask: Ask) -> Built:
    """A chunk goes the distance to its destination bit by bit: 1, 2, 4, ... ranks."""
    n, rows = ask.ranks, []
    for step in range((n - 1).bit_length()):
        bit = 1 << step
        for source in range(n):
            for far in range(n):
                if far & bit:
                    at = (source + far % bit) % n  # the lower bits are behind it
                    chunk = source * n + (source + far) % n
                    rows.append((step, at, (at + bit) % n, chunk, False))
    return Built(n * n, rows)
