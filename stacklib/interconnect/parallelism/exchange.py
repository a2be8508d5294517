"""What each parallelism sends, and how long a chip waits for it.

Bytes are those that one chip sends in a step, one direction. Rings and halves of rings:
a group of g moves (g - 1) / g of an array for each half. What lies within a domain goes
over its links; a ring that leaves it is as fast as the ports of its chips in a domain.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from stacklib.quantity import maximum, minimum, where

from .layout import Layout
from .memory import GRADIENTS, WEIGHTS, Held
from .rates import Device, hop, within
from .shape import Kind, Shape


@dataclass(frozen=True, slots=True)
class Sent:
    """Bytes of one chip a step, one direction, by parallelism."""

    tensor: Any
    context: Any
    expert: Any
    pipeline: Any
    data: Any

    @property
    def total(self) -> Any:
        """All of them."""
        return self.tensor + self.context + self.expert + self.pipeline + self.data


def ring_rate(device: Device, inner: Any, size: Any) -> Any:
    """Bytes a second that each chip of a group's rings sends."""
    return _rate(device, within(device, inner, size), size)


def _rate(device: Device, near: Any, size: Any) -> Any:
    return where(near >= size, device.link, minimum(device.link, near * device.port))


def half_ring(device: Device, inner: Any, size: Any, moved: Any) -> Any:
    """Seconds of a reduce-scatter or an all-gather of an array of ``moved`` bytes."""
    near, steps = within(device, inner, size), size - 1
    sent = moved * steps / size * device.byte
    return sent / _rate(device, near, size) + steps * hop(device, near < size)


def hit(experts: Any, held: Any, chosen: int) -> Any:
    """Chance that a holder of ``held`` of some experts has one of ``chosen``."""
    none: Any = 1.0
    for drawn in range(chosen):
        none = none * maximum(experts - held - drawn, 0.0) / (experts - drawn)
    return 1.0 - none


def all_to_all(
    device: Device, kind: Kind, inner: Any, size: Any, array: Any
) -> tuple[Any, Any]:
    """Seconds of a way of tokens to their experts or back, and bytes of a chip.

    A token goes once to each node that has an expert of it, and there once to each
    chip, as DeepEP and HybridEP send it; links and ports work side by side.

    - ``array``: bytes of a chip's tokens.
    """
    near = within(device, inner, size)
    nodes = size / near
    chips = size * hit(kind.experts, kind.experts / size, kind.routed)
    far = (nodes - 1) * hit(kind.experts, kind.experts / nodes, kind.routed)
    inside = array * chips * (near - 1) / near * device.byte / device.link
    outside = array * far * device.byte / device.port
    start = where(size > 1, 1.0, 0.0) * hop(device, near < size)
    return maximum(inside, outside) + start, array * chips * (size - 1) / size


def tensor_layer(shape: Shape, layout: Layout, tokens: Any) -> Any:
    """Bytes of one array that a layer exchanges: a hidden state a token."""
    return 2.0 * shape.hidden * tokens


def keys_bytes(kind: Kind, layout: Layout, tokens: Any) -> Any:
    """Bytes of keys and values that a chip passes around in context parallelism."""
    return 2.0 * kind.keys * tokens / layout.tp


def data_time(
    device: Device, mine: Held, layout: Layout, passes: Any
) -> tuple[Any, Any]:
    """Bytes and seconds of gradients and weights, one step.

    - ``mine``: parameters of the chip.
    - ``passes``: how often weights are gathered, and gradients scattered, in a step
      where ZeRO cuts them.
    """
    group = layout.dp * layout.cp
    gather, scatter = passes
    each = WEIGHTS * gather + GRADIENTS * scatter
    near, inner = layout.tp, layout.inner
    dense = mine.dense * each
    time = half_ring(device, near, group, dense)
    sent = dense * (group - 1) / group
    if not (type(mine.routed) is float and mine.routed == 0):
        fewer = maximum(group * near / (layout.ep * inner), 1.0)
        routed = mine.routed * each
        time = time + half_ring(device, inner * layout.ep, fewer, routed)
        sent = sent + routed * (fewer - 1) / fewer
    return sent, where(group > 1, 1.0, 0.0) * time
