"""The lines of an estimate: an account's, an engine's, and what a draft shares out."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Any

from stacklib.hardware.factors import efficiency_moved
from stacklib.models.weights.kept import way_of
from stacklib.quantity import counted
from stacklib.quantity.keys import keys_of

from ..speculation.formula import tokens_per_pass
from ..token import host
from ..token.account import Case, account, fitting
from ..token.lines import ARITHMETIC, BYTES, Account, Line
from ..token.runner import INT8
from ..token.shape import ATTENTION, PRODUCTS
from ..token.work import EXCHANGES
from . import divided, losses
from .asked import RUNNER, Asked
from .step import Step, case, step_of

DRAFT = "draft"
SPECULATION = "08-serving/speculation"
LINKS, ENGINE = "links", "engine"
_KINDS = {BYTES: "memory", ARITHMETIC: "arithmetic", "": ENGINE}


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


def _with_losses(
    given: Asked, model: Any, on: Any, tp: int, rows: Any, lines: tuple[Line, ...]
) -> tuple[Line, ...]:
    """An account's lines, its empty one of the host replaced by an engine's."""
    if given.mode == "limit":
        return lines
    keys = (*keys_of(model, on, given.dtype, given.kv_dtype), tp, given.ep)
    step = step_of(keys, given.exchanges, given.mode)
    kernels = INT8 if given.software == RUNNER and rows > 1 else ""
    mine = losses.lines(step, rows, family(given), not given.plain, kernels)
    names = {line.name for line in mine}
    if given.software == RUNNER:
        lines = tuple(_by_runner(given, step, line, rows) for line in lines)
    return (*(line for line in lines if line.name not in names), *mine)


def _by_runner(given: Asked, step: Step, line: Line, rows: Any) -> Line:
    """A line by the kernels of a runner."""
    if line.name not in (PRODUCTS, ATTENTION):
        return line
    frame, sizes = step.frame, (step.frame.tp, int(given.context), int(rows))
    on = (frame.model, frame.device.key, frame.dtype, frame.kv_dtype)
    asked_ = (line.name, *on, *sizes)
    if given.plain:
        return divided.scaled(line, losses.slower(*asked_))
    label = "a runner's kernels over an engine's"
    return divided.scaled(line, counted(losses.slower, *asked_, unit="1", label=label))


@lru_cache(maxsize=256)
def _kept(given: Asked, moved: Any) -> tuple[Line, ...]:
    if given.here:
        return account(given.model, given.on, **given.account).lines
    return _drafted(given) if given.draft is not None else _alike(given)


def parts_of(given: Asked) -> tuple[Line, ...]:
    return _swept(given) if given.swept else _kept(given, efficiency_moved(every=True))


def _alike(given: Asked, prompt: int | None = None) -> tuple[Line, ...]:
    """The lines of a pass, with an engine's."""
    if not given.alike:
        return tuple(divided.lines_of(given, prompt, _with_losses))
    lines = account(given.model, given.on, prompt=prompt, **given.account).lines
    rows = given.batch * (prompt or 1)
    return _with_losses(given, given.model, given.on, given.tp, rows, lines)


def _swept(given: Asked) -> tuple[Line, ...]:
    """The lines of a sweep, with the seconds of its step."""
    if not given.simple:
        raise ValueError("a sweep: one case at a time with a draft, or unlike chips")
    found = account(given.model, given.on, **given.account | {"mode": "limit"}).lines
    if given.mode == "limit":
        return found
    step = step_of(given.keys, given.exchanges, given.mode)
    times, room = step.lines(given.batch, given.context), fitting(case(given))
    lines = tuple(
        replace(line, t_bytes=None, t_arithmetic=None, t_fixed=room * times[line.name])
        if line.name in times
        else line
        for line in found
    )
    return _with_losses(given, given.model, given.on, given.tp, given.batch, lines)


