"""Parts of a model: matrices and vectors to scale of one another, tiles, layers."""

from __future__ import annotations

from stacklib.models import LanguageModel
from stacklib.quantity import Quantity

from ..nodes import Cells

WEIGHT = "layer-2"
TOKEN = "layer-4"


def weights(
    rows: int = 12, columns: int = 12, lit: frozenset[int] = frozenset()
) -> Cells:
    """A weight matrix; a cell is many of its elements."""
    return Cells(
        "weights",
        rows * columns,
        columns,
        side=9.0,
        gap=1.5,
        role=WEIGHT,
        lit=lit,
        words="one of them is lit",
    )


def tokens(
    count: int, rows: int = 12, lit: frozenset[int] = frozenset(), name: str = "tokens"
) -> Cells:
    """Activations: a column a token."""
    return Cells(name, rows * count, count, side=9.0, gap=1.5, role=TOKEN, lit=lit)


def tiles(rows: int, columns: int, done: range) -> Cells:
    """A result cut into tiles; those of one wave are lit, later ones dark."""
    total = rows * columns
    return Cells(
        "tiles",
        total,
        columns,
        (13.0, 7.0),
        2.0,
        "layer-3",
        lit=frozenset(done),
        dark=frozenset(range(done.stop, total)),
        words=f"{total} tiles, those that run now lit",
    )


def matrix(model: LanguageModel) -> tuple[Quantity, Quantity]:
    """Rows and columns of the up projection."""
    wide = model.size("hidden", "hidden size")
    return model.size("intermediate", "MLP size"), wide
