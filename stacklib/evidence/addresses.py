"""Requests to memory as quantities, and the strided walks of the book's machine."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import cache

from stacklib.hardware.warp_rules import rule
from stacklib.memory import Tile, bank_conflicts
from stacklib.memory.warp.banks import BANKS, bank_access, words_of
from stacklib.memory.warp.coalescing import strided_pieces
from stacklib.memory.warp.swizzle import Place
from stacklib.quantity import Quantity, Source, chosen, counted

from . import results, runs
from .runs import Run

__all__ = ["moved", "remedies", "walks", "ways"]

WALKS = "strided_access"


def given(value: float, unit: str, label: str) -> Quantity:
    """A given of the example."""
    return chosen(value, unit, label)


def moved(
    step: Quantity, piece: str = "sector", first: Quantity | None = None
) -> Quantity:
    """Pieces that a warp moves whose lanes are one step apart."""
    start = given(0, "B", "address of lane 0") if first is None else first
    found: Quantity = strided_pieces(
        step, first=start, lanes=rule("lanes"), size=rule(piece)
    )
    return found.named(f"{piece}s moved")


def ways(addresses: Sequence[int], width: int, what: str) -> Quantity:
    """A conflict as words over the banks they fall in, where these share evenly.

    ``width``: bytes each accesses, at most a word.
    """
    words = {w for a in addresses for w in words_of(a, width)}
    banks = sorted(word % BANKS for word in words)
    met = counted(distinct, banks, label=f"banks that {what} meets")
    lanes = rule("lanes")
    if len(words) != lanes.si or len(words) != met.si * bank_conflicts(
        addresses, width
    ):
        raise ValueError(
            f"{what}: {len(words)} words are uneven over {met.text()} banks"
        )
    return (lanes / met).named("ways")


def distinct(banks: Sequence[int]) -> int:
    return len(set(banks))


# -- remedies --------------------------------------------------------------------


def remedies(
    tile: Tile, places: dict[str, tuple[Place, int]]
) -> list[dict[str, object]]:
    """Rows of a table: what each placement of a tile does to its three readers."""
    return [
        {
            "placement": name,
            **{f"{p.name} (ways)": _worst(p.requests, p.width, place)
               for p in (tile.along(), tile.down(), tile.matrices())},
            "bytes added": chosen(extra, "B", label="padding")
            / chosen(tile.pitch, "B", label="row"),
        }
        for name, (place, extra) in places.items()
    ]  # fmt: skip


def _worst(
    requests: Sequence[Sequence[int]], width: int, place: Callable[[int], int]
) -> int | None:
    """The worst conflict; None where some lane could not make its access."""
    placed = [[place(offset) for offset in lanes] for lanes in requests]
    if any(address % width for lanes in placed for address in lanes):
        return None
    return max(bank_access(lanes, width).degree for lanes in placed)


# -- walks -----------------------------------------------------------------------


@cache
def walks() -> tuple[Run, ...]:
    """The measured walks beside their prediction, by stride."""
    found = runs.load(WALKS)
    if not found:
        raise results.ResultError(f"{WALKS}: not measured here")
    return tuple(sorted(found, key=lambda run: run.case["stride"]))


def walk(stride: int) -> Run:
    """The walk of one stride. ``stride``: in elements of four bytes."""
    for run in walks():
        if run.case["stride"] == stride:
            return run
    known = ", ".join(str(run.case["stride"]) for run in walks())
    raise results.ResultError(f"{WALKS}: no stride {stride}; measured: {known}")


def alone(stride: int) -> Quantity:
    """Predicted time of a walk whose lines all come alone.

    ``stride``: in elements of four bytes.
    """
    path = results.root() / "benchmarks" / "predictions" / f"{WALKS}.json"
    rows = json.loads(path.read_text(encoding="utf-8"))["rows"]
    (row,) = (row for row in rows if row["stride"] == stride)
    name = f"benchmarks/predictions/{WALKS}.json"
    date = results.load(WALKS)["date"][:10]  # type: ignore[index]
    source = Source(name, "committed before the run", date, "measured")
    return runs.foretold(row["alone_s"], "s", "every line alone", source)
