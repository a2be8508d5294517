"""Halving and doubling: partners at half the distance each step, half the bytes.

A power of two of ranks takes log2 n steps for a reduce-scatter, as many for an
all-gather (R. Thakur, R. Rabenseifner, W. Gropp, *Optimization of collective
communication operations in MPICH*, 2005). Ranks beyond the largest power of two fold:
each hands its array to a partner at the start and gets the result at the end.
"""

from __future__ import annotations

from collections.abc import Sequence

from stacklib.interconnect.schedules.compose import (
    Ask,
    Built,
    Rows,
    mirror,
    then,
    turned,
)


def power(ranks: int) -> int:
    """Largest power of two among the ranks."""
    return 1 << ranks.bit_length() - 1


def doubling(parts: Sequence[Sequence[int]]) -> Rows:
    """All-gather among a power of two of ranks, each beginning with its part."""
    rows: Rows = []
    far = 1
    for step in range(len(parts).bit_length() - 1):
        for rank in range(len(parts)):
            first = rank // far * far  # of the ranks whose parts it holds
            for part in parts[first : first + far]:
                rows += [(step, rank, rank ^ far, chunk, False) for chunk in part]
        far *= 2
    return rows


def halving_doubling_all_reduce(ask: Ask) -> Built:
    """Fold, halve, double, unfold."""
    p = power(ask.ranks)
    extra = range(p, ask.ranks)
    gather = doubling([[rank] for rank in range(p)])
    back: Rows = [(0, rank - p, rank, c, False) for rank in extra for c in range(p)]
    return Built(p, then(mirror(back), mirror(gather), gather, back))


def halving_doubling_all_gather(ask: Ask) -> Built:
    """Doubling; a folded rank's part goes with its partner's."""
    n, p = ask.ranks, power(ask.ranks)
    parts = [list(range(rank, n, p)) for rank in range(p)]
    fold: Rows = [(0, rank, rank - p, rank, False) for rank in range(p, n)]
    back: Rows = [
        (0, rank - p, rank, chunk, False)
        for rank in range(p, n)
        for chunk in range(n)
        if chunk != rank
    ]
    return Built(n, then(fold, doubling(parts), back))


def halving_doubling_reduce_scatter(ask: Ask) -> Built:
    """The all-gather backwards."""
    return Built(ask.ranks, mirror(halving_doubling_all_gather(ask).rows))


def halving_doubling_broadcast(ask: Ask) -> Built:
    """Scattered by halves from the root, then gathered by doubling."""
    n, p = ask.ranks, power(ask.ranks)
    scatter: Rows = []
    far, step = p // 2, 0
    while far:
        for rank in range(0, p, 2 * far):
            half = range(rank + far, rank + 2 * far)
            scatter += [(step, rank, rank + far, chunk, False) for chunk in half]
        far, step = far // 2, step + 1
    back: Rows = [
        (0, rank - p, rank, chunk, False) for rank in range(p, n) for chunk in range(p)
    ]
    gather = [
        row
        for row in doubling([[rank] for rank in range(p)])
        if row[2] % (2 << row[0])  # else the scatter left it there
    ]
    rows = then(scatter, gather, back)
    return Built(p, turned(rows, ask.root, n))
