"""Numbers of a run: how many digits they keep, and when two of them are one.

The order of a sum follows the width of a vector unit and the number of threads, so that
what a run makes differs from machine to machine, from the fifth digit on where it adds
in float32. Six digits of it are stored, and two runs made the same number where they
differ by less than one part in ten thousand. A count is whole and exact on any machine,
and so is a closed form: of these every digit counts.
"""

from __future__ import annotations

from collections.abc import Iterator

from .core import Quantity, _make
from .told import exact, parts

DIGITS = 6
SAME = 1e-4  # relative


def kept(q: Quantity) -> float:
    """The SI value that is stored of a leaf: of what a run made six digits of its own
    unit, or a whole number of it.
    """
    near = float(f"{q.value:.12g}")  # a unit may have left it beside a whole number
    if not made(q) or near.is_integer():
        return q.si
    return float(f"{six(q.value) * q.shown.factor:.12g}")


def counts(value: float) -> bool:
    """Whether a number is whole because it was counted, not for want of digits."""
    short = abs(value) >= 10**DIGITS and value == six(value)
    return float(value).is_integer() and not short


def six(value: float) -> float:
    """Six significant digits: enough to judge, small enough to commit."""
    return float(f"{value:.{DIGITS}g}")


def alike(a: float, b: float) -> bool:
    """Whether two runs made the same number: whole ones exactly, others nearly."""
    if a == b or (counts(a) and counts(b)):
        return a == b
    return abs(a - b) <= SAME * (1 + 1e-9) * max(abs(a), abs(b))


def ran(q: Quantity) -> bool:
    """Whether a number rests on a run that is made here: not on a count of lengths or
    sums, nor on what a committed file says that a run counted.
    """
    seen: set[int] = set()

    def visit(part: Quantity) -> bool:
        if id(part) in seen:
            return False
        seen.add(id(part))
        return made(part) or any(map(visit, parts(part)))

    return visit(q)


def made(leaf: Quantity) -> bool:
    """Whether a leaf is what a run made here."""
    return leaf.kind == "counted" and leaf.source is None and not exact(leaf.note)


def near(q: Quantity) -> Iterator[Quantity]:
    """A number, and of a run also the two ends of what counts as the same."""
    yield q
    if ran(q) and not counts(q.value):
        yield _make(q, si=q.si * (1 - SAME))
        yield _make(q, si=q.si * (1 + SAME))
