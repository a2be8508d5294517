"""Steps below which no all-reduce gets, whatever its schedule: counted, not searched.

- *Far*: what the farthest chip brings needs as many steps as it is away.
- *Growth*: a chip that hears of k others in a step knows at most (1 + k) times as many
  contributions after it.
- *Sends*: a chunk's sum takes 2 (n - 1) sends. Put the sends in a row. Before a first
  chip holds the whole sum, n - 1 at least were needed to join n contributions; each of
  the other n - 1 chips then gets the whole by a send of its own. All chunks' sends
  must fit on the wires.
- *Cut*: of each chunk something must leave every set of chips. It can leave only when
  the set's inmost chip has been heard at its edge, and so early that the outmost chip
  beyond still hears of it.
"""

from __future__ import annotations

from typing import NamedTuple

from stacklib.quantity.bounds import whole

from .board import Board

CUTS = 12  # chips up to which every set of them is tried


class Bound(NamedTuple):
    """Steps that are needed, and why."""

    steps: int
    why: str  # far, growth, sends or cut


def least_steps(board: Board, chunks: int) -> Bound:
    """The largest of the four bounds for an all-reduce of so many chunks.

    - ``board``: of at most ``CUTS`` chips.
    - raises ``ValueError`` for more chips, and no chunks.
    """
    whole(chunks=chunks)
    if board.ranks > CUTS:
        raise ValueError(
            f"{board.ranks} chips: 2^{board.ranks} cuts are too many to try; at most"
            f" {CUTS} chips"
        )
    if board.ranks == 1:
        return Bound(0, "far")
    sends = -(-chunks * 2 * (board.ranks - 1) // board.most(board.ways))
    found = [Bound(board.diameter, "far"), Bound(_growth(board), "growth")]
    found.append(Bound(sends, "sends"))
    found += [Bound(_cut(board, inside, chunks), "cut") for inside in _sets(board)]
    return max(found, key=lambda one: one.steps)  # of equal ones the simplest


def _growth(board: Board) -> int:
    """Steps until the best joined chip can have heard of all others."""
    into = [[pair for pair in board.ways if pair[1] == at] for at in range(board.ranks)]
    heard, steps = 1, 0
    while heard < board.ranks:
        heard, steps = heard * (1 + max(map(board.most, into))), steps + 1
    return steps


def _sets(board: Board) -> list[frozenset[int]]:
    """All sets of chips but none and all."""
    chips = range(board.ranks)
    return [
        frozenset(chip for chip in chips if bits >> chip & 1)
        for bits in range(1, 2**board.ranks - 1)
    ]


def _cut(board: Board, inside: frozenset[int], chunks: int) -> int:
    """Steps before, at and after the cut around a set of chips."""
    across = [(a, b) for a, b in board.ways if a in inside and b not in inside]
    edge, beyond = {a for a, _ in across}, {b for _, b in across}
    outside = set(range(board.ranks)) - inside
    before = max(min(board.far[one][at] for at in edge) for one in inside)
    after = max(min(board.far[at][one] for at in beyond) for one in outside)
    return before + -(-chunks // board.most(across)) + after


def least_share(board: Board) -> float:
    """Steps times chunk size over the array, however finely it is cut: bytes alone."""
    many = 5040  # chunks; divided by all port counts there are
    sends = many * 2 * (board.ranks - 1) / board.most(board.ways)
    cuts = []
    for inside in _sets(board):
        across = [(a, b) for a, b in board.ways if a in inside and b not in inside]
        cuts.append(many / board.most(across))
    return max(sends, *cuts) / many
