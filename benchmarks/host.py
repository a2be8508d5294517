"""Matrix products on this machine: roofline, prediction, measurement.

    python benchmarks/host.py roofline   # measure the ceilings      -> results/
    python benchmarks/host.py predict    # from the ceilings alone   -> predictions/
    python benchmarks/host.py measure    # after that file is committed -> results/

The peer is the roofline itself: how far is NumPy's BLAS from it, and where.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import host_common  # noqa: E402
import record  # noqa: E402

from stacklib.hardware.host_spec import host_spec  # noqa: E402
from stacklib.roofline.host import measure as host  # noqa: E402

ROOFLINE, PRODUCTS = host_common.ROOFLINE, "host_gemv_gemm"
DEVICE = HERE.parent / "stacklib" / "hardware" / "data" / "this_machine.json"

# A square matrix for each level: L1, L2, L3, and memory up to 1 GiB; 1024 x 256
# is a layer of a tiny language model.
GEMV = [
    *((n, n, "fp32") for n in (96, 256, 512, 1024, 2048, 4096, 8192, 16384)),
    (1024, 256, "fp32"),
    (2048, 2048, "fp64"),
    (8192, 8192, "fp64"),
]
ROUNDS, SAMPLES = 3, 3
BATCHES = tuple(2**i for i in range(10))
LAYERS = (512, 2048, 8192)  # n = k: cached, nearly cached, out of cache


def cases() -> Iterator[dict[str, Any]]:
    """Every product, with a stable id."""
    for m, n, dtype in GEMV:
        shape = {"op": "gemv", "dtype": dtype, "m": m, "n": n, "k": 1}
        yield {"id": f"gemv-{dtype}-{m}x{n}", **shape}
    for layer in LAYERS:
        for batch in BATCHES:
            name = f"gemm-fp32-m{batch}-n{layer}-k{layer}"
            shape = {"op": "gemm", "dtype": "fp32", "m": batch, "n": layer, "k": layer}
            yield {"id": name, **shape}


def predict_case(case: dict[str, Any], ceilings: host.HostRoofline) -> dict[str, Any]:
    """The case with its predicted times in seconds, six digits each."""
    m, n, k, dtype = (case[name] for name in ("m", "n", "k", "dtype"))
    if case["op"] == "gemv":
        p = host.predict_gemv(m, n, dtype, ceilings)
    else:
        p = host.predict_gemm(m, n, k, dtype, ceilings)
    times = {
        "t_compute_s": p.t_compute,
        "t_memory_s": p.t_memory,
        "overhead_s": p.overhead,
        "predicted_s": p.time,
    }
    counts = {"operations": int(p.work.operations.si), "bytes": int(p.work.bytes.si)}
    short = {name: float(f"{q.si:.6g}") for name, q in times.items()}
    return {**case, **counts, **short, "bound": p.bound}


def run_case(case: dict[str, Any]) -> dict[str, Any]:
    """The case with the raw times of one round."""
    m, n, k, dtype = (case[name] for name in ("m", "n", "k", "dtype"))
    if case["op"] == "gemv":
        times = host.run_gemv(m, n, dtype, samples=SAMPLES)
    else:
        times = host.run_gemm(m, n, k, dtype, samples=SAMPLES)
    return {**case, "times_s": list(times)}


def roofline(folder: Path) -> None:
    """Measure the ceilings; write them, and this machine's row of the database."""
    found = host.measure_host(quick=False)
    path = folder / "results" / ROOFLINE
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(found.to_json(), encoding="utf-8")
    record.summed(path)
    print(f"wrote {path}: {found.device}")
    host_common.warn(found.others)
    if folder == HERE:
        refresh_device()


def refresh_device() -> None:
    """``hardware.get("this_machine")`` follows the measured roofline."""
    spec = host_spec(json.loads((HERE / "results" / ROOFLINE).read_text("utf-8")))
    DEVICE.write_text(json.dumps(spec, indent=1) + "\n", encoding="utf-8")


def predict(folder: Path) -> None:
    """Write the prediction of every case; the same roofline gives the same bytes."""
    source = folder / "results" / ROOFLINE
    ceilings = host.HostRoofline.load(source)
    rows = [predict_case(case, ceilings) for case in cases()]
    model = "max(operations / peak, bytes / read bandwidth(bytes)) + call overhead"
    about: dict[str, Any] = {"kind": PRODUCTS, "device": ceilings.device}
    about |= {"model": model, "roofline": record.stamp(source)}
    host_common.foretell(folder, PRODUCTS, about, rows)


def measure(folder: Path) -> int:
    """Run every case, unless the prediction is not committed as it stands."""
    return host_common.measure_cases(
        folder,
        PRODUCTS,
        ("id", "op", "dtype", "m", "n", "k"),
        run_case,
        compare,
        rounds=ROUNDS,
        note="operands stay where the calls before left them; median of samples",
    )


def compare(row: dict[str, Any], times: list[float]) -> str:
    """One line: id, predicted, measured, their ratio."""
    seen, told = median(times), row["predicted_s"]
    told_us, seen_us = told * 1e6, seen * 1e6
    return f"{row['id']:28} {told_us:11.1f} us {seen_us:11.1f} us {told / seen:6.2f}"


if __name__ == "__main__":
    sys.exit(host_common.command(__doc__ or "", roofline, predict, measure))
