"""What a run says: percentiles with their interval, goodput, how full it was."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from stacklib.quantity.bounds import above_zero
from stacklib.quantity.names import resolve, resolve_all

from .machine import Ran
from .request import Done
from .steps import SECOND

SHOWN = (50, 90, 95, 99)
# Times its slots: requests in which filling and emptying count for little. Where slots
# are never short, fewer do.
FULL, MANY = 4, 20_000
TIMES = ("ttft", "itl", "e2e")
LIMITS = ("ttft", "tpot", "e2e")


class OverCapacity(ValueError):
    """Requests come faster than they are served: the line grows without end."""


@dataclass(frozen=True, slots=True)
class Percentiles:
    """Times of which so many in a hundred are no longer, in seconds.

    - ``of``: what is timed, as of ``serving.engine.latency``
    - ``counted``: how many times there are
    - ``low``, ``high``: the same with steps at both ends of the estimate's band;
      infinite where the line then grows without end, None where there is no band
    - ``words``: what the numbers rest on
    """

    of: str
    counted: int
    values: Mapping[float, float]
    low: Mapping[float, float] | None = None
    high: Mapping[float, float] | None = None
    words: str = ""

    def __getitem__(self, percent: float) -> float:
        return self.values[percent]


@dataclass(frozen=True, slots=True)
class Goodput:
    """Requests a second that meet every limit.

    - ``met``, ``asked``: requests; ``share``: one over the other
    - ``nearest``: where none does, what comes closest and by how much it misses
    """

    rate: float
    met: int
    asked: int
    nearest: str = ""

    @property
    def share(self) -> float:
        """Of all requests."""
        return self.met / self.asked


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one run left behind; times in nanoseconds.

    - ``gaps``: times between two tokens of one request, each with how often
    - ``area``: requests in the house, over time; ``last``: of the last arrival
    - ``waited``: requests that nobody had let in at the last arrival
    """

    requests: tuple[Done, ...]
    gaps: Counter[int]
    area: int
    last: int
    waited: int
    end: int
    busy: tuple[int, ...]
    steps: int
    preemptions: int
    on: int  # machines, over the time for which they were on
    log: tuple[Ran, ...] = ()


Again = Callable[..., Outcome]


