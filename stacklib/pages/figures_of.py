"""Figures that others published, as quantities that say where they were read."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from stacklib.evidence import ledger, measurements, results, runs
from stacklib.quantity import Quantity, Source

# Others are named as a quantity names them.
UNITS = {
    "tokens/s": "token/s",
    "TFLOPS": "TFLOP/s",
    "TOPS": "TOP/s",
    "GFLOPS": "GFLOP/s",
    "tokens/s/GPU": "token/s",
}


def published(
    value: float, unit: str, label: str, title: str, key: str, *, where: str = ""
) -> Quantity:
    """A figure of a table of the package that quotes a document; ``key``: its place."""
    source = Source(title, where or label, "2026-11-25", "secondary")
    return Quantity(value, unit, label=label, source=source, kind="claimed", key=key)


def claimed(id: str) -> Quantity:
    """What a source document says, by the id of the claim."""
    return ledger.get(id).quantity()


def foretold(stem: str, value: float, unit: str, label: str) -> Quantity:
    """A number of the prediction that was committed before that result."""
    file = results.need(stem)
    where, words = file["prediction"]["file"], "committed before the run"
    source = Source(where, words, file["date"], "measured")
    return runs.foretold(value, unit, label, source)


@cache
def rows(stem: str) -> list[dict[str, Any]]:
    """Rows of ``benchmarks/results/<stem>.json``, whatever they hold."""
    path = results.root() / "benchmarks" / "results" / f"{stem}.json"
    return json.loads(path.read_text(encoding="utf-8"))["rows"]


@cache
def row(id: str) -> measurements.Measurement:
    """A row of the published measurements."""
    every = (*measurements.fitted(), *measurements.series())
    return next(found for found in every if found.id == id)


def measured(id: str) -> Quantity:
    """What a row of the published measurements says."""
    found = row(id)
    source = Source(found.source, found.id, "2026-11-21", "secondary")
    plain = found.unit.startswith("ppl")  # a perplexity, and of which text
    return Quantity(
        found.value,
        "" if plain else UNITS.get(found.unit, found.unit),
        label=f"{found.software}, {found.id}",
        source=source,
        kind="measured",
        key=id,
    )
