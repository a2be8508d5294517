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

from .automaton import Automaton, Edge, automaton, few
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
    made = Joined([automaton(rule) for rule in rules])
    cost = made.cost
    if cost[0] == math.inf:
        raise ValueError("the grammar holds no text: a rule always needs itself")
    states = range(len(made.edges))
    alive = [state for state in states if cost[state] < math.inf]
    return Grammar(
        (*map(made.begin, states), {}),
        (*made.accepts, False),  # the bottom of the stack
        tuple(map(made.close, states)),
        tuple(sorted(alive, key=cost.__getitem__)),
    )


class Joined:
    """States of all rules, numbered through, while their grammar is made.

    - ``cost``: bytes from each state to the end of its rule, at least
    - ``edges``: of each state those that come to an end
    """

    def __init__(self, rules: Sequence[Automaton]) -> None:
        lengths = (len(each.edges) for each in rules)
        self.starts = list(accumulate(lengths, initial=0))
        few(self.starts[-1], MOST, "states in its rules")
        self.accepts = [accept for each in rules for accept in each.accepts]
        self.begun: dict[int, dict[int, Stack]] = {}
        edges = [
            [(low, high, to + start) for low, high, to in held]
            for each, start in zip(rules, self.starts, strict=False)
            for held in each.edges
        ]
        self.cost = [0.0 if accept else math.inf for accept in self.accepts]
        changed = True
        while changed:
            changed = False
            for state in range(len(edges) - 1, -1, -1):
                for edge in edges[state]:
                    found = self.length(edge)
                    if found < self.cost[state]:
                        self.cost[state], changed = found, True
        self.edges = [
            [edge for edge in held if self.length(edge) < math.inf] for held in edges
        ]

    def length(self, edge: Edge) -> float:
        """Bytes to the end of the rule by way of an edge."""
        low, _, to = edge
        return self.cost[to] + (1 if low < CALL else self.cost[self.starts[low - CALL]])

    def begin(self, state: int) -> dict[int, Stack]:
        """What a byte makes of a state: another one, or a call and where it returns."""
        if state in self.begun:
            return self.begun[state]
        found: dict[int, Stack] = {}
        self.begun[state] = found
        for low, high, to in self.edges[state]:
            if low < CALL:
                ways: dict[int, Stack] = dict.fromkeys(range(low, high + 1), (to,))
            else:
                inner = self.begin(self.starts[low - CALL])
                ways = {byte: (to, *stack) for byte, stack in inner.items()}
            both = found.keys() & ways.keys()
            if both or not ways:
                raise ValueError(
                    f"two alternatives begin with {bytes(sorted(both)[:1])!r}, and the "
                    "next byte has to tell which is meant"
                )
            found.update(ways)
        return found

    def close(self, state: int) -> tuple[int | None, Stack]:
        """The first step of a shortest way to the end of the rule."""
        if self.accepts[state] or not self.edges[state]:
            return None, ()
        low, _, to = min(self.edges[state], key=self.length)
        return (low, (to,)) if low < CALL else (None, (to, self.starts[low - CALL]))
