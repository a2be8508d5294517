"""A sub-core of a GPU, what warps run on it, what it did; a checker of that.

An instruction names the earlier ones of its warp whose results it needs. Which warp
issues when is up to ``warp_scheduler``; ``check`` knows nothing of it, and reads who
issued when.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import groupby

from stacklib.quantity.bounds import is_whole, whole

KINDS = ("math", "shared", "global", "store")
STATES = (
    "issues",
    "not picked",
    "arithmetic result",
    "shared memory",
    "global memory",
    "queue full",
    "done",
)


@dataclass(frozen=True, slots=True)
class Op:
    """An instruction of a warp: its kind, and the positions it needs results of."""

    kind: str
    needs: tuple[int, ...] = ()


Program = Sequence[Op]


@dataclass(frozen=True, slots=True)
class SubCore:
    """What a sub-core is built of; latencies in cycles."""

    math: int = 4
    shared: int = 29  # a load from shared memory
    memory: int = 670  # a load from global memory
    queue: int = 10**6  # global loads under way at once
    interval: Fraction | int = 0  # cycles between two requests that the memory takes
    issue: int = 1  # slots a cycle

    def __post_init__(self) -> None:
        whole(
            math=self.math,
            shared=self.shared,
            memory=self.memory,
            queue=self.queue,
            issue=self.issue,
        )
        rate = self.interval
        if not (is_whole(rate) or isinstance(rate, Fraction)) or rate < 0:
            raise ValueError(f"interval = {rate!r}: cycles, an int or Fraction from 0")

    def latency(self, kind: str) -> int:
        """Cycles until a result of this kind can be used; a store leaves none."""
        return {
            "math": self.math,
            "shared": self.shared,
            "global": self.memory,
            "store": 1,
        }[kind]


@dataclass(frozen=True, slots=True)
class Issued:
    """An instruction that was issued: cycle, warp, position in its program."""

    cycle: int
    warp: int
    at: int


@dataclass(frozen=True, slots=True)
class Segment:
    """A stretch of a warp's timeline: a kind of ``Op``, ``wait`` or ``done``."""

    warp: int
    start: int
    end: int
    kind: str


@dataclass(frozen=True, slots=True)
class Trace:
    """What the sub-core did.

    ``states``: cycles of all warps together in each of ``STATES``.
    """

    programs: tuple[Program, ...] = field(hash=False, repr=False)
    core: SubCore
    cycles: int  # cycles until the last instruction was issued, that cycle included
    issued: tuple[Issued, ...]  # every instruction, in order
    states: dict[str, int] = field(hash=False)

    @property
    def warps(self) -> int:
        """Warps that shared the scheduler."""
        return len(self.programs)

    @property
    def utilisation(self) -> float:
        """Share of the issue slots that were filled, start and end included."""
        return len(self.issued) / (self.core.issue * self.cycles)

    @property
    def stalled(self) -> int:
        """Cycles in which no warp could issue."""
        return self.cycles - len({one.cycle for one in self.issued})

    def op(self, one: Issued) -> Op:
        """The instruction that was issued."""
        return self.programs[one.warp][one.at]

    def timeline(self) -> list[Segment]:
        """What each warp does when, without gaps."""
        ends = {one.warp: one.cycle + 1 for one in self.issued}
        rows = [["wait"] * ends[warp] for warp in range(self.warps)]
        for one in self.issued:
            rows[one.warp][one.cycle] = self.op(one).kind
        return [
            part
            for warp, row in enumerate(rows)
            for part in _segments(warp, row + ["done"] * (self.cycles - len(row)))
        ]


def _segments(warp: int, kinds: list[str]) -> list[Segment]:
    found, start = [], 0
    for kind, same in groupby(kinds):
        end = start + len(list(same))
        found.append(Segment(warp, start, end, kind))
        start = end
    return found


def check(
    programs: Sequence[Program], core: SubCore, found: Sequence[Issued]
) -> list[str]:
    """Faults of a schedule, read from who issued when and from nothing else."""
    order = sorted(found, key=lambda i: i.cycle)
    faults = _slot_faults(core, order)
    there: dict[tuple[int, int], int] = {}
    at = [0] * len(programs)
    port: Fraction | int = 0
    for i in order:
        if i.at != at[i.warp]:
            faults.append(
                f"warp {i.warp}: instruction {i.at} issued when {at[i.warp]} was next"
            )
            return faults
        at[i.warp] += 1
        op = programs[i.warp][i.at]
        for need in op.needs:
            if there[i.warp, need] > i.cycle:
                faults.append(
                    f"warp {i.warp}: instruction {i.at} in cycle {i.cycle} needs "
                    f"{need}, there in cycle {there[i.warp, need]}"
                )
        start: Fraction | int = i.cycle
        if op.kind in ("global", "store"):
            start = max(port, start)
            port = start + core.interval
        there[i.warp, i.at] = -int(-start // 1) + core.latency(op.kind)
    for warp, program in enumerate(programs):
        if at[warp] != len(program):
            faults.append(f"warp {warp}: {at[warp]} of {len(program)} issued")
    return faults + _queue_faults(programs, core, there, order)


def _slot_faults(core: SubCore, order: list[Issued]) -> list[str]:
    """Cycles with more instructions than slots, or with two of one warp."""
    faults = []
    for cycle, same in groupby(order, key=lambda i: i.cycle):
        warps = [i.warp for i in same]
        if len(warps) > core.issue or len(set(warps)) < len(warps):
            faults.append(f"cycle {cycle}: warps {warps} issue")
    return faults


def _queue_faults(
    programs: Sequence[Program],
    core: SubCore,
    there: dict[tuple[int, int], int],
    order: list[Issued],
) -> list[str]:
    """Cycles in which more loads are under way than the queue has entries."""
    ends = [
        (i.cycle, there[i.warp, i.at])
        for i in order
        if programs[i.warp][i.at].kind == "global"
    ]
    changes = sorted([(a, 1) for a, _ in ends] + [(b, -1) for _, b in ends])
    most, level = 0, 0
    for _, step in changes:
        level += step
        most = max(most, level)
    return [f"{most} loads under way, {core.queue} fit"] if most > core.queue else []
