"""The account of a token: every line of a step or a prompt, asked of the room it is of.

*Limit* takes what data sheets print: bytes over bandwidth, operations over the peak.
*Calibrated* asks the models that were fitted on published measurements (families A and
B). Exchanges are the library's or the engine's in both (family D), and launches the
least published costs. What an engine itself loses (family E) is in neither.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from stacklib import hardware
from stacklib.hardware import Accelerator
from stacklib.kernels.launch.launches import cost
from stacklib.models import Experts, LanguageModel
from stacklib.models.weights.kept import way_of
from stacklib.quantity import Quantity, chosen, counted, resolve, stamp, where
from stacklib.quantity import dtype as find_dtype
from stacklib.quantity.bounds import whole, whole_floats
from stacklib.quantity.keys import Same, keys_of, values_of
from stacklib.quantity.stored import products
from stacklib.roofline.bound.decode_plain import is_plain
from stacklib.roofline.work.bounds import device_of
from stacklib.roofline.work.fit import (
    Fit,
    Infeasible,
    copies_of,
    fit_memory,
    fit_with_copies,
    split,
)

from . import calibrated, host, joules, work
from .exchanges import exchange_time, family_of, link_rate, sampling_time
from .lines import Account, Line, line_of
from .shape import ATTENTION, HEAD, NORMS, PRODUCTS, Shape, shape_of
from .work import EXCHANGES, HOST, LAUNCHES, SAMPLING, SECTIONS, counted_work, line_work

MODES = ("limit", "calibrated")
SOFTWARE = ("engine", "library")
CONTEXT = 4096  # tokens cached where none are named
COVERING = (PRODUCTS, ATTENTION, NORMS, HEAD)
NODE, REPLAY = cost("node").si, cost("replay").si
LOSSES = "without the engine's own losses (family E)"
WHOLE = 1.0  # an even share that fits
LATER = Line(HOST, SECTIONS[HOST], note="an engine's own loss: serving.estimate")


@dataclass(frozen=True, slots=True)
class Frame:
    """A model in its formats on some chips, without batch, context and prompt."""

    model: LanguageModel
    device: Accelerator
    dtype: Any
    kv_dtype: Any
    runs_in: str  # format of the products
    tp: int
    ep: int
    software: str
    shape: Shape
    chips: int
    rate: float  # bytes a second of all chips' memories
    peak: float  # operations a second of all chips
    capacity: float  # B a chip
    between: float  # B of a token that kernels pass to each other
    words: str  # model and chips, for titles
    launches: Line  # which is the same for any batch


@dataclass(frozen=True, slots=True)
class Case:
    """A frame, and what is asked of it."""

    frame: Frame
    batch: Any
    context: Any
    prompt: int | None
    rows: Any  # tokens that pass the layers
    traced: bool  # whether lines are quantities


def account(
    model: str | LanguageModel,
    on: str | Accelerator,
    dtype: str | Quantity | None = None,
    tp: int = 1,
    batch: Any = 1,
    context: Any = None,
    *,
    ep: int = 1,
    prompt: int | None = None,
    kv_dtype: str | Quantity | None = None,
    software: str = "engine",
    mode: str = "limit",
) -> Account:
    """The lines of one decode step, or of a prompt, with what each of them covers.

    Whole numbers of batch and context give quantities, which open to their sources;
    floats plain seconds, fast; arrays a sweep of them, with NaN where the step does not
    fit.

    Parameters
    ----------
    model : str or LanguageModel
        A model, or how ``models.get`` or ``tinylm.load`` names it.
    on : str or Accelerator
        The chip; *this machine* runs the book's own models, as NumPy does.
    dtype, kv_dtype : str, Quantity or None
        How weights and cache are kept, as ``roofline.decode_step`` takes them.
    tp : int
        Chips that share every matrix; divides the query heads.
    batch, context : int, float or array
        Sequences, and tokens cached in each: 4,096, or as many as a model of the book
        reads on this machine.
    ep : int
        Groups of ``tp`` chips that share the experts, each with its part of the batch;
        all else every group holds whole.
    prompt : int, optional
        Tokens of a prompt for each sequence, in place of a step; nothing is cached.
    software : str
        Who exchanges: ``"engine"``, by kernels of its own while messages are small, or
        ``"library"``, NCCL.
    mode : str
        ``"limit"`` or ``"calibrated"``.

    Raises
    ------
    UnknownName, UnknownSpec
        For a name that nothing has, a chip without a rate for the products, or with
        ``tp`` or ``ep`` one whose links are unknown.
    ValueError
        For sizes that make no sense, ``tp`` that does not divide the heads, ``ep``
        that does not divide the experts, a sweep that is to be calibrated, a CPU, or
        what NumPy does not do on this machine.
    Infeasible
        When it does not fit, with the sum.

    Examples
    --------
    >>> found = account("llama-3-70b", "h100-sxm", tp=8)
    >>> found["products with the weights"].time.text("ms"), found.missing()
    ('5.11 ms', ())
    """
    if mode not in MODES:
        mode = resolve(mode, MODES, "mode", exact=True)
    if software not in SOFTWARE:
        software = resolve(software, SOFTWARE, "software", exact=True)
    here = device_of(on).key == hardware.THIS_MACHINE
    if context is None:
        context = (here and host.longest(model)) or CONTEXT
    keys = keys_of(model, on, dtype, kv_dtype)
    whole(tp=tp, ep=ep)  # True is 1 to the cache of frames
    tp, ep = int(tp), int(ep)  # whole numbers of NumPy overflow
    batch, context, plain = sized(batch, context)
    rows = batch
    if prompt is not None:
        whole(prompt=prompt)
        prompt = int(prompt)
        rows = batch * prompt
    if here:
        single = {"tp": tp, "ep": ep, "batch": batch}
        formats = {"dtype": dtype, "kv_dtype": kv_dtype}
        return host.account_here(
            model, context, prompt, mode, not plain, single=single, formats=formats
        )
    frame = frame_of(*keys, tp, ep, software, not plain)
    case = Case(frame, batch, context, prompt, rows, not plain)
    uneven = fitting(case)
    if ep > 1:
        uneven = uneven * work.busiest(batch, ep)
    products_, attention, norms, head = [_covering(case, n, uneven) for n in COVERING]
    between = (frame.launches, _exchanges(case), head, _sampling(case), LATER)
    lines: tuple[Line, ...] = (products_, attention, norms, *between)
    note = LOSSES
    if not plain:
        lines = tuple(_with_joules(case, one) for one in lines)
    if mode == "calibrated":
        lines = tuple(calibrated.line(case, one, _told) for one in lines)
    else:
        note = f"a limit, {note}"
    what = "a token" if prompt is None else f"a prompt of {prompt:,} tokens"
    return Account(f"{what} of {frame.words}", mode, lines, frame.shape.work, note)


def sized(batch: Any, context: Any) -> tuple[Any, Any, bool]:
    """Both as they are counted with, and whether in plain seconds."""
    if not (is_plain(batch) or is_plain(context)):
        whole(batch=batch)
        whole(0, context=context)
        return int(batch), int(context), False  # NumPy's overflow
    if not (type(batch) is float and batch >= 1 and batch.is_integer()):
        batch = whole_floats(1, batch=batch)
    if not (type(context) is float and context >= 0 and context.is_integer()):
        context = whole_floats(0, context=context)
    return batch, context, True


@lru_cache(maxsize=1024)
def frame_of(
    model: Any,
    on: Any,
    dtype: Any,
    kv_dtype: Any,
    tp: int,
    ep: int,
    software: str,
    traced: bool,
) -> Frame:
    model, on, dtype, kv_dtype = values_of(model, on, dtype, kv_dtype)
    model, device = host.named(model), device_of(on)
    if device.kind == "cpu":
        raise ValueError(
            f"on = {device.key!r}: pauses and sampling are those of accelerators, and "
            "not counted on a CPU; roofline.decode_step gives a bound"
        )
    tp, ep = split(model, tp), int(ep)
    chips = tp * ep
    for experts in (b.mlp for b in model.kinds if isinstance(b.mlp, Experts)):
        if experts.experts % ep:
            count = experts.experts
            raise ValueError(f"ep = {ep} does not divide the {count} experts")
    if ep > 1 and model.experts is None:
        raise ValueError(f"ep = {ep}: {model.key} has no experts to share out")
    way = way_of(model, dtype)
    run = products(way.numbers, device.formats).name
    cache = way.cache_on(device.formats)
    if kv_dtype is None and cache != way.cache:  # as `fit_memory` has it
        kv_dtype = cache
    return Frame(
        model=model,
        device=device,
        dtype=dtype,
        kv_dtype=kv_dtype,
        runs_in=run,
        tp=tp,
        ep=ep,
        software=software,
        shape=shape_of(model, dtype, kv_dtype),
        chips=chips,
        rate=device.memory_bandwidth.si * chips,
        peak=device.peak(run).si * chips,  # raises, with the formats there are
        capacity=device.memory_capacity.si,
        between=work.between(model, tp),
        words=f"{model.key}, {chips} x {device.short}",
        launches=_launches(model, tp, traced),
    )


# -- does it fit -----------------------------------------------------------------------


def fitting(case: Case) -> Any:
    """1, and NaN where a sweep does not fit; ``Infeasible`` with the sum of a case."""
    frame = case.frame
    tokens = case.context if case.prompt is None else case.prompt
    if case.traced and frame.ep == 1:
        fit = fit_of(frame, case.batch, tokens)
        if not fit.fits:
            raise Infeasible(f"{frame.model.key}: {fit.explanation}")
        return WHOLE
    cached = 0.0
    for layers, a in frame.shape.attention:
        cached = cached + layers * copies_of(a, frame.tp) * a.cached(tokens)
    cached = case.batch * frame.shape.number * cached
    if frame.ep > 1:
        cached = cached * work.busiest(case.batch, frame.ep) / frame.ep
    experts = frame.shape.experts
    shared = frame.shape.weights - experts + cached
    need = shared / frame.tp + experts / frame.chips
    fits = need <= frame.capacity
    if fits is True:
        return WHOLE
    if fits is not False:
        return where(fits, 1.0, math.nan)
    a_chip, have = Quantity(need, "B"), frame.device.memory_capacity
    says = f"{frame.words}: {a_chip:.4 GB} > {have:.4 GB} per chip"
    raise Infeasible(f"{says}: does not fit")


def fit_of(frame: Frame, batch: int, tokens: int) -> Fit:
    """The sum of a frame on its chips, the copies of heads that are too few too."""
    sizes: Any = {"batch": batch, "context": tokens, "tp": frame.tp}
    formats = {"dtype": frame.dtype, "kv_dtype": frame.kv_dtype}
    fit = fit_memory(frame.model, on=frame.device, **sizes, **formats)
    return fit_with_copies(frame.model, fit)


# -- lines -----------------------------------------------------------------------------


def _covering(case: Case, name: str, uneven: Any) -> Line:
    """A line that covers operations: bytes over bandwidth, or operations over peak."""
    found: tuple[Any, ...] = (_traced if case.traced else _plain)(case, name)
    moved, flops, beside, rate, peak = found
    passed = moved + beside if name == NORMS else moved
    return line_of(
        name,
        SECTIONS[name],
        moved,
        flops,
        beside,
        passed / rate if uneven is WHOLE else uneven * (passed / rate),
        flops / peak if uneven is WHOLE else uneven * (flops / peak),
        covers=case.frame.shape.parts[name].covers,
    )


def _plain(case: Case, name: str) -> tuple[Any, ...]:
    frame, sizes = case.frame, (case.batch, case.context, case.prompt)
    found = work.of_line(frame.shape, name, frame.tp, frame.ep, *sizes)
    beside = frame.between * case.rows if name == NORMS else 0.0
    return (*found, beside, frame.rate, frame.peak)


def _traced(case: Case, name: str) -> tuple[Quantity, ...]:
    frame, chips = case.frame, chosen(case.frame.chips, label="chips")
    operation = find_dtype(frame.runs_in).operation
    asked = {"tp": frame.tp, "batch": case.batch, "context": case.context}
    asked |= {"dtype": frame.dtype, "kv_dtype": frame.kv_dtype}
    asked |= {"ep": frame.ep, "prompt": case.prompt}
    both = counted_work(line_work, name, operation, frame.model, name, **asked)
    rate, peak = frame.device.memory_bandwidth, frame.device.peak(frame.runs_in)
    return (*both, rate.across(chips), peak.across(chips))


def _with_joules(case: Case, line: Line) -> Line:
    """A line with what it spends, or with the reason why nobody knows."""
    frame = case.frame
    per = joules.rates(frame.device, frame.runs_in)
    if why := per.lacks(line):
        return line.noted(f"no joules: {why}")
    found = joules.spent(line, per, frame.chips, frame.model, int(case.rows))
    return replace(line, spent=found) if found else line


def _launches(model: LanguageModel, tp: int, traced: bool) -> Line:
    """A graph's submission, and on the device the pause before each of its kernels."""
    time: Any = REPLAY + work.kernels(model, tp) * NODE
    if traced:
        replay, node = cost("replay"), cost("node")
        kernels = counted(work.kernels, model, tp, label="kernels of a step")
        time = (replay + kernels * node).named(LAUNCHES)
    return line_of(
        LAUNCHES,
        SECTIONS[LAUNCHES],
        t_fixed=time,
        regime="replayed as one graph",
        note="the least published costs",
    )


