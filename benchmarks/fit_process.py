"""One question, asked of a fresh process: does the model fit, and how long to say so?

    python benchmarks/fit_process.py     # -> results/fit_process.json

The whole process is timed, from start to exit, beside a Python that does nothing.
The peer's figure is a recorded one: its import alone.
"""

import os
import subprocess
import sys
import time
from statistics import median
from typing import Any

import host_common
import record

from stacklib.hardware.this_machine import busy_seconds
from stacklib.roofline.host import measure as host

STEM = "fit_process"
FIT = "-m stacklib fit llama-3-70b --on h100-sxm --dtype bf16".split()
COMMANDS = {
    "bare-python": ["-c", "pass"],
    "import-stacklib": ["-c", "import stacklib"],
    "fit": FIT,
}
ROUNDS = 15
PEER = {
    "name": "mlsysim",
    "what": "its import alone",
    "seconds": [6, 9],
    "recorded": "not re-run",
}


def seconds(arguments: list[str]) -> float:
    """Wall time of one process. ``fit`` exits with 1: the model does not fit one."""
    env = {**os.environ, "PYTHONPATH": str(record.HERE.parent)}
    began = time.perf_counter()
    done = subprocess.run(
        [sys.executable, *arguments], capture_output=True, env=env, timeout=60
    )
    took = time.perf_counter() - began
    if done.returncode not in (0, 1) or done.stderr:
        raise SystemExit(f"{arguments}: {done.stderr.decode(errors='replace')}")
    return took


def others(began: tuple[float | None, float, float]) -> float | None:
    """Cores kept busy by work that is neither ours nor our processes'."""
    (busy0, own0, wall0), (busy1, own1, wall1) = began, used()
    if busy0 is None or busy1 is None:
        return None
    return round(max(busy1 - busy0 - (own1 - own0), 0.0) / (wall1 - wall0), 3)


def used() -> tuple[float | None, float, float]:
    """CPU seconds of all processes, of us and those we started, and the time."""
    return busy_seconds(), sum(os.times()[:4]), time.perf_counter()


def measure(rounds: int = ROUNDS) -> dict[str, Any]:
    """The result: every command in turn, so that other work meets all alike."""
    began = used()
    rows: dict[str, list[float]] = {name: [] for name in COMMANDS}
    for name, arguments in COMMANDS.items():
        seconds(arguments)  # once for the file cache and the compiled modules
        rows[name].clear()
    for _ in range(rounds):
        for name, arguments in COMMANDS.items():
            rows[name].append(seconds(arguments))
    return host_common.head(
        STEM,
        None,
        host.Watch(),
        driver="none",
        others=others(began),
        versions={"python": host.versions()["python"]},
        peer=PEER,
        why_no_prediction="held against a bar and a peer's recorded time",
        rows=[
            {"id": name, "command": ["python", *COMMANDS[name]], "times_s": times}
            for name, times in rows.items()
        ],
    )


def main() -> int:
    """Measure and write."""
    result = measure()
    record.write(record.HERE / "results" / f"{STEM}.json", result)
    for row in result["rows"]:
        print(f"{row['id']:16} {1e3 * median(row['times_s']):7.1f} ms")
    return 0


if __name__ == "__main__":
    sys.exit(main())
