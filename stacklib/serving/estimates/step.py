"""The lines of an account as plain seconds, for any batch and context: kept by pair.

``account(...)`` asks every room once a line. What a model on some chips has that
neither batch nor context move is asked once here, and what batch alone moves once a
batch: products and output matrix, exchanges. A further step is a few sums, an array a
sweep.
The seconds are the account's own, line by line; a test holds them equal.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from stacklib.hardware.factors import efficiency, efficiency_moved
from stacklib.kernels.schedule.token_time import TokenForm, token_form
from stacklib.quantity import maximum, minimum
from stacklib.roofline.work.fit import Infeasible

from ..token import calibrated
from ..token.account import Case, Frame, frame_of
from ..token.exchanges import exchange_time, link_rate, sampling_time
from ..token.shape import ATTENTION, HEAD, NORMS, PRODUCTS
from ..token.work import EXCHANGES, LAUNCHES, SAMPLING, busiest
from .asked import Asked

Layer = tuple[int, float, TokenForm]  # how many, their window or 0, their kernels
# Not lines, but parts of the products'.
GROUPED, ROUTED = "experts at the peak", "experts"
LINES = (PRODUCTS, ATTENTION, NORMS, LAUNCHES, EXCHANGES, HEAD, SAMPLING)


@dataclass(frozen=True, slots=True)
class Step:
    """A decode step of a model on some chips; seconds by line for batch and context."""

    frame: Frame
    fitted: bool  # by the calibrated models, else at the limit
    layers: tuple[Layer, ...]
    fixed: float  # launches and pauses
    link: float  # bytes a second out of a chip
    sharp: float  # how sharply two roofs join
    kept: dict[tuple[str, float], float] = field(default_factory=dict)

    def lines(self, batch: Any, context: Any) -> dict[str, Any]:
        """Seconds of every line that the account times."""
        uneven = self._uneven(batch)
        attention = self.attention(batch, context, uneven)
        return self._pass(batch, batch, attention, uneven)

    def time(self, batch: Any, context: Any) -> Any:
        """Seconds of the account."""
        return sum(self.lines(batch, context).values())

    def prompt(self, batch: float, tokens: float) -> dict[str, Any]:
        """Seconds of every line for a prompt of each sequence, nothing cached."""
        uneven = self._uneven(batch)
        attention = self.prompt_attention(batch, tokens, uneven)
        return self._pass(batch * tokens, batch, attention, uneven)

    def _uneven(self, batch: Any) -> Any:
        """The busiest group's sequences over those of an even share."""
        return 1.0 if self.frame.ep == 1 else busiest(batch, self.frame.ep)

    def _pass(self, rows: Any, batch: Any, attention: Any, uneven: Any) -> Any:
        """Seconds by line of ``rows`` tokens, the last of each sequence to the head."""
        frame = self.frame
        return {
            PRODUCTS: self._covering(PRODUCTS, rows, uneven),
            ATTENTION: attention,
            NORMS: self._limit(NORMS, rows, uneven),
            LAUNCHES: self.fixed,
            EXCHANGES: 0.0 if frame.chips == 1 else self._by_rows(EXCHANGES, rows),
            HEAD: self._head(rows, batch, uneven),
            SAMPLING: sampling_time(batch, frame.tp, self.link),
        }

    def prompt_attention(
        self,
        batch: float,
        tokens: float,
        uneven: float = 1.0,
        software: str = calibrated.SOFTWARE,
    ) -> Any:
        """Seconds of a prompt's attention, in all layers."""
        frame, asked = self.frame, (f"{software}, {tokens:.0f}", batch)
        if tokens < 1:
            return 0.0
        if not self.fitted or not self.layers:
            moved, flops = frame.shape.prompt(batch, int(tokens))
            return uneven * maximum(moved / frame.rate, flops / frame.peak)
        if asked not in self.kept:
            case = Case(frame, batch, 0.0, int(tokens), batch * tokens, False)
            try:
                self.kept[asked] = calibrated.cache_time(case, ATTENTION, software)
            except Infeasible:  # a runner's pass has the scores of its rows alone
                if software != "naive":
                    raise
                half = self.prompt_attention(batch, tokens / 2, software=software)
                self.kept[asked] = 4 * half  # as the scores go
        return self.kept[asked]

    def _head(self, rows: Any, batch: Any, uneven: Any) -> Any:
        """Seconds of the output matrix, which only the last token passes."""
        if self.fitted:
            return self._by_rows(HEAD, batch)
        frame, part = self.frame, self.frame.shape.parts[HEAD]
        moved = part.read(rows) + (frame.ep - 1) * part.bytes
        return uneven * maximum(moved / frame.rate, part.flops * batch / frame.peak)

    def attention(self, batch: Any, context: Any, uneven: Any = 1.0) -> Any:
        """Seconds of attention over the cache, in all layers."""
        frame, total = self.frame, 0.0
        if not self.fitted or not self.layers:
            moved, flops = frame.shape.cache(batch, context, frame.tp)
            return uneven * maximum(moved / frame.rate, flops / frame.peak)
        held = batch if frame.ep == 1 else maximum(1.0, _rounded(batch / frame.ep))
        for layers, window, form in self.layers:
            keys = context + 1.0
            if window:
                keys = minimum(keys, window)
            total = total + layers * form.time(held, keys)
        return total

    def line(self, name: str, rows: Any) -> Any:
        """Seconds of a line that only the tokens of a pass move."""
        if name == NORMS:
            return self._limit(NORMS, rows, 1.0)
        if name == EXCHANGES:
            return 0.0 if self.frame.chips == 1 else self._by_rows(EXCHANGES, rows)
        return self._covering(name, rows, 1.0)

    def grouped(self, rows: Any) -> Any:
        """Seconds of the experts' arithmetic at the peak."""
        if not self.fitted or self.frame.model.experts is None:
            return 0.0
        return self._by_rows(GROUPED, rows)

    def experts(self, rows: Any) -> Any:
        """Seconds of the experts alone, a part of the products; none at the limit."""
        if not self.fitted or self.frame.model.experts is None:
            return 0.0
        return self._by_rows(ROUTED, rows)

    def _covering(self, line: str, batch: Any, uneven: Any) -> Any:
        if self.fitted:
            return self._by_rows(line, batch)
        return self._limit(line, batch, uneven)

    def _limit(self, line: str, batch: Any, uneven: Any) -> Any:
        """Seconds at the data sheet's rates, as the account has them."""
        frame = self.frame
        part = frame.shape.parts[line]
        moved = part.read(batch)
        if frame.ep > 1 and line in (PRODUCTS, HEAD):
            moved = moved + (frame.ep - 1) * part.bytes
        if line == NORMS:
            moved = moved + frame.between * batch
        time = maximum(moved / frame.rate, part.flops * batch / frame.peak)
        return uneven * time

    def _by_rows(self, line: str, batch: Any) -> Any:
        """Seconds that only the number of sequences moves, asked once a number."""
        if getattr(batch, "shape", ()):
            import numpy

            each, places = numpy.unique(batch, return_inverse=True)
            times = [self._by_rows(line, float(rows)) for rows in each]
            return numpy.array(times)[places].reshape(batch.shape)
        found = self.kept.get((line, batch))
        if found is None:
            found = self.kept[line, batch] = self._asked(line, batch)
        return found

    def _asked(self, line: str, batch: float) -> float:
        frame = self.frame
        if line != EXCHANGES:
            case = Case(frame, batch, 0.0, None, batch, False)
            if line == GROUPED:
                return calibrated.grouped_time(case)
            if line == ROUTED:
                return calibrated.products_time(case, PRODUCTS, routed=True)
            return calibrated.products_time(case, line)
        on = (frame.device.key, frame.tp, frame.ep)
        return exchange_time(frame.model, *on, batch, frame.software)


