"""What a token will take, before the hour is paid: an account with an engine's losses.

The lines are those of ``account``; an engine's own losses (family E) stand in its empty
line of the host, and with experts in one more. Nothing is added up a second time: the
plain seconds of a warm call are those of the lines, which a test holds equal.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from stacklib.hardware import Accelerator
from stacklib.hardware.errors import ErrorBand, error_band
from stacklib.hardware.factors import efficiency_moved
from stacklib.models import LanguageModel
from stacklib.models.weights.kept import way_of
from stacklib.quantity import Quantity, chosen
from stacklib.quantity.keys import keys_of
from stacklib.roofline.work.fit import Infeasible, fit_memory, fit_with_copies

from ..speculation.formula import tokens_per_pass
from ..token import host
from ..token.account import Case, account, fitting
from ..token.lines import ARITHMETIC, BYTES, Account, Line
from ..token.shape import ATTENTION
from ..token.work import EXCHANGES
from . import divided, losses
from .asked import Asked, asked
from .step import Step, step_of

DRAFT = "draft"
SPECULATION = "08-serving/speculation"
LINKS, ENGINE = "links", "engine"
_KINDS = {BYTES: "memory", ARITHMETIC: "arithmetic", "": ENGINE}


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
            room = fitting(_case(self.asked))
            return (room == 1.0) | (0 * self.asked.batch * self.asked.context > 0)
        return not _refusal(self.asked)

    @property
    def why(self) -> str:
        """The sum of what is needed and had, in one line."""
        if self.asked.swept:
            return f"{self.fits.mean():.0%} of {self.fits.size:,} cases fit"
        return _refusal(self.asked) or _sum_of(self.asked)

    @property
    def parts(self) -> tuple[Line, ...]:
        """The account's lines, with what an engine loses: they add up to ``tpot``."""
        return _parts(self.asked, efficiency_moved(every=True))

    @property
    def tpot(self) -> Any:
        """Time of a step: of one token of each sequence."""
        given = self.asked
        if given.easy:
            step = step_of(given.keys, given.software, given.mode)
            room = fitting(_case_of(step, given))  # raises, or is NaN in a sweep
            time = step.time(given.batch, given.context)
            return room * (time + losses.seconds(step, given.batch))
        return _total(given, efficiency_moved(every=True))

    @property
    def ttft(self) -> Any:
        """Time of the prompt of one sequence, up to its first token.

        Without what was found of it, in passes of ``chunk`` tokens; the wait for other
        requests is not among it.
        """
        return _first(self.asked, efficiency_moved(every=True))

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
        for line, kind in zip(self.parts, _bounds(self.asked), strict=False):
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
    def energy(self) -> Quantity | None:
        """Joules of a step's arithmetic and memory; None where no figure is published.

        What a board draws beside them (leakage, links, fans) is left out.
        """
        joules = [x.joules for x in _traced_parts(self.asked) if x.covers]
        if not joules or any(x is None for x in joules):
            return None
        return sum(joules[1:], joules[0])

    @property
    def error(self) -> ErrorBand | None:
        """The band of published rows like it: None where there are none.

        ``low`` and ``high`` times ``tpot`` hold nine in ten of the rows.
        """
        return error_band(family(self.asked)) if family(self.asked) else None


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
        As ``account`` takes them; ``"limit"`` has no losses, and no band.
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
    given = asked(
        model,
        on,
        dtype,
        tp,
        batch,
        context,
        prompt,
        new,
        prefix_hit,
        draft,
        devices,
        kv_dtype=kv_dtype,
        ep=ep,
        chunk=chunk,
        split=split,
        host_layers=host_layers,
        software=software,
        mode=mode,
    )
    if given.here:
        _total(given, ())  # raises for what does not run here
    elif given.alike:
        step_of(given.keys, given.software, given.mode)  # raises for what is unknown
    else:
        divided.parts_of(given)
    return Estimate(given)


