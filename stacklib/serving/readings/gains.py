"""What a change would bring, by estimates, with the band of the ratio."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from stacklib.hardware.errors import error_band
from stacklib.models import LanguageModel

from ..estimates.estimate import Estimate, estimate
from ..token.account import account
from ..token.lines import Line

ONE, FREE = 1.0, 0.0  # sequences, and tokens cached before a prompt


@dataclass(frozen=True, slots=True)
class Gain:
    """A predicted ratio: so many times the tokens a second, or as long between two.

    - ``low``, ``high``: where nine in ten lie if lines of one family err together
    """

    what: str
    ratio: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.what} x {self.ratio:.2f} ({self.low:.2f} to {self.high:.2f})"


@dataclass(frozen=True, slots=True)
class Setting:
    """A model on some chips, of which parts may be changed."""

    model: LanguageModel
    on: str
    dtype: Any
    kv_dtype: str
    tp: int
    batch: float
    context: float

    def estimate(self, software: str = "engine") -> Estimate:
        """One step, with an engine's losses, or a runner's."""
        case = (self.model, self.on, self.dtype, self.tp, self.batch, self.context)
        return estimate(*case, kv_dtype=self.kv_dtype, software=software)

    def prompt(self, tokens: int) -> tuple[Line, ...]:
        """Lines of one prompt of so many tokens, as the account has them."""
        asked: dict[str, Any] = {"kv_dtype": self.kv_dtype, "mode": "calibrated"}
        chips = (self.model, self.on, self.dtype, self.tp)
        return account(*chips, ONE, FREE, prompt=tokens, **asked).lines


def seconds(lines: Sequence[Line]) -> float:
    """All lines, one after the other."""
    return float(sum(line.time for line in lines if line.time is not None))


def gain(
    what: str, old: Sequence[Line], new: Sequence[Line], times: float = 1.0
) -> Gain:
    """``times`` old over new: of two accounts in which a family errs the same way.

    - ``times``: sequences of a new step over those of an old one
    """
    ratio = times * seconds(old) / seconds(new)
    below, above = 0.0, 0.0
    for family in {line.family[0] for line in (*old, *new) if line.family}:
        moved = [
            times * _scaled(old, family, end) / _scaled(new, family, end)
            for end in ("low", "high")
        ]
        below += max(ratio - min(moved), 0.0) ** 2
        above += max(max(moved) - ratio, 0.0) ** 2
    return Gain(what, ratio, ratio - below**0.5, ratio + above**0.5)


def _scaled(lines: Sequence[Line], family: str, end: str) -> float:
    """Seconds where every line of a family is at one end of its band."""
    total = 0.0
    for line in lines:
        if line.time is None:
            continue
        band = error_band(line.family) if line.family[:1] == family else None
        total += line.time * (getattr(band, end) if band and band.low else 1.0)
    return total
