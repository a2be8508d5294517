"""A collective as steps of (source, destination, chunk, reduce or copy), nothing else.

Each rank holds one array, cut in chunks. Sends of one step happen at the same time:
each reads what stood before the step. What moves is a chunk, and it lands at the same
place of the receiver's array, added to what is there or copied over it. Nodes from
``ranks`` on are switches that reduce and copy in the network; they begin empty.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import NamedTuple, cast

from stacklib.quantity import resolve
from stacklib.quantity.bounds import is_whole, whole

COLLECTIVES: dict[str, str] = {
    "all_reduce": "every rank ends with the sum of all arrays",
    "reduce_scatter": "every rank ends with its part of the sum",
    "all_gather": "every rank begins with its part and ends with all",
    "all_to_all": "every rank sends every other a part of its own",
    "broadcast": "every rank ends with the root's array",
}
PARTED = ("reduce_scatter", "all_gather")  # each chunk belongs to one rank
LAST = 1_000_000  # no step has a higher number: a slip of the keyboard, else


class Send(NamedTuple):
    """A chunk that goes from one node to another in a step."""

    step: int  # sends of one step read what stood before it
    source: int
    destination: int
    chunk: int  # of the receiver's and the sender's array alike
    reduce: bool  # added to what is there, or copied over it


@dataclass(frozen=True, slots=True)
class Schedule:
    """What a collective sends, step by step; its sends may be given as plain tuples.

    Of a reduce-scatter and an all-gather, chunk ``c`` belongs to rank
    ``c * ranks // chunks``; of an all-to-all, chunk ``source * ranks + destination``
    goes from the one to the other.
    """

    collective: str
    algorithm: str
    ranks: int
    chunks: int  # in which each rank's array is cut, padded where it does not divide
    sends: tuple[Send, ...]  # in order of steps
    switches: int = 0  # nodes ranks, ranks + 1, ... that reduce in the network
    root: int = 0  # whose array a broadcast spreads

    def __post_init__(self) -> None:
        object.__setattr__(
            self, "collective", resolve(self.collective, COLLECTIVES, "collective")
        )
        whole(ranks=self.ranks, chunks=self.chunks)
        whole(0, switches=self.switches, root=self.root)
        if self.root >= self.ranks:
            raise ValueError(
                f"root = {self.root}: ranks are 0 to {self.ranks - 1}; name one"
            )
        if self.collective == "all_to_all" and self.chunks != self.ranks**2:
            raise ValueError(
                f"chunks = {self.chunks}: an all-to-all of {self.ranks} ranks has"
                f" {self.ranks**2}, numbered source * ranks + destination"
            )
        if self.collective in PARTED and self.chunks % self.ranks:
            raise ValueError(
                f"chunks = {self.chunks}: {self.collective} gives each of"
                f" {self.ranks} ranks as many; take a multiple of {self.ranks}"
            )
        object.__setattr__(self, "sends", _read(self.sends))

    @property
    def steps(self) -> int:
        """Steps, those between in which nothing is sent included."""
        return self.sends[-1].step + 1 if self.sends else 0

    @property
    def nodes(self) -> int:
        """Ranks and switches."""
        return self.ranks + self.switches

    def begins(self, rank: int) -> range:
        """Chunks that a rank's array brings, in the order in which it holds them."""
        if self.collective == "all_to_all":
            return range(rank * self.ranks, (rank + 1) * self.ranks)
        if self.collective == "all_gather":
            return self._part(rank)
        spreads = self.collective == "broadcast"
        return range(0 if spreads and rank != self.root else self.chunks)

    def ends(self, rank: int) -> range:
        """Chunks that a rank must hold at the end, in order."""
        if self.collective == "all_to_all":
            return range(rank, self.chunks, self.ranks)
        if self.collective == "reduce_scatter":
            return self._part(rank)
        return range(self.chunks)

    def wanted(self, chunk: int) -> int:
        """Ranks whose contributions a chunk holds at the end: one bit for each."""
        if self.collective in ("all_reduce", "reduce_scatter"):
            return (1 << self.ranks) - 1
        if self.collective == "broadcast":
            return 1 << self.root
        return 1 << chunk * self.ranks // self.chunks

    def _part(self, rank: int) -> range:
        each = self.chunks // self.ranks
        return range(rank * each, (rank + 1) * each)

    def by_step(self) -> list[tuple[Send, ...]]:
        """Sends of each step."""
        found: list[list[Send]] = [[] for _ in range(self.steps)]
        for send in self.sends:
            found[send.step].append(send)
        return [tuple(sends) for sends in found]


def _read(given: Iterable[Iterable[int]]) -> tuple[Send, ...]:
    """Sends in order of their steps, all of whole numbers; a bad one is named."""
    listed = tuple(given)
    sends = cast(tuple[Send, ...], listed)
    fine = set(map(type, listed)) <= {Send}  # at C's pace: there are many
    if not fine or not set(map(type, chain.from_iterable(listed))) <= {int, bool}:
        sends = tuple(map(_send, range(len(listed)), listed))
    steps = [send[0] for send in sends]
    if steps != sorted(steps):
        at = next(i for i, (a, b) in enumerate(pairwise(steps), 1) if b < a)
        raise ValueError(
            f"send {at} is of step {steps[at]}, the one before it of step"
            f" {steps[at - 1]}: sends are given in order of their steps"
        )
    if sends and not 0 <= steps[0] <= steps[-1] <= LAST:
        raise ValueError(
            f"steps {steps[0]} to {steps[-1]}: they count from 0 to {LAST}"
        )
    return sends


def _send(at: int, given: Iterable[int]) -> Send:
    """One send from five numbers."""
    row = tuple(given) if isinstance(given, Iterable) else (given,)
    if len(row) != 5 or not all(isinstance(x, bool) or is_whole(x) for x in row):
        raise ValueError(
            f"send {at} is {row!r}: (step, source, destination, chunk, reduce) is"
            " needed, in whole numbers"
        )
    step, source, destination, chunk, reduce = map(int, row)
    return Send(step, source, destination, chunk, bool(reduce))
