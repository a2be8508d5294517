"""Is it saturated, by what, and what would help: a log held against an estimate."""

from __future__ import annotations

from dataclasses import dataclass

from stacklib import hardware
from stacklib.hardware import Accelerator
from stacklib.hardware.errors import ErrorBand
from stacklib.models import LanguageModel
from stacklib.models.weights.kept import way_of
from stacklib.models.weights.mixtures import named as format_named
from stacklib.quantity import UnknownName
from stacklib.quantity.bounds import whole
from stacklib.roofline.work.fit import Infeasible

from ..estimates.asked import RUNNER
from ..token.account import CONTEXT
from ..token.host import named
from .causes import Case, Cause, causes_of
from .checks import Check, cache_of, checks_of
from .gains import Setting, seconds
from .lines import LLAMA, NAMES
from .load import FULL, Load, context_of, load_of
from .readings import Reading, Readings

CHUNK = 2048  # tokens of a prompt by which its time a token is taken


@dataclass(frozen=True, slots=True)
class Saturation:
    """Whether one more request would have to wait.

    - ``by``: ``cache``, ``places``, ``queue``; empty where there is room
    - ``margin``: requests there is room for; None where the log does not say
    """

    saturated: bool
    by: str
    margin: float | None
    words: str


@dataclass(frozen=True, slots=True, repr=False)
class Diagnosis:
    """What a server's log says about it.

    - ``engine``, ``model``, ``on``: which server, model and chip
    - ``saturation``: whether it is full, by what, and with which margin
    - ``checks``: the cache's figures as printed, beside the same computed
    - ``causes``: ranked: first what was seen to wait or fail, then shares of a step; by
      gain
    - ``predicted``, ``measured``: seconds between two tokens of a sequence: by the
      estimate, prompts included, and by the server's own numbers
    - ``band``: of the prediction
    - ``first``: seconds within which half of the first tokens came, of ``/metrics``
    - ``notes``: what was taken for granted, and what could not be computed
    - ``unread``: lines of another version, quoted
    """

    engine: str
    model: str
    on: str
    saturation: Saturation
    checks: tuple[Check, ...]
    causes: tuple[Cause, ...]
    predicted: float | None
    measured: float | None
    band: ErrorBand | None
    first: float | None
    notes: tuple[str, ...]
    unread: tuple[Reading, ...]

    def __repr__(self) -> str:
        first = self.causes[0].name if self.causes else "nothing stands out"
        said = f"{self.model} on {self.on}, {self.saturation.words}; {first}"
        return f"<Diagnosis of {NAMES[self.engine]}: {said}>"


