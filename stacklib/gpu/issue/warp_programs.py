"""What warps run on ``warp_scheduler``, and in closed form how fast it goes.

``chains``: so many independent chains of one kind. ``stream``: independent loads, then
work on each value, and again. ``schedule`` runs it.

The closed forms are Little's law. A scheduler issues one instruction a cycle and each
takes ``latency`` cycles, so ``latency`` of them have to be under way: as warps, or as
independent instructions of one warp, it does not matter which (V. Volkov, Better
Performance at Lower Occupancy, GTC 2010). A round of a stream occupies ilp (1 + work)
slots, and one warp alone repeats it every (latency + ilp work) / (1 + ahead) cycles:

    utilisation = min(1, warps x slots of a round / (issue x time of a round))

Left out of the closed forms: a memory that delivers only so much (``stream_share`` and
``roofline.bound.littles_law`` have that limit).
"""

from __future__ import annotations

from typing import Any

from stacklib.quantity import maximum, minimum
from stacklib.quantity.bounds import above_zero, at_least, whole

from .sub_core import Op, SubCore, Trace
from .warp_scheduler import run

# Loops as kernels have them: independent loads, instructions on each value, rounds
# that loads go ahead. The numbers are assumptions; the order between them is not.
KERNELS = {
    "one load at a time": {"ilp": 1, "work": 10, "ahead": 0},
    "four independent loads": {"ilp": 4, "work": 10, "ahead": 0},
    "eight loads, a round ahead": {"ilp": 8, "work": 10, "ahead": 1},
    "tile of a matrix product": {"ilp": 8, "work": 32, "ahead": 1},
}


def chains(ilp: int, rounds: int, kind: str = "math") -> list[Op]:
    """Independent chains of dependent instructions, taken in turn."""
    whole(ilp=ilp, rounds=rounds)
    ops = [Op(kind) for _ in range(ilp)]
    return ops + [Op(kind, (i,)) for i in range(ilp * (rounds - 1))]


def stream(ilp: int, rounds: int, work: int = 1, ahead: int = 0) -> list[Op]:
    """``ilp`` independent loads, ``work`` on each value, and again, as reductions have.

    ``ahead``: rounds that loads are issued before their values are used.
    """
    whole(ilp=ilp, rounds=rounds, work=work)
    whole(0, ahead=ahead)
    ops: list[Op] = []
    loads: list[int] = []  # where they stand in the program
    for turn in range(-ahead, rounds):
        if turn + ahead < rounds:
            loads += range(len(ops), len(ops) + ilp)
            ops += [Op("global")] * ilp
        if turn >= 0:
            for load in loads[turn * ilp : (turn + 1) * ilp]:
                ops += [Op("math", (load,))] * work
    return ops


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
) -> Trace:
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
        ready longest. ``gto``: then take the oldest. ``lrr``: another warp every time.

    Raises
    ------
    ValueError
        For a number that is not whole or too small, or another policy.

    Examples
    --------
    >>> alone = schedule(1, work=4, latency=36, rounds=2)
    >>> alone.cycles, alone.stalled
    (80, 70)
    """
    whole(warps=warps, latency=latency)
    core = SubCore(math=1, memory=latency, issue=issue)
    return run([stream(ilp, rounds, work, ahead)] * warps, core, policy=policy)


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


def chain_share(warps: Any, ilp: Any, latency: Any) -> Any:
    """Share of the issue slots that chains of one kind fill.

    A warp alone issues its ``ilp`` instructions, then waits for the first of them.

    ``latency``: cycles from an instruction to the next of its chain.
    """
    return minimum(1.0, warps * ilp / maximum(latency, ilp))


def chain_cycles(warps: int, ilp: int, latency: int, rounds: int) -> int:
    """Cycles until round robin has issued the last instruction of every chain."""
    return (rounds - 1) * max(latency, warps * ilp) + warps * ilp


def stream_share(
    warps: Any, ilp: Any, latency: Any, interval: Any, work: Any = 1
) -> Any:
    """Share of the memory's rate that a reduction draws: Little's law, and two limits.

    The scheduler issues one instruction a cycle, the memory takes a request in
    ``interval`` cycles.
    """
    slots = utilisation(warps, ilp=ilp, work=work, latency=latency)
    return minimum(1.0, slots / (1 + work) * interval)
