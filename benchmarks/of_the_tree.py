"""What the tree says of itself: errors of its predictions, and the cost of its tests.

    python benchmarks/of_the_tree.py errors      # -> results/prediction_error.json
    make test 2>&1 | tee suite.log               # a quarter of an hour
    python benchmarks/of_the_tree.py suite suite.log   # -> results/test_suite.json

Errors are those of the bands that the book prints, on rows that no fit had seen. The
cost is what the last lines of a whole run of the tests say.
"""

import re
import sys
from pathlib import Path
from typing import Any

import host_common

from stacklib.evidence import validate
from stacklib.hardware.errors import family_band
from stacklib.roofline.host import measure as host

WHY = "it counts what other results and runs have found"
TOLD = {
    "passed": r"(\d+) passed",
    "skipped": r"(\d+) skipped",
    "cpu_s": r"(\d+) CPU seconds \(",
    "loops": r"= ([\d,]+) times the reference loop",
    "loops_asked": r"budget ([\d,]+)",
}


def errors() -> list[dict[str, Any]]:
    """A row a family: how many rows no fit had seen, and how far they are off."""
    rows = []
    whole = {k: bar for k, bar in validate.BARS.items() if k not in validate.PARTS}
    parts = [part for found in validate.PARTS.values() for part in found.items()]
    for key, bar in [*parts, *whole.items()]:
        if band := family_band(key):
            found = {"unseen": band.unseen, "median": band.median, "p90": band.p90}
            pairs = (("median", bar.median), ("p90", bar.p90))
            over = {f"{name}_over_bar": found[name] / asked for name, asked in pairs}
            rows.append({"id": key, **found, **over})
    return rows


def suite(log: str) -> list[dict[str, Any]]:
    """One row of a whole run; ``ValueError`` for a log that ends otherwise."""
    row: dict[str, Any] = {"id": "make test"}
    for name, pattern in TOLD.items():
        found = re.findall(pattern, log)
        if not found:
            raise ValueError(f"the log has no line for {name}: is it of a whole run?")
        row[name] = int(found[-1].replace(",", ""))
    return [row]


def save(stem: str, rows: list[dict[str, Any]], folder: Path) -> None:
    """Write a result."""
    more = {"rows": rows, "why_no_prediction": WHY}
    host_common.save(folder, stem, host_common.head(stem, None, host.Watch(), **more))


def main(arguments: list[str], folder: Path = host_common.HERE) -> int:
    """``errors``, or ``suite`` with the log of a run."""
    match arguments:
        case ["errors"]:
            save("prediction_error", errors(), folder)
        case ["suite", log]:
            save("test_suite", suite(Path(log).read_text("utf-8")), folder)
        case _:
            print(__doc__, file=sys.stderr)
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
