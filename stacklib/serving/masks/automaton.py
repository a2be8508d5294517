"""From a pattern to the smallest deterministic automaton that reads it.

Thompson (1968) gives every pattern a few states with edges that may be free; Rabin and
Scott (1959) read all of them at once, a set of those being one state; Moore (1956)
joins states that no text tells apart. Edges are spans of symbols, so that "any byte but
a quote" is two edges and not 255.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TypeAlias

from .syntax import CALL, Chain, Choice, Pattern, Repeat, Span

# Beyond these, reading the pattern would take seconds and hold what no answer fills.
MOST_STATES, MOST_FREE = 4_000, 100_000

Edge: TypeAlias = tuple[int, int, int]  # from symbol, to symbol, target


@dataclass(frozen=True)
class Automaton:
    """States from 0, the start: of each its edges, and whether a text may end there.

    Edges of one state are sorted and do not overlap.
    """

    edges: tuple[tuple[Edge, ...], ...]
    accepts: tuple[bool, ...]


@dataclass
class Free:
    """An automaton that is not deterministic: edges of symbols, and free ones."""

    edges: list[list[Edge]] = field(default_factory=list)
    free: list[list[int]] = field(default_factory=list)

    def state(self) -> int:
        """A new state."""
        if len(self.edges) >= MOST_FREE:
            raise ValueError(f"pattern of over {MOST_FREE:,} places: count less")
        self.edges.append([])
        self.free.append([])
        return len(self.edges) - 1

    def add(self, node: Pattern, start: int) -> int:
        """States for a pattern that begins at ``start``; the state where it ends.

        ``start`` gets no edge back, so that patterns may share it.
        """
        if isinstance(node, Span):
            end = self.state()
            self.edges[start].append((node.low, node.high, end))
            return end
        if isinstance(node, Chain):
            for part in node.parts:
                start = self.add(part, start)
            return start
        if isinstance(node, Choice):
            ends = [self.add(part, start) for part in node.parts]
            return self.joined(ends)
        return self.repeated(node, start)

    def repeated(self, node: Repeat, start: int) -> int:
        """The least times in a row, then a loop or as many as may be left out."""
        for _ in range(node.least):
            start = self.add(node.part, start)
        if node.most is None:
            again = self.joined([start])
            self.free[self.add(node.part, again)].append(again)
            return self.joined([again])
        ends = [start]
        for _ in range(node.most - node.least):
            ends.append(self.add(node.part, ends[-1]))
        return self.joined(ends)

    def joined(self, ends: Iterable[int]) -> int:
        """A new state that is reached for nothing from some others."""
        new = self.state()
        for end in ends:
            self.free[end].append(new)
        return new

    def closure(self, states: Iterable[int]) -> frozenset[int]:
        """The states, and what they reach for nothing."""
        found = set(states)
        waiting = list(found)
        while waiting:
            for each in self.free[waiting.pop()]:
                if each not in found:
                    found.add(each)
                    waiting.append(each)
        return frozenset(found)


def automaton(pattern: Pattern) -> Automaton:
    """The smallest deterministic automaton of a pattern.

    ValueError for a pattern that would need too many states.
    """
    free = Free()
    start = free.state()
    return smallest(deterministic(free, start, free.add(pattern, start)))


def deterministic(free: Free, start: int, end: int) -> Automaton:
    """Sets of states become states."""
    sets = [free.closure([start])]
    known = {sets[0]: 0}
    edges: list[tuple[Edge, ...]] = []
    for held in sets:  # grows
        found = []
        for low, high, targets in spans(e for each in held for e in free.edges[each]):
            reached = free.closure(targets)
            if reached not in known:
                if len(sets) >= MOST_STATES:
                    raise ValueError(
                        f"pattern of over {MOST_STATES:,} states: count less"
                    )
                known[reached] = len(sets)
                sets.append(reached)
            found.append((low, high, known[reached]))
        edges.append(tuple(found))
    return Automaton(tuple(edges), tuple(end in held for held in sets))


def spans(edges: Iterable[Edge]) -> Iterator[tuple[int, int, frozenset[int]]]:
    """Edges that overlap, as spans that do not: each with all its targets."""
    held = list(edges)
    cuts = sorted({e[0] for e in held} | {e[1] + 1 for e in held})
    for low, after in pairwise(cuts):
        targets = frozenset(t for first, last, t in held if first <= low <= last)
        if targets:
            yield low, after - 1, targets


def smallest(given: Automaton) -> Automaton:
    """States that no text tells apart become one."""
    group = [int(accepts) for accepts in given.accepts]
    count = 0
    while count < len(set(group)):
        count = len(set(group))
        signs = [
            (group[state], merged(edges, group))
            for state, edges in enumerate(given.edges)
        ]
        # Numbered as they are met, so that the start stays state 0.
        names = {sign: number for number, sign in enumerate(dict.fromkeys(signs))}
        group = [names[sign] for sign in signs]
    first = {to: state for state, to in reversed(list(enumerate(group)))}
    kept = [first[number] for number in range(len(first))]
    return Automaton(
        tuple(merged(given.edges[state], group) for state in kept),
        tuple(given.accepts[state] for state in kept),
    )


def merged(edges: Iterable[Edge], group: Sequence[int]) -> tuple[Edge, ...]:
    """Edges to groups of states, neighbours with one target joined."""
    found: list[Edge] = []
    for low, high, to in edges:
        follows = found and found[-1][1] + 1 == low < CALL  # calls stay apart
        if follows and found[-1][2] == group[to]:
            found[-1] = (found[-1][0], high, group[to])
        else:
            found.append((low, high, group[to]))
    return tuple(found)
