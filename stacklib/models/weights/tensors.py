"""The tensors of a model, one by one, from the matrices that its counts come from.

A bias has the name of its matrix; the norms of a layer stand together.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..parts import Experts

if TYPE_CHECKING:
    from ..block import Block
    from ..language_model import LanguageModel

OUTSIDE = -1  # the layer of what is in none
# Matrices that no release stores in few bits: they choose, mix or are tiny.
SMALL = ("router", "shared weight", "convolution", "mix streams")


@dataclass(frozen=True, slots=True)
class Tensor:
    """One tensor, or one of each expert of a layer.

    - ``part``: ``embedding``, ``head``, ``matrix``, ``vectors``, ``positions``,
      ``vision``, ``tables``, ``unused``
    - ``name``: as ``Matrix`` has it; else the part
    - ``layer``: from 0; -1 for what is in no layer
    - ``inputs``, ``outputs``: numbers in a row of it, and rows
    - ``many``: alike ones side by side: experts, groups
    - ``experts``: the mixture whose router chooses among them
    - ``read``: whether a step reads it whole; of an embedding it reads a row
    """

    part: str
    name: str
    layer: int
    inputs: int
    outputs: int
    many: int = 1
    experts: Experts | None = None
    read: bool = True

    @property
    def numbers(self) -> int:
        """Numbers in all of them."""
        return self.inputs * self.outputs * self.many

    @property
    def linear(self) -> bool:
        """Whether it is one of the large matrices of a layer."""
        return self.part == "matrix" and not self.name.startswith(SMALL)


def tensors(model: LanguageModel) -> tuple[Tensor, ...]:
    """Every tensor; their numbers add up to ``model.parameters``."""
    hidden, vocab = model.hidden, model.vocab
    found = [
        Tensor("embedding", "embedding", OUTSIDE, hidden, vocab, read=model.tied),
        Tensor(
            *("positions", "positions", OUTSIDE, hidden, model.positions), read=False
        ),
        Tensor("vision", "vision", OUTSIDE, model.vision, 1, read=False),
    ]
    kinds = [[*_of(block, hidden)] for block in model.kinds]
    for layer, kind in enumerate(model.pattern):
        found += [Tensor(t.part, t.name, layer, *_rest(t)) for t in kinds[kind]]
    small = (model.final_norm + model.embedding_norm) * hidden
    if model.streams:
        small += model.streams**2 * hidden + model.streams + 1
    head = "embedding" if model.tied else "output"
    found.append(Tensor("vectors", "norms", OUTSIDE, small, 1))
    found.append(Tensor("vectors", head, OUTSIDE, model.head_bias * vocab, 1))
    if not model.tied:
        found.append(Tensor("head", "output", OUTSIDE, hidden, vocab))
    for besides in ("tables", "unused"):
        size = getattr(model, besides)
        found.append(Tensor(besides, besides, OUTSIDE, size, 1, read=False))
    return tuple(t for t in found if t.numbers)


def _rest(t: Tensor) -> tuple[int, int, int, Experts | None]:
    return t.inputs, t.outputs, t.many, t.experts


def _of(block: Block, hidden: int) -> Iterator[Tensor]:
    """Tensors of one kind of layer."""
    for m in block.matrices(hidden):
        experts = block.mlp if m.routed and isinstance(block.mlp, Experts) else None
        yield Tensor("matrix", m.name, 0, m.rows, m.columns, m.total, experts)
        bias = m.bias * m.columns
        yield Tensor("vectors", m.name, 0, bias, 1, m.total, experts)
    yield Tensor("vectors", "norms", 0, block.vectors(hidden), 1)
