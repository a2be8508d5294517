"""Rows of family H that wait: a trace of requests, simulated by its moments.

The trace is not shipped, so requests are drawn: pauses of the rate that the row says,
lengths by mean and median of the same workload. The row's engine is simulated with the
estimate's steps, and with steps at both ends of the estimate's band. Near saturation a
step a fifth too quick makes minutes milliseconds: where the ends lie further apart than
``APART`` times, there is no point to print, and the row is refused with both.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from functools import lru_cache
from statistics import mean

from stacklib import models
from stacklib.hardware import UnknownSpec
from stacklib.hardware.factors import efficiency_moved
from stacklib.quantity import UnknownName, quoted
from stacklib.serving.simulation.request import Done
from stacklib.serving.simulation.simulate import simulate
from stacklib.serving.simulation.traffic import Row, lognormal, poisson

from ..measurements import Measurement, Refusal, number
from ..systems import device_of
from .registry import Forecast

APART = 5.0  # times, at most, between answers at both ends, themselves apart by four
_TRACE = re.compile(r"sharegpt (\d+) requests at ([\d.]+) req/s")
_METRIC = re.compile(r"(ttft|latency|e2e)_(mean|median|p(\d\d))")
_SEED = 0
_MOST = 10_000  # requests of a trace: more is a fault of the row

Case = tuple[str, str, int, int, str, int, int]  # what ``simulate`` is asked


def waited(row: Measurement) -> Forecast:
    """Seconds of a mean or a percentile, over all requests of a drained run."""
    asked = _METRIC.fullmatch(row.metric)
    trace = _TRACE.search(row.text("trace", "").lower())
    if not asked or not trace:
        raise Refusal(
            f"{row.metric} of requests: config does not give 'trace' as 'ShareGPT N "
            "requests at R req/s', the one whose lengths are known"
        )
    requests, rate = int(trace[1]), number(trace[2])
    if not 1 <= requests <= _MOST or not rate:
        raise Refusal(f"config trace={row.text('trace')!r}: requests and a rate")
    runs = _runs(_case(row), requests, rate, efficiency_moved(every=True))
    low, point, high = (_figure(run, asked) for run in runs)
    if high > APART * low:
        raise Refusal(
            f"steps at both ends of the estimate's band give {low:.3g} to {high:.3g} "
            f"s: {high / low:.0f} times apart, so near saturation no point is told"
        )
    return Forecast(point, "s", "queue")


def _case(row: Measurement) -> Case:
    """The engine of a row."""
    key, _ = device_of(row.system)
    ways = row.integer("dp", 1)
    shared = str(row.config.get("ep", "")).lower() == "true"
    if ways > 1 and not shared:
        raise Refusal(f"config dp={ways} without experts shared: several engines")
    most = row.integer("max_num_seqs") * ways
    chunk = row.integer("max_batched_tokens") * ways
    dtype = row.text("dtype", "bf16")
    return row.subject, key, row.integer("tp", 1), ways, dtype, most, chunk


@lru_cache(maxsize=64)
def _runs(
    case: Case, requests: int, rate: float, factors: Hashable
) -> tuple[tuple[Done, ...], ...]:
    """The requests with steps at the low end of the band, as estimated, and high.

    - ``factors``: that hold just now; others give other steps
    """
    subject, on, tp, ep, dtype, most, chunk = case
    try:
        found = simulate(
            models.get(subject),
            on,
            _traffic(requests, rate),
            tp=tp,
            ep=ep,
            dtype=dtype,
            max_batch=most,
            chunk=chunk,
            scheduler="chunked",
        )
    except (UnknownName, UnknownSpec) as unknown:
        raise Refusal(str(unknown).splitlines()[0]) from None
    if found.ends is None:
        raise Refusal("no band of the estimate: no published row is like it")
    low, high = (found.again(factor=end).requests for end in found.ends)
    return tuple(tuple(run) for run in (low, found.requests, high))


def _traffic(requests: int, rate: float) -> list[Row]:
    """Rows with the moments of the workload."""
    moment = {
        name: quoted(f"sharegpt_300.{name}").si
        for name in ("prompt_median", "prompt_mean", "answer_median", "answer_mean")
    }
    longest = round(quoted("sharegpt_300.longest").si)
    return poisson(
        rate,
        requests,
        prompt=lognormal(moment["prompt_median"], moment["prompt_mean"], longest),
        new=lognormal(moment["answer_median"], moment["answer_mean"]),
        seed=_SEED,
    )


def _figure(run: Sequence[Done], asked: re.Match[str]) -> float:
    """A mean or a percentile, in seconds."""
    name = "ttft" if asked[1] == "ttft" else "e2e"
    times = sorted(getattr(each, name) / 1e9 for each in run)
    if asked[2] == "mean":
        return mean(times)
    percent = int(asked[3]) if asked[3] else 50
    return times[-(-percent * len(times) // 100) - 1]
