"""What may meet: which two numbers can be added, compared or converted."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from .units import (
    CROSS,
    HERTZ,
    TAGS,
    Unit,
    UnitError,
    axis_applies,
    axis_of,
    canonical,
    clock_of,
    join_tags,
)

if TYPE_CHECKING:
    from .core import Quantity


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """The outcome of comparing two quantities; true or false, with its inputs."""

    holds: bool
    op: str
    inputs: tuple[Quantity, Quantity]

    def __bool__(self) -> bool:
        return self.holds

    def __repr__(self) -> str:
        left, right = self.inputs
        return f"{self.holds} ({left.text()} {self.op} {right.text()})"


def cross_factor(q: Quantity, target: Unit) -> float:
    """What one of ``q``'s unit is in another; bits become bytes here, MAC FLOP."""
    if target.dims == q.shown.dims:
        return 1.0
    for (old, new), factor in CROSS.items():
        power = q.shown.dimension(old)
        swapped = {k: v for k, v in q.shown.dims if k != old}
        if power and tuple(sorted({**swapped, new: power}.items())) == target.dims:
            return factor**power
    raise UnitError(
        f"{q.text()} ({words(q.shown)}) cannot be given in "
        f"{target.text!r} ({words(target)})"
    )


def words(unit: Unit) -> str:
    """A unit as a message names it."""
    return canonical(unit.dims).symbol or "a plain number"


def same_basis(a: Quantity, b: Quantity, op: str) -> frozenset[str]:
    """Tags of a sum or comparison; UnitError when the two cannot meet."""

    def what() -> str:
        return f"{a.text()} {op} {b.text()}"

    if a.shown.dims != b.shown.dims:
        raise UnitError(f"{what()}: {words(a.shown)} is not {words(b.shown)}")
    if {a.shown.family, b.shown.family} == {"decimal", "binary"}:
        raise UnitError(
            f"{what()}: 1 GB is 1e9 B and 1 GiB is 2**30 B; convert one with .to()"
        )
    return join_tags(a.tags, b.tags, what)


def same_clock(a: Quantity, b: Quantity, op: str) -> None:
    """Refuse cycles of one clock turned into time by another."""
    for clock, other in ((a, b), (b, a)):
        # A tag keeps six digits of its clock.
        own = clock_of(other.tags) if other.shown.dimension("cycle") else None
        if clock.shown.dims == HERTZ and own and abs(clock.si / own - 1) > 1e-5:
            raise UnitError(
                f"{a.text()} {op} {b.text()}: cycles of {own / 1e9:g} GHz, "
                f"not of {clock.text()}"
            )


def rates_at_one_clock(a: Quantity, b: Quantity, op: str) -> None:
    """Refuse operations over bytes a second of a cache, at a clock of its own."""
    for moved, done in ((a, b), (b, a)):
        own = clock_of(moved.tags)
        rates = moved.shown.dimension("s") == done.shown.dimension("s") == -1
        if not rates or own is None or own == clock_of(done.tags):
            continue
        data = any(moved.shown.dimension(x) for x in ("B", "bit"))
        if data and any(done.shown.dimension(x) for x in ("FLOP", "MAC", "OP")):
            raise UnitError(
                f"{a.text()} {op} {b.text()}: the bytes are at {own / 1e9:g} GHz, the "
                "operations name no clock; take both .at_clock() of one"
            )


def on_basis(q: Quantity, tag: str) -> Unit:
    """The unit on another basis; UnitError for one that says nothing of it."""
    axis = axis_of(tag)
    if axis is None:
        raise UnitError(f"unknown tag {tag!r}: use one of {', '.join(TAGS)}")
    if not axis_applies(axis, q.shown.dims):
        raise UnitError(f"{tag!r} says nothing about {q.text()}")
    others = {t for t in q.tags if axis_of(t) != axis}
    return replace(q.shown, tags=frozenset({*others, tag}))


def with_clock(q: Quantity, clock: Quantity) -> Unit:
    """The unit marked with the clock that a rate or a latency was taken at."""
    if clock.shown.dims != HERTZ:
        raise UnitError(f"at_clock({clock.text()}): a clock is given in GHz")
    tag = f"@{clock.si / 1e6:g}MHz"
    if not axis_applies("clock", q.shown.dims):
        raise UnitError(f"{q.text()} is no rate and not in cycles: no clock")
    return replace(q.shown, tags=join_tags(q.tags, frozenset({tag}), q.text))
