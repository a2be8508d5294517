"""How much a server has to do, from its own numbers: what runs, waits and is full."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median

from .lines import LLAMA
from .readings import Reading, Readings, middle

FULL = 0.95  # of the cache, or of the places, that leaves no room for one more
EVEN = 0.8  # of the cache: below it, who waits does not wait for blocks


@dataclass(frozen=True, slots=True)
class Load:
    """Readings in the middle of all moments at which something ran, a server's each.

    - ``usage``: of the fuller pool, where windows or states have one of their own
    - ``tpot``: seconds between two tokens of a sequence, by the server's own numbers
    - ``timed``: what those stood in
    - ``preempted``: requests that lost their cache, and what said so
    - ``hit_rate``: share of prompt tokens found in the cache
    """

    running: Reading | None
    waiting: Reading | None
    usage: Reading | None
    prompt_rate: Reading | None
    most: Reading | None
    tpot: float | None
    timed: Reading | None
    preempted: float
    lost: Reading | None
    hit_rate: float | None
    found: Reading | None

    @property
    def batch(self) -> int:
        """Sequences of a step."""
        return max(round(self.running.value), 1) if self.running else 1

    @property
    def queue(self) -> float:
        """Requests that wait."""
        return self.waiting.value if self.waiting else 0.0

    @property
    def full(self) -> float:
        """Share of the cache in use; 0 where the server does not say."""
        return self.usage.value if self.usage else 0.0

    @property
    def no_place(self) -> bool:
        """Whether as many run as may."""
        return bool(self.most and self.running and self.batch >= FULL * self.most.value)


def load_of(readings: Readings) -> Load:
    """The middle of every moment in the log, or what ``/metrics`` says now."""
    samples = readings.samples()
    running, waiting, usage, pool, prompt_rate = (
        middle([getattr(one, name) for one in samples])
        for name in ("running", "waiting", "usage", "pool_usage", "prompt_rate")
    )
    if pool and (not usage or pool.value > usage.value):
        usage = pool
    first = running, waiting, usage, prompt_rate, readings.last("most_running")
    return Load(*first, *_tpot(readings), *_preempted(readings), *_hits(readings))


def context_of(readings: Readings, load: Load) -> float | None:
    """Tokens cached of a sequence in the middle: the cache in use over who runs."""
    tokens = readings.value("tokens")
    if readings.engine == LLAMA:
        tokens = readings.value("context")
    if not tokens or not load.usage or not load.running or not load.running.value:
        return None
    if load.usage.field != "usage":  # a pool's that does not hold the tokens
        return None
    return float(load.full * tokens / load.running.value)


def _tpot(readings: Readings) -> tuple[float | None, Reading | None]:
    """Who runs over tokens a second, each moment; else a histogram's mean."""
    each = [
        (s.running.value / s.generation_rate.value, s.generation_rate)
        for s in readings.samples()
        if s.generation_rate and s.generation_rate.value and s.running.value
    ]
    if each:
        at = median(time for time, _ in each)
        return min(each, key=lambda one: abs(one[0] - at))
    for name in ("tpot", "gap"):
        total, count = readings.last(f"{name}_sum"), readings.value(f"{name}_count")
        if total and count:
            return total.value / count, total
    rate = readings.last("each_rate")
    if rate and rate.value:
        return 1 / rate.value, rate
    times, tokens = (readings.found.get(f"eval_{n}", ()) for n in ("time", "tokens"))
    count = sum(one.value for one in tokens)
    if times and count:
        return sum(one.value for one in times) / count, times[-1]
    return None, None


def _preempted(readings: Readings) -> tuple[float, Reading | None]:
    count = float(readings.events.get("preempted", 0))
    of_lines = readings.found.get("preempted", ())
    count += sum(one.value for one in of_lines)
    totals = list(readings.by_rank("preempted_total").values())
    count = max(count, sum(one.value for one in totals))
    lost = [*of_lines, *(one for one in totals if one.value)]
    return count, lost[-1] if lost else readings.last("preempted_line")


def _hits(readings: Readings) -> tuple[float | None, Reading | None]:
    for hits, asked in (("prefix_hits", "prefix_queries"), ("found_tokens", "")):
        found = readings.found.get(hits, ())
        if not found:
            continue
        if asked:
            total = sum(one.value for one in readings.by_rank(asked).values())
            share = sum(one.value for one in readings.by_rank(hits).values())
        else:
            share = sum(one.value for one in found)
            total = share + sum(o.value for o in readings.found.get("new_tokens", ()))
        if total:
            return share / total, found[-1]
    rate = readings.last("hit_rate")
    return (rate.value, rate) if rate else (None, None)
