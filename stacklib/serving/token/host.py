"""The book's own models on this machine: lines of ``tinylm.decode_step``.

NumPy runs one sequence in fp32. Its products share one roofline, so that each takes its
part of what binds them all; what is elementwise takes its calls, in the launches' line.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache, lru_cache
from typing import Any

from stacklib.models import LanguageModel
from stacklib.quantity import stamp
from stacklib.quantity.names import fold
from stacklib.roofline import HostRoofline
from stacklib.roofline.work.fit import model_of
from stacklib.tinylm.config import DATA, NAMES, Config, architecture, read_config
from stacklib.tinylm.decode_step import (
    DecodeTime,
    decode_time,
    prefill_time,
    products_of,
)

from .lines import Account, Line
from .shape import ATTENTION, HEAD, NORMS, PRODUCTS, Shape, shape_of
from .work import EXCHANGES, HOST, LAUNCHES, SAMPLING, SECTIONS, LineWork, counted_work

FORMAT, FAMILY = "fp32", "host"
NOTE = "by what this machine was measured to do, without sampling and Python itself"
_OWN = {fold(key): name for name in NAMES for key in (name, f"tinylm-{name}")}
_LINES = {"attention": ATTENTION, "head": HEAD}  # all others multiply by weights


def own_name(model: Any) -> str:
    """Which of the book's own models is meant; empty for any other."""
    if isinstance(model, str):
        return _OWN.get(fold(model), "")
    return next((name for name in NAMES if architecture(name) == model), "")


def named(model: str | LanguageModel) -> LanguageModel:
    """The model, the book's own by their names too."""
    name = own_name(model)
    return architecture(name) if name else model_of(model)


def longest(model: str | LanguageModel) -> int:
    """Tokens cached before the last step of a book's own model; 0 for any other."""
    name = own_name(model)
    return _config(name).max_position_embeddings - 1 if name else 0


def account_here(
    model: str | LanguageModel,
    context: Any,
    prompt: int | None,
    mode: str,
    traced: bool,
    *,
    single: dict[str, Any],
    formats: dict[str, Any],
) -> Account:
    """The account of a book's own model on this machine, alike in both modes.

    - ``context``, ``prompt``: tokens cached before a step, or of a prompt
    - ``traced``: whether lines are quantities
    - ``single``, ``formats``: arguments, by name, that can only be 1, or fp32
    - raises ``ValueError`` for what NumPy's forward pass does not do
    """
    name, shown = own_name(model), named(model).key
    if not name:
        raise ValueError(
            f"{shown} on this machine: calls are counted of the book's own models only "
            f"({', '.join(NAMES)}); roofline.decode_step gives a bound"
        )
    for what, given in single.items():
        if getattr(given, "shape", ()) or given != 1:
            raise ValueError(
                f"{what} = {given}: NumPy runs one sequence on one device here, so 1"
            )
    for what, given in formats.items():
        if given is not None and (not isinstance(given, str) or fold(given) != FORMAT):
            raise ValueError(f"{what} = {given!r}: NumPy keeps all in {FORMAT} here")
    if getattr(context, "shape", ()):
        raise ValueError("context: one case at a time on this machine, not a sweep")
    case = (name, prompt or 1, 0 if prompt else int(context))
    products, attention, norms, head = (
        _covering(line, case, traced) for line in (PRODUCTS, ATTENTION, NORMS, HEAD)
    )
    calls = _step(*case).calls
    lines = (
        products,
        attention,
        norms,
        Line(
            LAUNCHES,
            SECTIONS[LAUNCHES],
            t_fixed=calls if traced else calls.si,
            family=FAMILY,
            regime="calls of NumPy",
        ),
        Line(EXCHANGES, SECTIONS[EXCHANGES], note="one device"),
        head,
        Line(SAMPLING, SECTIONS[SAMPLING], note="left out"),
        Line(HOST, SECTIONS[HOST], note="left out: Python between the calls"),
    )
    what = "a token" if prompt is None else f"a prompt of {prompt:,} tokens"
    title = f"{what} of {shown}, this machine"
    return Account(title, mode, lines, _shape(name).work, NOTE)


@cache
def _config(name: str) -> Config:
    return read_config(DATA / name / "config.json")


@cache
def _host() -> HostRoofline:
    return HostRoofline.of_this_machine()


def _shape(name: str) -> Shape:
    return shape_of(architecture(name), FORMAT, FORMAT)


@lru_cache(maxsize=1024)
def _step(name: str, tokens: int, past: int) -> DecodeTime:
    if tokens == 1:
        return decode_time(_config(name), past, _host())
    return prefill_time(_config(name), tokens, _host())


@lru_cache(maxsize=1024)
def host_work(name: str, line: str, tokens: int, past: int) -> LineWork:
    """What a line of a pass of a book's own model moves and multiplies.

    - ``name``: a name of ``tinylm.load``
    - ``line``: a line that covers operations, such as ``PRODUCTS``
    - ``tokens``, ``past``: read in the pass, and cached before it
    """
    if line == NORMS:
        part = _shape(name).parts[NORMS]
        return LineWork(part.bytes, part.flops * tokens)
    found = [
        work
        for product, *work in products_of(_config(name), tokens, past)
        if _LINES.get(product, PRODUCTS) == line
    ]
    flops, kept, passed = map(sum, zip(*found, strict=True))
    return LineWork(kept, flops, passed)


def _covering(line: str, case: tuple[str, int, int], traced: bool) -> Line:
    """A line that covers operations, with its part of the time of all products."""
    step, asked = _step(*case), (case[0], line, *case[1:])
    rate: Any = step.bandwidth
    peak: Any = step.peak
    moved: Any
    flops: Any
    beside: Any
    if traced:
        moved, flops, beside = counted_work(host_work, line, "FLOP", *asked)
    else:
        work = host_work(*asked)
        moved, flops, beside = work.bytes, work.operations, work.beside
        rate, peak = rate.si, peak.si
    covers = _shape(case[0]).parts[line].covers
    made = Line(line, SECTIONS[line], moved, flops, beside, covers=covers)
    if line == NORMS:
        return replace(made, note="its calls are among the launches")
    waits = step.bytes.si / step.bandwidth.si >= step.operations.si / step.peak.si
    time = (moved + beside) / rate if waits else flops / peak
    if traced:
        time = stamp(time, FAMILY)
    binds = {"t_bytes": time} if waits else {"t_arithmetic": time}
    return replace(made, **binds, family=FAMILY, regime="one roofline of all products")
