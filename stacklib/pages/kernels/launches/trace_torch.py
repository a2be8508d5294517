"""A decode step of a small layer as torch's profiler saw it, kept for a trace viewer.

    python -m stacklib.pages.kernels.launches.trace_torch   # -> decode_trace.json

The layer is that of ``layer_torch`` on the CPU, so small that what is seen is what an
operator costs besides its work. Of fifty steps the quickest is kept, with the names and
times of its operators and nothing of the machine but its kind; beside it stands the
quickest step that no profiler watched.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import torch
from torch.autograd.profiler_util import EventList
from torch.profiler import ProfilerActivity, profile

from stacklib.roofline.host.measure import read_machine

from .layer_torch import Recorder, layer_of

FILE = Path(__file__).with_name("decode_trace.json")
STEPS, PLAIN = 50, 300


def record() -> dict[str, Any]:
    """The quickest of some steps, as a Chrome trace that starts at zero."""
    torch.set_num_threads(1)
    run, seen = layer_of(64, 4, 1, 16, 128, 32, "cpu"), Recorder()
    found: list[EventList] = []
    with torch.no_grad():
        plain = min(_timed(run, seen) for _ in range(PLAIN))
        for _ in range(STEPS):
            with profile(activities=[ProfilerActivity.CPU]) as prof:
                run(seen)
            found.append(prof.events())
    events = min((_traced(f) for f in found), key=lambda rows: rows[-1]["ts"])
    about = {"torch": torch.__version__, "what": "a decode step of a small layer"}
    return {
        "device": read_machine().text(),
        "date": date.today().isoformat(),
        "traceEvents": events,
        "otherData": about | {"us_without_profiler": round(1e6 * plain, 3)},
    }


def _timed(run: Callable[[Recorder], Any], seen: Recorder) -> float:
    began = time.perf_counter()
    run(seen)
    return time.perf_counter() - began


def _traced(events: EventList) -> list[dict[str, Any]]:
    own = sorted(
        (e for e in events if e.name.startswith("aten::")),
        key=lambda e: e.time_range.start,
    )
    zero = own[0].time_range.start
    return [
        {
            "name": e.name,
            "ph": "X",
            "ts": round(e.time_range.start - zero, 3),
            "dur": round(e.time_range.elapsed_us(), 3),
            "pid": 1,
            "tid": 1,
            "cat": "top" if e.cpu_parent is None else "inner",
        }
        for e in own
    ]


if __name__ == "__main__":
    FILE.write_text(json.dumps(record(), separators=(",", ":")) + "\n", "utf-8")