def _exchanges(case: Case) -> Line:
    frame = case.frame
    if frame.chips == 1:
        return Line(EXCHANGES, SECTIONS[EXCHANGES], note="one chip")
    given = (frame.device.key, frame.tp, frame.ep)
    size = case.rows * frame.model.hidden * work.ACTIVATION
    family = family_of(size, given[0], max(given[1:]), frame.software)
    time: Any
    if case.traced:
        asked = (frame.model, *given, case.rows, frame.software)
        time = counted(exchange_time, *asked, unit="s", label=EXCHANGES)
        time = stamp(time, family)
    else:
        time = _swept(frame, given, case.rows)
    return line_of(
        EXCHANGES,
        SECTIONS[EXCHANGES],
        beside=size,
        t_fixed=time,
        family=family,
        regime=f"the {frame.software}'s kernels",
    )


def _swept(frame: Frame, given: tuple[str, int, int], rows: Any) -> Any:
    """A time for each number of tokens that occurs."""
    if not getattr(rows, "shape", ()):
        return _exchange(Same(frame.model), *given, float(rows), frame.software)
    import numpy

    each, places = numpy.unique(rows, return_inverse=True)
    times = [exchange_time(frame.model, *given, float(n), frame.software) for n in each]
    return numpy.array(times)[places].reshape(rows.shape)