def _rounded(value: Any) -> Any:
    """The nearest whole number, halves to even, as the account rounds."""
    return value.round() if getattr(value, "shape", ()) else float(round(value))


def step_of(keys: tuple[Any, ...], software: str, mode: str) -> Step:
    """The step of ``account``'s arguments up to ``ep``, as ``keys_of`` gives them.

    Kept for the efficiency factors in force, which a fit moves.
    """
    return _step(keys, software, mode, efficiency_moved())


@lru_cache(maxsize=1024)
def _step(keys: tuple[Any, ...], software: str, mode: str, moved: Any) -> Step:
    frame = frame_of(*keys, software, False)
    link = link_rate(frame.device.key, frame.tp)
    fixed, by = float(frame.launches.time), mode == "calibrated"
    sharp = efficiency("join_sharpness")
    return Step(frame, by, _layers(frame) if by else (), fixed, link, sharp)


def _layers(frame: Frame) -> tuple[Layer, ...]:
    """The forms of all kinds of attention; none where the account has its limit."""
    found = []
    one = Case(frame, 1.0, 0.0, None, 1.0, False)
    for layers, a in frame.shape.attention:
        if not calibrated.predicted(a):
            return ()
        work = calibrated.layer_of(one, a)
        form = token_form(work, frame.device, calibrated.SOFTWARE)
        found.append((layers, float(getattr(a, "window", 0)), form))
    return tuple(found)


def case(given: Asked) -> Case:
    """What an account is asked for."""
    return case_of(step_of(given.keys, given.exchanges, given.mode), given)


def case_of(step: Step, given: Asked) -> Case:
    """The same of a step that is there."""
    batch = given.batch
    return Case(step.frame, batch, given.context, None, batch, not given.plain)
