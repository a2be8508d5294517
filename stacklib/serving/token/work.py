"""What each line of an account moves, multiplies and sends, in plain numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from stacklib.models import Block, Experts, LanguageModel
from stacklib.quantity import Quantity, counted, maximum
from stacklib.roofline.work.fit import model_of

from .shape import ATTENTION, HEAD, NORMS, PRODUCTS, Shape, shape_of

LAUNCHES = "launches and pauses"
EXCHANGES = "exchanges"
SAMPLING = "sampling"
HOST = "host"
SECTIONS = {
    PRODUCTS: "01-roofline/decode",
    ATTENTION: "04-kernels/mla",
    NORMS: "04-kernels/norms",
    LAUNCHES: "04-kernels/launches",
    EXCHANGES: "06-interconnect/selection",
    HEAD: "01-roofline/decode",
    SAMPLING: "04-kernels/sampling",
    HOST: "",
}
OUT = ("o", "linear")  # matrices on the way out of attention, by their first word
ACTIVATION = 2  # bytes of a number between kernels
# Kernels of a layer once fused, as section 4.2 counts them: a norm with its residual
# before each part; queries, keys and values; their rotation and the cache; attention;
# the way out. Then gate and up, the activation, the way down. A router chooses, sorts
# tokens by expert, and adds their results up.
_MIX, _MLP, _ROUTED, _SHARED = 5, 4, 4, 3


@dataclass(frozen=True, slots=True)
class LineWork:
    """Over all chips: bytes and operations of what it covers, and bytes beside."""

    bytes: Any = 0.0
    operations: Any = 0.0
    beside: Any = 0.0


def line_work(
    model: str | LanguageModel,
    line: str,
    *,
    dtype: Any = None,
    kv_dtype: Any = None,
    tp: int = 1,
    ep: int = 1,
    batch: Any = 1,
    context: Any = 4096,
    prompt: int | None = None,
) -> LineWork:
    """Bytes and operations of one line of ``account``, which describes the arguments.

    - ``line``: a line that covers operations, such as ``PRODUCTS``
    - raises ``KeyError`` for a line that covers none
    """
    model = model_of(model)
    shape = shape_of(model, dtype, kv_dtype)
    tokens = batch if prompt is None else batch * prompt
    both = of_line(shape, line, tp, ep, batch, context, prompt)
    return LineWork(*both, between(model, tp) * tokens if line == NORMS else 0.0)


def counted_work(
    work: Callable[..., LineWork], line: str, operation: str, *args: Any, **asked: Any
) -> tuple[Quantity, Quantity, Quantity]:
    """Bytes, operations and bytes beside of a line, as runs of ``work`` count them."""
    moved, flops, beside = (
        counted(work, *args, **asked, take=take, unit=unit, label=f"{words}, {line}")
        for take, unit, words in (
            ("bytes", "B", "bytes"),
            ("operations", operation, "operations"),
            ("beside", "B", "activations"),
        )
    )
    return moved, flops, beside


def of_line(
    shape: Shape,
    line: str,
    tp: int,
    ep: int,
    batch: Any,
    context: Any,
    prompt: int | None,
) -> tuple[Any, Any]:
    """Bytes and operations of a line that covers some."""
    tokens = batch if prompt is None else batch * prompt
    if line == ATTENTION:
        if prompt is None:
            return shape.cache(batch, context, tp)
        return shape.prompt(batch, prompt)
    part = shape.parts[line]
    flops = part.flops * (batch if line == HEAD else tokens)
    moved = part.read(tokens)
    if ep > 1 and line in (PRODUCTS, HEAD):  # each group has all but the experts
        moved = moved + (ep - 1) * part.bytes
    return moved, flops


def between(model: LanguageModel, tp: int) -> float:
    """Bytes that fused kernels pass to each other for one token, over all chips.

    A norm reads what a part has left and the residual, and writes both; queries, keys
    and values are read and written as they are rotated; the activation reads two rows
    and writes one. Chips share the last two, and each does the first.
    """
    numbers = 0.0
    for kind, block in enumerate(model.kinds):
        norms = 4 * tp * model.hidden * exchanged(block)
        matrices = block.attention.matrices(model.hidden)
        rows = sum(m.columns for m in matrices if m.name.split()[0] not in OUT)
        layers = model.count(kind)
        numbers += layers * (norms + 2 * rows + 3 * _inner(block.mlp))
    return ACTIVATION * numbers


def _inner(mlp: Any) -> int:
    """Numbers of a token between the products of its MLPs."""
    if isinstance(mlp, Experts):
        return mlp.top_k * mlp.intermediate + mlp.shared
    return int(mlp.intermediate)


def kernels(model: LanguageModel, tp: int = 1) -> int:
    """Kernels of a step once they are fused, exchanges included."""
    found = 0
    for kind, block in enumerate(model.kinds):
        each = exchanged(block) if tp > 1 else 0
        each += _MIX if block.attention.matrices(model.hidden) else 0
        if isinstance(block.mlp, Experts):
            each += _MLP + _ROUTED + (_SHARED if block.mlp.shared else 0)
        elif block.mlp.intermediate:
            each += _MLP
        found += model.count(kind) * each
    return found


def exchanged(block: Block) -> int:
    """Parts of a layer, after each of which chips that share its matrices add up."""
    return bool(block.attention.matrices(1)) + bool(_inner(block.mlp))


def all_reduces(model: LanguageModel) -> int:
    """All-reduces of a step."""
    return sum(map(exchanged, model.blocks))


def busiest(batch: Any, groups: int) -> Any:
    """How much more than its even share the busiest of some groups of chips has."""
    return maximum(1.0, -(-batch // groups) * groups / batch)
