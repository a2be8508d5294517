"""What the clock is good for: series of kernels that others timed, by kind of kernel.

The times are those of a committed result, since running every kernel takes longer than
a page may; where it is not there, what was published still stands, without a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import combinations
from typing import TYPE_CHECKING, Any

from stacklib.quantity import Quantity, counted

if TYPE_CHECKING:
    from stacklib.evidence.kernel_series import Line, Summary

RESULT = "kernel_series"
NEAR, FAR = 1.25, 2.5  # a median factor to trust, a worst one to bear


@cache
def lines() -> tuple[Line, ...]:
    """Every kernel of the series, with its time where the result has one."""
    from stacklib.evidence import kernel_series, measurements, results

    found = results.load(RESULT)
    timed = {} if found is None else {row["id"]: row for row in found["rows"]}
    none = {"published": None, "predicted": None, "reason": "not computed yet"}
    return tuple(
        kernel_series.Line(
            *(row.text("series"), row.subject, row.text("kind"), row.source),
            *(made["published"] or row.value, made["predicted"], made["reason"]),
        )
        for row in measurements.series()
        for made in [timed.get(row.id, none)]
    )


def of_kind(kind: str) -> list[Line]:
    """Kernels of a kind."""
    return [one for one in lines() if one.kind == kind]


def by_clock(name: str, kernel: str) -> float:
    """Rate of a kernel of a series by the machine's clock: FLOP or bytes a second.

    - raises ``UnknownName`` for one that has no time; lists those that have.
    """
    from stacklib.quantity import resolve

    rates = {
        one.kernel: one.predicted
        for one in lines()
        if one.series == name and one.predicted
    }
    return rates[resolve(kernel, rates, f"timed kernel of {name}", exact=True)]


def summaries() -> list[Summary]:
    """By kind of kernel, the kind with most kernels first."""
    from stacklib.evidence import kernel_series

    return sorted(kernel_series.by(lines(), "kind"), key=lambda one: -one.lines)


def pairs(found: Sequence[Line]) -> int:
    """Pairs of a series whose published rates are so far apart that order counts."""
    from stacklib.evidence.kernel_series import APART

    timed = [one for one in found if one.predicted is not None]
    return sum(
        one.series == other.series
        and max(one.published, other.published)
        >= APART * min(one.published, other.published)
        for one, other in combinations(timed, 2)
    )


def rows() -> list[dict[str, Any]]:
    """A row a kind: kernels, those with a time, the factors, pairs turned round."""
    return [
        {
            "kernels": one.name,
            "published": one.lines,
            "with a time": one.lines - one.refused,
            "median factor": read(one, "median"),
            "worst": read(one, "worst"),
            "pairs": pairs(of_kind(one.name)) if one.lines > one.refused else None,
            "turned round": len(one.faults) if one.lines > one.refused else None,
        }
        for one in summaries()
    ]


def read(of: Summary, which: str) -> Quantity | None:
    """The ``median`` or ``worst`` factor of a kind of kernel, if one was timed."""
    if of.lines == of.refused:
        return None
    return counted(summary, of.name, take=which, label=f"{which} factor, {of.name}")


def summary(kind: str) -> Summary:
    """That of one kind."""
    return next(one for one in summaries() if one.name == kind)


def verdict(one: Summary) -> str:
    """What the clock may be asked about a kind of kernel."""
    if one.lines == one.refused:
        return "not timed yet"
    turned = "".join(f"{slow} comes out before {fast}" for fast, slow in one.faults[:1])
    if one.worst > FAR:
        order = "an order, no time" if pairs(of_kind(one.name)) else "neither"
        far = f"{order}: the worst is off by {one.worst:.2g}"
        return f"neither: {turned}" if turned else far
    if turned:
        return f"a rough time, no order: {turned}"
    rough = "rough " if one.median > NEAR else ""
    judged = pairs(of_kind(one.name))
    return f"a {rough}time{' and an order' if judged else '; no order was judged'}"


def verdicts() -> list[str]:
    """One line a kind."""
    wide = max(len(one.name) for one in summaries())
    return [f"{one.name:{wide}}  {verdict(one)}" for one in summaries()]


def has_port(one: Line) -> bool:
    """Whether the kernel is written in our language."""
    from stacklib.evidence.series import PORTS

    return one.kernel in PORTS.get(one.series, {})
