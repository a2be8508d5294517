"""What warps run on ``warp_scheduler``, and in closed form how fast it goes.

``chains``: so many independent chains of one kind. ``stream``: independent loads, then
work on each value, as a reduction has them.

The closed form is Little's law twice. A scheduler issues one instruction a cycle and
each takes ``latency`` cycles, so ``latency`` of them have to be under way: as warps,
or as independent instructions of one warp, it does not matter which (V. Volkov, Better
Performance at Lower Occupancy, GTC 2010).
"""

from __future__ import annotations

from typing import Any

from stacklib.quantity import maximum, minimum

from .schedule import utilisation
from .warp_scheduler import Op


def _whole(**values: Any) -> None:
    for name, value in values.items():
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise ValueError(f"{name} = {value!r}: a whole number from 1 up")


def chains(ilp: int, rounds: int, kind: str = "math") -> list[Op]:
    """Independent chains of dependent instructions, taken in turn."""
    _whole(ilp=ilp, rounds=rounds)
    ops = [Op(kind) for _ in range(ilp)]
    return ops + [Op(kind, (i,)) for i in range(ilp * (rounds - 1))]


def stream(ilp: int, rounds: int, work: int = 1) -> list[Op]:
    """A reduction: ``ilp`` independent loads, ``work`` on each value, and again."""
    _whole(ilp=ilp, rounds=rounds, work=work)
    ops: list[Op] = []
    for _ in range(rounds):
        first = len(ops)
        ops += [Op("global")] * ilp
        ops += [Op("math", (first + i,)) for i in range(ilp) for _ in range(work)]
    return ops


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


def warps_to_hide(latency: Any, ilp: Any = 1) -> Any:
    """Warps of one scheduler that hide a latency behind chains, not rounded.

    ``latency``, ``ilp``: cycles; independent instructions of a warp.
    """
    return maximum(1.0, latency / ilp)
