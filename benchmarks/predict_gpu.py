"""Predict every case of gpu.py from the roofline alone, before anything runs.

    python benchmarks/predict_gpu.py     # writes predictions/gpu.json

max(operations / dense peak, bytes / bandwidth), with the published figures of
each device; a decode step as the book's account has it, fitted on published
measurements, without exchanges. Of all other cases launching, clocks under load and
every inefficiency are left out: the distance to the measurement is what the benchmark
is for. The same specs give the same bytes.
"""

import sys
from typing import Any

import record
from gpu_cases import DEVICES, Case, cases

from stacklib import hardware
from stacklib.models import LanguageModel, from_hf_config
from stacklib.quantity import Quantity
from stacklib.roofline import bound_time
from stacklib.roofline.work.fit import Infeasible
from stacklib.serving import account
from stacklib.serving.token.work import SAMPLING

Ceilings = dict[str, Any]


def ceilings(key: str) -> Ceilings:
    """Published bandwidth (B/s) and dense peaks (operations/s) of a device."""
    device = hardware.get(key)
    peaks = {name: digits(device.peak(name).si) for name in device.formats}
    return {"bandwidth": digits(device.memory_bandwidth.si), "peak": peaks}


def predict(case: Case, limits: Ceilings, key: str = "") -> float | None:
    """Seconds of a case on device ``key``; None where nothing is said of it.

    That is for launches, where the device publishes no rate for the format, and where
    a step does not fit.
    """
    if case["section"] == "decode" and not case["check"]:
        return step(case, key)
    if case["section"] == "launch":
        return None
    if case["section"] == "copy":  # nothing to compute worth the name
        return digits(case["bytes"] / limits["bandwidth"])
    peak = limits["peak"].get(case["dtype"])
    if peak is None:
        return None
    counts = (case["operations"], case["bytes"])
    return digits(bound_time(*counts, peak, limits["bandwidth"]))


def eighth(case: Case) -> LanguageModel:
    """The part of the model that the case runs, as a model of its own."""
    return from_hf_config(
        {
            "model_type": "llama",
            "hidden_size": case["hidden"],
            "num_hidden_layers": case["layers"],
            "num_attention_heads": case["heads"],
            "num_key_value_heads": case["kv_heads"],
            "head_dim": case["dim"],
            "intermediate_size": case["intermediate"],
            "vocab_size": case["vocab"],
            "max_position_embeddings": case["context"],
        }
    )


def step(case: Case, key: str) -> float | None:
    """Seconds of a decode step by the account; None where it does not fit."""
    batch, context = float(case["batch"]), float(case["context"])
    try:
        found = account(eighth(case), key, "bf16", 1, batch, context, mode="calibrated")
    except Infeasible:
        return None
    timed = [x.time for x in found.lines if x.time is not None and x.name != SAMPLING]
    return digits(sum(timed))


def digits(value: float) -> float:
    """Six significant digits."""
    return float(f"{value:.6g}")


def forecast() -> dict[str, Any]:
    """The whole prediction file as data."""
    limits = {key: ceilings(key) for key in sorted(DEVICES.values())}
    rows = [
        {
            "id": case["id"],
            "operations": case["operations"],
            "bytes": case["bytes"],
            "predicted_s": {
                key: predict(case, limit, key) for key, limit in limits.items()
            },
        }
        for case in cases()
    ]
    model = "max(operations / dense peak, bytes / memory bandwidth)"
    model += "; decode: the account of one chip's part, calibrated, without exchanges "
    model += (
        "and sampling; null: launches, of which a roofline says nothing, unpublished "
    )
    model += "rates, and what does not fit"
    return {"kind": "gpu", "model": model, "ceilings": limits, "rows": rows}


def main() -> int:
    path = record.PREDICTIONS / "gpu.json"
    data = forecast()
    record.write_prediction(path, data)
    slowest = max(r["predicted_s"]["h100_sxm"] or 0 for r in data["rows"])
    longest = Quantity(slowest, "s").text()
    print(f"wrote {path}: {len(data['rows'])} cases; longest on h100_sxm {longest}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
