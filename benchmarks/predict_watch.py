"""Freeze what the book's models say of facts that nobody has measured yet.

    python benchmarks/predict_watch.py

Writes stacklib/frontier/data/watch.json: statements, dates, probabilities, and a naive
forecast beside each. A list that is committed is never written anew, for a forecast
that follows its model is none; a later one gets a file and a date of its own.
Outcomes are entered in outcomes.csv beside it, and `stacklib watch --score` counts.
"""

import sys
from pathlib import Path

import record

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent)]

from stacklib.frontier import foretold  # noqa: E402

PATH = HERE.parent / "stacklib" / "frontier" / "data" / "watch.json"


def main() -> int:
    """Write the list, unless git has one already."""
    if record.committed(PATH):
        print(f"{PATH.name} is committed: what was foretold stays", file=sys.stderr)
        return 1
    rows = [row.frozen(record.today()) for row in foretold.rows()]
    record.write(PATH, {"kind": "watch", "rows": rows})
    print(f"{len(rows)} forecasts")
    return 0


if __name__ == "__main__":
    sys.exit(main())
