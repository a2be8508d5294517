"""Every schedule of few chips tried, breadth first: what the solver is held to.

A state is the set of contributions that each chip holds of the one chunk. From every
state all steps are taken: each chip keeps what it has, adds any of its neighbours' sums
that have nothing in common with it or each other, or copies one. For four chips that
is done in seconds; each chip more multiplies it by thousands.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import product

from .board import Board, Pair

State = tuple[int, ...]
Choice = tuple[int, tuple[Pair, ...]]  # what a chip then holds, and who sent
MOST = 4  # chips


def fewest(board: Board, limit: int = 8) -> int | None:
    """Fewest steps of an all-reduce of one chunk; None if ``limit`` are too few.

    - raises ``ValueError`` for more than four chips.
    """
    if board.ranks > MOST:
        raise ValueError(
            f"{board.ranks} chips: every schedule of {MOST} can be tried, not of more;"
            " take solve"
        )
    goal = ((1 << board.ranks) - 1,) * board.ranks
    states: set[State] = {tuple(1 << rank for rank in range(board.ranks))}
    seen = set(states)
    for steps in range(limit + 1):
        if goal in states:
            return steps
        states = {after for state in states for after in _after(board, state)} - seen
        seen |= states
    return None


def _after(board: Board, state: State) -> Iterator[State]:
    """States that one step leads to, each wire within its slots."""
    for choices in product(*(_choices(board, state, at) for at in range(board.ranks))):
        load = Counter(w for _, pairs in choices for p in pairs for w in board.ways[p])
        if all(count <= board.slots[wire] for wire, count in load.items()):
            yield tuple(held for held, _ in choices)


def _choices(board: Board, state: State, at: int) -> list[Choice]:
    """What one chip can hold after a step."""
    near = [a for a, b in board.ways if b == at]
    found: list[Choice] = [(state[at], ())]
    for one in near:  # sums, from one neighbour more each time
        for held, pairs in list(found):
            if not held & state[one]:
                found.append((held | state[one], (*pairs, (one, at))))
    found += [(state[one], ((one, at),)) for one in near]
    return found
