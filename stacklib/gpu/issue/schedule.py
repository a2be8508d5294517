"""A warp scheduler, cycle by cycle: how many warps hide how much latency.

Every warp runs the same loop: ``ilp`` independent loads, then ``work`` instructions
on each value that comes back. A warp issues in order, one instruction a cycle at
most, and waits where a value has not arrived. The scheduler has ``issue`` slots a
cycle and fills them from the warps that do not wait. With ``ahead`` a warp asks for
the values of a later round before it works on those of this one.

In closed form a round occupies ilp (1 + work) slots, and one warp alone repeats it
every (latency + ilp work) / (1 + ahead) cycles. Slots over time is Little's law:

    utilisation = min(1, warps x slots of a round / (issue x time of a round))

Left out: a memory that delivers only so much (``roofline.bound.littles_law`` has that
limit), registers and shared memory, which decide how many warps there are
(chapter 2), caches, and pipelines of more than one cycle.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from stacklib.quantity import maximum, minimum
from stacklib.quantity.bounds import above_zero, at_least

POLICIES = ("greedy", "round robin")
KINDS = ("load", "work", "wait", "done")
# Loops as kernels have them: independent loads, instructions on each value, rounds
# that loads go ahead. The numbers are assumptions; the order between them is not.
KERNELS = {
    "one load at a time": {"ilp": 1, "work": 10, "ahead": 0},
    "four independent loads": {"ilp": 4, "work": 10, "ahead": 0},
    "eight loads, a round ahead": {"ilp": 8, "work": 10, "ahead": 1},
    "tile of a matrix product": {"ilp": 8, "work": 32, "ahead": 1},
}


def round_slots(ilp: Any, work: Any) -> Any:
    """Issue slots that one round of one warp takes."""
    at_least(1, ilp=ilp)
    at_least(0, work=work)
    return ilp * (1 + work)


def round_cycles(ilp: Any, work: Any, latency: Any, ahead: Any = 0) -> Any:
    """Cycles between two rounds of a warp that has the machine to itself."""
    at_least(0, latency=latency, ahead=ahead)
    return maximum(round_slots(ilp, work), (latency + ilp * work) / (1 + ahead))


def utilisation(
    warps: Any, *, ilp: Any = 1, work: Any, latency: Any, issue: Any = 1, ahead: Any = 0
) -> Any:
    """Share of the issue slots that are filled, by Little's law.

    Parameters
    ----------
    warps : float, Quantity or array
        Warps that share the scheduler.
    ilp, work, latency, ahead : float, Quantity or array
        As in ``round_cycles``.
    issue : float, Quantity or array
        Issue slots a cycle.

    Raises
    ------
    ValueError
        For no issue slot, less than no warps, and as ``round_cycles``.

    Examples
    --------
    >>> utilisation(4, work=4, latency=36)
    0.5
    """
    at_least(0, warps=warps)
    above_zero(issue=issue)
    alone = round_slots(ilp, work) / round_cycles(ilp, work, latency, ahead)
    return minimum(1.0, warps * alone / issue)


def warps_needed(
    *, ilp: Any = 1, work: Any, latency: Any, issue: Any = 1, ahead: Any = 0
) -> Any:
    """Warps that fill every issue slot, not rounded.

    Parameters
    ----------
    ilp, work, latency, issue, ahead : float, Quantity or array
        As in ``utilisation``.

    Raises
    ------
    ValueError
        As there.
    """
    above_zero(issue=issue)
    alone = round_slots(ilp, work) / round_cycles(ilp, work, latency, ahead)
    return issue / alone


def lockstep_utilisation(warps: Any, *, ilp: Any = 1, work: Any, latency: Any) -> Any:
    """Share of the slots that round robin fills, one slot a cycle, no loads ahead.

    Taking turns keeps the warps in step: each instruction takes a whole turn, all
    come to their loads together, and wait together.
    """
    period = latency + ilp * work * warps
    return minimum(1.0, warps * round_slots(ilp, work) / period)


@dataclass(frozen=True, slots=True)
class Issue:
    """One issued instruction: when, which warp, ``load`` or ``work``."""

    cycle: int
    warp: int
    kind: str


@dataclass(frozen=True, slots=True)
class Segment:
    """A stretch of a warp's timeline: cycles ``start`` to ``end``, one kind."""

    warp: int
    start: int
    end: int
    kind: str


@dataclass(frozen=True, slots=True)
class Schedule:
    """What the scheduler did."""

    warps: int
    issue: int  # issue slots a cycle
    cycles: int  # until the last warp has finished
    issued: tuple[Issue, ...]  # every instruction in the order of issue

    @property
    def utilisation(self) -> float:
        """Share of the issue slots that were filled, start and end included."""
        return len(self.issued) / (self.issue * self.cycles)

    @property
    def stall_cycles(self) -> int:
        """Cycles in which nothing was issued, because every warp waited."""
        return self.cycles - len({i.cycle for i in self.issued})

    def timeline(self) -> list[Segment]:
        """What each warp does when: stretches of ``KINDS``, without gaps."""
        rows = []
        for warp in range(self.warps):
            mine = [i for i in self.issued if i.warp == warp]
            rows += _segments(warp, mine, self.cycles)
        return rows


