"""Measurements made on our own machines: ``benchmarks/results/*.json``.

They stand in the checkout, once; an installed wheel carries those that were committed.
"""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

from stacklib.quantity.bounds import is_whole
from stacklib.quantity.files import held

FIELDS = {
    "kind": str,
    "device": str,
    "driver": str,
    "clocks": object,
    "versions": dict,
    "date": str,
    "prediction": object,
    "rows": list,
}


class ResultError(ValueError):
    """A result file that cannot be used; names the file and the field."""


def root() -> Path:
    """The folder that holds ``benchmarks``: the checkout, or what a wheel carries."""
    return held("benchmarks/results")


def _folder() -> Path:
    return root() / "benchmarks" / "results"


def file(name: str) -> str:
    """A result file's name from the top of the checkout."""
    return f"benchmarks/results/{name}.json"


def load(name: str) -> dict[str, Any] | None:
    """A result file by name, checked."""
    if not re.fullmatch(r"[\w.-]+", name):
        raise ResultError(f"result name {name!r}: a file name without folders")
    path = _folder() / f"{name}.json"
    if not path.exists():
        return None
    try:
        result = json.loads(path.read_text(encoding="utf-8"))
    except json.JSONDecodeError as error:
        raise ResultError(f"{path.name}: not JSON: {error}") from None
    fault = _fault(result)
    if fault:
        raise ResultError(f"{path.name}: {fault}")
    return result


def need(name: str) -> dict[str, Any]:
    """A result file that must be there; ResultError where nothing was measured."""
    found = load(name)
    if found is None:
        raise ResultError(f"{name}: not measured here; measure with `make bench`")
    return found


def by_kind(name: str) -> list[str]:
    """Names of a result's files: one for each kind of processor, or the one there is.

    Where speed beside a peer's depends on the vector unit, one is kept for AVX2 and one
    for AVX-512 (`benchmarks/kinds.py`). ResultError where nothing was measured.
    """
    stems = [path.stem for path in sorted(_folder().glob(f"{name}_*.json"))]
    found = [s for s in stems if s == f"{name}_{need(s).get('processor')}"]
    if not found:
        need(name)
    return found or [name]


def prediction(name: str) -> dict[str, Any]:
    """The file that was committed before a result was measured."""
    path = root() / need(name)["prediction"]["file"]
    return json.loads(path.read_text(encoding="utf-8"))


def _fault(result: Any) -> str | None:
    if not isinstance(result, dict):
        return f"needs an object, not {type(result).__name__}"
    for field, kind in FIELDS.items():
        if field not in result:
            return f"field {field!r} is missing"
        if not isinstance(result[field], kind):
            return f"field {field!r} holds {result[field]!r}, not a {kind.__name__}"
    if not re.fullmatch(r"\d{4}-\d\d-\d\d.*", result["date"]):
        return f"field 'date' holds {result['date']!r}, not an ISO date"
    fault = _prediction_fault(result)
    if fault:
        return fault
    return next(
        filter(None, map(_row_fault, range(len(result["rows"])), result["rows"])), None
    )


def _prediction_fault(result: dict[str, Any]) -> str | None:
    """A prediction file and its hash, or the reason why nothing was predicted."""
    prediction = result["prediction"]
    if prediction is None:
        said = str(result.get("why_no_prediction", "")).strip()
        return None if said else "field 'why_no_prediction' is missing"
    if not isinstance(prediction, dict):
        return f"field 'prediction' holds {prediction!r}, not an object"
    if not re.fullmatch(r"[0-9a-f]{64}", str(prediction.get("sha256"))):
        return "field 'prediction.sha256' is not a SHA-256 in hex"
    if not isinstance(prediction.get("file"), str):
        return "field 'prediction.file' is missing"
    return None


def _row_fault(i: int, row: Any) -> str | None:
    times = row.get("times_s") if isinstance(row, dict) else None
    if not isinstance(times, list) or not times:
        return f"field 'rows[{i}].times_s' is not a list of seconds"
    for t in times:
        if not (is_whole(t) or isinstance(t, float)):
            return f"field 'rows[{i}].times_s' holds {t!r}, not seconds"
        if not math.isfinite(t) or t <= 0:
            return f"field 'rows[{i}].times_s' holds {t!r}, not a positive time"
    return None
