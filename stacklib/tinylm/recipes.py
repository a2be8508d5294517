"""How each of the book's models is trained."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["RECIPES", "Recipe", "pace"]


@dataclass(frozen=True, slots=True)
class Recipe:
    """How one model is trained.

    Parameters
    ----------
    steps, batch, tokens : int
        Updates; sequences in each; tokens in a sequence.
    matrix_rate, rate : float
        Highest learning rates: of matrices (Muon), of embedding and gains (AdamW).
    warmup : int
        Steps in which they rise.
    level : float
        Share of the steps until which they stay; then they fall on a line.
    decay : float
        Weight decay of matrices.
    seed : int
        Of the first weights and of the order of the text.
    teacher : str
        Model whose distribution is learned; empty for the text itself.
    """

    steps: int
    batch: int = 4
    tokens: int = 512
    matrix_rate: float = 0.02
    rate: float = 0.01
    warmup: int = 50
    level: float = 0.4
    decay: float = 0.05
    seed: int = 0
    teacher: str = ""


RECIPES = {
    "tiny": Recipe(steps=3200),
    "draft": Recipe(steps=3000, teacher="tiny"),
    "draft_plain": Recipe(steps=3000),
}

LAST = 0.03  # share of the highest rates at the last step


def pace(recipe: Recipe, step: int) -> float:
    """Share of the highest learning rates: up a line, level, down a line."""
    rising = (step + 1) / recipe.warmup
    done = step / recipe.steps
    falling = 1 - (1 - LAST) * (done - recipe.level) / (1 - recipe.level)
    return min(1.0, rising, falling)