def diagnose(
    readings: Readings,
    model: str | LanguageModel,
    on: str | Accelerator,
    dtype: str | None = None,
    tp: int | None = None,
    context: int | None = None,
    *,
    kv_dtype: str | None = None,
) -> Diagnosis:
    """Whether a server is saturated, why, and what would help, from what it printed.

    Parameters
    ----------
    readings : Readings
        Of ``read_log``.
    model : str or LanguageModel
        The model that it serves.
    on : str or Accelerator
        The chip that it runs on.
    dtype, kv_dtype : str, optional
        How weights and cache are kept; as the log says, or the model's release.
    tp : int, optional
        Chips that share the model; as the log says, or one.
    context : int, optional
        Tokens cached of a sequence; the cache in use over who runs, or 4,096.

    Raises
    ------
    UnknownName
        For a model, a chip or a format that nothing has, with the nearest.
    ValueError
        For sizes that make no sense.

    Examples
    --------
    >>> from stacklib.serving.readings.read import log_sample, read_log
    >>> found = diagnose(read_log(log_sample("vllm")), "llama-3-8b", "h100-sxm")
    >>> found.saturation.by, found.causes[0].name
    ('cache', 'the KV cache is too small')
    """
    model, device = named(model), hardware.get(on) if isinstance(on, str) else on
    load, notes = load_of(readings), list[str]()
    if tp is None:
        tp = int(readings.value("tp", 1))
        if not readings.last("tp"):
            notes.append("one chip is taken: the log does not say how many")
    whole(tp=tp)
    dtype = _dtype(readings, model, dtype, notes)
    cache = cache_of(readings, kv_dtype, way_of(model, dtype).cache_on(device.formats))
    if context is None:
        mean = context_of(readings, load)
        most = min(CONTEXT, model.max_context or CONTEXT)
        context = max(round(mean), 1) if mean else most
        if not mean:
            notes.append(f"{most:,} tokens a sequence are taken: the log has none")
    whole(context=context)
    setting = Setting(
        model, device.key, dtype, cache, tp, float(load.batch), float(context)
    )
    case, band = _case(readings, load, setting, notes)
    checks, said = checks_of(readings, model, dtype=dtype, kv_dtype=cache, tp=tp)
    predicted = None
    if case.lines is not None:
        lines = case.lines
        if readings.engine == LLAMA and load.batch == 1:
            lines = setting.estimate(RUNNER).parts
        predicted = seconds(lines) / (1 - (case.prompt_share or 0.0))
    if readings.value("draft", "None") != "None":
        notes.append("a draft is used: its layers have blocks too, not counted here")
    notes += said
    if predicted and band and load.tpot and load.tpot < predicted * band.low:
        notes.append(
            "faster than the estimate and its band: another model, chip or format, or "
            "several tokens a step"
        )
    return Diagnosis(
        readings.engine,
        model.key,
        device.key,
        saturation_of(load),
        checks,
        causes_of(case),
        predicted,
        load.tpot,
        band,
        readings.quantile("ttft", 0.5),
        tuple(notes),
        readings.unread,
    )


def _dtype(
    readings: Readings, model: LanguageModel, given: str | None, notes: list[str]
) -> str | None:
    """Format of the weights: as given, as the log says; None: as the model has them."""
    if given is not None:
        return format_named(given)
    printed = readings.value("quantization", "None")
    if printed == "None":
        return None
    try:
        return format_named(printed.removesuffix("_marlin"))
    except UnknownName:
        own = way_of(model, None).name
        notes.append(f"quantization {printed!r} is not known here; {own} is taken")
        return None


def _case(
    readings: Readings, load: Load, setting: Setting, notes: list[str]
) -> tuple[Case, ErrorBand | None]:
    """The readings beside an estimate of their steps, where one can be had."""
    lines, share, band = None, None, None
    try:
        found = setting.estimate()
        lines, error = found.parts, found.error
        band = error if error and error.low else None
        chunk = int(min(readings.value("chunk", CHUNK) or CHUNK, CHUNK))
        rate = load.prompt_rate.value if load.prompt_rate else 0.0
        share = min(rate * seconds(setting.prompt(chunk)) / chunk, 0.9)
    except (Infeasible, ValueError, LookupError) as refused:
        notes.append(f"no prediction: {refused}")
    factor = band.high if band else 1.0
    return Case(readings, load, setting, lines, share, factor), band


def saturation_of(load: Load) -> Saturation:
    """Whether one more request would wait, and for what."""
    if load.running is None:
        return Saturation(False, "", None, "the log does not say what runs")
    room, run = [], float(load.running.value)
    if load.full:
        room.append(max(run / load.full * FULL - run, 0.0))
    if load.most:
        room.append(max(load.most.value - run, 0.0))
    margin = min(room) if room else None
    by = ""
    if load.preempted or load.full >= FULL:
        by = "cache"
    elif load.no_place:
        by = "places"
    elif load.queue:
        by = "queue"
    if by:
        words = {
            "cache": f"saturated: {load.full:.1%} of the cache in use",
            "places": f"saturated: {run:,.0f} run, and no more may",
            "queue": "saturated: requests wait",
        }[by]
        words += f", {load.queue:,.0f} wait" if load.queue and by != "queue" else ""
        return Saturation(True, by, 0.0, words)
    more = "" if margin is None else f", room for {margin:,.0f} more"
    return Saturation(False, "", margin, f"not saturated: {run:,.0f} run{more}")
