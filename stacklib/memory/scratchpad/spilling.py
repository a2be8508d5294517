"""Plans for a scratchpad: who leaves when room is needed, and what that copies.

A plan is made for one program and one capacity. Before an operation its operands are
brought in; where no hole is large enough, a victim leaves, written back only if memory
has no good copy. What no later operation touches leaves at once, without a copy: the
live intervals are known, which is what sets a compiler apart from a cache.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from math import inf

from stacklib.quantity.bounds import whole

from .operations import Program

POLICIES = ("lru", "belady", "weight")


@dataclass(frozen=True, slots=True)
class Move:
    """One entry of a plan."""

    op: int  # the operation it comes before; final copies come after it
    kind: str
    tensor: str  # what is moved
    offset: int  # where it lies in the scratchpad
    after: bool = False  # whether it follows the operation


@dataclass(frozen=True, slots=True)
class Plan:
    """What `allocate` decided, and its bytes."""

    moves: tuple[Move, ...]  # in order
    loaded: int  # bytes copied in
    stored: int  # out
    compulsory: int  # of those, the ones that no plan saves
    peak: int  # most bytes held at once

    @property
    def moved(self) -> int:
        """Bytes copied either way."""
        return self.loaded + self.stored

    @property
    def spilled(self) -> int:
        """Bytes copied because the scratchpad was too small."""
        return self.moved - self.compulsory


class _Pad:
    """First-fit offsets of the tensors that are held."""

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.at: dict[str, tuple[int, int]] = {}

    def hole(self, size: int) -> int | None:
        """Lowest offset with room for ``size`` bytes."""
        end = 0
        for offset, held in sorted(self.at.values()):
            if offset - end >= size:
                return end
            end = offset + held
        return end if self.capacity - end >= size else None

    @property
    def held(self) -> int:
        return sum(size for _, size in self.at.values())


class _Allocation:
    """The state while a plan is made."""

    def __init__(self, program: Program, capacity: int, policy: str) -> None:
        self.program, self.policy, self.pad = program, policy, _Pad(capacity)
        self.used: dict[str, int] = {}  # operation that touched it last
        self.dirty: set[str] = set()
        self.moves: list[Move] = []
        self.loaded = self.stored = self.peak = 0

    def next_use(self, name: str, now: int) -> float:
        at = self.program.uses[name]
        later = bisect_right(at, now)
        return at[later] if later < len(at) else inf

    def rank(self, name: str, now: int) -> tuple[float, float]:
        """The largest of the tensors held leaves."""
        if self.policy == "lru":
            return -self.used[name], 0
        if self.policy == "belady":
            return self.next_use(name, now), 0
        # Bytes saved by keeping it over the bytes it takes: its uses. Of equals the
        # one whose interval began last leaves, as in a linear scan.
        first, _ = self.program.interval(name)
        return -len(self.program.uses[name]), first

    def evict(self, name: str, now: int, *, after: bool = False) -> None:
        """Take a tensor out; its only good copy goes to memory first."""
        offset, size = self.pad.at.pop(name)
        later = self.next_use(name, now if after else now - 1)
        if later == inf:
            needed = name in self.program.outputs
        else:  # what is overwritten unread need not be kept
            needed = name in self.program.ops[int(later)].reads
        if name in self.dirty and needed:
            self.moves.append(Move(now, "store", name, offset, after))
            self.stored += size
        self.dirty.discard(name)
        self.moves.append(Move(now, "drop", name, offset, after))

    def room(self, name: str, now: int, locked: tuple[str, ...]) -> int:
        """An offset for a tensor; others leave until there is one."""
        size = self.program.sizes[name]
        while (offset := self.pad.hole(size)) is None:
            free = [other for other in self.pad.at if other not in locked]
            if not free:
                # Only this operation's operands are left, and they lie in the way.
                for other in list(self.pad.at):
                    self.evict(other, now)
                continue
            self.evict(max(free, key=lambda other: self.rank(other, now)), now)
        return offset

    def bring(self, now: int) -> None:
        """Have every operand of an operation in the scratchpad."""
        op = self.program.ops[now]
        wanted = tuple(n for n in op.operands if n not in self.program.streamed)
        while missing := [name for name in wanted if name not in self.pad.at]:
            name = missing[0]
            offset = self.room(name, now, wanted)
            size = self.program.sizes[name]
            read = name in op.reads
            self.moves.append(Move(now, "load" if read else "place", name, offset))
            self.loaded += size if read else 0
            self.pad.at[name] = offset, size
            self.used[name] = now
        for name in wanted:
            self.used[name] = now
        self.dirty.update(n for n in op.writes if n not in self.program.streamed)
        self.peak = max(self.peak, self.pad.held)
        for name in wanted:
            if self.next_use(name, now) == inf:
                self.evict(name, now, after=True)


def allocate(program: Program, capacity: int, policy: str = "belady") -> Plan:
    """Plan a program for a scratchpad of ``capacity`` bytes."""
    whole(capacity=capacity)
    if policy not in POLICIES:
        raise ValueError(f"policy {policy!r}: use one of {', '.join(POLICIES)}")
    for op in program.ops:
        wanted = [n for n in op.operands if n not in program.streamed]
        total = sum(program.sizes[name] for name in wanted)
        if total > capacity:
            raise ValueError(
                f"operation {op.name!r} needs {total} bytes at once, {capacity} are "
                "there: cut its operands smaller"
            )
    state = _Allocation(program, capacity, policy)
    for now in range(len(program.ops)):
        state.bring(now)
    return Plan(
        tuple(state.moves), state.loaded, state.stored, program.compulsory, state.peak
    )
