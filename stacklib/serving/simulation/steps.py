"""How long a step takes, in whole nanoseconds: a law that a machine asks.

By the estimate a step is the account's lines at its tokens, with an engine's losses.
Attention reads the cache by whole blocks, so that a step of the same batch is as long
until its mean context fills another block: that is what lets a run pass over steps.
Lines that only the number of tokens moves are asked at powers of two and lie on a
straight line in between; a test holds both within their bound of the account's.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple, Protocol

from stacklib.quantity.bounds import above_zero

from ..estimates import losses
from ..estimates.step import Step
from ..token.exchanges import sampling_time
from ..token.shape import HEAD, NORMS, PRODUCTS
from ..token.work import EXCHANGES

READ = 16  # tokens of a block, as attention reads the cache
NEVER = 1 << 60  # steps: a law that the context does not move
SECOND = 1_000_000_000


def nanoseconds(seconds: float, least: int = 1) -> int:
    """Whole ones, of a step at least one; ValueError past what a float counts."""
    try:
        return max(least, round(seconds * SECOND))
    except OverflowError:
        raise ValueError(f"{seconds:g} seconds: too many for nanoseconds") from None


class Work(NamedTuple):
    """What one step has to do.

    - ``decodes``: requests that get one token each
    - ``context``: tokens cached in all of them together
    - ``pieces``: of prompts, each from the first token read to before the last
    - ``ends``: pieces that are the last of their prompt, and get a token
    """

    decodes: int
    context: int
    pieces: tuple[tuple[int, int], ...] = ()
    ends: int = 0

    @property
    def rows(self) -> int:
        """Tokens that go through the model."""
        return self.decodes + sum(end - start for start, end in self.pieces)


class Law(Protocol):
    """Time of steps; ``steady``: the same question has the same answer."""

    steady: bool

    def decode(self, decodes: int, context: int) -> tuple[int, int]:
        """Nanoseconds of a step of decodes alone, and of how many from here on."""

    def mixed(self, work: Work) -> int:
        """Nanoseconds of a step with pieces of prompts in it."""


class Asked:
    """A callable, or a drawn time: asked once a step.

    - ``seconds``: of one ``Work``
    """

    steady = False

    def __init__(self, seconds: Callable[[Work], float]) -> None:
        self.seconds = seconds

    def decode(self, decodes: int, context: int) -> tuple[int, int]:
        """As of `Law`: for one step at a time."""
        return self.mixed(Work(decodes, context)), 1

    def mixed(self, work: Work) -> int:
        """As of `Law`."""
        found = self.seconds(work)
        above_zero(step_time=found)
        return nanoseconds(found)


class Fixed:
    """Every step takes as long.

    - ``seconds``: above zero
    """

    steady = True

    def __init__(self, seconds: float) -> None:
        above_zero(step_time=seconds)
        self.time = nanoseconds(seconds)

    def decode(self, decodes: int, context: int) -> tuple[int, int]:
        """As of `Law`."""
        return self.time, NEVER

    def mixed(self, work: Work) -> int:
        """As of `Law`."""
        return self.time


@dataclass(frozen=True, slots=True)
class Exponential:
    """Times without memory, as ``step_time`` of a queue that theory knows.

    - ``mean``: seconds of a step
    """

    mean: float

    def __post_init__(self) -> None:
        above_zero(mean=self.mean)

    def law(self, seed: int, machine: int) -> Asked:
        """A machine's own draws."""
        draw = random.Random(f"step {seed} {machine}")
        return Asked(lambda work: draw.expovariate(1 / self.mean) or self.mean)