@dataclass(frozen=True, slots=True, repr=False)
class Simulation:
    """A served traffic; every run is drained, so that no long request is left out.

    - ``outcome``: of the run asked for
    - ``again``: the same traffic with other steps (``factor``), with so many times all
      requests ``at_once``, or with a log
    - ``slots``: requests that all machines run at once
    - ``ends``: of the estimate's band, as factors of a step
    """

    outcome: Outcome
    again: Again
    slots: int
    ends: tuple[float, float] | None
    words: str
    _kept: dict[Any, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        found, end = len(self.requests), self.outcome.end / SECOND
        return f"<Simulation {self.words}: {found:,} requests in {end:,.3f} s>"

    @property
    def requests(self) -> tuple[Done, ...]:
        """What became of each request, in the order in which they came."""
        return self.outcome.requests

    @property
    def rate(self) -> float:
        """Requests a second that came; infinite where all came at once."""
        return _rate(self.outcome)

    @property
    def capacity(self) -> float:
        """Requests a second that the machines do where nobody has to be waited for.

        Of the same traffic, all at once and, where it is short, several times: those
        done until the last one is let in.
        """
        return self._capacity(1.0)

    def _capacity(self, factor: float) -> float:
        """The same with steps so many times as long."""
        key, count = ("capacity", factor), len(self.requests)
        if key not in self._kept:
            times = max(1, min(-(-FULL * self.slots // count), MANY // count))
            self._kept[key] = _capacity(self.again(factor=factor, at_once=times))
        return float(self._kept[key])

    @property
    def utilisation(self) -> float:
        """The rate that came over the one that can be done."""
        return self.utilisation_at(1.0)

    def utilisation_at(self, factor: float) -> float:
        """The same with steps so many times as long."""
        return self.rate / self._capacity(factor)

    @property
    def busy(self) -> float:
        """Share of the time in which machines that were on made steps."""
        return sum(self.outcome.busy) / self.outcome.on

    @property
    def tokens_per_s(self) -> float:
        """Tokens written, over the time from the first arrival to the last token."""
        written = sum(each.new for each in self.requests)
        return written * SECOND / (self.outcome.end - self.requests[0].arrival)

    def percentiles(
        self, of: str, percents: Sequence[float] = SHOWN, *, band: bool = False
    ) -> Percentiles:
        """Times that so many in a hundred do not exceed.

        - ``of``: ``"ttft"`` to the first token, ``"itl"`` between two tokens, ``"e2e"``
          to the last one, as of ``serving.engine.latency``
        - ``percents``: above 0, at most 100
        - ``band``: also with steps at both ends of the estimate's band
        - returns seconds, each a time that was seen
        - raises ``OverCapacity`` where the line grows without end; the message has the
          utilisation
        - raises ``UnknownName``, ``ValueError`` for a time or a percent that is none
        """
        of = resolve(of, TIMES, "time")
        for each in percents:
            if not 0 < each <= 100:
                raise ValueError(f"percent = {each!r}: above 0 and at most 100")
        self._refuse(self.outcome)
        times = _times(self.outcome, of)
        counted = sum(times.values())
        found = ranked(times, percents)
        words = f"{counted:,} times of a drained run, {self.words}{self._few}"
        if math.isinf(self.rate):
            words += "; a finished window: all came at once, which is no rate"
        if not band:
            return Percentiles(of, counted, found, words=words)
        if self.ends is None:
            words += "; no band: no published row is like it"
            return Percentiles(of, counted, found, words=words)
        # With quicker steps one may come as a step begins, and wait longer for its end.
        low, high = (
            {p: end(found[p], self._at(factor, of, percents)[p]) for p in found}
            for end, factor in zip((min, max), self.ends, strict=True)
        )
        words += "; steps from {:.2f} to {:.2f} of the estimate".format(*self.ends)
        return Percentiles(of, counted, found, low, high, words)

    def _at(
        self, factor: float, of: str, percents: Sequence[float]
    ) -> dict[float, float]:
        """Percentiles with steps so many times as long."""
        if factor not in self._kept:
            self._kept[factor] = self.again(factor=factor)
        outcome = self._kept[factor]
        try:
            self._refuse(outcome, factor)
        except OverCapacity:
            return dict.fromkeys(percents, math.inf)
        return ranked(_times(outcome, of), percents)

    def _refuse(self, outcome: Outcome, factor: float = 1.0) -> None:
        """No percentile of a line that grows: it is as long as the traffic lasts."""
        if not outcome.waited or math.isinf(self.rate):
            return
        used = self.utilisation_at(factor)
        if used >= 1:
            raise OverCapacity(
                f"{self.rate:.4g} requests a second, where {self.rate / used:.4g} can "
                f"be done: utilisation {used:.3f}; the line grows without end, and no "
                f"percentile of it means anything{self._few}. Fewer requests a second "
                "or more replicas; .requests has the times of this finished window"
            )

    @property
    def _few(self) -> str:
        """What so few requests do not say: whether more of them follow."""
        if (count := len(self.requests)) > self.slots:
            return ""
        all_ = f"{count:,} requests do not fill {self.slots:,} slots once"
        return f"; {all_}: a burst that ends and an overload look alike"

    def goodput(self, slo: Mapping[str, float]) -> Goodput:
        """Requests a second that meet every limit of ``slo``.

        - ``slo``: seconds by ``"ttft"``, ``"tpot"`` (first token to last, over the
          tokens after the first) and ``"e2e"``
        - returns requests, not tokens, over the time from the first arrival to the last
          token
        - raises ``UnknownName``, ``ValueError`` for a limit that is none, and for no
          limit
        """
        if not slo:
            raise ValueError(f"slo is empty: a limit of {', '.join(LIMITS)} is needed")
        limits = resolve_all(slo, LIMITS, "limit")
        above_zero(**limits)
        excess = [
            max((getattr(each, n) / (most * SECOND), n) for n, most in limits.items())
            for each in self.requests
        ]
        met, nearest = sum(over <= 1 for over, _ in excess), ""
        if not met:
            over, name = min(excess)
            seconds = over * limits[name]
            nearest = f"{name} {seconds:.4g} s where {limits[name]:.4g} s is asked"
        first = self.requests[0].arrival
        rate = met * SECOND / (self.outcome.end - first)
        return Goodput(rate, met, len(self.requests), nearest)

    def timeline(self) -> tuple[Ran, ...]:
        """Steps of all machines in the order of time, alike ones together."""
        if "log" not in self._kept:
            self._kept["log"] = self.again(log=True).log
        return tuple(self._kept["log"])


def _rate(outcome: Outcome) -> float:
    """Requests a second that came: pauses between them, over the time they took."""
    span = outcome.last - outcome.requests[0].arrival
    return (len(outcome.requests) - 1) * SECOND / span if span else math.inf


def _capacity(outcome: Outcome) -> float:
    """Requests a second of a run to which all came at once.

    Counted from the first that is let in after one has ended, because before it slots
    only fill, to the last that is, because after it they only empty.
    """
    requests = outcome.requests
    last = max(each.admitted for each in requests)
    ended = min(each.finished for each in requests)
    opened = min((x.admitted for x in requests if x.admitted >= ended), default=last)
    done = sum(opened < each.finished <= last for each in requests)
    if 3 * done < len(requests):  # so few that filling and emptying are most of it
        return len(requests) * SECOND / (outcome.end - requests[0].arrival)
    return done * SECOND / (last - opened)


def _times(outcome: Outcome, of: str) -> Counter[int]:
    """Times in nanoseconds, each with how often."""
    if of == "itl":
        return +outcome.gaps
    return Counter(getattr(each, of) for each in outcome.requests)


def ranked(times: Counter[int], percents: Sequence[float]) -> dict[float, float]:
    """By the nearest rank: the least time that so many in a hundred do not exceed."""
    counted = sum(times.values())
    found = dict.fromkeys(percents, math.nan)
    if not counted:
        return found
    ranks = {each: max(1, math.ceil(each * counted / 100)) for each in percents}
    passed, waiting = 0, sorted(ranks, key=lambda each: ranks[each])
    for time in sorted(times):
        passed += times[time]
        while waiting and passed >= ranks[waiting[0]]:
            found[waiting.pop(0)] = time / SECOND
        if not waiting:
            break
    return found
