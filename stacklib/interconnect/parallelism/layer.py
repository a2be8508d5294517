"""How long a chip works on a layer of a microbatch, kernel by kernel.

Products are cut into tiles as families A's are; kernels that only read and write take
their bytes over the memory's rate. Backward has two products where forward has one.
Kernels counted, bytes for each number of the hidden state: two norms (2 read, 2
written), two additions to the residual (4 and 2); backward norms 6, additions 6.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from stacklib.quantity import ceil, maximum, minimum, quoted

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
# Bytes a number of a token sent to an expert and back: into order and out of it; and
# copied once more each way where the exchange does not put it in its place.
_SENT, _SORTED = 8, 8
# And a number of an expert that has biases: Megatron-LM's fused_bias_geglu spreads them
# over rows, clamps, cuts and joins before one kernel takes them; there and back.
_BIASED, _BIASED_BACK = 12, 28
_AROUND = quoted("experts.kernels").si  # of a layer of experts, besides theirs


@dataclass(frozen=True, slots=True)
class Work:
    """Seconds of one layer, and of the part of its forward that is done again."""

    forward: Any
    backward: Any
    core: Any  # scores and values of attention
    cheap: Any  # norms and the activation


def product_time(
    m: Any, n: Any, k: Any, groups: Any, rates: Rates, drawn: bool = False
) -> Any:
    """Seconds of a product in the largest tiles, or of its bytes.

    - ``drawn``: whether ``m`` is a mean, of rows that a router sends: the last tile of
      a group is half full then, and there is none without rows.
    """
    device = rates.device
    if rates.tiled:
        rows, columns = TILE
        high = ceil(m / rows)
        if drawn:
            high = minimum(m, maximum(1.0, m / rows + 0.5))
        waves = high * ceil(n / columns) * groups / rates.units
        paid = waves + (ceil(waves) - waves) * rates.tail
        done = paid * rates.units * (2.0 * rows * columns) * (k + rates.fill)
    else:
        done = 2.0 * m * n * k * groups
    moved = groups * ((m * k + k * n) * device.width + 2.0 * m * n)
    return maximum(
        done * device.operation / rates.product, moved * device.byte / rates.moving
    )


def products(
    kind: Kind, layout: Layout, tokens: Any, rates: Rates
) -> tuple[Any, Any, Any, Any]:
    """Seconds of a layer's products, forward and backward, and numbers into them.

    Numbers are those that a cast must read, of experts apart.

    Backward has two products for each: by rows, which cost what forward's did, but for
    experts, whose weights' gradients have the tokens of one as their depth.
    """
    forward: Any = 0.0 * rates.device.second
    backward, read, apart = forward, 0.0, 0.0
    for mat in kind.mats:
        depth: Any = mat.depth
        columns: Any = mat.columns
        ways = layout.tp if mat.total == mat.used else layout.inner
        if mat.cut == "columns":
            columns = columns / ways
        elif mat.cut == "rows":
            depth = depth / ways
        if mat.total == mat.used:
            read = read + tokens * mat.used * depth
            one = product_time(tokens, columns, depth, mat.total, rates)
            forward, backward = forward + one, backward + 2.0 * one
            continue
        sent = tokens * ways / layout.tp * mat.used  # rows that a chip is sent
        if not rates.fused:
            apart = apart + sent * depth
        groups = mat.total / layout.ep
        each = sent / groups
        one = product_time(each, columns, depth, groups, rates, True)
        back = product_time(each, depth, columns, groups, rates, True)
        back = back + product_time(depth, columns, each, groups, rates)
        forward, backward = forward + one, backward + back
    return forward, backward, read, apart


def core_time(
    kind: Kind, layout: Layout, tokens: Any, length: int, rates: Rates, scores: bool
) -> tuple[Any, Any]:
    """Seconds of scores and values, forward and backward."""
    device = rates.device
    if not kind.pairs:
        return 0.0 * device.second, 0.0 * device.second
    if not scores:
        seen = kind.pairs / (kind.heads * kind.head)  # all keys, or twice a window
        fill = seen / (seen + rates.attention_fill)
        done = 2.0 * kind.pairs * tokens / layout.tp * device.operation
        forward = done / (rates.at_heads(kind.head) * fill)
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
    multiplied, twice, read, apart = products(kind, layout, tokens, rates)
    core, core_back = core_time(kind, layout, tokens, length, rates, scores)
    extra, extra_back = (_DROPPED, _DROPPED_BACK) if scores else (0, 0)
    cut = tokens / tp
    moved = (_FORWARD + extra) * kept + cut * 4.0 * kind.split
    back = (_BACKWARD + extra_back) * kept + cut * 4.0 * kind.split
    # The activation; of experts, all that their rows, sent by a router, pass through.
    loose = cut * 2.0 * (kind.inner + kind.middle)
    loose_back = cut * (4.0 * kind.inner + 2.0 * kind.middle)
    host: Any = 0.0 * device.second
    worn: Any = 1.0
    if kind.routed:
        worn = 1.0 / rates.scattered
        host = rates.host * started(kind, layout, device.width < 2)
        sent = kind.routed * tokens * layout.inner / tp * shape.hidden
        loose, loose_back = loose + _SENT * sent, loose_back + _SENT * sent
        if not rates.fused:
            loose, loose_back = loose + _SORTED * sent, loose_back + _SORTED * sent
            spread = cut * (kind.inner + kind.routed * shape.hidden) * kind.biased
            loose = loose + _BIASED * spread
            loose_back = loose_back + _BIASED_BACK * spread
    if device.width < 2:
        loose, loose_back = loose + _CAST * apart, loose_back + _CAST_BACK * apart
        moved, back = moved + _CAST * read, back + _CAST_BACK * read
    moved, back = moved + worn * loose, back + worn * loose_back
    starts = rates.launch * (_KERNELS + len(kind.mats))
    forward = multiplied + core + moved * device.byte / rates.moving + starts
    backward = twice + core_back + back * device.byte / rates.moving + 2.0 * starts
    cheap = 8.0 * kept + 2.0 * cut * (kind.inner + kind.middle)
    return Work(
        maximum(forward, host / 3),
        maximum(backward, 2.0 * host / 3),
        core,
        cheap * device.byte / rates.moving,
    )


def started(kind: Kind, layout: Layout, cast: bool) -> Any:
    """Kernels of a layer of experts that a host starts, forward and backward.

    Three products a matrix of each expert and, where they read eight bits, as many
    casts; the rest as a framework was seen to start.
    """
    matrices = sum(m.total != m.used for m in kind.mats)
    return _AROUND + 3 * matrices * (1 + cast) * kind.experts / layout.ep


def head_time(shape: Shape, layout: Layout, tokens: Any, rates: Rates) -> Any:
    """Seconds of the output matrix and the loss, forward and backward.

    The logits are read in 16 bits and written in 32, read for their largest and sum,
    written, read and turned into 16-bit gradients: twenty bytes each.
    """
    device, columns = rates.device, shape.vocab / layout.tp
    done = 6.0 * tokens * columns * shape.hidden * device.operation
    return done / rates.plain + 20.0 * tokens * columns * device.byte / rates.moving
