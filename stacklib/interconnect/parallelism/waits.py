"""What a layer costs a chip, and how long it waits for others.

Tensor, context and expert parallelism wait in each layer; the pipeline between stages;
data parallelism for what the last backward does not cover, ZeRO 3 for what its layers
do not.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from stacklib.quantity import maximum, minimum, where

from . import exchange
from .layer import layer_time, product_time
from .layout import Layout
from .memory import Held
from .rates import Device, Rates
from .shape import Shape


class Layer(NamedTuple):
    """What a chip spends on a layer of one kind and a microbatch."""

    forward: Any  # seconds
    backward: Any
    weights: Any  # of it, for the gradient of the weights
    wait: Any
    tensor: Any  # bytes sent
    context: Any
    expert: Any


def layers_of(
    shape: Shape,
    device: Device,
    rates: Rates,
    layout: Layout,
    tokens: Any,
    length: int,
    scores: bool,
    rounds: Any,
) -> list[Layer]:
    """A layer of each kind: seconds forward and backward, waits, and bytes sent.

    - ``rounds``: microbatches of a step.
    """
    tp, cp, ep = layout.tp, layout.cp, layout.ep
    again, overlap = layout.again, 1.0 * layout.overlap
    array = exchange.tensor_layer(shape, layout, tokens)
    many, each = tensor_waits(device, layout, array)
    paired = layout.schedule == "dualpipe"
    beside = 1 - alone(layout.pp, rounds) if paired else overlap
    found = []
    for kind in shape.kinds:
        work = layer_time(kind, shape, layout, tokens, length, rates, scores)
        redone = work.forward * again
        if layout.lean:
            redone = work.core if scores else work.cheap
            for m in () if scores else kind.latent:
                redone = redone + product_time(
                    tokens, m.columns / tp, m.depth, 1.0, rates
                )
        products = work.forward + work.backward + redone
        # Beside its products, piece by piece, an exchange shows one piece of its tp.
        left = maximum(each - products, each / tp)
        wait = each + overlap * (left - each)
        context: Any = 0.0
        expert: Any = 0.0
        if not (type(cp) is int and cp == 1):
            around = exchange.keys_bytes(kind, layout, tokens) * (cp - 1)
            passes = 3.0 + again
            sending = around * device.byte / exchange.ring_rate(device, tp, cp)
            wait = wait + maximum(passes * sending - 4 * work.core, sending / cp)
            context = passes * around
        if kind.routed and not (type(ep) is int and ep == 1):
            # Out and back, forward and backward; copies are cut by sequence.
            passes = 4.0 + 2.0 * again
            copy = array / tp
            if paired:  # there in the format of products, back in 16 bits
                copy = copy * (2 + device.width) / 4
            way, moved = exchange.all_to_all(device, kind, layout.inner, ep, copy)
            sending = passes * way
            # What runs beside products takes units of theirs for as long as it runs.
            left = maximum(sending - products, sending * rates.taken)
            wait = wait + sending + beside * (left - sending)
            expert = passes * moved
        found.append(
            Layer(
                work.forward,
                work.backward + redone,
                work.forward - work.core,  # as many products, of the same sizes
                wait,
                many * array * (tp - 1) / tp,
                context,
                expert,
            )
        )
    return found


def alone(stages: Any, rounds: Any) -> Any:
    """Share of DualPipe's microbatches that pass a rank without a partner, the mean.

    A rank n from the nearer end of p has 3 p / 2 - 1 - n, the middle two one more.
    """
    return minimum(1.0, (1.25 * stages - 0.5 + 2 / stages) / rounds)


def tensor_waits(device: Device, layout: Layout, array: Any) -> tuple[Any, Any]:
    """Halves of all-reduces of a layer, in arrays of 16 bits, and their seconds.

    Two reductions each way, of two halves. Recomputing a layer repeats its forward's;
    with activations cut by tokens, backward gathers the inputs of its two products
    again, and what is gathered goes in the format in which products read it
    (Transformer Engine, distributed.py; torchao, float8_tensor_parallel.py).
    """
    tp, again, byte = layout.tp, layout.again, device.width / 2
    cut = where(layout.sequence, 1.0, 0.0)
    gathers = cut * (6.0 + 2.0 * again)
    whole = (8.0 + 4.0 * again) * (1 - cut) + cut * (4.0 + 2.0 * again)
    if byte == 1:
        whole, gathers = whole + gathers, 0.0
    each = whole * exchange.half_ring(device, 1, tp, array)
    if byte != 1:
        each = each + gathers * exchange.half_ring(device, 1, tp, array * byte)
    return whole + gathers * byte, each * where(tp > 1, 1.0, 0.0)


def between_stages(
    shape: Shape, device: Device, layout: Layout, tokens: Any
) -> tuple[Any, Any]:
    """Bytes and seconds of a microbatch's way between stages, there and back.

    Each chip of tensor parallelism sends its share; where the next stage needs all of
    it on each of its chips, they gather it.
    """
    tp, pp = layout.tp, layout.pp
    array = 2.0 * shape.hidden * tokens
    inner = layout.dp * layout.cp * tp
    through = where(inner * pp <= device.domain, device.link, device.port)
    times = 2.0 * layout.interleave * where(pp > 1, 1.0, 0.0)
    gather = exchange.half_ring(device, 1, tp, array) * where(layout.sequence, 0.0, 1.0)
    gather = gather * where(tp > 1, 1.0, 0.0)
    one = array / tp * device.byte / through + gather
    return times * array / tp, times * one


def data_waits(
    device: Device,
    layout: Layout,
    mine: Held,
    layers: Any,
    many: Any,
    backward: Any,
    work: Any,
) -> tuple[Any, Any]:
    """Bytes that data parallelism sends, and seconds that a chip waits for it.

    - ``mine``, ``layers``: parameters and layers of its stage; ``backward`` and
      ``work``: seconds of a microbatch there, backward and both ways.
    """
    if type(layout.dp) is int and type(layout.cp) is int and layout.dp * layout.cp == 1:
        return 0.0, 0.0 * device.second
    zero = layout.zero
    cut = where(zero >= 3, 1.0, 0.0)
    # ZeRO 3 gathers weights for both directions and scatters gradients, each
    # microbatch; 1 and 2 gather the new weights once; without, both halves are sums.
    gather = cut * many * 2.0 + (1 - cut) * where(zero >= 1, 1.0, 0.0)
    scatter = cut * many + (1 - cut) * where(
        zero >= 2, many, where(zero >= 1, 1.0, 2.0)
    )
    sent, time = exchange.data_time(device, mine, layout, (gather, scatter))
    covered = where(cut > 0, many * work, backward)
    return sent, maximum(time / maximum(layers, 1.0), time - covered)
