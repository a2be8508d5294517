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


def nanoseconds(seconds: float) -> int:
    """Whole ones, at least one: no step takes no time."""
    return max(1, round(seconds * SECOND))


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
        self._knots: dict[tuple[str, int], float] = {}
        self._whole: dict[int, float] = {}
        self._rows: dict[tuple[int, int], float] = {}
        self._cache: dict[tuple[int, int], float] = {}
        self._prompts = {0: 0.0}

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
            full = -(-work.context // (READ * many)) or 1
            found = self._cache.get((many, full))
            if found is None:
                found = float(self.step.attention(float(many), float(READ * full)))
                self._cache[many, full] = found
            seconds = found
        for start, end in work.pieces:
            seconds += self._prompt(end) - self._prompt(start)
        return seconds

    def _prompt(self, tokens: int) -> float:
        """Attention over a prompt: what a token takes grows with its length."""
        if (found := self._prompts.get(tokens)) is None:
            low = 1 << (tokens.bit_length() - 1)
            each = self._attended(low) / low
            if low != tokens:
                up = self._attended(2 * low) / (2 * low)
                each += (tokens - low) / low * (up - each)
            found = self._prompts[tokens] = each * tokens
        return found

    def _attended(self, tokens: int) -> float:
        found = self._whole.get(tokens)
        if found is None:
            found = float(self.step.prompt_attention(1.0, float(tokens)))
            self._whole[tokens] = found
        return found

    def of_rows(self, rows: int, heads: int) -> float:
        """Everything but attention: lines that the number of tokens moves."""
        found = self._rows.get((rows, heads))
        if found is None:
            step = self.step
            found = step.fixed + self.host + self.between(HEAD, heads)
            found += sum(
                self.between(line, rows) for line in (PRODUCTS, EXCHANGES, NORMS)
            )
            found += self.between("uneven", rows) + self.between("sampling", heads)
            self._rows[rows, heads] = found
        return found

    def between(self, line: str, rows: int) -> float:
        """On the straight line between powers of two."""
        if not rows:
            return 0.0
        low = 1 << (rows.bit_length() - 1)
        found = self._knot(line, low)
        if low != rows:
            found += (rows - low) / low * (self._knot(line, 2 * low) - found)
        return found

    def _knot(self, line: str, rows: int) -> float:
        found = self._knots.get((line, rows))
        if found is None:
            found = float(self._asked(line, float(rows)))
            self._knots[line, rows] = found
        return found

    def _asked(self, line: str, rows: float) -> Any:
        step = self.step
        if line == "uneven":
            return losses.uneven(step, rows) if step.fitted else 0.0
        if line == "sampling":
            return sampling_time(rows, step.frame.tp, step.link)
        return step.line(line, rows)


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
