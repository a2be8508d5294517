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
    near = within(device, inner, size)
    return where(near >= size, device.link, minimum(device.link, near * device.port))


def half_ring(device: Device, inner: Any, size: Any, moved: Any) -> Any:
    """Seconds of a reduce-scatter or an all-gather of an array of ``moved`` bytes."""
    out = within(device, inner, size) < size
    sent = moved * (size - 1) / size * device.byte
    return sent / ring_rate(device, inner, size) + (size - 1) * hop(device, out)


def all_to_all(device: Device, inner: Any, size: Any, moved: Any) -> Any:
    """Seconds of an exchange of all with all, ``moved`` bytes from each chip."""
    near = within(device, inner, size)
    inside = moved * (near - 1) / size * device.byte / device.link
    outside = moved * (size - near) / size * device.byte / device.port
    return maximum(inside, outside) + where(size > 1, 1.0, 0.0) * hop(
        device, near < size
    )


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
    near = layout.tp
    dense = mine.dense * each
    time = half_ring(device, near, group, dense)
    sent = dense * (group - 1) / group
    if not (type(mine.routed) is float and mine.routed == 0):
        fewer = maximum(group / layout.ep, 1.0)
        routed = mine.routed * each
        time = time + half_ring(device, near * layout.ep, fewer, routed)
        sent = sent + routed * (fewer - 1) / fewer
    return sent, where(group > 1, 1.0, 0.0) * time
