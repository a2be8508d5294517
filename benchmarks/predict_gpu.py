"""Predict every case of gpu.py by the book's own models, before anything runs.

    python benchmarks/predict_gpu.py     # writes predictions/gpu.json

A row has seconds by device, each with a band in which nine in ten should lie, so that
it can be wrong; the models are gpu_models.py's. The bars that the book set itself for
its Triton kernels are foretold won or lost by the same seconds. The same specs, factors
and cubins give the same bytes.
"""

import sys
from typing import Any

import record
from gpu_cases import DEVICES, Case, cases
from gpu_models import told

from stacklib import hardware
from stacklib.diy import power
from stacklib.hardware.errors import error_band
from stacklib.quantity import Quantity

Row = dict[str, Any]
NOTE = (
    "Until 2026-11-29 this file held a bare roofline, the same for Triton and torch; "
    "nothing had been measured against it, so it was replaced."
)
MODEL = (
    "stacklib's calibrated models of products, attention and decode steps by backend: "
    "tiles, waves, launches; Triton's registers, programs and spills from the recorded "
    "cubins; watts and speed by diy.power at seven limits. null: no rate is published, "
    "or it does not fit"
)
WIDE = (0.5, 2.0)  # a band where no published measurement tells one
BARS_ON = "h200_sxm"  # of the design
LENGTHS = (4096, 8192, 16384)
NORMS = ("layernorm", "rmsnorm")


def digits(value: float) -> float:
    """Six significant digits."""
    return float(f"{value:.6g}")


def band(family: str) -> list[float]:
    """What a time is multiplied by at both ends of its band."""
    found = error_band(family) if family else None
    if found is None or found.high == float("inf"):
        return list(WIDE)
    return [digits(found.low), digits(found.high)]


def row(case: Case) -> Row:
    """One case with its seconds and bands by device."""
    found = {key: told(case, key) for key in sorted(DEVICES.values())}
    made = {
        "id": case["id"],
        "operations": case["operations"],
        "bytes": case["bytes"],
        "predicted_s": {k: f and digits(f[0]) for k, f in found.items()},
        "band": {k: f and band(f[1]) for k, f in found.items()},
    }
    if case["section"] == "power":
        made["watts"] = {key: limits(key) for key in found}
    return made


def limits(key: str) -> list[list[float]]:
    """Limits of a card in watts, each with the draw and the speed under it."""
    board = float(hardware.get(key).tdp.si)
    told = [power(key, share * board / 10) for share in range(4, 11)]
    return [[digits(x) for x in (one.limit, one.draw, one.speed)] for one in told]


def seconds(rows: list[Row]) -> dict[str, float]:
    """Predicted seconds of every case on the device of the bars."""
    return {r["id"]: r["predicted_s"][BARS_ON] for r in rows}


def bars(rows: list[Row]) -> list[Row]:
    """The four bars of Triton's kernels: the least ratio foretold, won or lost."""
    time = seconds(rows)
    size = {r["id"]: r["bytes"] for r in rows}
    shapes = [(s, d, c) for s in LENGTHS for d in (64, 128) for c in ("", "-causal")]

    def peer(backend: str, s: int, d: int, causal: str) -> float:
        batch, heads = 16384 // s, 4096 // d
        shape = f"b{batch}-h{heads}-kv{heads}-q{s}-s{s}-d{d}{causal}"
        return time[f"sdpa-{backend}-{shape}"]

    def ours(op: str, backend: str, s: int, d: int, causal: str) -> float:
        return time[f"written-{op}-{backend}-s{s}-d{d}{causal}"]

    forward = [(peer("flash", *x) / ours("flash", "triton", *x), 1.2) for x in shapes]
    forward += [(peer("cudnn", *x) / ours("flash", "triton", *x), 0.8) for x in shapes]
    back = [
        (ours("backward", "flash", *x) / ours("backward", "triton", *x), 0.9)
        for x in shapes
    ]
    large = time["gemm-bf16-8192"] / time["written-matmul-triton-8192"]
    copied = size["copy-copy-1024MiB"] / time["copy-copy-1024MiB"]
    kernels = tuple(f"written-{op}-triton-" for op in ("softmax", *NORMS))
    rates = [
        (size[name] / time[name] / copied, 0.9)
        for name in time
        if name.startswith(kernels) and "check" not in name
    ]
    pairs_of = {
        "attention forward, over flash and cuDNN": forward,
        "attention backward, over flash": back,
        "matmul 8192, over cuBLAS": [(large, 0.9)],
        "norms and softmax, over a copy's bandwidth": rates,
    }
    return [
        {
            "bar": name,
            "device": BARS_ON,
            "least_over_bar": digits(min(ratio / need for ratio, need in pairs)),
            "foretold": "won" if all(r >= need for r, need in pairs) else "lost",
        }
        for name, pairs in pairs_of.items()
    ]


def forecast() -> Row:
    """The whole prediction file as data."""
    hardware.get(BARS_ON)  # an unknown device is named before the work
    rows = [row(case) for case in cases()]
    return {
        "kind": "gpu",
        "made": "2026-11-29",
        "model": MODEL,
        "note": NOTE,
        "bars": bars(rows),
        "rows": rows,
    }


def main() -> int:
    path = record.PREDICTIONS / "gpu.json"
    data = forecast()
    record.write_prediction(path, data)
    slowest = max(r["predicted_s"]["h100_sxm"] or 0 for r in data["rows"])
    longest = Quantity(slowest, "s").text()
    print(f"wrote {path}: {len(data['rows'])} cases; longest on h100_sxm {longest}")
    for bar in data["bars"]:
        print(f"{bar['bar']}: {bar['least_over_bar']:.2f} of it, {bar['foretold']}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
