"""Section 3.1: How far away is a byte?"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from stacklib import hardware
from stacklib.evidence import results
from stacklib.memory.cache.chase_model import ChaseLevel, served
from stacklib.memory.ladder.rungs import Rung, ladder
from stacklib.pages.figures_of import claimed as claimed
from stacklib.quantity import Quantity, assumed, constant, counted, one_of, stamp

from . import chases

H100, B200, A100, CURVE = "h100_sxm", "b200_sxm", "a100_sxm_80gb", "h100_pcie"
LISTED = ("registers", "shared memory", "L2", "HBM")


@cache
def rungs(device: str = H100) -> dict[str, Rung]:
    """The ladder of a device by the names of its rungs."""
    return {rung.name: rung for rung in ladder(device)}


def of(level: str, field: str, device: str = H100) -> Quantity:
    """A field of a rung, or an error where nobody has published it."""
    value = getattr(rungs(device)[level], field)
    if value is None:
        raise hardware.UnknownSpec(f"{device}: {field} of {level} is unknown")
    return value


def cycles(level: str) -> Quantity:
    """Cycles of a load from a level of an H100, without the unit."""
    return of(level, "cycles") / one_of("cycle")


def lanes() -> Quantity:
    """Multiply-adds in fp32 that one unit of an H100 starts in a cycle."""
    each = hardware.get(H100).peaks["fp32"].per_unit_per_cycle
    if each is None:
        raise hardware.UnknownSpec(f"{H100}: operations of a unit and cycle")
    return (each / constant("multiply_add") * one_of("cycle")).named("lanes")


# -- published chases, and our own -------------------------------------------------


def edge(i: int) -> Quantity:
    """Working set at which the published chase leaves its i-th level."""
    size, _ = chases.curves()[CURVE].level(i)
    if size is None:
        raise results.ResultError(f"{CURVE}: level {i} has no end")
    return size.named(f"end of level {i + 1}")


def curve_error() -> Quantity:
    """Median error of the predicted curve at the sizes of the published one."""
    curve = chases.curves()[CURVE]
    told = (counted(predicted_at, size, unit="cycle") for size in curve.sizes)
    seen = map(curve.time, range(len(curve.sizes)))
    return middle([abs(a / b - 1) for a, b in zip(told, seen, strict=True)])


def predicted_at(size: int) -> float:
    """Cycles of a load from a working set of so many bytes, on the curve's device."""
    return chases.predicted_curve(CURVE, [size])[0]


def middle(errors: Iterable[Quantity]) -> Quantity:
    """Median of some errors; of an even number the mean of the middle two."""
    found = sorted(errors, key=lambda error: error.si)
    low, high = found[(len(found) - 1) // 2], found[len(found) // 2]
    return (low if low is high else (low + high) / 2).named("median error")


def here(level: str, field: str) -> Quantity:
    """A field of a cache of this machine, or an error where it was not found."""
    row = next(row for row in chases.cache_rows() if row.level == level)
    value = getattr(row, field)
    if value is None:
        raise results.ResultError(f"{chases.SWEEP}: no {field} of {level} was found")
    return value


def small_page() -> Quantity:
    """Bytes of a page of this machine."""
    return assumed(
        4096,
        "B",
        "a page",
        why="Linux gives small pages where no others are asked for.",
    )


def ways() -> Quantity:
    """Ways of this machine's second cache, as the system reports them."""
    return chases.reported_ways("L2")


def colours() -> Quantity:
    """Places that a page can have in that cache."""
    return (here("L2", "reported") / ways() / small_page()).named("page colours")


def kept(size: Quantity, ways: int, page: Quantity) -> float:
    """Share of a working set of the cache's own size that stays in it, expected."""
    cache = ChaseLevel("L2", 1, int(size.si), ways, 64)
    levels = (cache, ChaseLevel("memory", 2))
    return served(int(size.si), levels, 64, int(page.si))[0]


def l2_kept() -> Quantity:
    """That share of this machine's second cache."""
    size = here("L2", "reported")
    share = counted(kept, size, ways(), small_page(), label="kept share, expected")
    return stamp(share, "chase")


def sweep_error(low: str, high: str) -> Quantity:
    """Median error of our own sweep from one reported cache to another."""
    at = [here(level, "reported").si if level else 0.0 for level in (low, high)]
    return middle(chases.sweep_errors(*at))
