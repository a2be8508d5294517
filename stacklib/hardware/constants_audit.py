"""Constants of architectures, computed again from what their sources print.

A latency is the cycles that a line of the source prints over the clock of the card, a
rate what all units read over units and clock. What is only recalled is counted.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from .devices import get
from .microarchitectures import Constant

TOLERANCE = 0.005  # of a value rounded to three digits


@dataclass(frozen=True, slots=True)
class ConstantAudit:
    """How many constants stand on a printed line, and how many on a memory of one."""

    constants: int
    held: int  # computed again from the line that their source prints
    inherited: int  # of another architecture
    recalled: int
    faults: tuple[str, ...]


def audit_constants(found: Iterable[Constant]) -> ConstantAudit:
    """The constants of architectures, counted and held to their sources."""
    every = list(found)
    own = [one for one in every if not one.inherited]
    faults = [fault for one in own for fault in _faults(one)]
    return ConstantAudit(
        len(every),
        sum(again(one) is not None for one in own),
        len(every) - len(own),
        sum(_confidence(one) == "recalled" for one in own),
        tuple(faults),
    )


def again(one: Constant) -> float | None:
    """The value as its source's line gives it, in SI; None where none is quoted."""
    if one.cycles is not None:
        in_time = one.quantity.shown.dimension("s")
        return one.cycles / one.clock if in_time else one.cycles
    if one.rate is not None:
        return one.rate / get(one.on).compute_units.si / one.clock
    return None


def _faults(one: Constant) -> list[str]:
    printed = again(one)
    if printed is None:
        if _confidence(one) != "measured":
            return []
        return [f"{one.place} is called measured, and quotes no line of its source"]
    gap = one.quantity.si / printed - 1
    if abs(gap) <= TOLERANCE:
        return []
    return [f"{one.place} differs by {gap:+.1%} from what was measured on {one.on}"]


def _confidence(one: Constant) -> str:
    return one.quantity.source.confidence if one.quantity.source else ""
