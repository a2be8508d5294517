"""One decode step: the work behind the next token of every sequence.

Each weight is read once and used for all sequences, of experts those that some
sequence chose; each sequence reads its own KV cache, as far as its windows reach.
Left out: launch gaps, the exchange between chips, activations, and
what real kernels lose. The result is a lower bound.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, overload

from stacklib.hardware import Accelerator
from stacklib.models import LanguageModel
from stacklib.models.weights.kept import way_of
from stacklib.quantity import Quantity, chosen, one_of, stamp
from stacklib.quantity import dtype as find_dtype
from stacklib.quantity.dtypes import Dtype
from stacklib.quantity.stored import HALF, products

from ..work.bounds import Bound, bound_on, device_of, ridge
from ..work.fit import Fit, Infeasible, fit_memory, fit_with_copies, kv_copies, model_of
from ..work.work import Work, sized
from .decode_plain import PlainStep, is_plain, plain_step

FAMILY = "E_decode"  # its predictions are held against published decode rates


@dataclass(frozen=True, slots=True, repr=False)
class DecodeStep:
    """Work, fit and bound of one decode step.

    Speeds raise ``Infeasible`` with the sum when the model does not fit.
    ``limits`` holds the bound regardless of fit; None where the device has no
    rate for the format and the model would not fit anyway.
    """

    work: Work
    fit: Fit
    limits: Bound | None
    batch: Quantity

    def __repr__(self) -> str:
        what = f"<DecodeStep {self.work.name}, {self.work.dtype}: "
        if not self.fit.fits or self.limits is None:
            return f"{what}{self.fit.explanation}>"
        return f"{what}{self.time.text()}, bound by {self.bound}>"

    def _repr_html_(self) -> str:
        from stacklib.quantity.face import card

        facts = ["operations", "bytes", "intensity"]
        if self.fit.fits and self.limits is not None:
            facts += ["t_compute", "t_memory", "time", "tokens_per_s"]
        rows = [(name, getattr(self, name)) for name in facts]
        return card(self.work.name, [*rows, ("fit", self.fit.explanation)])

    def _feasible(self) -> Bound:
        if not self.fit.fits or self.limits is None:
            raise Infeasible(self.fit.explanation)
        return self.limits

    @property
    def formats(self) -> str:
        """The formats of weights, cache and products, and what is not counted."""
        way, run = self.fit.way, self.work.dtype
        cache = self.fit.cache
        told = cache if isinstance(cache, str) else f"{cache.to('bit').value:g} bits"
        line = f"weights in {way.name}, cache in {told}, products in {run}"
        if way.numbers == run:
            return line
        rates = "no 16-bit rate is published, " if run == "fp32" else ""
        return f"{line} ({rates}widening the weights is not counted)"

    @property
    def operations(self) -> Quantity:
        """FLOP (or OP) of the step, over all chips."""
        return self.work.operations

    @property
    def bytes(self) -> Quantity:
        """Bytes read and written, over all chips."""
        return self.work.bytes

    @property
    def intensity(self) -> Quantity:
        """Operations a byte."""
        return self.work.intensity

    @property
    def t_compute(self) -> Quantity:
        """Time the arithmetic alone would take."""
        return stamp(self._feasible().t_compute, FAMILY)

    @property
    def t_memory(self) -> Quantity:
        """Time the memory traffic alone would take."""
        return stamp(self._feasible().t_memory, FAMILY)

    @property
    def time(self) -> Quantity:
        """Least time of the step, the longer of the two."""
        return stamp(self._feasible().time, FAMILY)

    @property
    def bound(self) -> str:
        """``memory`` or ``compute``."""
        return self._feasible().bound

    @property
    def busy(self) -> Quantity:
        """Share of the step in which the arithmetic units have work."""
        return self._feasible().share_of_peak

    @property
    def idle(self) -> Quantity:
        """Share of the step in which the arithmetic units wait."""
        return (1 - self.busy).named("idle share")

    @property
    def tokens_per_s(self) -> Quantity:
        """Tokens a second over all sequences."""
        tokens = self.batch * one_of("token", "token per sequence")
        return (tokens / self.time).named("tokens per second")


def decode_operations(
    parameters: Any, per_parameter: Any, per_cached: Any, batch: Any, context: Any
) -> Any:
    """Operations of one step: batch x (weights + the tokens each query looks at).

    The new token looks at itself too, hence ``context + 1``.
    """
    weights = batch * per_parameter * parameters
    return weights + batch * (context + 1) * per_cached


def decode_bytes(
    weights: Any, kv_per_token: Any, batch: Any, context: Any, copies: Any = 1
) -> Any:
    """Bytes of one step: the weights once, every sequence's KV cache once.

    The new token's keys and values are written, hence ``context + 1``.
    """
    return weights + batch * (context + 1) * kv_per_token * copies


def _in(fmt: Dtype, flops: Quantity) -> Quantity:
    """FLOP as the operations of this format."""
    if fmt.operation == "FLOP":
        return flops
    return (flops / one_of(flops.unit) * one_of(fmt.operation)).named(flops.label)


def decode_work(
    model: LanguageModel,
    *,
    dtype: str | Quantity | None = None,
    tp: int = 1,
    batch: int = 1,
    context: int = 4096,
    kv_dtype: str | Quantity | None = None,
    runs_in: str | None = None,
) -> Work:
    """Operations and bytes of one decode step, summed over the chips.

    With more chips than KV heads each KV head is kept on several chips, and is
    read that many times; of latent attention every chip keeps all. Latent
    attention is absorbed. Experts are those expected to be touched when tokens
    choose evenly (``LanguageModel.read_parameters``).

    Parameters
    ----------
    dtype, kv_dtype : str, Quantity or None
        How the weights are kept, and the format of the KV cache, as ``fit_memory``
        takes them.
    runs_in : str
        Plain format of the products, default that of the weights, or bf16.
    """
    way = way_of(model, dtype)
    fmt = find_dtype(runs_in or way.numbers or HALF)
    kv_dtype = way.cache if kv_dtype is None else kv_dtype
    per_mac = (2 * one_of(fmt.operation)).named(f"{fmt.operation} per parameter")
    sequences = sized(batch, "batch")
    cached = sized(context, "context", least=0)
    weights = model.read_bytes(batch, dtype)
    copies = kv_copies(model, tp, context + 1, read=True)
    if model.grows:
        per_cached = _in(fmt, model.attention_flops_per_token_pair)
        kv_per_token = model.kv_bytes_per_token(kv_dtype)
        operations = decode_operations(
            model.streamed_parameters, per_mac, per_cached, sequences, cached
        )
        moved = decode_bytes(weights, kv_per_token, sequences, cached, copies)
    else:  # the new token looks at itself too
        each = _in(fmt, model.attention_flops(context + 1))
        operations = sequences * (per_mac * model.streamed_parameters + each)
        read = model.kv_read_bytes(context + 1, kv_dtype)
        if model.keeps_state:  # which every chip keeps for its own heads
            state = 2 * model.state_bytes(kv_dtype)
            moved = weights + sequences * ((read - state) * copies + state)
        else:
            moved = weights + sequences * read * copies
    return Work(
        operations.named("operations"),
        moved.named("bytes moved"),
        f"decode step of {model.name}",
        fmt.name,
    )


@overload
def decode_step(
    model: str | LanguageModel,
    *,
    on: str | Accelerator,
    dtype: str | Quantity | None = ...,
    tp: int = ...,
    batch: int = ...,
    context: int = ...,
    kv_dtype: str | Quantity | None = ...,
) -> DecodeStep: ...


@overload
def decode_step(
    model: str | LanguageModel,
    *,
    on: str | Accelerator,
    dtype: str | Quantity | None = ...,
    tp: int = ...,
    batch: Any = ...,
    context: Any = ...,
    kv_dtype: str | Quantity | None = ...,
) -> Any: ...


def decode_step(
    model: str | LanguageModel,
    *,
    on: str | Accelerator,
    dtype: str | Quantity | None = None,
    tp: int = 1,
    batch: Any = 1,
    context: Any = 4096,
    kv_dtype: str | Quantity | None = None,
) -> DecodeStep | PlainStep:
    """Work, fit and least time of one decode step.

    Whole numbers of sequences and tokens give quantities that open to their
    derivation. Floats or arrays give plain SI numbers of the same sum, fast: a sweep
    holds NaN where a step does not fit, and ``fits``.

    Parameters
    ----------
    batch, context : int, float or array
        Sequences, and tokens cached in each; arrays broadcast.
    dtype, kv_dtype : str, Quantity or None
        How the weights are kept, and the format of the KV cache, as ``fit_memory``
        takes them. The products run in the weights' own format where the chip has a
        rate for it, else widened to 16 bits (``DecodeStep.formats`` says it). All
        count at that one rate, those of a head left in 16 bits too: a bound.
    tp : int
        Chips that share the model; divides the query heads.

    Raises
    ------
    UnknownName, UnknownSpec
        For unknown names, or a device on which the model would fit and that
        publishes no rate in which its products could run.
    ValueError
        For sizes that make no sense.
    Infeasible
        On asking a speed of a step that does not fit.

    Examples
    --------
    >>> step = decode_step("llama-3-70b", on="h100-sxm", tp=2)
    >>> step.time.text("ms"), step.bound
    ('20.9 ms', 'memory')
    >>> round(1e3 * decode_step("llama-3-70b", on="h100", tp=2, batch=1.0).time, 1)
    20.9
    """
    if is_plain(batch) or is_plain(context):
        return plain_step(model, on, dtype, tp, batch, context, kv_dtype)
    model, device = model_of(model), device_of(on)
    sizes = {"tp": tp, "batch": batch, "context": context, "kv_dtype": kv_dtype}
    fit = fit_memory(model, on=device, dtype=dtype, **sizes)
    fit = fit_with_copies(model, fit)
    run = products(fit.way.numbers, device.formats).name
    work = decode_work(
        model, dtype=dtype, runs_in=run, **{**sizes, "kv_dtype": fit.cache}
    )
    limits = None
    if fit.fits or run in device.formats:
        limits = bound_on(work, device, chips=tp)
    return DecodeStep(work, fit, limits, chosen(batch, label="batch"))


def memory_bound_context(
    model: str | LanguageModel,
    *,
    on: str | Accelerator,
    dtype: str | Quantity | None = None,
) -> Quantity:
    """Tokens cached above which no batch makes the step compute-bound.

    One more sequence adds arithmetic (its pass through the weights, its scores)
    and bytes (its own KV cache). Beyond this context its bytes take longer than
    its arithmetic, so a larger batch only moves the step further from the ridge.

    Raises
    ------
    UnknownName, UnknownSpec
        For unknown names, or a device without a rate for ``dtype``.
    ValueError
        When the cache is so small that arithmetic always takes longer, or grows
        unevenly, so that no one context divides.
    """
    model, device = model_of(model), device_of(on)
    if not model.grows:
        raise ValueError(
            f"{model.key}: not every layer sees the whole context (windows or "
            "compression), so its KV cache does not grow evenly"
        )
    per_parameter = (2 * one_of("FLOP")).named("FLOP per parameter")
    weights = (per_parameter * model.streamed_parameters).named("FLOP for the weights")
    way = way_of(model, dtype)
    run = products(way.numbers, device.formats).name
    cached = model.kv_bytes_per_token(way.cache_on(device.formats))
    ridge_flops = cached * ridge(device, run)
    scores = model.attention_flops_per_token_pair
    if ridge_flops <= scores:
        raise ValueError(
            f"{model.key} on {device.key} in {way.name}: reading KV never takes longer "
            "than its arithmetic"
        )
    return (weights / (ridge_flops - scores)).named("context that stays memory-bound")


@dataclass(frozen=True, slots=True)
class DeviceRow:
    """One device of ``compare_devices``; what does not fit has no time."""

    device: Accelerator
    chips: int
    needed: Quantity
    memory: Quantity
    fits: bool
    work: Work
    ridge: Quantity | None
    time: Quantity | None
    tokens_per_s: Quantity | None
    bound: str | None


def compare_devices(
    model: str | LanguageModel,
    devices: Iterable[str],
    *,
    dtype: str | Quantity | None = None,
    batch: int = 1,
    context: int = 4096,
    most_chips: int = 8,
) -> list[DeviceRow]:
    """The same step on several devices, each with the fewest chips that hold it.

    Accelerators are tried with 1, 2, 4, ... chips, a CPU alone.

    Parameters
    ----------
    devices : iterable of str
        Device names, one row each.
    most_chips : int
        Where to stop; what does not fit then has no time.
    """
    shape: dict[str, Any] = {"dtype": dtype, "batch": batch, "context": context}
    return [
        _device_row(model_of(model), device_of(d), most_chips, shape) for d in devices
    ]


def _device_row(
    model: LanguageModel, device: Accelerator, most: int, shape: dict[str, Any]
) -> DeviceRow:
    tp = 1
    fit = fit_memory(model, on=device, **shape)
    while not fit.fits and device.kind != "cpu" and 2 * tp <= most:
        tp *= 2
        fit = fit_memory(model, on=device, tp=tp, **shape)
    run = products(fit.way.numbers, device.formats).name
    work = decode_work(model, tp=tp, runs_in=run, kv_dtype=fit.cache, **shape)
    point = ridge(device, run) if run in device.formats else None
    common = (device, tp, fit.need, fit.have, fit.fits, work, point)
    if not fit.fits:
        return DeviceRow(*common, None, None, None)
    step = decode_step(model, on=device, tp=tp, **shape)
    return DeviceRow(*common, step.time, step.tokens_per_s, step.bound)
