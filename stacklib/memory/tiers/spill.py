"""Two memories behind one processor: a near one, and what no longer fits it.

Every byte is read once a step. The near memory gives its share at its rate, the far
one, across a link, at the lesser of its own rate and one direction of the link. Read at
the same time, the longer of the two is the step; read one after the other, their sum.
`layer_steps` runs the step layer by layer and tells which of the two it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from stacklib import hardware
from stacklib.hardware import Accelerator
from stacklib.quantity import Quantity, chosen, maximum, minimum
from stacklib.quantity.bounds import whole
from stacklib.roofline.work.bounds import device_of


def spilled_time(total: Any, share: Any, near: Any, far: Any, *, apart: bool) -> Any:
    """Seconds to read ``total`` bytes of which ``share`` lie in the far memory.

    Floats, quantities or arrays.

    ``share``: of them in the far memory, from 0 to 1; ``near``, ``far``: rates in B/s.
    """
    here, there = total * (1 - share) / near, total * share / far
    return here + there if apart else maximum(here, there)


def knee(near: Any, far: Any) -> Any:
    """Share at which both memories take equally long: up to it, spilling costs nothing.

    Floats, quantities or arrays.

    ``near``, ``far``: rates in B/s.
    """
    return far / (near + far)


def layer_steps(
    near_bytes: Sequence[float],  # bytes of each layer in each memory
    far_bytes: Sequence[float],
    near: float,  # rates in B/s
    far: float,  # rates in B/s
    ahead: int = 0,
) -> list[float]:
    """When each layer is done, layer after layer, with the far part fetched ahead.

    A layer is done when its near part has been read and its far part has come. The
    link works on one layer at a time, in order, and at most ``ahead`` layers before the
    one that runs: there is room for so many.
    """
    if not near_bytes or len(near_bytes) != len(far_bytes):
        raise ValueError(f"{len(near_bytes)} and {len(far_bytes)} layers: as many each")
    if not (near > 0 and far > 0):
        raise ValueError(f"rates {near!r} and {far!r} B/s: above zero")
    whole(0, ahead=ahead)
    if not all(b >= 0 for b in (*near_bytes, *far_bytes)):
        raise ValueError("bytes of a layer are not below zero")
    done: list[float] = []
    arrived = 0.0
    for at, (here, there) in enumerate(zip(near_bytes, far_bytes, strict=True)):
        begun = done[-1] if done else 0.0
        room = done[at - 1 - ahead] if at - 1 - ahead >= 0 else 0.0
        if there:
            arrived = max(arrived, room) + there / far
        done.append(max(begun + here / near, arrived if there else 0.0))
    return done


def spread(
    total: float, share: float, layers: int, how: str
) -> tuple[list[float], list[float]]:
    """Bytes of each layer near and far."""
    if how not in ("even", "whole") or not 0 <= share <= 1 or layers < 1:
        raise ValueError(f"{how!r}, share {share!r}, {layers!r} layers")
    each, gone = total / layers, total * share
    # A part of every layer, or the last layers as a whole.
    if how == "even":
        far = [each * share] * layers
    else:
        far = [min(each, max(0.0, gone - each * i)) for i in range(layers)][::-1]
    return [each - f for f in far], far


@dataclass(frozen=True, slots=True)
class TwoTiers:
    """The two memories of a processor and the link between."""

    near: Quantity  # rates at which it reads them
    far: Quantity  # the far one is the lesser of memory and link
    near_capacity: Quantity  # bytes of each
    far_capacity: Quantity  # bytes of each
    link: Quantity  # one direction of the link
    far_memory: Quantity  # what the far memory itself delivers

    def spilled(self, total: Quantity) -> Quantity:
        """Bytes of ``total`` that the near memory has no room for."""
        over = maximum(total - self.near_capacity, 0 * total).named("bytes spilled")
        if over.si > self.far_capacity.si:
            raise ValueError(
                f"{total.text('GB')} do not fit {self.near_capacity.text('GB')} and "
                f"{self.far_capacity.text('GB')} together"
            )
        return over

    def time(self, total: Quantity, *, apart: bool = False) -> Quantity:
        """Seconds of a step that reads ``total`` bytes, near memory filled first."""
        share = self.spilled(total) / total
        return spilled_time(total, share, self.near, self.far, apart=apart)

    @property
    def knee(self) -> Quantity:
        """Share of the bytes that may lie far at no cost."""
        return knee(self.near, self.far).named("share that may be spilled")


def two_tiers(
    on: str | Accelerator, host: str = "grace", *, sharers: int = 1
) -> TwoTiers:
    """The memories of a device and of the processor beside it."""
    whole(sharers=sharers)
    device, other = device_of(on), hardware.get(host)
    count = chosen(sharers, label="devices that share it")
    link = device.host_link.across(1)
    memory = (other.memory_bandwidth.across(1) / count).named("far memory, each")
    # A read goes one way, so the memory's rate is held to one direction of the link.
    far = minimum(link, memory.retag("per_direction")).named("rate of the far memory")
    capacity = other.memory_capacity.across(1) / count
    return TwoTiers(
        device.memory_bandwidth.across(1).retag("per_direction"),
        far,
        device.memory_capacity.across(1),
        capacity.named("far capacity, each"),
        link,
        memory,
    )
