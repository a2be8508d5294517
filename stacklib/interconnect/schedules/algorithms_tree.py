"""Trees: one, or two in which no rank passes on in both.

A binary tree sends to both children in one step. Its leaves only receive, half of what
links there are. With two trees, each for half of the chunks, a rank that passes on in
one is a leaf in the other, and the edges of both get one of two colours so that in
every step a rank sends at most one chunk and receives at most one (P. Sanders, J.
Speck, J. L. Traeff, *Two-tree algorithms for full bandwidth broadcast, reduction and
scan*, 2009). Pieces of the array follow one another: ``chunks``.
"""

from __future__ import annotations

from stacklib.interconnect.schedules.compose import (
    Ask,
    Built,
    Row,
    Rows,
    mirror,
    then,
    turned,
)

Parents = dict[int, int]  # of each rank but the root, from the top down


def heap(ranks: int, pieces: int = 1) -> Rows:
    """From rank 0 down a binary tree in the order of a heap, piece behind piece."""
    rows: Rows = []
    for rank in range(1, ranks):
        parent = (rank - 1) // 2
        depth = (parent + 1).bit_length() - 1
        rows += [(depth + piece, parent, rank, piece, False) for piece in range(pieces)]
    return sorted(rows)


def tree_broadcast(ask: Ask) -> Built:
    """Down a binary tree: floor(log2 n) + chunks - 1 steps."""
    pieces = ask.chunks or 1
    return Built(pieces, turned(heap(ask.ranks, pieces), ask.root, ask.ranks))


def tree_all_reduce(ask: Ask) -> Built:
    """Up the tree, then down."""
    down = tree_broadcast(ask)
    return Built(down.chunks, then(mirror(down.rows), down.rows))


def inorder(ranks: int) -> Parents:
    """A tree over ranks 0, 1, ... in which every even rank is a leaf.

    The largest power of two is the root, counted from one; below it a full tree, above
    it the same again.
    """
    parents: Parents = {}
    _grow(1, ranks, 0, parents)
    return {child - 1: parent - 1 for child, parent in parents.items()}


def _grow(first: int, count: int, above: int, parents: Parents) -> None:
    """Hang a tree over ``count`` places from ``first`` on below ``above``."""
    if not count:
        return
    power = 1 << count.bit_length() - 1
    root = first + power - 1
    if above:
        parents[root] = above
    _grow(first, power - 1, root, parents)
    _grow(root + 1, count - power, root, parents)


def two_trees(ranks: int) -> tuple[Parents, Parents]:
    """Two trees over the same ranks; no rank has children in both."""
    one = inorder(ranks)

    def moved(rank: int) -> int:
        return (rank + 1) % ranks if ranks % 2 else ranks - 1 - rank

    return one, {moved(child): moved(parent) for child, parent in one.items()}


def colours(trees: tuple[Parents, Parents]) -> dict[tuple[int, int], int]:
    """For each tree and child, the parity of the steps in which its edge is used.

    Edges that share a sender or a receiver differ. Every edge meets at most one other
    at each end, so that they form paths and circles of even length.
    """
    senders: dict[int, list[tuple[int, int]]] = {}
    for tree, parents in enumerate(trees):
        for child, parent in parents.items():
            senders.setdefault(parent, []).append((tree, child))
    found: dict[tuple[int, int], int] = {}
    for start in [(t, c) for t, parents in enumerate(trees) for c in parents]:
        todo = [(start, 0)] if start not in found else []
        while todo:
            edge, colour = todo.pop()
            if edge in found:
                continue
            found[edge] = colour
            tree, child = edge
            near = [*senders[trees[tree][child]], (1 - tree, child)]
            todo += [
                (other, 1 - colour)
                for other in near
                if other != edge and other[1] in trees[other[0]]
            ]
    return found


def _down(trees: tuple[Parents, Parents], pieces: int) -> Rows:
    """Pieces down both trees in turns, each edge in the steps of its colour."""
    colour = colours(trees)
    rows: list[Row] = []
    for tree, parents in enumerate(trees):
        roots = set(parents.values()) - set(parents)
        at = dict.fromkeys(roots, -1)
        for child, parent in parents.items():  # from the root down
            after = at[parent] + 1
            at[child] = after + (after % 2 != colour[tree, child])
            for turn, piece in enumerate(range(tree, pieces, 2)):
                rows.append((at[child] + 2 * turn, parent, child, piece, False))
    used = {step: i for i, step in enumerate(sorted({row[0] for row in rows}))}
    return sorted((used[row[0]], *row[1:]) for row in rows)  # no step is idle


def two_tree_all_reduce(ask: Ask) -> Built:
    """Up both trees, then down both: half of the chunks through each."""
    pieces = ask.chunks or 2
    down = _down(two_trees(ask.ranks), pieces)
    return Built(pieces, then(mirror(down), down))


def two_tree_broadcast(ask: Ask) -> Built:
    """From the root to the roots of two trees over all others, in turns."""
    pieces = ask.chunks or 2
    if ask.ranks == 2:
        rows: Rows = [(piece, 0, 1, piece, False) for piece in range(pieces)]
        return Built(pieces, turned(rows, ask.root, 2))
    hung = []
    for parents in two_trees(ask.ranks - 1):
        (top,) = set(parents.values()) - set(parents)
        below = {child + 1: parent + 1 for child, parent in parents.items()}
        hung.append({top + 1: 0, **below})
    down = _down((hung[0], hung[1]), pieces)
    return Built(pieces, turned(down, ask.root, ask.ranks))
