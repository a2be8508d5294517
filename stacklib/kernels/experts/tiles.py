"""How much of a tile an expert fills: its sizes, and the tokens it was given.

A block computes a whole tile of outputs, so ``n`` rows or columns cost
``ceil(n / T) * T``: ``n / (ceil(n / T) T)`` of it is used. An expert's own sizes are
whole tiles in every model worth the name. What is not is its number of tokens, which
the router draws: in the mean half a tile is empty, whatever the size of the batch.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from stacklib import models
from stacklib.models import LanguageModel
from stacklib.models.formulas import Sizes
from stacklib.models.parts import Experts
from stacklib.quantity import Quantity, ceil
from stacklib.quantity.bounds import whole

TILE = 128  # rows of a block's tile of outputs; one wgmma instruction has 64 of them


def tile_efficiency(size: Any, tile: Any = TILE) -> Any:
    """Share of the computed tiles that is asked for: float, Quantity or array."""
    return size / (ceil(size / tile) * tile)


@dataclass(frozen=True, slots=True)
class ExpertTiles:
    """An expert's sizes in tiles, and the tokens of a batch.

    - ``hidden``, ``width``: of its three matrices, (hidden, width) twice and back.
    - ``parameters``: of one expert.
    - ``in_hidden``, ``in_width``: share of the tiles used along each.
    - ``tokens``: of one expert under even routing.
    - ``in_tokens``: share of the tiles of tokens that is used, in the mean over a
      router that draws each expert alike.
    """

    model: str
    hidden: Quantity
    width: Quantity
    parameters: Quantity
    in_hidden: Quantity
    in_width: Quantity
    tokens: float
    in_tokens: float

    @property
    def used(self) -> float:
        """Share of all multiply-adds of the tiles that is asked for."""
        return self.in_hidden.si * self.in_width.si * self.in_tokens


def expert_tiles(
    model: str | LanguageModel, *, tokens: int, tile: int = TILE
) -> ExpertTiles:
    """Tiles of a model's experts for a batch.

    Parameters
    ----------
    model : str or LanguageModel
        One with routed experts.
    tokens : int
        Of the batch, before routing.
    tile : int
        Side of a block's tile of outputs.

    Raises
    ------
    ValueError
        For a model without experts.

    Examples
    --------
    >>> int(expert_tiles("deepseek-v3", tokens=4096).parameters.si)
    44040192
    """
    whole(tokens=tokens, tile=tile)
    found = models.get(model) if isinstance(model, str) else model
    experts, _ = _experts(found)
    sizes = Sizes(found)
    width = sizes(experts.intermediate, "expert size")
    return ExpertTiles(
        found.key,
        sizes.hidden,
        width,
        (3 * sizes.hidden * width).named("parameters of an expert"),
        tile_efficiency(sizes.hidden, tile),
        tile_efficiency(width, tile),
        tokens * experts.top_k / experts.experts,
        _mean_fill(tokens, experts.top_k / experts.experts, tile),
    )


def routed_parameters(model: str | LanguageModel) -> Quantity:
    """Parameters of all routed experts: 3 hidden width, times experts, times layers.

    653.9 billion in DeepSeek-V3, of 671 in all. An expert of 33 million, 1,536 wide,
    would make it 490, which leaves 181 billion to a part that has 17.
    """
    found = models.get(model) if isinstance(model, str) else model
    experts, layers = _experts(found)
    one = expert_tiles(found, tokens=1).parameters
    sizes = Sizes(found)
    block = next(b for b in found.blocks if b.mlp == experts)
    words = "layers" if len(found.kinds) == 1 else f"layers ({block.kind})"
    many = sizes(experts.experts, "experts") * sizes(layers, words)
    return (one * many).named("parameters of all experts")


def _experts(model: LanguageModel) -> tuple[Experts, int]:
    """A model's routed experts, and how many layers have them."""
    parts = [block.mlp for block in model.blocks if isinstance(block.mlp, Experts)]
    if not parts:
        raise ValueError(f"{model.key} has no experts: deepseek-v3 has, for one")
    return parts[0], len(parts)


def _mean_fill(tokens: int, share: float, tile: int) -> float:
    """Mean tokens over the mean of whole tiles, the count being binomial."""
    mean = tokens * share
    spread = math.sqrt(tokens * share * (1 - share)) + 1
    low = max(0, int(mean - 12 * spread))
    high = min(tokens, int(mean + 12 * spread))
    paid = sum(
        _binomial(count, tokens, share) * math.ceil(count / tile) * tile
        for count in range(low, high + 1)
    )
    return mean / paid


def _binomial(count: int, tokens: int, share: float) -> float:
    """Chance that exactly so many tokens take an expert."""
    if share >= 1:
        return float(count == tokens)
    ways = math.lgamma(tokens + 1) - math.lgamma(count + 1)
    ways -= math.lgamma(tokens - count + 1)
    rest = (tokens - count) * math.log1p(-share)
    return math.exp(ways + count * math.log(share) + rest)
