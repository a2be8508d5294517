"""A measured roofline as a row of the device database.

*This machine* is the one the book's results were measured on, until a reader
runs ``stacklib measure``; then it is theirs. With ``STACKLIB_THIS_MACHINE=book``
in the environment it is always the book's, so that pages come out the same.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from stacklib.quantity.files import held, replacing

from .accelerator import FIELDS, RARE

BOOK = Path(__file__).parent / "data" / "this_machine.json"
ROOFLINE = "host_roofline.json"
BOOK_ROOFLINE = f"benchmarks/results/{ROOFLINE}"  # that of the book's machine
BOOK_TITLE = f"Roofline of this machine, {BOOK_ROOFLINE}"


def user_file() -> Path:
    """Where ``stacklib measure`` keeps the reader's own machine."""
    state = os.environ.get("XDG_STATE_HOME") or os.path.expanduser("~/.local/state")
    return Path(state) / "stacklib" / "this_machine.json"


def roofline_file() -> Path:
    """Where the roofline of *this machine* is kept, of which its row is a summary."""
    if _measured_here():
        return user_file().with_name(ROOFLINE)
    return held(BOOK_ROOFLINE) / BOOK_ROOFLINE


def _measured_here() -> bool:
    """Whether *this machine* is the reader's."""
    return os.environ.get("STACKLIB_THIS_MACHINE") != "book" and user_file().exists()


def book_machine() -> dict[str, Any]:
    """*This machine* as a device's TOML reads, all unknown before a measurement."""
    path = user_file() if _measured_here() else BOOK
    nothing = _identity("unknown", "", "1970-01-01", BOOK_TITLE)
    unknown = dict.fromkeys(FIELDS, "unknown")
    if not path.exists():
        return nothing | {"fields": unknown, "peak": {}}
    try:
        spec: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{path}: {error}; run stacklib measure again") from None
    # A file of an earlier measurement knows nothing of fields that came later.
    return nothing | spec | {"fields": unknown | spec["fields"]}


def store_machine(result: str) -> Path:
    """Keep a roofline (``HostRoofline.to_json()``) as the reader's machine."""
    title = "Roofline of this machine, stacklib measure"
    spec = host_spec(json.loads(result), title)
    path = user_file()
    path.parent.mkdir(parents=True, exist_ok=True)
    _write(path.with_name(ROOFLINE), result)
    _write(path, json.dumps(spec, indent=1) + "\n")
    return path


def _write(path: Path, text: str) -> None:
    with replacing(path) as partial:
        partial.write_text(text, encoding="utf-8")


def host_spec(result: Mapping[str, Any], title: str = BOOK_TITLE) -> dict[str, Any]:
    """A device entry from a host roofline (``benchmarks/results/host_roofline.json``).

    Peaks are the fastest matrix product of each format; memory bandwidth is the
    triad on all cores at the largest working set; capacity is total memory.
    What was not measured or read is ``"unknown"``.
    """
    machine, rows = result["machine"], result["rows"]
    asked = [name for name in FIELDS if name not in RARE]
    fields: dict[str, Any] = dict.fromkeys(asked, "unknown")
    fields["memory_bandwidth"] = _measured(_largest_triad(rows), "GB/s", "memory")
    fields["compute_units"] = _read_fact(machine["physical_cores"], "")
    fields["memory_capacity"] = _read_fact(machine["memory_bytes"], "B")
    caches = [c["bytes"] for c in machine["caches"]]
    fields["l2_capacity"] = _read_fact(max(caches, default="unknown"), "B")
    products = {
        d: [r for r in rows if (r["op"], r["dtype"]) == ("gemm", d)]
        for d in ("fp32", "fp64")
    }
    peak = {
        d: _measured(min(found, key=_time_per_work), "GFLOP/s dense", d)
        for d, found in products.items()
        if found
    }
    system = str(machine["system"])
    identity = _identity(str(machine["cpu"]), system, result["date"], title)
    return identity | {"fields": fields, "peak": peak}


ARCHITECTURES = {"x86_64": "x86", "AMD64": "x86", "arm64": "arm", "aarch64": "arm"}


def _identity(cpu: str, system: str, date: str, title: str) -> dict[str, Any]:
    vendor = cpu.split()[0] if cpu.split()[0] in ("AMD", "Intel", "Apple") else ""
    seen = {"seen": date, "confidence": "measured"}
    places = {"device": "what the system reports", "memory": "triad on all cores"}
    places |= {"fp32": "fastest fp32 product", "fp64": "fastest fp64 product"}
    return {
        "key": "this_machine",
        "name": f"This machine ({cpu})",
        "short": "This machine",
        "vendor": vendor or "unknown",
        "year": int(date[:4]),  # of the measurement
        "kind": "cpu",
        "architecture": ARCHITECTURES.get(system.split(" ")[-1], "unknown"),
        "compute_capability": "",
        "process": "unknown",
        "memory_type": "unknown",
        "sources": {k: {"title": title, "where": v, **seen} for k, v in places.items()},
    }


def _largest_triad(rows: list[dict[str, Any]]) -> dict[str, Any]:
    triads = [r for r in rows if r["op"] == "triad"]
    if not triads:
        raise ValueError("the result holds no triad point; measure the roofline again")
    return max(triads, key=lambda r: (r["threads"], r["size"]))


def _time_per_work(row: Mapping[str, Any]) -> float:
    return min(row["times_s"]) / row["work"]


def _measured(row: Mapping[str, Any], unit: str, source: str) -> dict[str, Any]:
    value = float(f"{1e-9 / _time_per_work(row):.6g}")
    return {"value": value, "unit": unit, "source": source, "kind": "measured"}


def _read_fact(value: Any, unit: str) -> Any:
    entry = {"value": value, "unit": unit, "source": "device", "kind": "measured"}
    return "unknown" if value == "unknown" else entry
