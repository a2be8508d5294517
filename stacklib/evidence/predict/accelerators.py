"""Arrays of multipliers in family J, asked by kind of row.

A simulated product by the closed form of an array; the first TPU's applications by
roofline, tiles and the loading of weights (``accelerators.array.tpu_v1``); frames a
second of convolutions by an array whose sums stand still and whose folds overlap, at
the clock that the row gives. Nothing is fitted to these rows. Other kinds of row are
refused: machines built from parts are ``rigs``'.
"""

from __future__ import annotations

from collections.abc import Callable

from stacklib.accelerators.array.cycles import cycles
from stacklib.accelerators.array.network import APPLICATIONS, network
from stacklib.accelerators.array.tpu_v1 import tpu_v1
from stacklib.quantity import UnknownName

from ..measurements import Measurement, Refusal, number
from .registry import Forecast, Predict

EYERISS = (12, 14)  # rows and columns; Y.-H. Chen and others, JSSC 2017
TPU_V1 = {  # metric: attribute of the outcome, its unit
    "achieved_throughput": ("rate", "OP/s"),
    "array_active_cycles": ("active", ""),
    "weight_stall_cycles": ("stalled", ""),
    "throughput": ("inferences", "1/s"),
}
GIVEN = {
    "ops_per_weight_byte": "an input of this prediction",
    "model_vs_counter_error": "the error of another model, not the machine's",
}


def _simulated(row: Measurement) -> Predict:
    m, n, k, rows, cols = map(row.integer, ("m", "n", "k", "rows", "cols"))
    flow = row.text("dataflow")
    try:
        last = cycles(m=m, n=n, k=k, rows=rows, cols=cols, dataflow=flow)
    except UnknownName as unknown:
        raise Refusal(str(unknown).splitlines()[0]) from None
    return lambda: Forecast(last, "cycle", "array")


def _tpu_v1(row: Measurement) -> Predict:
    if row.metric in GIVEN:
        raise Refusal(f"{row.metric} is {GIVEN[row.metric]}")
    if row.metric not in TPU_V1 or row.subject.lower() not in APPLICATIONS:
        raise Refusal(
            f"{row.metric} of {row.subject!r}: of TPU v1 there are "
            f"{', '.join(TPU_V1)} of {', '.join(APPLICATIONS)}"
        )
    app = APPLICATIONS[row.subject.lower()]
    if row.integer("batch", app.batch) != app.batch:
        raise Refusal(f"batch = {row.integer('batch')}: the paper's is {app.batch}")
    name, unit = TPU_V1[row.metric]

    def predict() -> Forecast:
        made = tpu_v1(row.subject)
        return Forecast(getattr(made, name), unit, made.bound)

    return predict


def _eyeriss(row: Measurement) -> Predict:
    clocks = [word.split() for word in row.config if word.endswith(" MHz")]
    if row.metric != "throughput" or "alexnet" not in row.subject.lower() or not clocks:
        raise Refusal(
            f"{row.metric} of {row.subject!r}: frames of AlexNet at a clock are known"
        )
    rows, cols = EYERISS
    batch, clock = row.integer("batch", 1), number(clocks[0][0]) * 1e6

    def predict() -> Forecast:
        passed = sum(
            layer.count
            * (
                1
                + cycles(
                    m=layer.m, n=layer.n, k=layer.k, rows=rows, cols=cols, overlap=True
                )
            )
            for layer in network("alexnet", batch=batch)
            if layer.name.startswith("conv")
        )
        return Forecast(batch * clock / passed, "1/s", "array")

    return predict


KINDS: tuple[tuple[str, Callable[[Measurement], Predict]], ...] = (
    ("systolic array", _simulated),
    ("TPU v1", _tpu_v1),
    ("Eyeriss", _eyeriss),
)


def prepare(row: Measurement) -> Predict:
    """What predicts a row, by the words of its system."""
    for words, kind in KINDS:
        if words.lower() in row.system.lower():
            return kind(row)
    raise Refusal(f"{row.system!r} is no array of multipliers that is modelled")
