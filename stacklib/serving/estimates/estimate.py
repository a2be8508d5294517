"""What a token will take, before the hour is paid: an account with an engine's losses.

The lines are those of ``account``; an engine's own losses (family E) stand in its empty
line of the host, and with experts in one more. Nothing is added up a second time: the
plain seconds of a warm call are those of the lines, which a test holds equal.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from stacklib.hardware import Accelerator
from stacklib.hardware.errors import ErrorBand, error_band
from stacklib.hardware.factors import efficiency_moved
from stacklib.models import LanguageModel
from stacklib.quantity import Quantity, chosen
from stacklib.quantity.keys import keys_of
from stacklib.roofline.work.bounds import device_of
from stacklib.roofline.work.fit import Infeasible

from ..token.account import fit_of, fitting
from ..token.lines import Line
from . import divided, losses
from .asked import Asked, asked
from .parts import (
    ENGINE,
    LINKS,
    bounds,
    family,
    first,
    parts_of,
    prompt_parts,
    total,
    traced_parts,
)
from .step import case, case_of, step_of

if TYPE_CHECKING:
    from stacklib.cost.spans import Span


@dataclass(frozen=True, slots=True, repr=False)
class Estimate:
    """What a step and a first token take, or why they do not fit.

    ``tpot`` and ``ttft`` raise ``Infeasible`` where it does not fit; in a sweep such
    places hold NaN.
    """

    asked: Asked

    def __repr__(self) -> str:
        if not self.asked.swept and self.fits:
            words = f"{_ms(self.tpot)} a token, {_ms(self.ttft)} to the first"
            return f"<Estimate {self.title}: {words}; bound by {self.bound}>"
        return f"<Estimate {self.title}: {self.why}>"

    @property
    def title(self) -> str:
        """Model and chips."""
        given = self.asked
        on = given.devices or (given.on,)
        names = [getattr(x, "short", x) for x in on]
        shown = getattr(given.model, "key", given.model)
        many = given.tp * given.ep if not given.devices else 1
        return f"{shown}, {f'{many} x ' if many > 1 else ''}{' + '.join(names)}"

    @property
    def fits(self) -> Any:
        """Whether weights and cache fit; an array for a sweep."""
        if self.asked.swept:
            room = fitting(case(self.asked))
            return (room == 1.0) | (0 * self.asked.batch * self.asked.context > 0)
        return not refusal(self.asked)

    @property
    def why(self) -> str:
        """The sum of what is needed and had, in one line."""
        if self.asked.swept:
            return f"{self.fits.mean():.0%} of {self.fits.size:,} cases fit"
        return refusal(self.asked) or sum_of(self.asked)

    @property
    def parts(self) -> tuple[Line, ...]:
        """The account's lines, with what an engine loses: they add up to ``tpot``."""
        return parts_of(self.asked)

    @property
    def tpot(self) -> Any:
        """Time of a step: of one token of each sequence."""
        given = self.asked
        if given.easy:
            step = step_of(given.keys, given.exchanges, given.mode)
            room = fitting(case_of(step, given))  # raises, or is NaN in a sweep
            time = step.time(given.batch, given.context)
            return room * (time + losses.seconds(step, given.batch))
        return total(given, efficiency_moved(every=True))

    @property
    def ttft(self) -> Any:
        """Time of the prompt of one sequence, up to its first token.

        Without what was found of it, in passes of ``chunk`` tokens; the wait for other
        requests is not among it.
        """
        return first(self.asked, efficiency_moved(every=True))

    @property
    def prompt_parts(self) -> tuple[Line, ...]:
        """The lines of a prompt read whole, in one pass: they add up to ``ttft``."""
        return prompt_parts(self.asked, efficiency_moved(every=True))

    @property
    def tokens_per_s(self) -> Any:
        """Tokens a second of all sequences."""
        if isinstance(self.tpot, Quantity):
            tokens = chosen(self.asked.batch, "token", label="a token of each sequence")
            return (tokens / self.tpot).to("token/s")
        return self.asked.batch / self.tpot

    @property
    def binding(self) -> dict[str, float]:
        """Seconds by what binds them, the longest first.

        ``memory``, ``arithmetic``, ``links``, or ``engine``: launches, the host, and
        what else no chip's rate shortens.
        """
        found = dict.fromkeys(("memory", "arithmetic", LINKS, ENGINE), 0.0)
        for line, kind in zip(self.parts, bounds(self.asked), strict=False):
            if line.time is not None:
                found[kind] += float(getattr(line.time, "si", line.time))
        return dict(sorted(found.items(), key=lambda pair: -pair[1]))

    @property
    def bound(self) -> str:
        """What takes the largest part of the step, as ``binding`` has it."""
        return next(iter(self.binding))

    @property
    def next_bound(self) -> str:
        """What takes the largest part once that is gone."""
        return [*self.binding][1]

    @property
    def energy(self) -> Span | None:
        """Joules of a step's arithmetic and memory; None where no figure is known.

        From circuits' least to what a board was found to take. Beside them a chip draws
        power that stands still, and links and fans do: left out.
        """
        found = [x.joules for x in traced_parts(self.asked) if x.covers]
        known = [x for x in found if x is not None]
        every = len(known) == len(found)
        return sum(known[1:], known[0]) if every else None

    @property
    def error(self) -> ErrorBand | None:
        """Factors on ``tpot`` that hold nine in ten published rows like it, if any."""
        cell, on = family(self.asked), device_of(self.asked.on)
        return error_band(cell, on) if cell else None


