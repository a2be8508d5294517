"""Where the time goes of what misses its bar, for the line that says why.

    python benchmarks/profiles.py    # -> results/profiles.json, read by `make chapter`

Each comparison that is missed is run again in parts, one thread, without its peer: a
missed cell of the codec's grid beside a copy of as many bytes and beside the call on a
thousand numbers; the cache's slowest trace beside traces of which every access hits, or
every one misses; FlashAttention in NumPy with a clock in each of NumPy's functions.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import json
from collections import defaultdict
from collections.abc import Callable
from functools import partial
from statistics import median
from time import perf_counter, thread_time
from typing import Any

import cache
import codec_grid
import host_common
import numpy as np
from flash_attention import CASES, numbers
from number_formats import touched

from stacklib.kernels.attention import flash_numpy
from stacklib.kernels.attention.flash import flash_attention
from stacklib.quantizers import Format
from stacklib.roofline.host import measure as host

ROUNDS = 9
Row = dict[str, Any]


def seconds(call: Callable[[], Any], many: int) -> float:
    """A thread's own time: what other work takes from it is not in it."""
    began = thread_time()
    for _ in range(many):
        call()
    return thread_time() - began


def least(call: Callable[[], Any]) -> float:
    """Seconds of a call, the least of some rounds: other work only adds."""
    call()
    many = 1
    while seconds(call, many) < codec_grid.LEAST:
        many *= 2
    return min(seconds(call, many) for _ in range(ROUNDS)) / many


def stored(name: str) -> list[Row]:
    """Rows of a result file that are under their bar."""
    path = host_common.HERE / "results" / f"{name}.json"
    rows = json.loads(path.read_text())["rows"]
    return [row for row in rows if row.get("ratio", 1) < row.get("bar", 0)]


def cell(row: Row) -> Row:
    """A cell of the grid: the call, a copy of its bytes, the call on few numbers."""
    what, *turn, size = row["id"].split(", ")
    verb, name, *source = what.split()
    form, count = Format(name), codec_grid.SIZES[size]

    def call(count: int) -> tuple[Callable[[], Any], int]:
        x = codec_grid.numbers(count)
        x = x.astype(codec_grid.TYPES[source[1]][0]) if source else form.encode(x)
        x = codec_grid.turned(x, bool(turn))
        act = getattr(form, verb)
        return lambda: act(x), x.nbytes + act(x).nbytes

    whole, moved = call(count)
    read: Any = np.ones(moved // 2, np.uint8)
    written = np.empty_like(read)
    parts = {
        "whole_s": whole,
        "bytes_s": lambda: np.copyto(written, read),
        "call_s": call(codec_grid.SIZES["1 k"])[0],
    }
    return {"id": row["id"]} | {key: least(part) for key, part in parts.items()}


def codec() -> list[Row]:
    """Every missed cell of a format without blocks, and a line for all."""
    missed = [row for row in stored("codec_grid") if "quantize" not in row["id"]]
    rows = [cell(row) for row in missed]
    if not rows:
        return []
    moving = [row["bytes_s"] / row["whole_s"] for row in rows]
    calling = max(row["call_s"] / row["whole_s"] for row in rows)
    most = sum(share >= 0.5 for share in moving)
    why = (
        f"in {most} of {len(rows)} cells a copy of as many bytes takes half of the "
        f"time or more, in the least {min(moving):.0%}; the call by itself takes up to "
        f"{calling:.0%}"
    )
    return [*rows, {"id": "codec_grid", "why": why}]


def caches() -> list[Row]:
    """An access of the slowest case, and of traces that have no surprise."""
    shape, lines = "two levels", 1 << 13
    stores = np.random.default_rng(1).random(cache.ACCESSES) < cache.SHARE
    steps = np.arange(cache.ACCESSES)  # over more lines than both levels hold
    traces = {
        "random": cache.traces()["random"],
        "hits": np.zeros(cache.ACCESSES, np.int64),
        "misses": steps % (16 * lines) * 64,
    }
    times = {}
    for name, trace in traces.items():
        whole = partial(cache.ours, shape, trace, stores)
        whole()
        runs = [seconds(whole, 1) for _ in range(ROUNDS)]
        times[name] = min(runs) / cache.ACCESSES
    ns = {name: f"{1e9 * took:.3g}" for name, took in times.items()}
    why = (
        f"{shape}, random, stores: {ns['random']} ns an access, {ns['hits']} where "
        f"each hits, {ns['misses']} where each misses both levels"
    )
    return [{"id": "cache", "access_s": times, "why": why}]


class Clocked:
    """NumPy, with the seconds spent in each of the functions that work on tiles."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self.names = names
        self.spent: dict[str, float] = defaultdict(float)

    def __getattr__(self, name: str) -> Any:
        found = getattr(np, name)
        if name not in self.names:
            return found

        def run(*args: Any, **options: Any) -> Any:
            began = perf_counter()
            made = found(*args, **options)
            self.spent[name] += perf_counter() - began
            return made

        return run


def attention() -> list[Row]:
    """Shares of the two products and of the exponentials, by case."""
    rows = []
    for name, case in CASES.items():
        x, clock = numbers(case), Clocked(("matmul", "exp"))
        flash_attention(*x, causal=case[5])
        shares = []
        for _ in range(ROUNDS):
            clock.spent.clear()
            began = perf_counter()
            flash_numpy.np = clock  # type: ignore[assignment]
            flash_attention(*x, causal=case[5])
            flash_numpy.np = np
            whole = perf_counter() - began
            shares.append([clock.spent[key] / whole for key in clock.names])
        matmul, exp = (median(part) for part in zip(*shares, strict=True))
        rows.append({"id": name, "matmul": matmul, "exp": exp})
    rest = [1 - row["matmul"] - row["exp"] for row in rows]
    said = [
        f"{min(part):.0%} to {max(part):.0%}"
        for part in ([r["matmul"] for r in rows], [r["exp"] for r in rows], rest)
    ]
    why = (
        f"products take {said[0]} of the time, exponentials {said[1]}, and {said[2]} "
        "the passes over tiles between them"
    )
    return [*rows, {"id": "flash_attention_numpy", "why": why}]


def main() -> None:
    """Every part; the lines that say why are printed."""
    watch = host.Watch()
    rows = [*codec(), *caches(), *attention()]
    for row in rows:
        if "why" in row:
            print(f"{row['id']}: {row['why']}")
    why = "where the time of missed comparisons goes, measured afterwards"
    head = host_common.head("profiles", None, watch, rows=rows, why_no_prediction=why)
    host_common.save(host_common.HERE, "profiles", head)


if __name__ == "__main__":
    touched()
    main()