def family(given: Asked) -> str:
    """Whose band a step carries; empty at the limit, which has none."""
    if given.mode == "limit" or given.here or given.swept:
        return ""
    if float(given.batch) != 1.0:
        return "E_decode/served"
    model = host.named(given.model)
    if model.experts is not None:
        return "E_decode/one sequence"
    wide = way_of(model, given.dtype).numbers
    return f"E_decode/one sequence/{'wide' if wide else 'narrow'}"


# -- does it fit -----------------------------------------------------------------------


def _case(given: Asked) -> Case:
    return _case_of(step_of(given.keys, given.software, given.mode), given)


def _case_of(step: Step, given: Asked) -> Case:
    batch = given.batch
    return Case(step.frame, batch, given.context, None, batch, not given.plain)


@lru_cache(maxsize=256)
def _refusal(given: Asked) -> str:
    """Why a case does not fit; empty where it does."""
    try:
        if given.here:
            return ""
        if given.alike:
            fitting(_case(given))
        else:
            divided.refuse(given, given.context)
    except Infeasible as wrong:
        return str(wrong)
    return ""


def _sum_of(given: Asked) -> str:
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
    frame = _case(given).frame
    if frame.ep > 1:
        return f"{frame.words}: fits"
    fit = fit_memory(
        frame.model,
        on=frame.device,
        dtype=given.dtype,
        tp=given.tp,
        batch=int(given.batch),
        context=int(given.context),
        kv_dtype=given.kv_dtype,
    )
    return fit_with_copies(frame.model, fit).explanation


# -- lines -----------------------------------------------------------------------------


def _with_losses(
    given: Asked, model: Any, on: Any, tp: int, rows: Any, lines: tuple[Line, ...]
) -> tuple[Line, ...]:
    """An account's lines, its empty one of the host replaced by an engine's."""
    if given.mode == "limit":
        return lines
    keys = (*keys_of(model, on, given.dtype, given.kv_dtype), tp, given.ep)
    step = step_of(keys, given.software, given.mode)
    mine = losses.lines(step, rows, family(given), not given.plain)
    names = {line.name for line in mine}
    return (*(line for line in lines if line.name not in names), *mine)


@lru_cache(maxsize=256)
def _kept_parts(given: Asked, moved: Any) -> tuple[Line, ...]:
    if given.here:
        return account(given.model, given.on, **given.account).lines
    if given.swept:
        return _swept_parts(given)
    found = _drafted(given) if given.draft is not None else _alike(given)
    return found


def _parts(given: Asked, moved: Any) -> tuple[Line, ...]:
    return _swept_parts(given) if given.swept else _kept_parts(given, moved)


def _alike(given: Asked, prompt: int | None = None) -> tuple[Line, ...]:
    """The lines of a pass, with an engine's."""
    if not given.alike:
        return tuple(divided.lines_of(given, prompt, _with_losses))
    lines = account(given.model, given.on, prompt=prompt, **given.account).lines
    rows = given.batch * (prompt or 1)
    return _with_losses(given, given.model, given.on, given.tp, rows, lines)


def _swept_parts(given: Asked) -> tuple[Line, ...]:
    """The lines of a sweep, with the seconds of its step."""
    if not given.simple:
        raise ValueError("a sweep: one case at a time with a draft, or unlike chips")
    limit = dict(given.account, mode="limit")
    found = account(given.model, given.on, **limit).lines
    if given.mode == "limit":
        return found
    step = step_of(given.keys, given.software, given.mode)
    times, room = step.lines(given.batch, given.context), fitting(_case(given))
    lines = tuple(
        _timed(line, room * times[line.name]) if line.name in times else line
        for line in found
    )
    rows = given.batch
    return _with_losses(given, given.model, given.on, given.tp, rows, lines)


