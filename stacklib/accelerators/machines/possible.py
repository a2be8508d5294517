"""How many times faster a chip can be whose memory is no faster.

A decode step of B sequences takes the longer of its bytes over the bandwidth and its
operations over the peak. A chip with the same memory and any amount of arithmetic is
left with the bytes. So it can be at most

    r(B) = B f / P  over  (W + B c) / R

times as fast: f operations and c bytes of cache of a sequence, W bytes of weights, P
and R the peak and the bandwidth. Its cache comes with each sequence, so r has an end:
(f / P) / (c / R). Below that, a ratio r needs

    B = r W / R / (f / P - r c / R)

A prompt's tokens have no cache to read each: they compute, and there a faster chip is
faster.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

from stacklib.models import LanguageModel
from stacklib.models.weights.kept import way_of
from stacklib.quantity import Quantity, chosen, maximum
from stacklib.quantity import dtype as find_dtype
from stacklib.quantity.bounds import above_zero, whole
from stacklib.quantity.stored import products
from stacklib.roofline.work.bounds import device_of
from stacklib.roofline.work.fit import model_of
from stacklib.serving.token.shape import ATTENTION, HEAD, PRODUCTS
from stacklib.serving.token.work import counted_work, line_work


@dataclass(frozen=True, slots=True)
class Limits:
    """A model's decode step on one chip, as the two terms of its roofline.

    - ``weights``, ``cache``: seconds to read the weights, and each sequence's cache
    - ``work``: seconds of arithmetic of each sequence
    """

    weights: Quantity
    cache: Quantity
    work: Quantity

    def ratio(self, batch: int) -> Quantity:
        """Times faster that a chip with endless arithmetic and the same memory is."""
        whole(batch=batch)
        many = chosen(batch, label="sequences")
        found = many * self.work / (self.weights + many * self.cache)
        return maximum(found, 1).named("most that arithmetic can gain")

    @property
    def end(self) -> Quantity:
        """What the ratio comes to with ever more sequences."""
        return maximum(self.work / self.cache, 1).named("most at any batch")

    def batch(self, ratio: float) -> int | None:
        """The fewest sequences at which a ratio is possible; None: at no number."""
        above_zero(ratio=ratio)
        left = self.work.si - ratio * self.cache.si
        return ceil(ratio * self.weights.si / left - 1e-9) if left > 0 else None


def limits(
    model: str | LanguageModel,
    on: str,
    dtype: str | Quantity | None = None,
    *,
    context: int = 4096,
) -> Limits:
    """The terms of a decode step on one chip; how many chips there are cancels.

    Parameters
    ----------
    on : str
        The chip whose memory the other one shares.
    dtype : str, Quantity or None
        How the weights are kept, as ``serving.account`` takes it.
    context : int
        Tokens cached in each sequence.

    Raises
    ------
    ValueError
        For a model with experts, of which a larger batch reads more, or a context
        below one.
    UnknownName, UnknownSpec
        For what nothing knows: names, a rate for the products.
    """
    held, device = model_of(model), device_of(on)
    whole(context=context)
    if held.experts is not None:
        raise ValueError(
            f"{held.key} has experts, of which more are read by a larger batch: take "
            "placed_account at each batch"
        )
    run = products(way_of(held, dtype).numbers, device.formats).name
    rate, peak = device.memory_bandwidth.across(1), device.peak(run).across(1)
    asked = {"dtype": dtype, "context": int(context)}
    operation = find_dtype(run).operation
    parts = {
        name: counted_work(line_work, name, operation, held, name, **asked)
        for name in (PRODUCTS, HEAD, ATTENTION)
    }
    weights = (parts[PRODUCTS][0] + parts[HEAD][0]) / rate
    work = sum((flops for _, flops, _ in list(parts.values())[1:]), parts[PRODUCTS][1])
    cache = parts[ATTENTION][0] / rate
    return Limits(
        weights.named("reading the weights"),
        cache.named("reading a cache"),
        (work / peak).named("arithmetic of a sequence"),
    )
