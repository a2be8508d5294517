"""Work of operations that are no product: norms, softmax, activations, copies.

Each is a recipe of ``steps`` counted by a rule. Public through ``operations``.
"""

from __future__ import annotations

from typing import Any

from stacklib.quantity import Quantity, assumed, bytes_per_element, one_of
from stacklib.quantity import dtype as find_dtype
from stacklib.quantity.bounds import whole

from ..work.steps import (
    ADD,
    CROSS_ENTROPY,
    GELU,
    LAYER_NORM,
    RMS_NORM,
    ROTARY,
    SILU,
    SOFTMAX,
    SWIGLU,
    TRANSPOSE,
    Recipe,
    Rule,
    numbers_of,
    operations_of,
    rule_of,
)
from ..work.work import Work, sized

_ID_BYTES = 4  # a token's number, as int32


def recipe_work(
    name: str, recipe: Recipe, sizes: dict[str, Any], dtype: str, rule: str | Rule
) -> Work:
    """Work of a recipe."""
    fmt, found = find_dtype(dtype), rule_of(rule)
    one = one_of(fmt.operation, f"{fmt.operation} per step and number")
    operations = operations_of(recipe, sizes, found, one)
    moved = numbers_of(recipe, sizes, found) * bytes_per_element(dtype)
    return Work(
        operations.named("operations"), moved.named("bytes moved"), name, fmt.name
    )


def _rows(rows: int, columns: int) -> dict[str, Quantity]:
    high, wide = sized(rows, "rows"), sized(columns, "columns")
    return {"x": (high * wide).named("numbers"), "row": high, "weight": wide}


def softmax(
    *, rows: int, columns: int, dtype: str = "bf16", rule: str | Rule = "fused"
) -> Work:
    """Softmax along each row: largest, subtract, exponential, sum, divide."""
    sizes = _rows(rows, columns)
    return recipe_work(f"softmax {rows} x {columns}", SOFTMAX, sizes, dtype, rule)


def layer_norm(
    *, rows: int, columns: int, dtype: str = "bf16", rule: str | Rule = "fused"
) -> Work:
    """LayerNorm of each row, with scale and shift."""
    sizes = _rows(rows, columns)
    return recipe_work(f"layer norm {rows} x {columns}", LAYER_NORM, sizes, dtype, rule)


def rms_norm(
    *, rows: int, columns: int, dtype: str = "bf16", rule: str | Rule = "fused"
) -> Work:
    """RMSNorm of each row, with scale."""
    sizes = _rows(rows, columns)
    return recipe_work(f"RMS norm {rows} x {columns}", RMS_NORM, sizes, dtype, rule)


def _elements(
    recipe: Recipe, elements: int, dtype: str, rule: str | Rule, what: str = ""
) -> Work:
    sizes = {"x": sized(elements, "elements")}
    return recipe_work(f"{what or recipe.name} {elements}", recipe, sizes, dtype, rule)


def gelu(*, elements: int, dtype: str = "bf16", rule: str | Rule = "fused") -> Work:
    """GELU in its tangent form, number by number."""
    return _elements(GELU, elements, dtype, rule)


def silu(*, elements: int, dtype: str = "bf16", rule: str | Rule = "fused") -> Work:
    """SiLU, x / (1 + exp(-x)), number by number."""
    return _elements(SILU, elements, dtype, rule)


def swiglu(*, elements: int, dtype: str = "bf16", rule: str | Rule = "fused") -> Work:
    """SiLU of the gate times the other half: two inputs, one result."""
    return _elements(SWIGLU, elements, dtype, rule)


def residual_add(
    *, elements: int, dtype: str = "bf16", rule: str | Rule = "fused"
) -> Work:
    """The sum of two arrays."""
    return _elements(ADD, elements, dtype, rule, "residual")


def rotary(
    *,
    tokens: int,
    heads: int,
    head_dim: int,
    dtype: str = "bf16",
    rule: str | Rule = "fused",
    sequences: int = 1,
) -> Work:
    """Rotary embedding: each pair of numbers turned by an angle of its token.

    Cosines and sines are read from a table, the same for all heads.
    """
    whole(head_dim=head_dim)
    if head_dim % 2:
        raise ValueError(f"head_dim = {head_dim}: an even number is turned in pairs")
    count, pairs = sized(tokens, "tokens"), sized(head_dim, "head_dim") / 2
    table = (count * pairs).named("angles")
    half = (sized(sequences, "sequences") * sized(heads, "heads") * table).named(
        "pairs"
    )
    name, sizes = f"rotary {tokens} x {heads} x {head_dim}", {"half": half}
    return recipe_work(name, ROTARY, {**sizes, "table": table}, dtype, rule)


def embedding(*, tokens: int, hidden: int, dtype: str = "bf16") -> Work:
    """Embedding lookup: a row copied for each token, and no arithmetic."""
    count = sized(tokens, "tokens")
    each = assumed(
        _ID_BYTES, "B", "bytes per token number", why="Tokens are numbered in int32."
    )
    copied = recipe_work("", TRANSPOSE, _rows(tokens, hidden), dtype, "fused")
    moved = copied.bytes + count * each
    return Work(
        copied.operations,
        moved.named("bytes moved"),
        f"embedding {tokens} x {hidden}",
        copied.dtype,
    )


def transpose(*, rows: int, columns: int, dtype: str = "bf16") -> Work:
    """A matrix copied into the other order, and no arithmetic."""
    name, sizes = f"transpose {rows} x {columns}", _rows(rows, columns)
    return recipe_work(name, TRANSPOSE, sizes, dtype, "fused")


def cross_entropy(
    *, tokens: int, vocab: int, dtype: str = "bf16", rule: str | Rule = "fused"
) -> Work:
    """Loss of each token: logarithm of the sum of exponentials, less the target's."""
    name, sizes = f"cross-entropy {tokens} x {vocab}", _rows(tokens, vocab)
    return recipe_work(name, CROSS_ENTROPY, sizes, dtype, rule)