def _drafted(given: Asked) -> tuple[Line, ...]:
    """The lines of a token where a step checks a draft.

    The check has a row for each proposal and one more, and reads the cache once; a line
    costs a token its part of those that the step yields.
    """
    draft = given.draft
    assert draft is not None
    rows = draft.tokens + 1
    yields = float(tokens_per_pass(draft.acceptance, draft.tokens))
    plain = _alike(given._replace(draft=None))
    shorter = given.context // rows  # the cache is as large, and is read apart
    wide = given._replace(draft=None, batch=given.batch * rows, context=shorter)
    cache = next(line for line in plain if line.name == ATTENTION)
    found = [cache if x.name == ATTENTION else x for x in _alike(wide)]
    if draft.model is not None:
        own = given._replace(draft=None, model=draft.model, dtype=None)
        times = [x.time for x in _alike(own) if x.time is not None]
        time = draft.tokens * sum(times[1:], times[0])
        found.append(Line(DRAFT, SPECULATION, t_fixed=time, note="one after another"))
    return tuple(divided.scaled(line, 1 / yields) for line in found)


@lru_cache(maxsize=1024)
def total(given: Asked, moved: Any) -> Any:
    """Seconds of a step: of its parts."""
    if given.here:
        return account(given.model, given.on, **given.account).total()
    return Account("a token", given.mode, parts_of(given), frozenset(), "").total()


@lru_cache(maxsize=1024)
def first(given: Asked, moved: Any) -> Any:
    """Seconds of a prompt: passes of its new tokens, over what is cached of it."""
    if not given.prompt:
        raise ValueError("ttft of a sweep of contexts: give it ``prompt``")
    if given.here:
        return _here(given).total()
    one = _one(given)
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


@lru_cache(maxsize=256)
def prompt_parts(given: Asked, moved: Any) -> tuple[Line, ...]:
    """The lines of a prompt of one sequence that passes at once."""
    if not given.prompt or given.hit or (given.chunk or given.prompt) < given.prompt:
        raise ValueError("parts of a prompt: one that is read whole, in one pass")
    return _here(given).lines if given.here else _alike(_one(given), given.prompt)


def _here(given: Asked) -> Account:
    asked_ = dict(given.account, batch=1, context=None, prompt=given.prompt)
    return account(given.model, given.on, **asked_)


def _one(given: Asked) -> Asked:
    """A sequence a group of chips, with nothing cached."""
    once = 1.0 if given.plain else 1
    return given._replace(batch=once * given.ep, context=0 * once, draft=None)


def _attention(lines: tuple[Line, ...]) -> Any:
    return next(line.time for line in lines if line.name == ATTENTION)


def _first_seconds(given: Asked, each: int, passes: int) -> float:
    """The same in plain seconds, kept by the step."""
    step = step_of(given.keys, given.exchanges, given.mode)
    case = Case(step.frame, given.batch, 0.0, given.prompt, given.batch, False)
    fitting(case)
    groups, found = given.batch, step.prompt(given.batch, float(each))
    whole = found[ATTENTION]
    if passes > 1 or given.hit:
        whole = step.prompt_attention(groups, float(given.prompt))
        whole -= step.prompt_attention(groups, float(given.hit))
    rest = sum(found.values()) - found[ATTENTION] + losses.seconds(step, groups * each)
    return float(passes * rest + whole)


def bounds(given: Asked) -> tuple[str, ...]:
    """What binds each part: its account's at the limit says which roof is higher."""
    limit = parts_of(given._replace(mode="limit"))
    by = {line.name: line for line in limit}
    found = []
    for line in parts_of(given):
        same = by.get(line.name, line)
        kind = _KINDS[same.bound if same.covers else ""]
        found.append(LINKS if line.name == EXCHANGES else kind)
    return tuple(found)


def traced_parts(given: Asked) -> tuple[Line, ...]:
    if not given.plain or given.swept:
        return parts_of(given)
    batch, context = int(given.batch), int(given.context)
    return parts_of(given._replace(batch=batch, context=context, plain=False))
