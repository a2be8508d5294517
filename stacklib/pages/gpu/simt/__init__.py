"""Section 2.2: How do you program all those threads?"""

from __future__ import annotations

from statistics import median

from stacklib.quantity import Quantity, Source

RUNS = "launch_speed"


def speed(name: str) -> Quantity:
    """Million lane instructions a second that the machine runs on one core."""
    from stacklib.evidence import results

    found = results.load(RUNS)
    if found is None:
        raise results.ResultError(f"{RUNS}: not measured; run `benchmarks/{RUNS}.py`")
    (row,) = (row for row in found["rows"] if row["id"] == name)
    source = Source(
        f"benchmarks/results/{RUNS}.json", found["device"], found["date"], "measured"
    )
    rate = row["lane_instructions"] / median(row["times_s"]) / 1e6
    label = f"million lane instructions a second, {name}"
    return Quantity(rate, label=label, source=source, kind="measured")
