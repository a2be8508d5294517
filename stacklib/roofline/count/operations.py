"""Work of every operation of a transformer block, by shape, format and counting rule.

``block_operations`` lists a block in the order it runs: products come from ``matmul``,
the rest from ``elementwise``. Left out: the time of a launch, and what a kernel moves
beyond its rule. ``numpy_block.count_block`` counts the same by running the block.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from stacklib.hardware import Accelerator
from stacklib.models import Attention, LanguageModel, Matrix, Mlp
from stacklib.quantity import Quantity, bytes_per_element, one_of
from stacklib.quantity import dtype as find_dtype
from stacklib.quantity.bounds import whole

from ..work.bounds import ridge
from ..work.fit import model_of
from ..work.steps import BIAS, MASKED_SOFTMAX, RULES, SCALED_SOFTMAX, Rule, rule_of
from ..work.work import Work, matmul
from .elementwise import (
    cross_entropy,
    embedding,
    gelu,
    layer_norm,
    recipe_work,
    residual_add,
    rms_norm,
    rotary,
    silu,
    sized,
    softmax,
    swiglu,
    transpose,
)

KINDS = ("product", "attention", "elementwise")


@dataclass(frozen=True, slots=True)
class Operation(Work):
    """One operation of a block: work, and what kind it is."""

    kind: str = "elementwise"

    @classmethod
    def of(cls, name: str, kind: str, work: Work) -> Operation:
        """Some work under a name and a kind."""
        return cls(work.operations, work.bytes, name, work.dtype, kind)


def total(operations: list[Operation], kind: str = "", name: str = "block") -> Work:
    """The sum of some operations."""
    chosen = [op for op in operations if kind in ("", op.kind)]
    if not chosen:
        raise ValueError(f"kind = {kind!r}: none of these operations is of that kind")
    flop, moved = ([getattr(op, f) for op in chosen] for f in ("operations", "bytes"))
    return Work(
        sum(flop[1:], flop[0]).named("operations"),
        sum(moved[1:], moved[0]).named("bytes moved"),
        name,
        chosen[0].dtype,
    )


def norm_names(model: LanguageModel, layer: int = 0) -> tuple[str, ...]:
    """Names of the norms of one layer, in the order they run."""
    block = model.kinds[model.pattern[layer]]
    names = {
        2: ("attention norm", "MLP norm"),
        4: ("attention norm", "norm after attention", "MLP norm", "norm after MLP"),
    }
    count = block.norms / model.final_norm if model.final_norm else 0
    if count not in names:
        raise ValueError(
            f"{model.key}: {block.norms} norm vectors a layer; two norms or four, "
            "with weights, are listed operation by operation"
        )
    return names[int(count)]


def grouped_block(model: LanguageModel, layer: int = 0) -> tuple[Attention, Mlp]:
    """Attention and MLP of one layer, where both are of the plain kind."""
    whole(0, layer=layer)
    if layer >= model.layers:
        raise ValueError(f"layer = {layer}: {model.key} has {model.layers}, from 0")
    block = model.kinds[model.pattern[layer]]
    plain = isinstance(block.attention, Attention) and isinstance(block.mlp, Mlp)
    if not plain or block.streams or getattr(block.attention, "sinks", False):
        raise ValueError(
            f"{model.key}, layer {layer} ({block.kind}): only grouped attention and a "
            "dense MLP are listed operation by operation; models.operations counts "
            "the products of every kind"
        )
    assert isinstance(block.attention, Attention) and isinstance(block.mlp, Mlp)
    return block.attention, block.mlp


@dataclass(frozen=True, slots=True)
class _Listing:
    """One block, some tokens, one format, one rule."""

    model: LanguageModel
    layer: int
    batch: int
    tokens: int
    context: int
    dtype: str
    rule: Rule

    @property
    def rows(self) -> int:
        return self.batch * self.tokens

    def block(self) -> Iterator[Operation]:
        a, mlp = grouped_block(self.model, self.layer)
        norms = {name: self._norm(name) for name in norm_names(self.model, self.layer)}
        q, k, v, o = a.matrices(self.model.hidden)
        yield norms["attention norm"]
        yield from (self._product(m) for m in (q, k, v))
        yield from self._heads(a)
        yield from self._attention(a)
        yield self._product(o)
        yield from (norms[n] for n in norms if n == "norm after attention")
        yield self._residual("attention residual")
        yield norms["MLP norm"]
        *up, down = mlp.matrices(self.model.hidden)
        yield from (self._product(m) for m in up)
        activation = swiglu if mlp.gated else gelu
        work = activation(elements=self.rows * mlp.intermediate, **self._how)
        yield Operation.of("SwiGLU" if mlp.gated else "GELU", "elementwise", work)
        yield self._product(down)
        yield from (norms[n] for n in norms if n == "norm after MLP")
        yield self._residual("MLP residual")

    @property
    def _how(self) -> dict[str, Any]:
        return {"dtype": self.dtype, "rule": self.rule}

    def _norm(self, name: str, rows: int = 1, columns: int = 0) -> Operation:
        norm = layer_norm if self.model.final_norm == 2 else rms_norm
        wide = columns or self.model.hidden
        work = norm(rows=rows * self.rows, columns=wide, **self._how)
        return Operation.of(name, "elementwise", work)

    def _residual(self, name: str) -> Operation:
        work = residual_add(elements=self.rows * self.model.hidden, **self._how)
        return Operation.of(name, "elementwise", work)

    def _product(self, m: Matrix) -> Operation:
        work = matmul(m=self.rows, n=m.columns, k=m.rows, dtype=self.dtype)
        if m.bias:
            work = self._with_bias(work, m)
        return Operation.of(m.name, "product", work)

    def _with_bias(self, work: Work, m: Matrix) -> Work:
        """The product and its bias; stored in between where each step moves."""
        wide = sized(m.columns, "columns")
        sizes = {"x": sized(self.rows, "rows") * wide, "weight": wide}
        bias = recipe_work("bias", BIAS, sizes, self.dtype, self.rule)
        moved = bias.bytes
        if self.rule.passes == "operation":
            moved = wide * bytes_per_element(self.dtype)
        return replace(
            work,
            operations=(work.operations + bias.operations).named("operations"),
            bytes=(work.bytes + moved).named("bytes moved"),
        )

    def _heads(self, a: Attention) -> Iterator[Operation]:
        """What queries and keys pass on their way to attention."""
        for name, heads in (("q", a.heads), ("k", a.kv_heads)):
            if a.qk_norm:
                rows = 1 if a.qk_norm == "full" else heads
                yield self._norm(f"norm {name}", rows, heads * a.head_dim // rows)
        for name, heads in (("q", a.heads), ("k", a.kv_heads)):
            if not self.model.positions:
                work = rotary(
                    tokens=self.tokens,
                    heads=heads,
                    head_dim=a.head_dim,
                    sequences=self.batch,
                    **self._how,
                )
                yield Operation.of(f"rotary {name}", "elementwise", work)

    def _attention(self, a: Attention) -> Iterator[Operation]:
        there = self.context + self.tokens
        keys = min(there, a.window - 1 + self.tokens) if a.window else there
        fused, hides = self.rule.fused_attention, self.tokens > 1
        batch, heads = sized(self.batch, "batch"), sized(a.heads, "query heads")
        asked = (batch * heads * sized(self.tokens, "tokens")).named("queries")
        square = (asked * sized(keys, "keys")).named("scores")
        scores = square
        if fused:
            # all that the mask leaves of the whole, less what was asked before
            left = a.prompt_macs(there)["scores"]
            left -= a.prompt_macs(self.context)["scores"] if self.context else 0
            pairs = sized(left // (a.heads * a.head_dim), "query-key pairs")
            scores = (batch * heads * pairs).named("scores")
        size, dim = bytes_per_element(self.dtype), sized(a.head_dim, "head size")
        unit = find_dtype(self.dtype).operation
        per_mac = (2 * one_of(unit)).named(f"{unit} per multiply-add")
        cached = (batch * sized(a.kv_heads, "KV heads") * dim * keys).named("cache")
        moved = asked * dim + cached
        product = (per_mac * dim * scores).named("operations")
        through = (moved if fused else moved + square) * size
        once = Work(product, through.named("bytes moved"), "", self.dtype)
        yield Operation.of("scores", "attention", once)
        recipe = MASKED_SOFTMAX if hides and not fused else SCALED_SOFTMAX
        sizes = {"x": scores, "row": asked, "mask": sized(self.tokens, "tokens") * keys}
        soft = recipe_work("softmax", recipe, sizes, self.dtype, self.rule)
        if fused:
            soft = replace(soft, bytes=(0 * soft.bytes).named("bytes moved"))
        yield Operation.of("softmax", "attention", soft)
        yield Operation.of("values", "attention", once)


def block_operations(
    model: str | LanguageModel,
    tokens: int,  # new tokens of a sequence: a prompt, or one for decode
    context: int = 0,  # tokens cached before them
    dtype: str = "bf16",
    *,
    batch: int = 1,
    rule: str | Rule = "fused",
    layer: int = 0,
) -> list[Operation]:
    """Every operation of one block, in the order it runs.

    A gated MLP is counted with SiLU, a plain one with GELU in its tangent form. Keys
    and values are written where they are kept, so that the cache costs no copy.
    """
    whole(batch=batch, tokens=tokens)
    whole(0, context=context)
    listing = _Listing(
        model_of(model),
        layer,
        batch,
        tokens,
        context,
        find_dtype(dtype).name,
        rule_of(rule),
    )
    return list(listing.block())


def side_at_ridge(point: Any, element: Any, per_mac: Any = 2.0) -> Any:
    """Side at which a square product's intensity is ``point``: 3/2 bytes x ridge.

    A product of side s does 2 s^3 operations on 3 s^2 numbers moved once.
    """
    return 3 * element * point / per_mac


def crossover_side(on: str | Accelerator, dtype: str = "bf16") -> Quantity:
    """Side above which a square product is bound by a device's arithmetic."""
    unit = find_dtype(dtype).operation
    per_mac = (2 * one_of(unit)).named(f"{unit} per multiply-add")
    side = side_at_ridge(ridge(on, dtype), bytes_per_element(dtype), per_mac)
    return side.named("side at the ridge")


__all__ = [
    "KINDS", "Operation", "RULES", "Rule", "block_operations", "cross_entropy",
    "crossover_side", "embedding", "gelu", "grouped_block", "layer_norm", "norm_names",
    "residual_add", "rms_norm", "rotary", "side_at_ridge", "silu", "softmax", "swiglu",
    "total", "transpose",
]  # fmt: skip
