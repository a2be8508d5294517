"""Prediction and result files: written whole, dated, tied to what came before.

Standard library only: the GPU benchmark runs where nothing else is installed.
"""

import datetime
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
PREDICTIONS = HERE / "predictions"
RESULTS = HERE / "results"
sys.path.insert(0, str(HERE.parent))  # the stacklib beside these, not an installed one
SUMS = "SHA256SUMS"  # beside the results, as `sha256sum -c` reads it
# Of a run by `kinds`: ``avx512``, or ``avx2:Haswell`` where that core is emulated.
KIND = "STACKLIB_KIND"


def today() -> str:
    """The ISO date."""
    return datetime.date.today().isoformat()


def sha256(path: Path) -> str:
    """SHA-256 of a file, in hex."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def stamp(path: Path) -> dict[str, str] | None:
    """Name and hash of a file beside us, or None where it is absent."""
    if not path.exists():
        return None
    name = f"{path.resolve().parent.name}/{path.name}"
    return {"file": f"benchmarks/{name}", "sha256": sha256(path)}


def measured_against(path: Path) -> list[str]:
    """Names of the results that recorded this prediction's present hash."""
    mark = stamp(path)
    results = path.parent.parent / "results"
    return [
        result.name
        for result in sorted(results.glob("*.json"))
        if mark and mark["sha256"] in result.read_text(encoding="utf-8")
    ]


def write_prediction(path: Path, record: dict[str, Any]) -> None:
    """Write a prediction, unless that would change one already tested."""
    tested = measured_against(path)
    if tested and path.read_text(encoding="utf-8") != to_text(record):
        raise SystemExit(
            f"refused: {', '.join(tested)} was measured against {path.name} as it "
            "stands; delete that result to predict anew"
        )
    write(path, record)


def committed(path: Path) -> bool | None:
    """Whether git's HEAD holds exactly this file; None outside a repository."""
    if _git(path.parent, "rev-parse", "HEAD") is None:
        return None
    head = _git(path.parent, "rev-parse", f"HEAD:./{path.name}")
    return head is not None and head == _git(path.parent, "hash-object", path.name)


def _git(folder: Path, *arguments: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", *arguments], cwd=folder, capture_output=True, text=True, timeout=30
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def to_text(record: dict[str, Any]) -> str:
    """JSON with one line a row: a diff then shows which rows moved."""
    head = {k: v for k, v in record.items() if k != "rows"}
    lines = [json.dumps(row, allow_nan=False) for row in record["rows"]]
    body = json.dumps(head, indent=1, allow_nan=False)[:-2]
    return body + ',\n "rows": [\n  ' + ",\n  ".join(lines) + "\n ]\n}\n"


def write(path: Path, record: dict[str, Any]) -> None:
    """Replace a file in one step, so that a killed run leaves the last whole one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".partial")
    partial.write_text(to_text(record), encoding="utf-8")
    os.replace(partial, path)
    summed(path)


def summed(path: Path) -> None:
    """Note a result as its benchmark wrote it: what is edited later is seen."""
    sums = path.with_name(SUMS)
    if sums.exists():
        lines = sums.read_text(encoding="utf-8").splitlines()
        kept = [line for line in lines if line.split()[1] != path.name]
        kept.append(f"{sha256(path)}  {path.name}")
        text = "\n".join(sorted(kept, key=lambda line: line.split()[1]))
        sums.write_text(text + "\n", encoding="utf-8")


def edited(folder: Path = RESULTS) -> list[str]:
    """Results that are not as their benchmarks wrote them, and how to mend each."""
    lines = (folder / SUMS).read_text(encoding="utf-8").splitlines()
    noted = {name: digest for digest, name in map(str.split, lines)}
    here = {path.name: sha256(path) for path in folder.glob("*.json")}
    return [
        f"benchmarks/results/{name} is not what its benchmark wrote: measure again, "
        f"or git checkout it; numbers of a result are never typed"
        for name in sorted({*noted, *here})
        if noted.get(name) != here.get(name)
    ]


def result_path(folder: Path, stem: str, date: str) -> Path:
    """``stem.json``, or with the date where another day's result is in the way."""
    path = folder / f"{stem}.json"
    if not path.exists() or _date_of(path) == date:
        return path
    return folder / f"{stem}_{date}.json"


def kind() -> tuple[str, str]:
    """The kind of processor of this run and the core emulated, or empty."""
    name, _, core = os.environ.get(KIND, "").partition(":")
    return name, core


def _date_of(path: Path) -> str:
    try:
        return str(json.loads(path.read_text(encoding="utf-8"))["date"])
    except (ValueError, KeyError, TypeError):
        return "unreadable"


def slug(name: str) -> str:
    """A device name as part of a file name: ``NVIDIA H200`` is ``nvidia-h200``."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "unnamed"


if __name__ == "__main__":  # what another machine measured: copied in, and noted
    for source in map(Path, sys.argv[1:]):
        summed(Path(shutil.copy(source, RESULTS)))
