"""Does a model fit the memory of some chips?"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from stacklib.hardware import Accelerator
from stacklib.models import LanguageModel
from stacklib.models.block import AnyAttention, has_cache
from stacklib.models.files.opened import find
from stacklib.models.formulas import Sizes, block_cache
from stacklib.models.parts import Skipped
from stacklib.models.recurrent import Recurrent
from stacklib.models.weights.kept import way_of
from stacklib.models.weights.mixtures import Way, cache_format
from stacklib.quantity import Quantity, UnitError, chosen, maximum
from stacklib.quantity.bounds import whole

from .bounds import device_of


class Infeasible(ValueError):
    """Asked for the speed of something that does not fit; carries the sum."""


@dataclass(frozen=True, slots=True)
class Fit:
    """Memory needed and had, a chip.

    ``fits`` when weights and KV cache, shared evenly over the chips, plus the
    reserve are not more than the published capacity (1 GB = 1e9 B).
    """

    fits: bool
    need: Quantity
    have: Quantity
    weights: Quantity
    kv: Quantity
    state: Quantity | None  # the part of the cache that no head keeps twice
    reserve: Quantity
    chips: int
    context: int  # tokens cached in each sequence
    device: str
    way: Way  # how the weights are kept
    cache: str | Quantity  # format of the cache

    @property
    def explanation(self) -> str:
        """The sum in one line."""
        sign, verdict = ("<=", "fits") if self.fits else (">", "does not fit")
        parts = f"{self.weights:.4 GB} weights + {self.kv:.4 GB} KV"
        share = f"({parts}) / {self.chips}" if self.chips > 1 else parts
        share += f" + {self.reserve:.4 GB} reserve" if self.reserve.si else ""
        return (
            f"{share} = {self.need:.4 GB} {sign} {self.have:.4 GB} on {self.device}: "
            f"{verdict}"
        )


def model_of(model: str | LanguageModel) -> LanguageModel:
    """The model, given itself, its name, or the path of its file or folder."""
    return model if isinstance(model, LanguageModel) else find(model)


def split(model: LanguageModel, tp: int) -> int:
    """``tp`` when the attention heads can be shared over that many chips."""
    whole(tp=tp)
    if model.heads % tp:
        raise ValueError(
            f"tp = {tp} does not divide the {model.heads} heads of {model.key}"
        )
    return int(tp)


def fit_sum(weights: Any, kv: Any, chips: Any) -> Any:
    """Bytes a chip needs: weights and KV cache shared evenly over the chips."""
    return (weights + kv) / chips


def _reserve(reserve: Quantity | int) -> Quantity:
    if isinstance(reserve, Quantity):
        space = reserve.to("B")
        if space.si < 0:
            raise ValueError(f"reserve = {reserve.text()}: not below zero")
        return space
    if reserve != 0:
        raise UnitError(f"reserve = {reserve!r}: give it a unit, Quantity(2, 'GB')")
    return chosen(0, "B", label="reserve")


def copies_of(attention: AnyAttention, chips: int) -> float:
    """Chips that keep the same head of a layer's cache; a state is shared out."""
    alone = isinstance(attention, Recurrent | Skipped)
    return 1.0 if alone else max(chips / attention.cache_heads, 1.0)


def kv_copies(
    model: LanguageModel, tp: int, context: int, *, read: bool = False
) -> Quantity:
    """Chips that keep the same KV head: more than one when ``tp`` exceeds the heads.

    The latent of latent attention is one head that every query head reads, so
    each chip keeps all of it. Where layers differ in heads (Gemma 4), the mean over
    what ``context`` tokens leave, or over what a query of them reads.
    """
    whole(tp=tp)
    chips = chosen(tp, label="chips")
    cached = [n for n, block in enumerate(model.kinds) if has_cache(block)]
    if len({model.kinds[n].attention.cache_heads for n in cached}) < 2:
        heads = model.size("cache_heads", "KV heads")
        return maximum(chips / heads, 1).named("copies of each KV head")
    sizes, alone, kept = Sizes(model), [], []
    for n in cached:
        block, there = model.kinds[n], chosen(max(context, 1), label="context")
        layers = sizes(model.count(n), f"layers ({block.attention.kind})")
        alone.append(layers * block_cache(sizes, block, there, read=read))
        heads = sizes(block.attention.cache_heads, "KV heads")
        kept.append(alone[-1] * maximum(chips / heads, 1))
    mean = sum(kept[1:], kept[0]) / sum(alone[1:], alone[0])
    return mean.named("copies of a KV head, over all layers")


