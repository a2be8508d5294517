"""Predict every case of gpu.py from the roofline alone, before anything runs.

    python benchmarks/predict_gpu.py     # writes predictions/gpu.json

max(operations / dense peak, bytes / bandwidth), with the published figures of
each device. Launching, clocks under load and every inefficiency are left out: the
distance to the measurement is what the benchmark is for. The same specs give the
same bytes.
"""

import sys
from typing import Any

import record
from gpu_cases import DEVICES, Case, cases

from stacklib import hardware
from stacklib.quantity import Quantity
from stacklib.roofline import bound_time

Ceilings = dict[str, Any]


def ceilings(key: str) -> Ceilings:
    """Published bandwidth (B/s) and dense peaks (operations/s) of a device."""
    device = hardware.get(key)
    peaks = {name: digits(device.peak(name).si) for name in device.formats}
    return {"bandwidth": digits(device.memory_bandwidth.si), "peak": peaks}


def predict(case: Case, limits: Ceilings) -> float | None:
    """Seconds of a case; None where the roofline is silent.

    That is for launches, and where the device publishes no rate for the format.
    """
    if case["section"] == "launch":
        return None
    if case["section"] == "copy":  # nothing to compute worth the name
        return digits(case["bytes"] / limits["bandwidth"])
    peak = limits["peak"].get(case["dtype"])
    if peak is None:
        return None
    counts = (case["operations"], case["bytes"])
    return digits(bound_time(*counts, peak, limits["bandwidth"]))


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
            "predicted_s": {key: predict(case, limit) for key, limit in limits.items()},
        }
        for case in cases()
    ]
    model = "max(operations / dense peak, bytes / memory bandwidth)"
    model += "; null: launches, of which a roofline says nothing, and unpublished rates"
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