@lru_cache(maxsize=4096)
def _exchange(model: Same, *asked: Any) -> float:
    return exchange_time(model.value, *asked)


def _sampling(case: Case) -> Line:
    """What follows the output matrix: winners gathered, and two launches."""
    frame = case.frame
    link = link_rate(frame.device.key, frame.tp)
    seconds: Any
    if case.traced:
        asked = (case.batch, frame.tp, link)
        seconds = counted(sampling_time, *asked, unit="s", label=SAMPLING)
    else:
        seconds = sampling_time(case.batch, frame.tp, link)
    return line_of(
        SAMPLING,
        SECTIONS[SAMPLING],
        t_fixed=seconds,
        regime="fused",
        note="launches and the wait before a gather are assumed",
    )


# -- told ------------------------------------------------------------------------------


def line_time(
    name: str, model: str | LanguageModel, on: str, mode: str = "limit", **asked: Any
) -> Any:
    """Seconds of one line of ``account``, which describes the other arguments.

    - ``name``: a line
    """
    for size in ("batch", "context"):
        asked[size] = asked[size] * 1.0  # plain seconds
    return account(model, on, mode=mode, **asked)[name].time


def _told(case: Case, name: str) -> Quantity:
    """A calibrated line's time, as a call that a reader can type."""
    frame = case.frame
    return counted(
        line_time,
        name,
        frame.model,
        frame.device.key,
        "calibrated",
        dtype=frame.dtype,
        kv_dtype=frame.kv_dtype,
        tp=frame.tp,
        ep=frame.ep,
        batch=case.batch,
        context=case.context,
        prompt=case.prompt,
        unit="s",
        label=name,
    )
