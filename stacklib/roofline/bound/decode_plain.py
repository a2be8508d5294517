"""The decode step in plain numbers: floats for one answer, arrays for a sweep.

The sum is that of ``decode``, in SI numbers without derivations. What depends on
neither batch nor context is added up once and kept, so that another batch costs
microseconds and a million of them a second.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from stacklib.hardware import Accelerator
from stacklib.models import Experts, LanguageModel
from stacklib.models.block import AnyAttention
from stacklib.models.files.opened import ENDINGS, find
from stacklib.models.weights.kept import kept, way_of
from stacklib.models.weights.mixtures import cache_number
from stacklib.quantity import Quantity, where
from stacklib.quantity.bounds import is_whole, whole, whole_floats
from stacklib.quantity.keys import keys_of, values_of
from stacklib.quantity.stored import products

from ..work.bounds import bound_time, device_of
from ..work.fit import Infeasible, copies_of, fit_sum, model_of, split


@dataclass(frozen=True, slots=True)
class PlainStep:
    """A decode step as SI numbers: floats, or arrays of the shape of the sweep.

    A speed of one step that does not fit raises ``Infeasible``; in a sweep such a
    place holds NaN, and ``fits`` says which they are.
    """

    terms: Terms
    batch: Any
    operations: Any  # over all chips
    bytes: Any  # over all chips
    need: Any  # B a chip
    fits: Any

    def _priced(self, work: Any) -> Any:
        if self.fits is False:
            raise Infeasible(self.terms.explanation(self.need))
        return work if self.fits is True else where(self.fits, work, math.nan)

    @property
    def t_compute(self) -> Any:
        """Seconds the arithmetic alone would take."""
        return self._priced(self.operations) / self.terms.peak

    @property
    def t_memory(self) -> Any:
        """Seconds the memory traffic alone would take."""
        return self._priced(self.bytes) / self.terms.bandwidth

    @property
    def time(self) -> Any:
        """Least seconds of the step, the longer of the two."""
        work = self._priced(self.operations), self._priced(self.bytes)
        return bound_time(*work, self.terms.peak, self.terms.bandwidth)

    @property
    def bound(self) -> Any:
        """``memory`` or ``compute``, and ``""`` where it does not fit."""
        limit = where(self.t_memory > self.t_compute, "memory", "compute")
        return limit if self.fits is True else where(self.fits, limit, "")

    @property
    def busy(self) -> Any:
        """Share of the step in which the arithmetic units have work."""
        return self.t_compute / self.time

    @property
    def idle(self) -> Any:
        """Share of the step in which the arithmetic units wait."""
        return 1 - self.busy

    @property
    def intensity(self) -> Any:
        """Operations a byte."""
        return self.operations / self.bytes

    @property
    def tokens_per_s(self) -> Any:
        """Tokens a second over all sequences."""
        return self.batch / self.time


@dataclass(frozen=True, slots=True)
class Terms:
    """A step without its batch and context; rates are those of all chips."""

    model: LanguageModel
    device: Accelerator
    runs_in: str  # format of the products
    chips: int
    weights: float  # B in all
    read: float  # B read by every step, the experts apart
    experts: tuple[tuple[float, Experts], ...]  # B of one expert in all layers
    attention: tuple[tuple[int, AnyAttention], ...]  # layers of each kind
    number: float  # B of one number in the cache
    streamed: float  # operations of one token apart from attention
    capacity: float  # B a chip
    bandwidth: float
    rate: float | None  # operations a second, where the device has the format

    @property
    def peak(self) -> float:
        """Operations a second; ``UnknownSpec`` where the device has no such format."""
        if self.rate is None:
            self.device.peak(self.runs_in)  # raises, with the formats there are
        assert self.rate is not None
        return self.rate

    def explanation(self, need: float) -> str:
        """Why it does not fit, in one line."""
        a_chip, have = Quantity(need, "B"), self.device.memory_capacity
        return (
            f"{self.model.key} on {self.chips} x {self.device.short}: "
            f"{a_chip:.4 GB} > {have:.4 GB} per chip: does not fit"
        )

    def step(self, batch: Any, context: Any) -> PlainStep:
        """The step for these sequences and tokens cached."""
        tokens = context + 1  # the new token looks at itself too
        macs = moved = held = 0.0
        for layers, a in self.attention:
            copies = copies_of(a, self.chips)
            macs = macs + layers * sum(a.score_macs(tokens, True).values())
            moved = moved + layers * copies * a.read(tokens)
            held = held + layers * copies * a.cached(context)
        weights = self.read
        for each, experts in self.experts:
            weights = weights + each * experts.touched(batch)
        a_number = batch * self.number
        need = fit_sum(self.weights, a_number * held, self.chips)
        return PlainStep(
            self,
            batch,
            operations=batch * (self.streamed + 2 * macs),
            bytes=weights + a_number * moved,
            need=need,
            fits=need <= self.capacity,
        )


def is_plain(value: Any) -> bool:
    """Whether a value asks for plain numbers: a float or an array."""
    return not isinstance(value, Quantity) and not is_whole(value)


def plain_step(
    model: Any, on: Any, dtype: Any, tp: int, batch: Any, context: Any, kv_dtype: Any
) -> PlainStep:
    """The step of ``decode_step`` for floats or arrays of batch and context.

    ``batch`` and ``context`` hold whole numbers and broadcast against each other.
    """
    whole(tp=tp)  # True is 1 to the cache below
    batch = whole_floats(1, batch=batch)
    context = whole_floats(0, context=context)
    if isinstance(model, str) and model.endswith(ENDINGS):
        model = find(model)  # a file may change, and no name does
    keys = keys_of(model, on, dtype, kv_dtype)
    return _terms(*keys, tp).step(batch, context)


def _weights(shape: LanguageModel, dtype: Any) -> tuple[float, list[Any]]:
    """B that every step reads, and of one expert in all layers, with its mixture."""
    row = way_of(shape, dtype).element
    if row is not None:
        bare, each = shape.read_by_experts()
        number = row.bits / 8
        return bare * number, [(size * number, experts) for size, experts in each]
    shares = kept(shape, dtype).shares
    each = [(wide, experts) for s in shares for _, wide, experts in s.routed]
    return sum(s.shared[1] for s in shares), each


@lru_cache(maxsize=1024)
def _terms(model: Any, on: Any, dtype: Any, kv_dtype: Any, tp: int) -> Terms:
    model, on, dtype, kv_dtype = values_of(model, on, dtype, kv_dtype)
    shape, device = model_of(model), device_of(on)
    way, chips = way_of(shape, dtype), split(shape, tp)
    run = products(way.numbers, device.formats).name
    kept_in = way.cache_on(device.formats) if kv_dtype is None else kv_dtype
    read, each = _weights(shape, dtype)
    return Terms(
        model=shape,
        device=device,
        runs_in=run,
        chips=chips,
        weights=shape.weight_bytes(dtype).si,
        read=read,
        experts=tuple(each),
        attention=tuple(
            (shape.count(kind), block.attention)
            for kind, block in enumerate(shape.kinds)
        ),
        number=cache_number(kept_in).si,
        streamed=2 * shape.streamed_parameters.si,
        capacity=device.memory_capacity.si,
        bandwidth=device.memory_bandwidth.si * chips,
        rate=device.peak(run).si * chips if run in device.formats else None,
    )
