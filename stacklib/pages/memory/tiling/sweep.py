"""The tile sweep of the book's machine: what was predicted, what was measured."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

from stacklib.evidence import results, runs
from stacklib.evidence.runs import Run
from stacklib.quantity import Quantity, Source, counted, recorded

NAME, KERNEL = "tile_sweep", "tile_kernel"


@dataclass(frozen=True)
class TilePoint:
    """One matrix size with one tile."""

    tile: str  # rows, columns and steps; ``whole`` where nothing is cut
    run: Run  # predicted and measured time
    core: Quantity  # predicted time of the arithmetic alone
    longest: Quantity  # the longest of the three parts
    from_l2: Quantity  # bytes brought
    from_l3: Quantity

    @property
    def side(self) -> int:
        """Side of a cubic tile; 0 for another."""
        sides = set(self.run.case["tile"])
        return int(sides.pop()) if len(sides) == 1 else 0


@cache
def _forecast() -> dict[str, Any]:
    return results.prediction(NAME)


@cache
def points(n: int) -> tuple[TilePoint, ...]:
    """Every tile of one matrix size."""
    told = {row["id"]: row for row in _forecast()["rows"]}
    file = f"benchmarks/predictions/{NAME}.json"
    source = Source(file, "committed before the run", "2026-11-22", "measured")

    def quantity(id: str, field: str, unit: str) -> Quantity:
        return runs.foretold(told[id][field], unit, field.replace("_s", ""), source)

    found = tuple(
        TilePoint(
            run.id.partition("-")[2],
            run,
            quantity(run.id, "core_s", "s"),
            quantity(run.id, "longest_s", "s"),
            quantity(run.id, "from_l2", "B"),
            quantity(run.id, "from_l3", "B"),
        )
        for run in runs.load(NAME)
        if run.case["n"] == n
    )
    if not found:
        raise results.ResultError(f"{NAME}: no product of {n} was measured here")
    return found


def sizes() -> list[int]:
    """Matrix sizes that were predicted."""
    return sorted({row["n"] for row in _forecast()["rows"]})


def best(n: int, *, predicted: bool = False) -> TilePoint:
    """The fastest tile of one matrix size, as measured or as predicted."""
    by = (lambda p: p.run.predicted.si) if predicted else (lambda p: p.run.measured.si)
    return min(points(n), key=by)


def point(n: int, tile: str) -> TilePoint:
    """One case."""
    for found in points(n):
        if found.tile == tile:
            return found
    raise results.ResultError(f"{NAME}: no tile {tile!r} of {n} was measured here")


def shares() -> tuple[Quantity, Quantity, Quantity]:
    """Cases between the longest part and the sum, those slower than it, and all."""
    every = [p for n in sizes() for p in points(n)]
    times = [(p.longest.si, p.run.measured.si, p.run.predicted.si) for p in every]
    inside = [taken for low, taken, high in times if low <= taken <= high]
    slower = [taken for _, taken, high in times if taken > high]
    return (
        counted(len, inside, label="cases between"),
        counted(len, slower, label="cases slower"),
        counted(len, every, label="cases"),
    )


def ran(row: str, field: str) -> Quantity:
    """A size of a product of the sweep: ``n``, or a side of its tile, ``tile/0``."""
    return recorded(f"benchmarks/results/{NAME}.json", row, field, label="numbers")


def second_cache() -> Quantity:
    """Bytes of the second cache, one core's, as the system reported them."""
    file, row = f"benchmarks/results/{NAME}.json", "machine/caches/1"
    return recorded(file, row, "bytes", unit="B", label="L2 as reported")
