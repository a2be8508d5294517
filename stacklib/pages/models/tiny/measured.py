"""The book's own model: its training, its quality and its speed, as measured."""

from __future__ import annotations

import math
from typing import Any

from stacklib import tinylm
from stacklib.evidence import results, runs
from stacklib.quantity import Quantity, Source, counted, recorded
from stacklib.tinylm.config import shapes
from stacklib.tinylm.record import quality, training

SHOWN = {
    "tiny": "tiny",
    "draft": "draft, distilled",
    "draft_plain": "draft, from text alone",
    "kneser_ney": "Kneser-Ney 5-gram of tokens",
    "kneser_ney_bytes": "Kneser-Ney 5-gram of bytes",
}
RESULT = "tiny_model"
UNIT = {"bits_per_byte": "bit/B", "evaluation_text": "bit/B", "less_than": "bit/B"}


def curve(name: str = "tiny") -> dict[str, list[Quantity]]:
    """A learning curve: tokens read, held-out loss."""
    file, points = f"stacklib/tinylm/data/{name}/training.json", training(name)["curve"]
    return {
        key: [recorded(file, f"curve/{n}", key) for n in range(len(points))]
        for key in ("tokens", "held_out")
    }


def run(id: str) -> runs.Run:
    """One prediction of `benchmarks/tiny_model.py` beside its measurement."""
    return runs.get(RESULT, id)


def speeds() -> list[runs.Run]:
    """Every decode step and prefill, in the order of the file."""
    return [r for r in runs.load(RESULT) if not r.id.startswith("train-")]


def kept_bytes(name: str, what: str) -> tuple[Quantity, Quantity]:
    """Bytes a training step keeps, predicted and counted."""
    result, place = results.need(RESULT), f"memory, {name}, {what}"
    before = Source(result["prediction"]["file"], place, result["date"], "measured")
    told = results.prediction(RESULT)["memory"][name][what]
    file, row = f"benchmarks/results/{RESULT}.json", f"memory/{name}"
    return (
        runs.foretold(told, "B", "bytes predicted", before),
        recorded(file, row, what, unit="B", label="bytes counted"),
    )


def of_quality(row: str, field: str, unit: str, label: str) -> Quantity:
    """A figure of the file that `tinylm.evaluate` wrote."""
    file = "stacklib/tinylm/data/quality.json"
    return recorded(file, row, field, unit=unit, label=label)


def measured_quality(table: str, name: str, which: int | str = 0) -> Quantity:
    """One figure of `tinylm.evaluate`."""
    label = f"{table.replace('_', ' ')} of {name}"
    return of_quality(f"{table}/{name}", str(which), UNIT.get(table, "1"), label)


def quality_rows(table: str) -> list[dict[str, Any]]:
    """Each model's and baseline's figure of a table, with its interval."""
    return [
        {
            "model": SHOWN[name],
            **{
                column: measured_quality(table, name, which)
                for which, column in enumerate(("value", "low", "high"))
            },
        }
        for name in quality()[table]
    ]


def acceptance_rows() -> list[dict[str, Any]]:
    """What the tiny model accepts of each draft, and how well each predicts."""
    return [
        {
            "draft": SHOWN[name],
            "accepted": measured_quality("acceptance", name, "rate"),
            "cooler": measured_quality("acceptance", name, "cool"),
            "same first choice": measured_quality("acceptance", name, "greedy"),
            "bits a byte": measured_quality("bits_per_byte", name),
        }
        for name in quality()["acceptance"]
    ]


def probe_rows(model: str = "tiny") -> list[dict[str, Any]]:
    """Share of each part of the probe answered right, with Wilson's interval."""
    from stacklib.tinylm.probe import Result

    rows = []
    for part, (right, asked) in quality()["probe"][model].items():
        given = part, right, asked, 0.25 if part == "cloze" else 0.5
        row = {"asked for": part, "questions": asked, "right": share(model, part)}
        for end in ("low", "high"):
            row[end] = counted(Result, *given, take=f"accuracy.{end}", label=end)
        before = share("untrained", part).named("before training")
        rows.append({**row, "before training": before})
    return rows


def share(model: str, part: str) -> Quantity:
    """Of a part of the probe, what a model answered right."""
    row = f"probe/{model}/{part}"
    right, asked = (of_quality(row, n, "1", "answers") for n in ("0", "1"))
    return (right / asked).named("right")


def cost_rows() -> list[dict[str, Any]]:
    """Time of each training, predicted and measured."""
    found = [tiny_run for tiny_run in runs.load(RESULT) if "train-" in tiny_run.id]
    return [
        {
            "model": SHOWN[r.id.removeprefix("train-")],
            "operations": r.operations,
            "predicted": r.predicted,
            "measured": r.measured,
            "predicted / measured": r.predicted / r.measured,
        }
        for r in found
    ]


def speed_rows() -> list[dict[str, Any]]:
    """Time of each decode step and prefill, predicted and measured."""
    return [
        {
            "model": SHOWN[r.case["model"]],
            "pass": r.id.split("-")[0],
            "tokens": r.case["tokens"],
            "predicted": r.predicted,
            "measured": r.measured,
            "predicted / measured": r.predicted / r.measured,
        }
        for r in speeds()
    ]


def parameter_rows() -> list[dict[str, Any]]:
    """Parameters of each model: from the config, in the file, in the forward pass."""
    rows = []
    for name in tinylm.config.NAMES:
        model = tinylm.load(name)
        used = sum(math.prod(shape) for shape in shapes(model.config).values())
        rows.append(
            {
                "model": SHOWN[name],
                "formula": int(model.architecture.parameters.si),
                "file": model.parameters,
                "asked for by the forward pass": used,
            }
        )
    return rows
