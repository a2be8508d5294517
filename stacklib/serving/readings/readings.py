"""What was read of a server: each number with its line and the words it stood in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import median
from typing import Any

from stacklib.quantity import Quantity, chosen

from .lines import NAMES


@dataclass(frozen=True, slots=True)
class Reading:
    """One number or word of one line.

    - ``field``: what it is, such as ``running`` or ``cache_memory``
    - ``value``, ``unit``: as a number of that unit (GiB for memory), or text
    - ``line``, ``words``: where it stood, and what was printed there
    - ``rank``: which of several engines behind one address
    - ``metric``: whether it is of ``/metrics``, where a line has one number
    """

    field: str
    value: Any
    unit: str
    line: int
    words: str
    rank: str = ""
    metric: bool = False

    @property
    def quantity(self) -> Quantity:
        """The number with its unit; the reader of the log gave it."""
        label = self.field.replace("_", " ")
        return chosen(self.value, self.unit, label=f"{label}, line {self.line}")

    @property
    def brief(self) -> str:
        """The number and its line, without the words."""
        value = self.value if isinstance(self.value, str) else f"{self.value:,.6g}"
        unit = "" if self.unit == "1" else f" {self.unit}"
        return f"{self.field.replace('_', ' ')} {value}{unit} (line {self.line})"

    def __str__(self) -> str:
        return f"line {self.line}: {self.words}"


@dataclass(frozen=True, slots=True)
class Sample:
    """A moment of the server: a line that says how many run, or all of its metrics."""

    running: Reading
    waiting: Reading | None = None
    usage: Reading | None = None
    generation_rate: Reading | None = None
    prompt_rate: Reading | None = None
    pool_usage: Reading | None = None


@dataclass(frozen=True, slots=True, repr=False)
class Readings:
    """What ``read_log`` found.

    - ``engine``: ``vllm``, ``sglang``, ``llama.cpp`` or ``stacklib``
    - ``found``: by field, in the order of the text; of a line that repeats the latest
      2,000
    - ``events``: how often something was said: ``preempted``, ``hybrid_off``
    - ``unread``: lines that begin as the server's do and go on otherwise, quoted:
      another version printed them, and nothing was taken from them
    - ``lines``: lines of the text
    - ``histograms``: of metrics, upper ends in seconds, and how many lay below
    """

    engine: str
    found: Mapping[str, tuple[Reading, ...]]
    events: Mapping[str, int]
    unread: tuple[Reading, ...]
    lines: int
    histograms: Mapping[str, tuple[tuple[float, float], ...]]

    def __repr__(self) -> str:
        count = sum(map(len, self.found.values()))
        name = NAMES[self.engine]
        return f"<Readings of {name}: {count} in {self.lines:,} lines>"

    def last(self, field: str) -> Reading | None:
        """The latest reading of ``field``, or None."""
        return self.found.get(field, (None,))[-1]

    def value(self, field: str, default: Any = None) -> Any:
        """The latest value of ``field``, or ``default`` where none was read."""
        reading = self.last(field)
        return default if reading is None else reading.value

    def by_rank(self, field: str) -> dict[str, Reading]:
        """The latest reading of ``field`` for each engine behind the address."""
        return {one.rank: one for one in self.found.get(field, ())}

    def samples(self) -> tuple[Sample, ...]:
        """Moments at which something ran or waited; all of them where nothing did."""
        beside = {
            (one.line, field): one
            for field in Sample.__slots__[1:]
            for one in self.found.get(field, ())
        }
        made = []
        for one in self.found.get("running", ()):
            at = {f: beside.get((one.line, f)) for f in Sample.__slots__[1:]}
            if one.metric:
                at = {f: at[f] or self.by_rank(f).get(one.rank) for f in at}
            made.append(Sample(one, **at))
        busy = [s for s in made if s.running.value or (s.waiting and s.waiting.value)]
        return tuple(busy or made)

    def quantile(self, field: str, share: float) -> float | None:
        """Seconds of ``field`` below which ``share`` lay, evenly within a bucket."""
        buckets = sorted(self.histograms.get(field, ()))
        if not buckets or not buckets[-1][1]:
            return None
        wanted, low, under = share * buckets[-1][1], 0.0, 0.0
        for high, count in buckets:
            if count >= wanted and count > under:
                if high == float("inf"):
                    return low
                return low + (high - low) * (wanted - under) / (count - under)
            low, under = high, count
        return low


def middle(readings: list[Reading | None]) -> Reading | None:
    """The reading in the middle of several, so that it can be quoted."""
    there = [one for one in readings if one is not None]
    if not there:
        return None
    at = median([one.value for one in there])
    return min(there, key=lambda one: (abs(one.value - at), -one.line))
