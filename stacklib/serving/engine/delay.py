"""Why a request took as long as it did: its time split by cause, with nothing left.

Time between two steps is nobody's. A step that finds a request waiting is waited for
one reason. A step that reads rows of a request is split: first what copies took, then
in proportion to rows between others' prompts and the rest, which is the request's own
(a decode step shared with others' decode rows takes them along: that is batching).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

PARTS = {
    "slot": "waiting: every slot of the batch was taken",
    "blocks": "waiting: too few blocks were free",
    "budget": "the step's tokens were all given to others",
    "between": "nobody stepped the engine",
    "others": "others' prompts in my steps",
    "prompt": "my prompt",
    "recomputed": "my tokens again, after an eviction",
    "decode": "my steps",
    "swap": "blocks copied to and from tiers in my steps",
}
LINE = ("slot", "blocks", "budget")  # reasons to wait for admission


@dataclass(slots=True)
class Eviction:
    """A request sent back to the line: for whom, and what that cost it."""

    step: int
    by: int  # the request that needed the block
    lost: int  # tokens it had computed
    recomputed: int = 0  # tokens it computed again; the rest was found again
    time: float = 0.0  # of computing them again


@dataclass(frozen=True, slots=True)
class Delay:
    """A request's latency by cause.

    - ``request``: its id
    - ``total``: from submission to its end, or to now while it is alive
    - ``parts``: time by cause, in the order of ``PARTS``; they sum to ``total``
    - ``evictions``: every time it was sent back
    - ``cached``: tokens of its prompt that were found computed
    - ``missed``: why no more were found
    """

    request: int
    total: float
    parts: Mapping[str, float]
    evictions: tuple[Eviction, ...]
    cached: int
    missed: str


@dataclass(slots=True)
class Rows:
    """Rows of one request in one step, by what they are."""

    prompt: int = 0
    recomputed: int = 0
    decode: int = 0

    @property
    def all(self) -> int:
        """Rows together."""
        return self.prompt + self.recomputed + self.decode


def rows_of(start: int, count: int, prompt: int, highest: int) -> Rows:
    """What the rows from ``start`` on are.

    - ``prompt``: tokens of the prompt.
    - ``highest``: tokens that had been computed at any time before.
    """
    end = start + count
    again = max(0, min(end, highest) - start)
    first = max(0, min(end, prompt) - max(start, highest))
    return Rows(first, again, count - again - first)


class Waits:
    """Time of the whole engine by what those in line waited for, summed up.

    Everyone in line waits for the same reason, so that a request needs the sums at two
    moments only, not a visit in every step.
    """

    def __init__(self, now: float) -> None:
        self.until = now
        self._sums = dict.fromkeys((*LINE, "between"), 0.0)

    def add(self, cause: str, now: float) -> None:
        """All time since the last call went to one cause."""
        self._sums[cause] += now - self.until
        self.until = now

    def at(self, now: float) -> dict[str, float]:
        """The sums at a moment between two steps or in one that is not added yet."""
        return self._sums | {"between": self._sums["between"] + now - self.until}

    def line(self) -> dict[str, float]:
        """The sums of those in line."""
        return {cause: self._sums[cause] for cause in LINE}


@dataclass(slots=True)
class Ledger:
    """One request's time so far."""

    waits: Waits
    submitted: float
    parts: dict[str, float] = field(default_factory=lambda: dict.fromkeys(PARTS, 0.0))
    evictions: list[Eviction] = field(default_factory=list)
    _joined: dict[str, float] | None = None  # sums of the line when it got in line
    _before: float = 0.0  # time between steps until it came

    def __post_init__(self) -> None:
        self._before = self.waits.at(self.submitted)["between"]
        self.joined()

    def joined(self) -> None:
        """It gets in line."""
        self._joined = self.waits.line()

    def left(self) -> None:
        """It leaves the line."""
        self.parts = self._with_line()
        self._joined = None

    def closed(self, now: float) -> None:
        """It ends."""
        self.parts = self.parts_at(now)
        self._joined = None

    def parts_at(self, now: float) -> dict[str, float]:
        """The parts at a moment between two steps."""
        between = self.waits.at(now)["between"] - self._before
        return self._with_line() | {"between": between}

    def ran(self, rows: Rows, others: int, rest: int, time: float, swap: float) -> None:
        """A step with rows of this request.

        - ``others``: rows of others' prompts; ``rest``: others' decode rows.
        - ``time``: of the step, copies apart; ``swap``: of the copies.
        """
        self.parts["swap"] += swap
        if not rows.all:
            self.parts["budget"] += time
            return
        theirs = time * others / (rows.all + others + rest)
        again = (time - theirs) * rows.recomputed / rows.all
        first = (time - theirs) * rows.prompt / rows.all
        self.parts["others"] += theirs
        self.parts["recomputed"] += again
        self.parts["prompt"] += first
        self.parts["decode"] += time - theirs - again - first
        if rows.recomputed:
            self.evictions[-1].recomputed += rows.recomputed
            self.evictions[-1].time += again

    def _with_line(self) -> dict[str, float]:
        if self._joined is None:
            return dict(self.parts)
        now = self.waits.line()
        spent = {cause: now[cause] - self._joined[cause] for cause in LINE}
        return {k: v + spent.get(k, 0.0) for k, v in self.parts.items()}
