"""What a longer context costs a token, and which share of a request is decoding.

A step reads the weights once for all and each sequence's own cache. At the same batch a
token's cost goes with the bytes of a step:

    multiplier = (weights + batch x cache(long)) / (weights + batch x cache(short))

which is a line in the context: its exponent is below 1. In the same memory the batch
shrinks as well, and the multiplier grows with both.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from math import log
from typing import Any

from stacklib.models import LanguageModel
from stacklib.models.weights.kept import way_of
from stacklib.quantity import Quantity, chosen
from stacklib.quantity.bounds import whole
from stacklib.roofline.work.fit import Infeasible, model_of

from ..estimates.estimate import Estimate, estimate
from .explain import room_of

SHORT = 4096


@dataclass(frozen=True, slots=True)
class Multiplier:
    """A token with a long context over one with a short one.

    - ``bytes``: by what a step of the same batch reads
    - ``held``: by tokens a second of the same chips, each context with the batch that
      fits; None where no chips were given
    """

    short: int
    long: int
    batch: int
    bytes: Quantity
    held: Quantity | None
    batches: tuple[int, int] | None  # that fit, short and long

    @property
    def exponent(self) -> float:
        """Of the context, between the two: at most 1 at the same batch."""
        return log(self.bytes.si) / log(self.long / self.short)


def context_multiplier(
    model: str | LanguageModel,
    context: int,
    *,
    base: int = SHORT,
    batch: int = 32,
    dtype: str | Quantity | None = None,
    kv_dtype: str | Quantity | None = None,
    on: str | None = None,
    tp: int = 1,
) -> Multiplier:
    """How much dearer a token becomes with a longer context.

    Parameters
    ----------
    context, base : int
        Tokens cached, long and short.
    batch : int
        Sequences of a step, the same for both.
    dtype, kv_dtype : str or Quantity, optional
        Formats of weights and cache; the cache's is that of the weights, or bf16.
    on : str, optional
        Chips whose memory holds fewer sequences as they grow; ``tp`` of them.

    Raises
    ------
    ValueError
        For lengths or a batch that are no whole numbers, or a context not above base.
    Infeasible
        When not one sequence of that context fits on the chips.

    Examples
    --------
    >>> found = context_multiplier("llama-3-70b", 131072, dtype="e4m3fn")
    >>> round(found.bytes.si, 1), round(found.exponent, 2)
    (8.3, 0.61)
    """
    whole(context=context, base=base, batch=batch, tp=tp)
    if context <= base:
        raise ValueError(f"context = {context}: longer than base = {base} is needed")
    held = model_of(model)
    cached = kv_dtype or way_of(held, dtype).cache
    many = chosen(batch, label="batch")
    weights = held.read_bytes(batch, dtype)
    long, short = (
        weights + many * held.kv_read_bytes(tokens, cached)
        for tokens in (context, base)
    )
    ratio, batches = None, None
    if on is not None:
        at = partial(estimate, held, on, dtype, tp, kv_dtype=kv_dtype)
        many_short, slow = _held(at, base)
        many_long, fast = _held(at, context)
        ratio, batches = slow / fast, (many_short, many_long)
    bytes_ratio = (long / short).named("bytes of a step, long over short")
    return Multiplier(base, context, batch, bytes_ratio, ratio, batches)


def _held(at: partial[Estimate], context: int) -> tuple[int, Quantity]:
    """The largest batch that fits, and its tokens a second."""
    room = room_of(partial(at, context=context))
    if not room:
        raise Infeasible(at(context=context).why)
    return room, at(batch=room, context=context).tokens_per_s


def decode_share(
    model: str | LanguageModel, on: str, prompt: int, new: int, **given: Any
) -> Quantity:
    """Share of a request's time that goes into writing, alone or in a batch.

        new x TPOT / (TTFT + new x TPOT)

    - ``prompt``, ``new``: tokens read and written; the share follows their ratio
    - ``given``: what else ``estimate`` takes: ``dtype``, ``tp``, ``batch``

    >>> decode_share("llama-3-70b", "h100", 1000, 1000, tp=8).text(digits=2)
    '100 %'
    """
    whole(prompt=prompt, new=new)
    found = estimate(model, on, context=prompt, prompt=prompt, new=new, **given)
    writing = chosen(new, label="tokens written") * found.tpot
    return (writing / (found.ttft + writing)).to("%").named("share of decode")
