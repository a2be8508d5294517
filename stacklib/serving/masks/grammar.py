"""Rules that call one another, read with a stack: what an automaton alone cannot count.

Each rule is an automaton; where one calls another, the state to come back to stays on a
stack. A state of the whole is that stack, its top last. The grammar is deterministic:
the next byte says whether the text goes on in the rule, calls another, or ends the
rule. States from which no text ends are cut out, so that what may be entered can be
left.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import TypeAlias

from .automaton import Edge, automaton, few
from .syntax import CALL, Pattern

MOST = 4_000  # states; each may have a move for every byte
Stack: TypeAlias = tuple[int, ...]


@dataclass(frozen=True)
class Grammar:
    """States of all rules, numbered through.

    - ``moves``: of each state, what replaces it on the stack, by the byte that comes.
    - ``accepts``: whether its rule may end there.
    - ``closing``: the first step of a shortest way to the end of its rule, and where it
      leads: a byte and one state; or no byte, and the states of a call, which both are
      to be closed; of an accepting state nothing.
    - ``nearest``: the states by the bytes that way has.
    """

    moves: tuple[dict[int, Stack], ...] = field(repr=False)
    accepts: tuple[bool, ...] = field(repr=False)
    closing: tuple[tuple[int | None, Stack], ...] = field(repr=False)
    nearest: tuple[int, ...] = field(repr=False)

    @property
    def states(self) -> int:
        """How many there are; the stack multiplies them."""
        return len(self.moves) - 1

    @property
    def start(self) -> Stack:
        """The stack before the first byte; at its bottom a state that stays."""
        return (self.states, 0)

    def step(self, stack: Stack, byte: int) -> tuple[Stack | None, int]:
        """The stack after one more byte, None where it cannot come.

        Also the place of the lowest state that was looked at.
        """
        for top in range(len(stack) - 1, -1, -1):
            state = stack[top]
            to = self.moves[state].get(byte)
            if to is not None:
                return stack[:top] + to, top
            if not self.accepts[state]:
                break
        return None, top

    def final(self, stack: Stack) -> bool:
        """Whether the text may end here."""
        return all(self.accepts[state] for state in stack[1:])

    def read(self, stack: Stack, text: bytes) -> Stack | None:
        """The stack after some bytes, None where one of them cannot come."""
        for byte in text:
            to, _ = self.step(stack, byte)
            if to is None:
                return None
            stack = to
        return stack

    def matches(self, text: bytes) -> bool:
        """Whether a text is one of the grammar's."""
        stack = self.read(self.start, text)
        return stack is not None and self.final(stack)


def grammar(rules: Sequence[Pattern]) -> Grammar:
    """The grammar of some rules; the first is the text, ``call(n)`` the n-th.

    ValueError where no text is one of it, and where one byte may begin two calls.
    """
    read = [automaton(rule) for rule in rules]
    starts = list(accumulate((len(each.edges) for each in read), initial=0))
    few(starts[-1], MOST, "states in its rules")
    edges = [
        [(low, high, to + start) for low, high, to in held]
        for each, start in zip(read, starts, strict=False)
        for held in each.edges
    ]
    accepts = [accept for each in read for accept in each.accepts]
    cost = distances(edges, accepts, starts)
    if cost[0] == math.inf:
        raise ValueError("the grammar holds no text: a rule always needs itself")
    alive = [
        [edge for edge in held if length(edge, cost, starts) < math.inf]
        for held in edges
    ]
    begun: dict[int, dict[int, Stack]] = {}
    every = [state for state in range(len(edges)) if cost[state] < math.inf]
    return Grammar(
        (*(begin(state, alive, starts, begun) for state in range(len(edges))), {}),
        (*accepts, False),  # the bottom of the stack
        tuple(
            close(state, alive, accepts, cost, starts) for state in range(len(edges))
        ),
        tuple(sorted(every, key=cost.__getitem__)),
    )


def distances(
    edges: Sequence[Sequence[Edge]], accepts: Sequence[bool], starts: Sequence[int]
) -> list[float]:
    """Bytes from each state to the end of its rule, at least."""
    cost = [0.0 if accept else math.inf for accept in accepts]
    changed = True
    while changed:
        changed = False
        for state in range(len(edges) - 1, -1, -1):
            for edge in edges[state]:
                found = length(edge, cost, starts)
                if found < cost[state]:
                    cost[state], changed = found, True
    return cost


def length(edge: Edge, cost: Sequence[float], starts: Sequence[int]) -> float:
    """Bytes to the end of the rule by way of an edge."""
    low, _, to = edge
    return cost[to] + (1 if low < CALL else cost[starts[low - CALL]])


def begin(
    state: int,
    edges: Sequence[Sequence[Edge]],
    starts: Sequence[int],
    begun: dict[int, dict[int, Stack]],
) -> dict[int, Stack]:
    """What each byte makes of a state: another one, or a call and where it returns."""
    if state in begun:
        return begun[state]
    found: dict[int, Stack] = {}
    begun[state] = found
    for low, high, to in edges[state]:
        ways: dict[int, Stack] = {}
        if low < CALL:
            ways = dict.fromkeys(range(low, high + 1), (to,))
        else:
            inner = begin(starts[low - CALL], edges, starts, begun)
            ways = {byte: (to, *stack) for byte, stack in inner.items()}
        both = found.keys() & ways.keys()
        if both or not ways:
            raise ValueError(
                f"two alternatives begin with {bytes(sorted(both)[:1])!r}, and the "
                "next byte has to tell which is meant"
            )
        found.update(ways)
    return found


def close(
    state: int,
    edges: Sequence[Sequence[Edge]],
    accepts: Sequence[bool],
    cost: Sequence[float],
    starts: Sequence[int],
) -> tuple[int | None, Stack]:
    """The first step of a shortest way to the end of the rule."""
    if accepts[state] or not edges[state]:
        return None, ()
    low, _, to = min(edges[state], key=lambda edge: length(edge, cost, starts))
    return (low, (to,)) if low < CALL else (None, (to, starts[low - CALL]))
