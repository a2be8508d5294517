"""What meters showed: joules of GPUs over tokens written, beside a journey's.

A published figure divides the power of a window by its rate of written tokens, prompts
included. So the prediction is a journey's ``metered``: the answer's joules and, shared
out over it, the prompt's. Where a prompt is a few per cent of the answer the figure is
the answer's alone, and no other source in reach separates the two.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

from stacklib.cost.spans import Span
from stacklib.quantity import Quantity, chosen
from stacklib.quantity.records import recorded
from stacklib.serving.token.joules import STOOD

from .waterfall import Journey, journey

FILE = "stacklib/frontier/data/joules.json"
ANSWER = 0.05  # tokens read for one written, up to which a figure is the answer's
BOTH, ALONE = "prompt and answer", "answer"


@dataclass(frozen=True)
class Metered:
    """A published figure: what ran, and the joules of a written token."""

    id: str
    of: str  # which source, as the file has them
    model: str
    device: str
    chips: int
    dtype: str
    batch: int
    prompt: int
    written: int
    watts: float  # of all chips
    joules: float
    itl_ms: float  # of the median token

    @property
    def phase(self) -> str:
        """Whose joules they are."""
        return ALONE if self.prompt <= ANSWER * self.written else BOTH

    @property
    def measured(self) -> Quantity:
        """The figure, with its record."""
        return recorded(FILE, self.id, "joules", unit="J", label="joules, measured")

    @cached_property
    def journey(self) -> Journey:
        """The same case, predicted; raises ``Infeasible`` as ``journey`` does."""
        return journey(
            self.model,
            self.device,
            self.dtype,
            self.chips,
            self.batch,
            self.prompt,
            prompt=self.prompt,
            new=self.written,
        )

    @property
    def predicted(self) -> Span:
        """Joules of a written token that the journey explains."""
        found = self.journey.metered
        if found is None:
            raise ValueError(f"{self.id}: no joules are known of {self.device}")
        return found.named("joules, predicted")

    @property
    def at_its_time(self) -> Span:
        """The same with chips that stand still for as long as the token took.

        It takes the error of the time out of that of the joules.
        """
        step = self.journey.token
        took = chosen(self.itl_ms, "ms", label="a token, measured") / step.time
        stood = step.by_part()[STOOD]
        low = self.predicted.low + stood.low * (took - 1)
        high = self.predicted.high + stood.high * (took - 1)
        return Span(low, high)


@cache
def metered() -> tuple[Metered, ...]:
    """All published figures, in the order of the file."""
    path = Path(__file__).parent / "data" / "joules.json"
    return tuple(Metered(**row) for row in json.loads(path.read_text("utf-8"))["rows"])


def held(of: str = "", model: str = "") -> Iterator[Metered]:
    """Those of one source, or of one model."""
    for row in metered():
        if of in ("", row.of) and model in ("", row.model):
            yield row
