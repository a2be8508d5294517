"""Products that rows say little about, and the wider band that they carry.

A format that one source has measured, a board of more power than the rows have seen:
the factors that decide there, the energies of an operation, are not known to more than
their interval. The band holds the rows' errors at the worse end of it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from stacklib import hardware
from stacklib.hardware.errors import Tested
from stacklib.roofline.bound import gemm

from ..measurements import Measurement
from ..predict.gemm import multiplied
from ..systems import device_of
from ..validate import device_name, quantile, source_of
from .folds import BY
from .problem import Case, Problem

ROWS = 2  # of a device, at the least: one row alone tests no board
Span = tuple[float, float]


def reach(rows: Iterable[Measurement]) -> Tested:
    """Formats of two sources, and the most power of a board by its energy factor."""
    sources: dict[str, set[str]] = defaultdict(set)
    boards: dict[str, list[tuple[str, float]]] = {}
    for row in rows:
        chip, dtype = _of(row)
        sources[dtype].add(source_of(row))
        if chip.energy and chip.tdp:
            boards.setdefault(device_name(row), []).append((chip.energy[0], chip.tdp))
    watts: dict[str, float] = {}
    for name, power in (seen[0] for seen in boards.values() if len(seen) >= ROWS):
        watts[name] = max(watts.get(name, 0.0), power)
    formats = frozenset(name for name, found in sources.items() if len(found) > 1)
    return Tested(formats, dict(sorted(watts.items())))


def _of(row: Measurement) -> tuple[gemm.Chip, str]:
    device = hardware.get(device_of(row.system)[0])
    dtype = multiplied(row, device)
    return gemm.chip_of(device, dtype), dtype


def _wide(row: Measurement, known: Tested) -> bool:
    chip, dtype = _of(row)
    return gemm.band_of(dtype, chip, known) == gemm.WIDE


def stretch(problem: Problem, case: Case, spans: Mapping[str, Span]) -> list[float]:
    """What a prediction is multiplied by at both ends of the energies' intervals."""
    centre, names = case.predict(), [n for n in spans if n.startswith("tensor_energy")]
    ends = []
    for side in (0, 1):
        with problem.override({name: spans[name][side] for name in names}):
            ends.append(case.predict() / centre)
    return ends


def wide_row(
    problem: Problem,
    rows: Mapping[str, Measurement],
    predicted: Mapping[str, Mapping[str, float]],
    spans: Mapping[str, Span],
) -> dict[str, Any]:
    """The band of such products, in the words of the file of errors.

    ``rows``: those of family A in the fit, by id. ``predicted``: by fold and id.
    """
    known = reach(rows.values())
    wide = [c for c in problem.cases if c.id in rows and _wide(rows[c.id], known)]
    errors = []
    for case in wide:
        held = [predicted[by][case.id] for by in BY if case.id in predicted[by]]
        ends = (1.0, *stretch(problem, case, spans))
        if len(held) == len(BY):
            errors.append(
                max(abs(h * e / case.measured - 1) for h in held for e in ends)
            )
    return {
        "median": quantile(errors, 0.5),
        "p90": quantile(errors, 0.9),
        "n": len(wide),
        "unseen": len(errors),
        "formats": sorted(known.formats),
        "watts": known.watts,
    }