class ByBlocks:
    """Steps that last as long until the mean context fills another block.

    - ``factor``: times as long, for the ends of a band
    """

    steady = True

    def __init__(self, factor: float = 1.0) -> None:
        self.factor = factor
        self._alone: dict[tuple[int, int], int] = {}

    def seconds(self, work: Work) -> float:
        """Seconds of a step."""
        raise NotImplementedError

    def decode(self, decodes: int, context: int) -> tuple[int, int]:
        """As of `Law`."""
        full = -(-context // (READ * decodes)) or 1
        time = self._alone.get((decodes, full))
        if time is None:
            time = self.mixed(Work(decodes, READ * decodes * full))
            self._alone[decodes, full] = time
        return time, (READ * decodes * full - context) // decodes + 1

    def mixed(self, work: Work) -> int:
        """As of `Law`."""
        return nanoseconds(self.factor * self.seconds(work))


class Estimated(ByBlocks):
    """The estimate's step, its rows asked at powers of two.

    - ``step``: of a model on some chips
    - ``gap``: seconds of the host in each step, in place of the estimate's
    """

    def __init__(self, step: Step, gap: float | None = None):
        super().__init__()
        self.step = step
        self.host = losses.pause(step.frame.model.layers) if gap is None else gap
        # What was asked need not be asked again, by this law or by `times` of it.
        self.of_rows, self._held = cache(self._of_rows), cache(self._held_by)
        self._prompt, self._knot = cache(self._prompt_of), cache(self._knot_of)
        self._attended = cache(lambda n: float(step.prompt_attention(1.0, float(n))))

    def times(self, factor: float) -> Estimated:
        """Steps so many times as long; what one has asked the other need not."""
        other = copy(self)
        other.factor, other._alone = factor, {}
        return other

    def seconds(self, work: Work) -> float:
        """As of `ByBlocks`."""
        return self.of_rows(work.rows, work.decodes + work.ends) + self.cached(work)

    def cached(self, work: Work) -> float:
        """Seconds of attention."""
        seconds = 0.0
        if many := work.decodes:
            seconds = self._held(many, -(-work.context // (READ * many)) or 1)
        for start, end in work.pieces:
            seconds += self._prompt(end) - self._prompt(start)
        return seconds

    def _held_by(self, many: int, full: int) -> float:
        """Attention of so many, each over as many full blocks."""
        return float(self.step.attention(float(many), float(READ * full)))

    def _prompt_of(self, tokens: int) -> float:
        """Attention over a prompt: what a token takes grows with its length."""
        if not tokens:
            return 0.0
        low = 1 << (tokens.bit_length() - 1)
        each = self._attended(low) / low
        if low != tokens:
            up = self._attended(2 * low) / (2 * low)
            each += (tokens - low) / low * (up - each)
        return each * tokens

    def _of_rows(self, rows: int, heads: int) -> float:
        """Everything but attention: lines that the number of tokens moves."""
        found = self.step.fixed + self.host + self.between(HEAD, heads)
        found += sum(self.between(line, rows) for line in (PRODUCTS, EXCHANGES, NORMS))
        return found + (self.between("uneven", rows) + self.between("sampling", heads))

    def between(self, line: str, rows: int) -> float:
        """On the straight line between powers of two."""
        if not rows:
            return 0.0
        low = 1 << (rows.bit_length() - 1)
        found = self._knot(line, low)
        if low != rows:
            found += (rows - low) / low * (self._knot(line, 2 * low) - found)
        return found

    def _knot_of(self, line: str, rows: int) -> float:
        step, many = self.step, float(rows)
        if line == "uneven":
            return float(losses.uneven(step, many)) if step.fitted else 0.0
        if line == "sampling":
            return float(sampling_time(many, step.frame.tp, step.link))
        return float(step.line(line, many))


def law_of(step_time: Any, default: Callable[[], Law], seed: int, machine: int) -> Law:
    """A machine's law: the estimate's, a number of seconds, a callable or a draw.

    - ``default``: makes the estimate's
    """
    if step_time is None:
        return default()
    if isinstance(step_time, Exponential):
        return step_time.law(seed, machine)
    if callable(step_time):
        return Asked(step_time)
    return Fixed(step_time)
