"""What stands beside an array: the core that feeds it, and what hides its waits.

A control core is bought once, places are bought by the square of the side. Areas are
counts of transistors, so that both sides of a quotient have the same process.
"""

from __future__ import annotations

from typing import Any

from stacklib.hardware import Accelerator
from stacklib.quantity import ceil
from stacklib.quantity.bounds import above_zero, at_least, whole


def control_share(n: int, *, place: Any, core: Any) -> Any:
    """Share of the area that control takes beside an array of ``n`` x ``n`` places.

    Parameters
    ----------
    n : int
        Places along a side.
    place, core : number or Quantity
        Area of one place and of the control core, in one unit.

    Examples
    --------
    >>> round(control_share(4, place=100, core=1600), 2)
    0.5
    >>> round(control_share(128, place=100, core=1600), 5)
    0.00098
    """
    whole(n=n)
    above_zero(place=place, core=core)
    return core / (core + int(n) ** 2 * place)


def overhead(n: int) -> float:
    """Control for each place, beside that of one place alone: 4x less a doubling."""
    whole(n=n)
    return n**-2.0


def between_loads(device: Accelerator, stage: Any) -> Any:
    """Seconds between tiles of ``stage`` bytes in one unit's share of the bandwidth."""
    return stage * device.compute_units / device.memory_bandwidth


def held_while_waiting(
    latency: Any, every: Any, *, stage: Any, warp: Any
) -> tuple[Any, Any]:
    """Bytes on the chip that hide a load's latency: by the compiler, and by warps.

    A compiler that knows the latency starts the load of a tile so many tiles ahead and
    keeps only those tiles. A scheduler that learns of a wait as it happens keeps so
    many warps, each with all of its registers.

    - ``latency``: of a load; ``every``: between two tiles that are used.
    - ``stage``: bytes of one tile; ``warp``: of the registers of who loads one.
    """
    at_least(0, latency=latency)
    above_zero(every=every, stage=stage, warp=warp)
    ahead = 1 + ceil(latency / every)
    return ahead * stage, ahead * (stage + warp)


def sparse_gain(place: Any, choice: Any, kept: int = 1, of: int = 2) -> Any:
    """Products of an area over those of dense places, where ``kept`` of ``of`` remain.

    - ``place``: area of a dense place; ``choice``: of what picks its activation.
    """
    above_zero(place=place)
    at_least(0, choice=choice)
    whole(kept=kept, of=of)
    if kept > of:
        raise ValueError(f"kept = {kept} of {of}: no more than there are can be kept")
    return of / kept * place / (place + choice)
