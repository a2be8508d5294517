"""What the CPU benchmarks share: the refusal before a commit, a result's head."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import record

from stacklib.roofline.host import measure as host

HERE = Path(__file__).resolve().parent
ROOFLINE = "host_roofline.json"
DISTURBED = 0.1  # cores


def stored(folder: Path) -> host.HostRoofline:
    """The ceilings of this machine as committed."""
    return host.HostRoofline.load(folder / "results" / ROOFLINE)


def may_measure(predicted: Path) -> bool:
    """Whether the prediction stands in git's HEAD as it stands here; says if not."""
    if predicted.exists() and record.committed(predicted):
        return True
    print(
        f"refused: {predicted} is not in git's HEAD as it stands here; "
        "run predict, commit the file, then measure",
        file=sys.stderr,
    )
    return False


def head(kind: str, predicted: Path, watch: host.Watch, **more: Any) -> dict[str, Any]:
    """The fields of a result that do not depend on what was measured."""
    machine = host.read_machine()
    blas = host.blas_threads()
    return {
        "kind": kind,
        "device": machine.text(),
        "driver": f"{host.blas_name()}, {blas['threads']} threads ({blas['from']})",
        "clocks": machine.read_from.get("clock_hz", "unknown") + ", not controlled",
        "versions": host.versions(),
        "date": record.today(),
        "machine": machine.as_dict(),
        "others": watch.others(),
        "prediction": record.stamp(predicted),
        **more,
    }


def save(folder: Path, stem: str, result: dict[str, Any]) -> None:
    """Write the result; say where, and whether other work disturbed it."""
    path = record.result_path(folder / "results", stem, record.today())
    record.write(path, result)
    print(f"wrote {path}: {len(result['rows'])} rows")
    others = result["others"]
    if others is not None and others > DISTURBED:
        message = f"note: other work kept {others:.2g} cores busy meanwhile"
        print(f"{message}; measure again on a quiet machine", file=sys.stderr)


def command(
    doc: str, predict: Callable[[Path], None], measure: Callable[[Path], int],
    arguments: list[str] | None = None,
) -> int:  # fmt: skip
    """``predict`` or ``measure``, in this folder or another."""
    parser = argparse.ArgumentParser(description=doc.split("\n")[0])
    parser.add_argument("phase", choices=("predict", "measure"))
    parser.add_argument(
        "--folder", type=Path, default=HERE, help="default: %(default)s"
    )
    options = parser.parse_args(arguments)
    if options.phase == "measure":
        return measure(options.folder)
    predict(options.folder)
    return 0
