"""What a step of a model moves and multiplies, line by line, for any batch and context.

The sums are those of ``models.operations``, added up once a model and format: of one
sequence every line has its fixed bytes, its routed bytes (experts, which more
sequences touch more of) and its operations; caches follow the context.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from stacklib.models import Experts, LanguageModel, operations
from stacklib.models.block import AnyAttention
from stacklib.models.weights.kept import way_of
from stacklib.models.weights.mixtures import cache_number
from stacklib.quantity.keys import keys_of, values_of
from stacklib.roofline.work.fit import copies_of

from .lines import Cover, covers

PRODUCTS = "products with the weights"
ATTENTION = "attention over the cache"
NORMS = "norms and the like"
HEAD = "output matrix"
FULL = 1 << 20  # tokens cached


@dataclass(frozen=True, slots=True)
class Part:
    """What one line covers, in a step of one sequence."""

    covers: frozenset[Cover]
    bytes: float  # of weights that every step reads
    routed: tuple[tuple[float, Experts], ...]  # of the experts of one token
    flops: float  # of one token, scores and values apart

    def read(self, batch: Any) -> Any:
        """Bytes of its weights that a step of ``batch`` sequences reads."""
        found = self.bytes
        for one, experts in self.routed:
            found = found + one * experts.touched(batch) / experts.touched(1)
        return found


@dataclass(frozen=True, slots=True)
class Shape:
    """A model in its formats, without batch and context."""

    parts: dict[str, Part]
    attention: tuple[tuple[int, AnyAttention], ...]  # layers of each kind
    number: float  # B of one number of the cache
    weights: float  # B of all weights, the embedding too
    experts: float  # B of all experts among them
    widths: dict[tuple[int, str], float]  # B of a number, by kind of layer and matrix
    work: frozenset[Cover]  # everything that the operations move and multiply

    def cache(self, batch: Any, context: Any, tp: int) -> tuple[Any, Any]:
        """Bytes moved and operations made by attention in one decode step."""
        moved = macs = 0.0
        for layers, a in self.attention:
            macs = macs + layers * sum(a.score_macs(context + 1, True).values())
            moved = moved + layers * copies_of(a, tp) * a.read(context + 1)
        return batch * self.number * moved, 2 * batch * macs

    def prompt(self, batch: Any, tokens: int) -> tuple[Any, Any]:
        """Bytes of the cache that a prompt leaves, and operations of its attention."""
        moved = macs = 0.0
        for layers, a in self.attention:
            macs = macs + layers * sum(a.prompt_macs(tokens).values())
            moved = moved + layers * a.cached(tokens)
        return batch * self.number * moved, 2 * batch * macs


def shape_of(model: LanguageModel, dtype: Any, kv_dtype: Any) -> Shape:
    """The parts of a model's step, by the line that covers them."""
    return _shape(*keys_of(model, dtype, kv_dtype))


@lru_cache(maxsize=512)
def _shape(model: Any, dtype: Any, kv_dtype: Any) -> Shape:
    model, dtype, kv_dtype = values_of(model, dtype, kv_dtype)
    scores = {
        name
        for block in model.kinds
        for name in block.attention.score_macs(1, absorbed=True)
    }
    routed = {
        (number, matrix.name)
        for number, block in enumerate(model.kinds)
        for matrix in block.matrices(model.hidden)
        if matrix.routed
    }
    numbers = {
        (number, matrix.name): float(matrix.used * matrix.each)
        for number, block in enumerate(model.kinds)
        for matrix in block.matrices(model.hidden)
    }
    numbers[-1, "output"] = float(model.vocab * model.hidden)
    widths = dict.fromkeys(numbers, 0.0)
    found: dict[str, dict[str, Any]] = {
        name: {"pairs": {}, "bytes": 0.0, "routed": {}, "flops": 0.0}
        for name in (PRODUCTS, ATTENTION, NORMS, HEAD)
    }
    formats = {"dtype": dtype, "kv_dtype": kv_dtype}
    # so many that every operation has work: compressed attention scores none of a few
    for op in operations(model, "decode", context=FULL, **formats):
        line = found[_line(op.part, op.name, scores)]
        kind = -1 if op.layer < 0 else model.pattern[op.layer]
        moves, multiplies = line["pairs"].get((op.part, op.name), (False, False))
        there = (moves or op.bytes > 0, multiplies or op.flops > 0)
        line["pairs"][op.part, op.name] = there
        if op.part == "attention" and op.name in scores:
            continue  # these follow the context
        line["flops"] += op.flops
        if numbers.get((kind, op.name)):
            often = 1 if kind < 0 else model.count(kind)
            each = op.weight_bytes / numbers[kind, op.name]
            widths[kind, op.name] += each / often
        if (kind, op.name) in routed:
            line["routed"][kind] = line["routed"].get(kind, 0.0) + op.weight_bytes
        else:
            line["bytes"] += op.weight_bytes
    cache = way_of(model, dtype).cache if kv_dtype is None else kv_dtype
    parts = {name: _part(model, line) for name, line in found.items()}
    routed_ = [pair for part in parts.values() for pair in part.routed]
    return Shape(
        parts,
        tuple((model.count(k), b.attention) for k, b in enumerate(model.kinds)),
        cache_number(cache).si,
        model.weight_bytes(dtype).si,
        sum(one / e.touched(1) * e.experts for one, e in routed_),
        widths,
        frozenset().union(*(part.covers for part in parts.values())),
    )


def _line(part: str, name: str, scores: set[str]) -> str:
    if part == "attention" and name in scores:
        return ATTENTION
    return {"norms": NORMS, "head": HEAD}.get(part, PRODUCTS)


def _part(model: LanguageModel, line: dict[str, Any]) -> Part:
    mixtures = {kind: model.kinds[kind].mlp for kind in line["routed"]}
    return Part(
        covers((*names, *there) for names, there in line["pairs"].items()),
        line["bytes"],
        tuple(
            (size, mixtures[kind])
            for kind, size in line["routed"].items()
            if isinstance(mixtures[kind], Experts)
        ),
        line["flops"],
    )