def _segments(warp: int, issued: list[Issue], cycles: int) -> list[Segment]:
    kinds = ["wait"] * cycles
    for one in issued:
        kinds[one.cycle] = one.kind
    last = issued[-1].cycle + 1
    kinds[last:] = ["done"] * (cycles - last)
    found, start = [], 0
    for at in range(1, cycles + 1):
        if at == cycles or kinds[at] != kinds[start]:
            found.append(Segment(warp, start, at, kinds[start]))
            start = at
    return found


class _Warp:
    """Where a warp stands in its program, and when its values come."""

    def __init__(self, program: list[tuple[str, int]]) -> None:
        self.program, self.at = program, 0
        self.arrives: dict[int, int] = {}  # number of a load -> cycle of its value
        self.free = 0  # first cycle in which it may issue again

    def ready(self) -> float:
        """First cycle in which its next instruction can be issued."""
        if self.at == len(self.program):
            return float("inf")
        kind, load = self.program[self.at]
        return max(self.free, self.arrives[load]) if kind == "work" else self.free

    def issue(self, cycle: int, latency: int) -> str:
        kind, load = self.program[self.at]
        if kind == "load":
            self.arrives[load] = cycle + latency
        self.at, self.free = self.at + 1, cycle + 1
        return kind


def program(ilp: int, work: int, rounds: int, ahead: int = 0) -> list[tuple[str, int]]:
    """The instructions of a warp, each with the number of the load it makes or uses."""
    listed = []
    for turn in range(-ahead, rounds):
        if turn + ahead < rounds:
            first = (turn + ahead) * ilp
            listed += [("load", first + i) for i in range(ilp)]
        if turn >= 0:
            listed += [
                ("work", turn * ilp + i) for i in range(ilp) for _ in range(work)
            ]
    return listed


Choose = Callable[[list[tuple[float, int]], list[int], int], list[int]]


def _greedy(ready: list[tuple[float, int]], last: list[int], slots: int) -> list[int]:
    """The warps that issued last go on; then those whose turn is overdue longest."""
    order = sorted(ready, key=lambda w: (w[1] not in last, w))
    return [warp for _, warp in order[:slots]]


def _round_robin(
    ready: list[tuple[float, int]], last: list[int], slots: int
) -> list[int]:
    """The warps after the one that issued last, in a ring."""
    after = last[-1] if last else -1
    return sorted((w for _, w in ready), key=lambda w: (w <= after, w))[:slots]


_CHOOSE: dict[str, Choose] = {"greedy": _greedy, "round robin": _round_robin}


def _whole(least: int, **values: Any) -> None:
    for name, value in values.items():
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise ValueError(f"{name} = {value!r}: a whole number from {least} up")


def schedule(
    warps: int,
    *,
    ilp: int = 1,
    work: int,
    latency: int,
    issue: int = 1,
    ahead: int = 0,
    rounds: int = 16,
    policy: str = "greedy",
) -> Schedule:
    """Run every warp's rounds through the scheduler, one cycle at a time.

    Parameters
    ----------
    warps : int
        Warps that share the scheduler, one or more.
    ilp : int
        Independent loads a warp issues before it uses the first, one or more.
    work : int
        Instructions on each value, one or more.
    latency : int
        Cycles from a load to the first instruction that can use it, one or more.
    issue : int
        Issue slots a cycle, filled by different warps.
    ahead : int
        Rounds that loads are issued before their values are used.
    rounds : int
        Times each warp goes through its loop.
    policy : str
        ``greedy``: stay with a warp until it waits, then take the one that has been
        ready longest. ``round robin``: another warp every time.

    Raises
    ------
    ValueError
        For a number that is not whole or too small, or another policy.

    Examples
    --------
    >>> alone = schedule(1, work=4, latency=36, rounds=2)
    >>> alone.cycles, alone.stall_cycles
    (80, 70)
    """
    _whole(1, warps=warps, ilp=ilp, work=work, latency=latency, issue=issue,
           rounds=rounds)  # fmt: skip
    _whole(0, ahead=ahead)
    if policy not in POLICIES:
        raise ValueError(f"policy = {policy!r}: one of {', '.join(POLICIES)}")
    listed = program(ilp, work, rounds, ahead)
    running = [_Warp(listed) for _ in range(warps)]
    issued: list[Issue] = []
    last: list[int] = []
    cycle = 0
    times = [w.ready() for w in running]
    while (soonest := min(times)) != float("inf"):
        cycle = max(cycle, int(soonest))  # nobody issues before: the cycles stall
        ready = [(time, n) for n, time in enumerate(times) if time <= cycle]
        last = _CHOOSE[policy](ready, last, issue)
        for n in last:
            issued.append(Issue(cycle, n, running[n].issue(cycle, latency)))
            times[n] = running[n].ready()
        cycle += 1
    return Schedule(warps, issue, cycle, tuple(issued))
