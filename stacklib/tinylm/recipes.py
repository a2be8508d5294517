"""How each of the book's models is trained."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Recipe:
    """How one model is trained."""

    steps: int  # updates
    batch: int = 4  # sequences in each
    tokens: int = 512  # tokens in a sequence
    matrix_rate: float = 0.02
    rate: float = 0.01
    warmup: int = 50  # steps in which they rise
    level: float = 0.4
    decay: float = 0.05  # weight decay of matrices
    seed: int = 0  # of the first weights and of the order of the text
    teacher: str = ""  # model whose distribution is learned; empty for the text itself


RECIPES = {
    "tiny": Recipe(steps=3200),
    "draft": Recipe(steps=3000, teacher="tiny"),
    "draft_plain": Recipe(steps=3000),
}

PROBED = 32  # held-out sequences measured on the way
LAST = 0.03  # share of the highest rates at the last step


def pace(recipe: Recipe, step: int) -> float:
    """Share of the highest learning rates: up a line, level, down a line."""
    rising = (step + 1) / recipe.warmup
    done = step / recipe.steps
    falling = 1 - (1 - LAST) * (done - recipe.level) / (1 - recipe.level)
    return min(1.0, rising, falling)


def places_at(length: int, recipe: Recipe, step: int) -> NDArray[Any]:
    """Where in a stream of tokens the sequences of a step stand, (batch, tokens + 1).

    An epoch cuts the stream into sequences, from a random start, and takes them in
    random order. Both follow from seed and epoch, so a resumed run needs no state.
    """
    import numpy as np

    per_epoch = (length - recipe.tokens - 1) // recipe.tokens // recipe.batch
    epoch, at = divmod(step, per_epoch)
    random = np.random.default_rng([recipe.seed, epoch])
    start = random.integers(recipe.tokens)
    order = random.permutation(per_epoch * recipe.batch)
    chosen = order[at * recipe.batch : (at + 1) * recipe.batch]
    begins = start + chosen[:, None] * recipe.tokens
    return begins + np.arange(recipe.tokens + 1)


def probe_places(length: int, tokens: int) -> NDArray[Any]:
    """Where the held-out sequences stand that a learning curve is measured on."""
    return places_at(length, Recipe(steps=1, batch=PROBED, tokens=tokens), 0)
