"""What the CPU benchmarks share: the refusal before a commit, a result's head."""

import argparse
import json
import sys
from collections.abc import Callable
from functools import wraps
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


def foretell(folder: Path, stem: str, about: dict[str, Any], rows: list[Any]) -> None:
    """Write the prediction; say where."""
    path = folder / "predictions" / f"{stem}.json"
    record.write_prediction(path, {**about, "rows": rows})
    print(f"wrote {path}: {len(rows)} cases")


def head(
    kind: str, predicted: Path | None, watch: host.Watch, **more: Any
) -> dict[str, Any]:
    """The fields of a result that do not depend on what was measured."""
    machine = host.read_machine()
    blas = host.blas_threads()
    processor, core = record.kind()
    return {
        "kind": kind,
        "device": machine.text() + (f", as {core}" if core else ""),
        **({"processor": processor} if processor else {}),
        "driver": f"{host.blas_name()}, {blas['threads']} threads ({blas['from']})",
        "clocks": machine.read_from.get("clock_hz", "unknown") + ", not controlled",
        "versions": host.versions(),
        "date": record.today(),
        "machine": machine.as_dict(),
        "others": watch.others(),
        "prediction": predicted and record.stamp(predicted),
        **more,
    }


def save(folder: Path, stem: str, result: dict[str, Any]) -> None:
    """Write the result; say where, and whether other work disturbed it.

    Its name ends with the kind of processor, where `kinds` runs it.
    """
    stem = "_".join(filter(None, (stem, record.kind()[0])))
    path = record.result_path(folder / "results", stem, record.today())
    record.write(path, result)
    print(f"wrote {path}: {len(result['rows'])} rows")
    warn(result["others"])


def warn(others: float | None) -> None:
    """Say when other work disturbed the run; its numbers are kept all the same."""
    if others is not None and others > DISTURBED:
        message = f"note: other work kept {others:.2g} cores busy meanwhile"
        print(f"{message}; measure again on a quiet machine", file=sys.stderr)


def measures(
    stem: str,
) -> Callable[[Callable[..., dict[str, Any] | int]], Callable[..., int]]:
    """Make a phase of a function: given the prediction, it returns what it found.

    Refused unless the prediction is committed as it stands; a number that is returned
    is an exit status, and nothing is written.
    """

    def phase(function: Callable[..., dict[str, Any] | int]) -> Callable[..., int]:
        @wraps(function)
        def measure(folder: Path, *args: Any, **options: Any) -> int:
            predicted = folder / "predictions" / f"{stem}.json"
            if not may_measure(predicted):
                return 2
            forecast = json.loads(predicted.read_text(encoding="utf-8"))
            watch = host.Watch()
            found = function(forecast, *args, **options)
            if isinstance(found, int):
                return found
            save(folder, stem, head(stem, predicted, watch) | found)
            return 0

        return measure

    return phase


def measure_cases(
    folder: Path,
    stem: str,
    names: tuple[str, ...],  # fields of a case that the result repeats
    run: Callable[[dict[str, Any]], dict[str, Any]],
    compare: Callable[[dict[str, Any], list[float]], str],
    *,
    rounds: int,  # a burst of other work spoils one round, not a case
    note: str,
) -> int:
    """Run every case, unless the prediction is not committed as it stands."""

    @measures(stem)
    def measure(forecast: dict[str, Any]) -> dict[str, Any]:
        if host.read_machine().text() != forecast["device"]:
            print(f"note: predicted for {forecast['device']}", file=sys.stderr)
        told = forecast["rows"]
        rows = [{n: row[n] for n in names} | {"times_s": []} for row in told]
        for _ in range(rounds):
            for row in rows:
                row["times_s"] += run(row)["times_s"]
        for case, seen in zip(told, rows, strict=True):
            print(compare(case, seen["times_s"]))
        return {"note": note, "rows": rows}

    return measure(folder)


def command(
    doc: str, *phases: Callable[[Path], int | None], arguments: list[str] | None = None
) -> int:
    """One of the phases, such as ``predict``, in this folder or another."""
    named = {phase.__name__: phase for phase in phases}
    parser = argparse.ArgumentParser(description=doc.split("\n")[0])
    parser.add_argument("phase", choices=named)
    parser.add_argument(
        "--folder", type=Path, default=HERE, help="default: %(default)s"
    )
    options = parser.parse_args(arguments)
    return named[options.phase](options.folder) or 0
