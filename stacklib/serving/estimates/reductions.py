"""Ways to a smaller cache, and which of their factors may be multiplied.

bytes of a conversation = numbers a token leaves x bytes of a number x tokens kept

Two ways compose when they change different terms of that product. Two that change the
same term are alternatives: grouped heads and a latent each say how many numbers a token
leaves, and a model has one of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce
from operator import mul

from stacklib.models import LanguageModel
from stacklib.models.block import has_cache
from stacklib.models.formulas import Sizes
from stacklib.models.parts import Attention, LatentAttention
from stacklib.models.weights.mixtures import cache_number
from stacklib.quantity import Quantity, chosen
from stacklib.quantity.bounds import whole
from stacklib.roofline.work.fit import model_of

NUMBERS, WIDTH, TOKENS = "numbers of a token", "bits of a number", "tokens kept"


@dataclass(frozen=True, slots=True)
class Reduction:
    """One way: which term of the product it changes, and by which factor."""

    name: str
    changes: str
    factor: Quantity


@dataclass(frozen=True, slots=True)
class Together:
    """The product of those that compose, and why the others are not in it."""

    factor: Quantity
    of: tuple[Reduction, ...]
    left_out: tuple[str, ...]


def together(given: Iterable[Reduction]) -> Together:
    """Multiply what composes: of each term of the product the largest factor alone.

    Raises ValueError where nothing is given, or a factor is no cut.
    """
    best: dict[str, Reduction] = {}
    every = sorted(given, key=lambda one: -one.factor.si)
    if not every:
        raise ValueError("no reductions given: name one at least")
    left_out = []
    for one in every:
        if one.factor.si < 1:
            raise ValueError(f"{one.name}: a factor of {one.factor.text()} is no cut")
        if (first := best.setdefault(one.changes, one)) is not one:
            left_out.append(
                f"{one.name} ({one.factor:.3}) changes the {one.changes}, as "
                f"{first.name} ({first.factor:.3}) does: a cache has one of them"
            )
    product = reduce(mul, (one.factor for one in best.values()))
    named = product.named("cut of the cache, together")
    return Together(named, tuple(best.values()), tuple(left_out))


def own_heads(model: str | LanguageModel) -> Quantity:
    """Numbers a token would leave if each query head had its own key and value.

    Of a latent model the heads that it expands to, keys without their rotary part: as
    its paper counts, ``2 n_h d_h`` a layer (arXiv 2405.04434, table 1).
    """
    found = model_of(model)
    a, sizes = found.attention, Sizes(found)
    one = isinstance(a, Attention | LatentAttention) and found.alike
    if not one or not all(map(has_cache, found.kinds)):
        raise ValueError(f"{found.key}: layers differ; no one head would be its own")
    heads, layers = sizes(a.heads, "query heads"), sizes(found.layers, "layers")
    if isinstance(a, LatentAttention):
        size = sizes(a.nope_head_dim, "nope size")
    else:
        size = sizes(a.head_dim, "head size")
    return (2 * layers * heads * size).named("numbers of a token, own heads")


def attention_kept(model: str | LanguageModel) -> Reduction:
    """How many fewer numbers a token leaves than with a key and value a query head."""
    found = model_of(model)
    kept = found.kv_bytes_per_token("bf16") / cache_number("bf16")
    latent = isinstance(found.attention, LatentAttention)
    name = "a latent" if latent else "grouped heads"
    factor = (own_heads(found) / kept).named(f"{name} of {found.name}")
    return Reduction(name, NUMBERS, factor)


def narrow(dtype: str | Quantity, than: str | Quantity = "bf16") -> Reduction:
    """A shorter number, its share of a scale counted."""
    factor = (cache_number(than) / cache_number(dtype)).named("shorter numbers")
    return Reduction("shorter numbers", WIDTH, factor)


def shared(prefix: int, context: int, readers: int) -> Reduction:
    """One copy of a prefix for several readers: tokens of all over those kept."""
    whole(prefix=prefix, context=context, readers=readers)
    if prefix > context:
        raise ValueError(f"prefix = {prefix}: longer than the context, {context}")
    each, own = chosen(context, label="context"), chosen(prefix, label="shared prefix")
    many = chosen(readers, label="readers")
    kept = own + many * (each - own)
    return Reduction("a shared prefix", TOKENS, (many * each / kept).named("sharing"))


def window(model: str | LanguageModel, context: int) -> Reduction:
    """What layers with a window drop of a context."""
    found = model_of(model)
    whole(context=context)
    every = found.kv_bytes_per_token("bf16") * chosen(context, label="context")
    factor = (every / found.kv_bytes(context, "bf16")).named(f"windows of {found.name}")
    return Reduction("windows", TOKENS, factor)