def _drafted(given: Asked) -> tuple[Line, ...]:
    """The lines of a token where a step checks a draft.

    The check has a row for each proposal and one more, and reads the cache once; a line
    costs a token its part of those that the step yields.
    """
    draft = given.draft
    assert draft is not None
    rows = draft.tokens + 1
    yields = float(tokens_per_pass(draft.acceptance, draft.tokens))
    plain = _alike(given._replace(draft=None, simple=given.alike))
    shorter = given.context // rows  # the cache is as large, and is read apart
    wide = given._replace(
        draft=None, simple=given.alike, batch=given.batch * rows, context=shorter
    )
    cache = next(line for line in plain if line.name == ATTENTION)
    found = [cache if x.name == ATTENTION else x for x in _alike(wide)]
    if draft.model is not None:
        own = given._replace(
            draft=None, simple=given.alike, model=draft.model, dtype=None
        )
        times = [x.time for x in _alike(own) if x.time is not None]
        time = draft.tokens * sum(times[1:], times[0])
        found.append(Line(DRAFT, SPECULATION, t_fixed=time, note="one after another"))
    return tuple(divided.scaled(line, 1 / yields) for line in found)


def _timed(line: Line, time: Any) -> Line:
    """A line with another time."""
    return replace(line, t_bytes=None, t_arithmetic=None, t_fixed=time)


@lru_cache(maxsize=1024)
def _total(given: Asked, moved: Any) -> Any:
    """Seconds of a step: of its parts."""
    parts = _parts(given, moved)
    if given.here:
        return account(given.model, given.on, **given.account).total()
    return Account("a token", given.mode, parts, frozenset(), "").total()


@lru_cache(maxsize=1024)
def _first(given: Asked, moved: Any) -> Any:
    """Seconds of a prompt: passes of its new tokens, over what is cached of it."""
    if not given.prompt:
        raise ValueError("ttft of a sweep of contexts: give it ``prompt``")
    if given.here:
        asked_ = dict(given.account, batch=1, context=None, prompt=given.prompt)
        return account(given.model, given.on, **asked_).total()
    once = 1.0 if given.plain else 1
    one = given._replace(
        batch=once * given.ep,
        context=0 * once,
        draft=None,
        simple=given.alike,
    )
    left = given.prompt - given.hit
    passes = -(-left // (given.chunk or left))
    each = -(-left // passes)
    if one.easy:
        return _first_seconds(one, each, passes)
    lines = _alike(one, each)
    time = sum((x.time for x in lines[1:] if x.time is not None), lines[0].time)
    if passes == 1 and not given.hit:
        return time
    cached = {n: _attention(_alike(one, n)) for n in (given.prompt, given.hit) if n}
    whole = cached[given.prompt]
    if given.hit:
        whole = whole - cached[given.hit]
    return passes * (time - _attention(lines)) + whole


def _attention(lines: tuple[Line, ...]) -> Any:
    return next(line.time for line in lines if line.name == ATTENTION)


def _first_seconds(given: Asked, each: int, passes: int) -> float:
    """The same in plain seconds, kept by the step."""
    step = step_of(given.keys, given.software, given.mode)
    case = Case(step.frame, given.batch, 0.0, given.prompt, given.batch, False)
    fitting(case)
    groups, found = given.batch, step.prompt(given.batch, float(each))
    whole = found[ATTENTION]
    if passes > 1 or given.hit:
        whole = step.prompt_attention(groups, float(given.prompt))
        whole -= step.prompt_attention(groups, float(given.hit))
    rest = sum(found.values()) - found[ATTENTION] + losses.seconds(step, groups * each)
    return float(passes * rest + whole)


# -- told ------------------------------------------------------------------------------


def _bounds(given: Asked) -> tuple[str, ...]:
    """What binds each part: its account's at the limit says which roof is higher."""
    limit = _parts(given._replace(mode="limit"), ())
    by = {line.name: line for line in limit}
    found = []
    for line in _parts(given, efficiency_moved(every=True)):
        same = by.get(line.name, line)
        kind = _KINDS[same.bound if same.covers else ""]
        found.append(LINKS if line.name == EXCHANGES else kind)
    return tuple(found)


def _traced_parts(given: Asked) -> tuple[Line, ...]:
    if not given.plain or given.swept:
        return _parts(given, efficiency_moved(every=True))
    whole = given._replace(
        batch=int(given.batch), context=int(given.context), plain=False
    )
    return _parts(whole, efficiency_moved(every=True))


def _ms(time: Any) -> str:
    return time.text("ms") if isinstance(time, Quantity) else f"{1e3 * time:.3g} ms"
