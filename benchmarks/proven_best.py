"""Fewest steps of an all-reduce on boards of four and eight chips, found and proved.

    pip install stacklib[search]        # OR-tools
    python benchmarks/proven_best.py    # -> results/proven_best.json

Every row is one board and one number of chunks. The counted bound comes first
(``best.bounds``); from there the solver is asked for a schedule of so many steps, for
one more if it says that there is none, and so on. A known algorithm that the board's
wires carry as it is stands in where it has no more steps. Schedules are stored whole
and proved again by a test without the solver; that it found none has to be believed or
run again. Where its time is up, the row has bounds.
"""

import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

import host_common

from stacklib.interconnect.best.bounds import least_steps
from stacklib.interconnect.best.known import BOARDS, fitting, named
from stacklib.interconnect.best.solve import Found, search
from stacklib.interconnect.schedules.verify import verify
from stacklib.roofline.host import measure as host

HERE = Path(__file__).resolve().parent
STEM = "proven_best"
LIMIT = 300.0  # s for one number of steps, twice
CHUNKS = {4: (1, 2, 4), 8: (1, 2, 8)}  # by chips


def row(name: str, chunks: int) -> dict[str, Any]:
    """One board and one number of chunks."""
    board, began = named(name), time.perf_counter()
    bound = least_steps(board, chunks)
    known = fitting(board, chunks)
    if known is not None and known.steps == bound.steps:
        found = Found(bound.steps, bound.why, known)  # nothing is left to search
    else:
        found = search(board, chunks, limit=LIMIT)
        if known and (not found.schedule or known.steps <= found.schedule.steps):
            found = Found(found.low, found.why, known)
    schedule = found.schedule
    if schedule is not None:
        proof, over = verify(schedule), board.overfull(schedule)
        if not proof.holds or over:
            raise SystemExit(f"{name}, {chunks} chunks: {proof}{over}")
    took = time.perf_counter() - began
    made = {
        "id": f"{name}, {chunks}",
        "board": name,
        "chunks": chunks,
        "counted": bound.steps,
        "low": found.low,
        "why": found.why,
        "steps": schedule and schedule.steps,
        "by": schedule and schedule.algorithm,
        "times_s": [round(took, 4)],
        "sends": schedule and [[*map(int, send)] for send in schedule.sends],
    }
    print({key: made[key] for key in made if key != "sends"}, flush=True)
    return made


def measure() -> dict[str, Any]:
    """Every board."""
    watch = host.Watch()
    rows = [row(name, c) for name in BOARDS for c in CHUNKS[named(name).ranks]]
    return host_common.head(
        STEM,
        None,
        watch,
        driver="none",
        rows=rows,
        limit_s=LIMIT,
        versions=host.versions() | {"ortools": version("ortools")},
        why_no_prediction="schedules and proofs, no times",
    )


if __name__ == "__main__":
    host_common.save(HERE, STEM, measure())