def estimate(
    model: str | LanguageModel,
    on: str | Accelerator,
    dtype: str | Quantity | None = None,
    tp: int = 1,
    batch: Any = 1,
    context: Any = None,
    *,
    ep: int = 1,
    prompt: int | None = None,
    new: int = 1,
    kv_dtype: str | Quantity | None = None,
    prefix_hit: float = 0.0,
    draft: Sequence[Any] | None = None,
    chunk: int | None = None,
    split: str = "tensors",
    devices: Sequence[str | Accelerator] | None = None,
    host_layers: int = 0,
    software: str = "engine",
    mode: str = "calibrated",
) -> Estimate:
    """What a token takes, and a first token, with an engine's losses.

    Whole numbers of batch and context give quantities, floats plain seconds, arrays a
    sweep. An engine that fits nothing has no speed: ``.fits`` and ``.why``.

    Parameters
    ----------
    model, on, dtype, kv_dtype, tp, ep, batch, software, mode
        As ``account`` takes them; ``"limit"`` has no losses, and no band. Software is a
        ``"runner"``, too: one sequence by llama.cpp's kernels, prompts by 512 tokens.
    context : int, float or array
        Tokens cached already in each sequence.
    prompt : int, optional
        Tokens whose first answer ``ttft`` waits for; of ``context`` where not given.
    new : int
        Tokens that are written: the step is that in their middle.
    prefix_hit : float
        Share of the prompt that is found in the cache, from 0 to 1; its last token is
        computed in any case.
    draft : tuple, optional
        Acceptance, draft tokens and, unless it is a look-up, the model that writes
        them: ``(0.7, 4, "llama-3-8b")``.
    chunk : int, optional
        Tokens of a prompt that one pass takes at the most.
    split : str
        ``"tensors"``: chips share every matrix; ``"layers"``: each holds some layers.
    devices : sequence, optional
        Unlike chips in place of ``tp`` times ``on``.
    host_layers : int
        Layers whose weights stay in the host's memory and cross its link in each pass.

    Raises
    ------
    UnknownName, UnknownSpec
        For a name that nothing has, or a figure that is not known.
    ValueError
        For what makes no sense: ``account`` says what, and ``draft``, ``devices``.

    Examples
    --------
    >>> found = estimate("llama-3-70b", "h100-sxm", "bf16", tp=8, batch=64)
    >>> found.bound, found.next_bound, found.fits
    ('memory', 'engine', True)
    """
    named, sizes = keys_of(model, on, dtype, kv_dtype), (batch, context, prompt, new)
    how = tp, ep, chunk, split, host_layers, software, mode
    given = asked(named, sizes, prefix_hit, draft, devices, how)
    if given.here:
        total(given, ())  # raises for what does not run here
    elif given.alike:
        step_of(given.keys, given.exchanges, given.mode)  # raises for what is unknown
    else:
        divided.parts_of(given)
    return Estimate(given)


def _ms(time: Any) -> str:
    return time.text("ms") if isinstance(time, Quantity) else f"{1e3 * time:.3g} ms"


@lru_cache(maxsize=256)
def refusal(given: Asked) -> str:
    """Why a case does not fit; empty where it does."""
    try:
        if given.here:
            return ""
        if given.alike:
            fitting(case(given))
        else:
            divided.refuse(given, given.context)
    except Infeasible as wrong:
        return str(wrong)
    return ""


def sum_of(given: Asked) -> str:
    """The sum of a case that fits."""
    if given.here:
        return "the book's own models fit this machine"
    if not given.alike:
        needs = (
            (divided.need_of(given, part, given.context)[0], part)
            for part in divided.parts_of(given)
        )
        shown = (
            f"{Quantity(need, 'B'):.4 GB} <= {part.device.memory_capacity:.4 GB} on "
            f"{part.device.short}"
            for need, part in needs
        )
        return f"{'; '.join(shown)}: fits"
    frame = case(given).frame
    if frame.ep > 1:
        return f"{frame.words}: fits"
    return fit_of(frame, int(given.batch), int(given.context)).explanation
