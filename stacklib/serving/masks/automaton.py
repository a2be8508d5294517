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

# Beyond these, reading the pattern would take seconds and hold what no answer fills:
# places of the pattern, states, and places that all states are made of.
MOST_PLACES, MOST_STATES, MOST_HELD = 100_000, 20_000, 1_000_000

Edge: TypeAlias = tuple[int, int, int]  # from symbol, to symbol, target


@dataclass(frozen=True)
class Automaton:
    """States from 0, the start: of each its edges, and whether a text may end there.

    Edges of one state are sorted and do not overlap.
    """

    edges: tuple[tuple[Edge, ...], ...]
    accepts: tuple[bool, ...]


def few(count: int, most: int, what: str) -> None:
    """Refuse a pattern that has become too large."""
    if count >= most:
        raise ValueError(f"pattern of over {most:,} {what}: count less")


@dataclass
class Free:
    """An automaton that is not deterministic: edges of symbols, and free ones."""

    edges: list[list[Edge]] = field(default_factory=list)
    free: list[list[int]] = field(default_factory=list)

    def state(self) -> int:
        """A new state."""
        few(len(self.edges), MOST_PLACES, "places")
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
    weight = 0
    for held in sets:  # grows
        found = []
        for low, high, targets in spans(e for each in held for e in free.edges[each]):
            reached = free.closure(targets)
            if reached not in known:
                few(len(sets), MOST_STATES, "states")
                few(weight := weight + len(reached), MOST_HELD, "places in states")
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
    group = refined(given)
    # Numbered as they are met, so that the start stays state 0.
    names = {of: number for number, of in enumerate(dict.fromkeys(group))}
    group = [names[of] for of in group]
    first = {of: state for state, of in reversed(list(enumerate(group)))}
    kept = [first[number] for number in range(len(first))]
    return Automaton(
        tuple(merged(given.edges[state], group) for state in kept),
        tuple(given.accepts[state] for state in kept),
    )


def refined(given: Automaton) -> list[int]:
    """The group of each state, split until all of a group go on alike.

    Only what leads to a part that was split off is looked at again, and the largest
    part keeps its number (Hopcroft, 1971): a chain of states would else be looked at
    as often as it is long.
    """
    before: list[set[int]] = [set() for _ in given.edges]
    for state, edges in enumerate(given.edges):
        for _, _, to in edges:
            before[to].add(state)
    group = [int(accepts) for accepts in given.accepts]
    members: list[set[int]] = [set(), set()]
    for state, of in enumerate(group):
        members[of].add(state)
    signs: list[tuple[Edge, ...]] = [()] * len(group)
    waiting = set(range(len(group)))
    while waiting:
        parts: dict[int, dict[tuple[Edge, ...], set[int]]] = {}
        for state in waiting:
            held = parts.setdefault(group[state], {})
            signs[state] = merged(given.edges[state], group)
            held.setdefault(signs[state], set()).add(state)
        moved: set[int] = set()
        for of, split in parts.items():
            rest = members[of].difference(*split.values())
            if rest:  # which all go on as one of them does
                split.setdefault(signs[next(iter(rest))], set()).update(rest)
            largest = max(split.values(), key=len)
            members[of] = largest
            for part in split.values():
                if part is not largest:
                    for state in part:
                        group[state] = len(members)
                    members.append(part)
                    moved |= part
        waiting = {state for to in moved for state in before[to]}
    return group


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
