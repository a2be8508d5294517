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
from stacklib.models.recurrent import Recurrent
from stacklib.quantity import Quantity, bytes_per_element, where
from stacklib.quantity import dtype as find_dtype
from stacklib.quantity.bounds import is_whole, whole, whole_floats

from ..work.bounds import bound_time, device_of
from ..work.fit import Infeasible, fit_sum, kv_copies, model_of, split


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
    dtype: str
    chips: int
    copies: float  # of each KV head
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
            self.device.peak(self.dtype)  # raises, with the formats there are
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
            copies = 1.0 if isinstance(a, Recurrent) else self.copies
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


class _Same:
    """A key that is equal to itself alone: comparing whole models takes longer."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __hash__(self) -> int:
        return id(self.value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.value is self.value


def is_plain(value: Any) -> bool:
    """Whether a value asks for plain numbers: a float or an array."""
    return not isinstance(value, Quantity) and not is_whole(value)


def plain_step(
    model: Any, on: Any, dtype: str, tp: int, batch: Any, context: Any, kv_dtype: Any
) -> PlainStep:
    """The step of ``decode_step`` for floats or arrays of batch and context.

    ``batch`` and ``context`` hold whole numbers and broadcast against each other.
    """
    whole(tp=tp)  # True is 1 to the cache below
    batch = whole_floats(1, batch=batch)
    context = whole_floats(0, context=context)
    keys = (v if isinstance(v, str) else _Same(v) for v in (model, on))
    return _terms(*keys, dtype, tp, kv_dtype).step(batch, context)


@lru_cache(maxsize=1024)
def _terms(model: Any, on: Any, dtype: str, tp: int, kv_dtype: str | None) -> Terms:
    shape = model_of(model.value if isinstance(model, _Same) else model)
    device = device_of(on.value if isinstance(on, _Same) else on)
    fmt, chips = find_dtype(dtype), split(shape, tp)
    number = bytes_per_element(fmt.name).si
    bare, each = shape.read_by_experts()
    known = fmt.name in device.formats
    return Terms(
        model=shape,
        device=device,
        dtype=fmt.name,
        chips=chips,
        copies=kv_copies(shape, tp).si if tp > shape.cache_heads else 1.0,
        weights=shape.weight_bytes(fmt.name).si,
        read=bare * number,
        experts=tuple((size * number, experts) for size, experts in each),
        attention=tuple(
            (shape.count(kind), block.attention)
            for kind, block in enumerate(shape.kinds)
        ),
        number=bytes_per_element(kv_dtype or fmt.name).si,
        streamed=2 * shape.streamed_parameters.si,
        capacity=device.memory_capacity.si,
        bandwidth=device.memory_bandwidth.si * chips,
        rate=device.peak(fmt.name).si * chips if known else None,
    )
