"""A memory that software manages: programs, live intervals, and what is spilled.

A scratchpad has no tags and no hardware that fetches. Whoever compiles the program says
for every operation what is copied in before it and what is copied out, and where each
tensor lies. `allocate` writes that plan under a replacement policy and counts the
bytes; `scratchpad_run.execute` carries it out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from stacklib.quantity.bounds import is_whole, whole


@dataclass(frozen=True, slots=True)
class Op:
    """One operation: the tensors it reads and those it writes."""

    name: str
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()

    @property
    def operands(self) -> tuple[str, ...]:
        """Each tensor once, those read first."""
        return tuple(dict.fromkeys((*self.reads, *self.writes)))


@dataclass(frozen=True)
class Program:
    """A straight line of operations over named tensors."""

    sizes: Mapping[str, int]  # bytes of each tensor
    ops: Sequence[Op]  # in the order they run
    outputs: frozenset[str] = frozenset()  # tensors that must lie in memory at the end
    # Tensors that pass through buffers of their own, outside the scratchpad that is
    # managed: used once and never kept.
    streamed: frozenset[str] = frozenset()
    _uses: dict[str, list[int]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not self.ops:
            raise ValueError("a program of no operations: give at least one Op")
        uses: dict[str, list[int]] = {}
        for at, op in enumerate(self.ops):
            for name in op.operands:
                uses.setdefault(name, []).append(at)
        for name in uses:
            size = self.sizes.get(name)
            if size is None or not is_whole(size) or size < 1:
                raise ValueError(f"size of {name!r} is {size!r}: whole bytes from 1")
        for name in self.outputs | self.streamed:
            if name not in uses:
                raise ValueError(f"{name!r} is used by no operation")
        for name in self.streamed:
            if len(uses[name]) > 1:
                raise ValueError(f"{name!r} is streamed and used more than once")
        object.__setattr__(self, "_uses", uses)

    @property
    def uses(self) -> dict[str, list[int]]:
        """Operations that touch each tensor, in order."""
        return self._uses

    @cached_property
    def managed(self) -> tuple[str, ...]:
        """Tensors that are kept in the scratchpad, by first use."""
        return tuple(name for name in self.uses if name not in self.streamed)

    @cached_property
    def inputs(self) -> frozenset[str]:
        """Tensors that lie in memory at the start: read before they are written."""
        return frozenset(
            name for name, at in self.uses.items() if name in self.ops[at[0]].reads
        )

    def interval(self, name: str) -> tuple[int, int]:
        """First and last operation that touch the tensor ``name``: live in between."""
        at = self.uses[name]
        return at[0], at[-1]

    @cached_property
    def live(self) -> list[int]:
        """Bytes of managed tensors that are live at each operation."""
        change = [0] * (len(self.ops) + 1)
        for name in self.managed:
            first, last = self.interval(name)
            change[first] += self.sizes[name]
            change[last + 1] -= self.sizes[name]
        held, found = 0, []
        for step in change[:-1]:
            held += step
            found.append(held)
        return found

    @property
    def working_set(self) -> int:
        """Most bytes that are live at once: with this capacity nothing is spilled."""
        return max(self.live)

    @property
    def compulsory(self) -> int:
        """Bytes of managed tensors that any plan copies: inputs in, outputs out."""
        kept = frozenset(self.managed)
        made = {name for op in self.ops for name in op.writes}
        came = sum(self.sizes[name] for name in self.inputs & kept)
        return came + sum(self.sizes[name] for name in self.outputs & made & kept)


def cyclic_loads(
    blocks: int, capacity: int, rounds: int, policy: str, snake: bool = False
) -> int:
    """Loads of a loop that reads ``blocks`` equal blocks in order, ``rounds`` times.

    Every operand must be held to be used. LRU throws out what is needed next, so one
    block too many and it loads everything in every round. Belady misses
    ``blocks - capacity`` times in any ``blocks - 1`` accesses. A fixed choice keeps all
    places but one for blocks that stay. In the last round a block is dead once it was
    used, and leaves room.
    """
    whole(blocks=blocks, capacity=capacity, rounds=rounds)
    if policy not in ("lru", "belady", "weight"):
        raise ValueError(f"policy {policy!r}: 'lru', 'belady' or 'weight'")
    over = blocks - capacity
    if over <= 0 or rounds == 1:
        return blocks
    # Every second round runs backwards: what was used last is needed first, and all
    # three load only what is over.
    if snake:
        return blocks + (rounds - 1) * over
    if policy == "lru":
        return blocks * (rounds - 1) + over + 1
    if policy == "weight":
        last = over if capacity > 1 else blocks
        return blocks + (rounds - 2) * (over + 1) + last
    periods, rest = divmod(blocks * rounds - capacity, blocks - 1)
    return capacity + periods * over + min(rest, over)