def fit_memory(
    model: str | LanguageModel,
    *,
    on: str | Accelerator,
    dtype: str | Quantity | None = None,
    tp: int = 1,
    batch: int = 1,
    context: int = 4096,
    kv_dtype: str | Quantity | None = None,
    reserve: Quantity | int = 0,
) -> Fit:
    """Whether weights and KV cache fit: (weights + KV) / tp + reserve <= capacity.

    KV is shared evenly. With more chips than KV heads (for latent attention: with
    more than one) real engines keep copies; ``decode_step`` counts those
    (``fit_with_copies``), so it may refuse what this sum still allows. Layers with a
    sliding window keep no more than the window.

    Parameters
    ----------
    dtype : str, Quantity or None
        How the weights are kept: a plain format, a mixture by tensor such as
        ``"q4_k_m"`` or ``"awq"``, the bits of one number; None: as the model's file
        or release has them, or bf16.
    kv_dtype : str, Quantity or None
        Format of the KV cache; None: the weights' own where it is plain and the chip
        multiplies in it, else 16 bits (``Way.cache_on``).
    tp : int
        Chips that share the model; divides the query heads.
    batch, context : int
        Sequences, and tokens cached in each (may be 0).
    reserve : Quantity
        Bytes a chip keeps for other things.

    Returns
    -------
    Fit
        With ``fits`` and the sum.

    Raises
    ------
    UnknownName, UnknownSpec, ValueError
        For unknown names, an unknown capacity, or sizes that make no sense.
    """
    model, device = model_of(model), device_of(on)
    chips = chosen(split(model, tp), label="chips")
    whole(batch=batch)
    whole(0, context=context)
    tp, batch, context = int(tp), int(batch), int(context)  # NumPy's overflow
    weights = model.weight_bytes(dtype)
    way = way_of(model, dtype)
    cache = cache_format(way.cache_on(device.formats) if kv_dtype is None else kv_dtype)
    state = None
    if model.grows:
        tokens = chosen(batch * context, label="tokens cached")
        kv = tokens * model.kv_bytes_per_token(cache)
    else:
        count = chosen(batch, label="batch")
        kv = count * model.kv_bytes(context, cache)
        if model.keeps_state:
            state = count * model.state_bytes(cache)
    kv = kv.named("KV cache")
    kept = _reserve(reserve)
    need = (fit_sum(weights, kv, chips) + kept).named("needed per chip")
    have = device.memory_capacity
    sums = (bool(need <= have), need, have, weights, kv, state, kept, tp, context)
    return Fit(*sums, device.short, way, cache)


def fit_with_copies(model: LanguageModel, fit: Fit) -> Fit:
    """The same sum with every KV head counted as often as engines keep it.

    The sum itself where no head is kept twice.
    """
    copies = kv_copies(model, fit.chips, fit.context)
    if copies.si == 1:
        return fit
    kv = (
        fit.kv * copies
        if fit.state is None
        else ((fit.kv - fit.state) * copies + fit.state)
    )
    kv = kv.named("KV cache with copies")
    chips = chosen(fit.chips, label="chips")
    need = fit_sum(fit.weights, kv, chips)
    if fit.reserve.si:
        need = need + fit.reserve
    need = need.named("needed per chip")
    return replace(fit, fits=bool(need <= fit.have), need=need, kv=kv)
