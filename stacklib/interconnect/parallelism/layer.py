"""How long a chip works on a layer of a microbatch, kernel by kernel.

Products are cut into tiles as families A's are; kernels that only read and write take
their bytes over the memory's rate. Backward has two products where forward has one.
Kernels counted, bytes for each number of the hidden state: two norms (2 read, 2
written), two additions to the residual (4 and 2); backward norms 6, additions 6.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from stacklib.quantity import ceil, maximum, quoted

from .layout import Layout
from .rates import TILE, Rates
from .shape import Kind, Shape

ATTENTION = ("flash", "scores")
_FORWARD, _BACKWARD = 20, 24  # bytes for each number of the hidden state
_DROPPED, _DROPPED_BACK = 2, 6  # and what dropout adds, where scores are written
_SCORES, _SCORES_BACK = 9, 11  # bytes a score: softmax, dropout and its mask
_FLASH_BACK = 2.5  # five products, where forward has two
_CAST, _CAST_BACK = 5, 6  # bytes a number that is scaled to 8 bits, its largest found
_KERNELS = quoted("layer.kernels").si  # of a layer's forward, besides products
_ROUTED = 8  # bytes a number of a token sent to an expert and back: moved in place


@dataclass(frozen=True, slots=True)
class Work:
    """Seconds of one layer, and of the part of its forward that is done again."""

    forward: Any
    backward: Any
    core: Any  # scores and values of attention
    cheap: Any  # norms and the activation


def product_time(m: Any, n: Any, k: Any, groups: Any, rates: Rates) -> Any:
    """Seconds of a product in the largest tiles, or of its bytes."""
    device = rates.device
    if rates.tiled:
        rows, columns = TILE
        waves = ceil(m / rows) * ceil(n / columns) * groups / rates.units
        paid = waves + (ceil(waves) - waves) * rates.tail
        done = paid * rates.units * (2.0 * rows * columns) * (k + rates.fill)
    else:
        done = 2.0 * m * n * k * groups
    moved = groups * ((m * k + k * n) * device.width + 2.0 * m * n)
    return maximum(
        done * device.operation / rates.product, moved * device.byte / rates.moving
    )


def products(kind: Kind, layout: Layout, tokens: Any, rates: Rates) -> tuple[Any, Any]:
    """Seconds of a layer's products in forward, and numbers that go into them."""
    time: Any = 0.0 * rates.device.second
    read: Any = 0.0
    for mat in kind.mats:
        depth: Any = mat.depth
        columns: Any = mat.columns
        if mat.cut == "columns":
            columns = columns / layout.tp
        elif mat.cut == "rows":
            depth = depth / layout.tp
        routed = mat.total != mat.used
        groups: Any = mat.total / layout.ep if routed else mat.total
        each = tokens * mat.used / groups if routed else tokens
        time = time + product_time(each, columns, depth, groups, rates)
        read = read + tokens * mat.used * depth
    return time, read


def core_time(
    kind: Kind, layout: Layout, tokens: Any, length: int, rates: Rates, scores: bool
) -> tuple[Any, Any]:
    """Seconds of scores and values, forward and backward."""
    device = rates.device
    if not kind.pairs:
        return 0.0 * device.second, 0.0 * device.second
    if not scores:
        fill = length / (length + rates.attention_fill)
        done = 2.0 * kind.pairs * tokens / layout.tp * device.operation
        forward = done / (rates.attention * fill)
        return forward, _FLASH_BACK * forward
    groups = kind.heads * tokens / length / layout.tp
    head = kind.square / (2.0 * kind.heads * length)
    both = product_time(length, length, head, groups, rates)
    both = both + product_time(length, head, length, groups, rates)
    byte = kind.heads * length * tokens / layout.tp * device.byte / rates.moving
    return both + _SCORES * byte, 2.0 * both + _SCORES_BACK * byte


def layer_time(
    kind: Kind,
    shape: Shape,
    layout: Layout,
    tokens: Any,
    length: int,
    rates: Rates,
    scores: bool,
) -> Work:
    """Seconds of one layer on one chip, no exchange in them."""
    device, tp = rates.device, layout.tp
    kept = tokens * shape.hidden / (1 + (tp - 1) * layout.sequence)
    multiplied, read = products(kind, layout, tokens, rates)
    core, core_back = core_time(kind, layout, tokens, length, rates, scores)
    extra, extra_back = (_DROPPED, _DROPPED_BACK) if scores else (0, 0)
    cut = tokens / tp
    moved = (_FORWARD + extra) * kept + cut * (
        4.0 * kind.split + 2.0 * (kind.inner + kind.middle)
    )
    back = (_BACKWARD + extra_back) * kept + cut * (
        4.0 * kind.split + 4.0 * kind.inner + 2.0 * kind.middle
    )
    if kind.routed:
        sent = _ROUTED * kind.routed * tokens * shape.hidden
        moved, back = moved + sent, back + sent
    if device.width < 2:
        moved, back = moved + _CAST * read, back + _CAST_BACK * read
    starts = rates.launch * (_KERNELS + len(kind.mats))
    forward = multiplied + core + moved * device.byte / rates.moving + starts
    backward = 2.0 * multiplied + core_back + back * device.byte / rates.moving
    cheap = 8.0 * kept + 2.0 * cut * (kind.inner + kind.middle)
    return Work(
        forward, backward + 2.0 * starts, core, cheap * device.byte / rates.moving
    )


def head_time(shape: Shape, layout: Layout, tokens: Any, rates: Rates) -> Any:
    """Seconds of the output matrix and the loss, forward and backward.

    The logits are read in 16 bits and written in 32, read for their largest and sum,
    written, read and turned into 16-bit gradients: twenty bytes each.
    """
    device, columns = rates.device, shape.vocab / layout.tp
    done = 6.0 * tokens * columns * shape.hidden * device.operation
    return done / rates.plain + 20.0 * tokens * columns * device.byte / rates.moving
