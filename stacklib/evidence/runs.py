"""Our measurements beside the predictions that were committed before them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from statistics import median, quantiles
from typing import Any

from stacklib.quantity import Quantity, Source
from stacklib.quantity.core import _make
from stacklib.quantity.records import record_key, stored
from stacklib.quantity.told import COUNT

from . import results

HOST = "host"  # the family of what was predicted of our own machines


@dataclass(frozen=True, slots=True)
class Run:
    """One case: what it is, what was predicted, what was measured.

    ``low`` and ``high`` are the 10th and 90th percentile of the measured times.
    """

    id: str
    case: dict[str, Any]
    operations: Quantity
    bytes: Quantity
    predicted: Quantity
    measured: Quantity
    low: Quantity
    high: Quantity

    @property
    def error(self) -> Quantity:
        """Predicted over measured, minus one."""
        return (self.predicted / self.measured - 1).named("error of the prediction")

    @property
    def intensity(self) -> Quantity:
        """Operations a byte."""
        return self.operations / self.bytes

    @property
    def rate(self) -> Quantity:
        """Operations a second as measured."""
        return self.operations / self.measured

    @property
    def spread(self) -> tuple[Quantity, Quantity]:
        """Rates at the slow and the fast end of the measured times."""
        return self.operations / self.high, self.operations / self.low


def load(name: str, device: str | None = None) -> list[Run]:
    """Runs of a result file that its prediction file names too."""
    result = results.load(name)
    if result is None or result["prediction"] is None:
        return []
    path = results.root() / result["prediction"]["file"]
    try:
        rows = json.loads(path.read_text(encoding="utf-8"))["rows"]
        predictions = {row["id"]: row for row in rows}
    except (OSError, ValueError, KeyError, TypeError) as wrong:
        raise results.ResultError(f"{path.name}: not a prediction: {wrong}") from None
    date = result["date"][:10]
    measured = Source(
        f"benchmarks/results/{name}.json", result["device"], date, "measured"
    )
    # The date is the measurement's: git holds the prediction to be older than that.
    predicted = Source(
        result["prediction"]["file"], "committed before the run", date, "measured"
    )
    joined = (
        _run(row, predictions.get(row["id"]), device, measured, predicted)
        for row in result["rows"]
    )
    return [run for run in joined if run is not None]


def _run(
    row: dict[str, Any],
    prediction: Any,
    device: str | None,
    measured: Source,
    predicted: Source,
) -> Run | None:
    seconds = prediction and prediction["predicted_s"]
    if isinstance(seconds, dict):
        seconds = seconds.get(device)
    if not seconds:  # nothing was predicted for this case
        return None
    low, high = _tenths(row["times_s"])
    words = ("median time", "10th percentile", "90th percentile")
    values = (median(row["times_s"]), low, high)
    keys = (
        record_key(measured.title, row["id"], f"times_s/{way}", "s")
        for way in ("median", "p10", "p90")
    )
    times = [
        Quantity(v, "s", label=w, source=measured, kind="measured", key=key)
        for v, w, key in zip(values, words, keys, strict=True)
    ]
    case = {k: v for k, v in row.items() if k != "times_s"}
    return Run(
        row["id"],
        case,
        foretold(prediction["operations"], "FLOP", "operations", predicted),
        foretold(prediction["bytes"], "B", "bytes", predicted),
        foretold(seconds, "s", "predicted time", predicted),
        *times,
    )


@cache
def beside(name: str) -> dict[str, dict[str, Any]]:
    """Rows of a result by id, each with what was predicted of it as ``told``."""
    told = {row["id"]: row for row in results.prediction(name)["rows"]}
    return {
        row["id"]: row | {"told": told[row["id"]]} for row in results.need(name)["rows"]
    }


def foretold(value: float, unit: str, label: str, source: Source | None) -> Quantity:
    """A number of a prediction that was committed before its measurement.

    Work was counted from its shapes; how long it takes is a model's word.
    """
    made = Quantity(value, unit, label=label, source=source)
    told = {"kind": "counted", "note": f"{COUNT} before the run"}
    if unit == "s":
        told |= {"note": "predicted before the run", "family": HOST}
    return _make(made, **told)


def promised(name: str, row: str, field: str, unit: str, label: str) -> Quantity:
    """A number of the prediction that was committed before a result, by its record.

    ``name``: of the result; ``row``, ``field``: as ``recorded`` takes them.
    """
    result = results.need(name)
    file = result["prediction"]["file"]
    source = Source(file, "committed before the run", result["date"][:10], "measured")
    made = foretold(stored(file, row, field), unit, label, source)
    return _make(made, key=record_key(file, row, field, unit))


def _tenths(times: list[float]) -> tuple[float, float]:
    if len(times) == 1:
        return times[0], times[0]
    cuts = quantiles(times, n=10, method="inclusive")
    return cuts[0], cuts[-1]


def get(name: str, id: str) -> Run:
    """One run of a result file."""
    found = [run for run in load(name) if run.id == id]
    if not found:
        raise results.ResultError(f"{name}: no run {id!r}; measure with `make bench`")
    return found[0]


def median_error(runs: Iterable[Run]) -> Quantity:
    """Median of ``|predicted / measured - 1|`` over some runs."""
    errors = sorted((abs(run.error) for run in runs), key=lambda q: q.si)
    if not errors:
        raise ValueError("no runs: nothing was measured yet")
    return errors[len(errors) // 2].named("median error")


def gpu_results() -> list[str]:
    """One line a committed result of ``make gpu``: device, date, cases, error."""
    folder = results.root() / "benchmarks" / "results"
    return [_gpu_line(path.stem) for path in sorted(folder.glob("gpu_*.json"))]


def _gpu_line(name: str) -> str:
    result = results.load(name)
    assert result is not None  # the file was just listed
    device = result.get("device_key")
    runs = load(name, device) if device else []
    held = f"median error {median_error(runs):.2 %}" if runs else "no prediction for it"
    return f"{result['device']}, {result['date']}: {len(result['rows'])} cases, {held}"
