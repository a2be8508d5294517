"""What one access of a memory moves, and a count of it beat by beat.

The pins of a memory are divided into parts that are addressed by themselves: channels,
pseudo-channels. An access occupies one part for a burst of beats, and in each beat each
of its pins moves a bit. So the smallest access is width times burst, whatever was asked
for, and all pins are busy only when all parts are.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from stacklib.hardware import stack_generation
from stacklib.hardware.stacks import StackGeneration
from stacklib.quantity import Quantity
from stacklib.quantity.bounds import whole


@dataclass(frozen=True, slots=True)
class Bus:
    """The data pins of a memory, divided into parts."""

    parts: int  # channels or pseudo-channels, each with its own address
    width: int  # data pins of one
    burst: int  # beats of an access
    rate: float  # bits a second of a pin, which is beats a second of a part

    def __post_init__(self) -> None:
        whole(parts=self.parts, width=self.width, burst=self.burst)
        if self.width * self.burst % 8:
            raise ValueError(
                f"width x burst = {self.width * self.burst} bits: no whole bytes"
            )
        if not 0 < self.rate < math.inf:
            raise ValueError(f"rate = {self.rate!r}: a positive number is needed")

    @property
    def access(self) -> int:
        """Bytes of the smallest access."""
        return self.width * self.burst // 8

    @property
    def stripe(self) -> int:
        """Bytes in a row that touch every part once."""
        return self.access * self.parts

    @property
    def bandwidth(self) -> float:
        """Bytes a second when every pin is busy."""
        return self.parts * self.width * self.rate / 8


def stack_bus(
    generation: str | StackGeneration,
    *,
    stacks: int = 1,
    rate: Quantity | None = None,
) -> Bus:
    """The pseudo-channels of some stacks of a generation."""
    whole(stacks=stacks)
    made = stack_generation(generation) if isinstance(generation, str) else generation
    one = made.memory
    parts = int(one.channels.si * made.pseudo_channels.si)
    width = int(one.pins.si) // parts
    speed = one.pin_rate if rate is None else rate
    return Bus(parts * stacks, width, int(made.burst.si), speed.to("bit/s").si)


@dataclass(frozen=True, slots=True)
class Streamed:
    """What a row of requests cost."""

    beats: int  # from the first beat to the last
    bursts: int  # accesses made
    asked: int  # bytes requested
    moved: int  # bytes that crossed the pins
    seconds: float  # time of those beats

    @property
    def bandwidth(self) -> float:
        """Bytes a second that were of use."""
        return self.asked / self.seconds


def _accesses(bus: Bus, addresses: Sequence[int], size: int) -> list[int]:
    """The units of ``bus.access`` bytes that each request covers, in order."""
    units: list[int] = []
    for address in addresses:
        whole(0, address=address)
        units += range(address // bus.access, (address + size - 1) // bus.access + 1)
    return units


def count_stream(
    bus: Bus, addresses: Sequence[int], *, size: int, window: int = 4096
) -> Streamed:
    """Requests sent over a bus, counted beat by beat.

    Neighbouring accesses lie in neighbouring parts. Requests start in order, as long as
    fewer than ``window`` accesses are in flight; each part serves its own in turn.
    Rows, banks and refresh are left out: this is what the pins allow.

    ``size``: bytes of each.
    """
    whole(size=size, window=window)
    units = _accesses(bus, addresses, size)
    if not units:
        raise ValueError("no addresses: at least one request is needed")
    waiting, queues = deque(units), [0] * bus.parts
    left = [0] * bus.parts  # beats until a part is done with its access
    beats = in_flight = 0
    while waiting or in_flight:
        while waiting and in_flight < window:
            queues[waiting.popleft() % bus.parts] += 1
            in_flight += 1
        for part in range(bus.parts):
            if not left[part] and queues[part]:
                queues[part] -= 1
                left[part] = bus.burst
            if left[part]:
                left[part] -= 1
                in_flight -= not left[part]
        beats += 1
    moved = len(units) * bus.access
    return Streamed(beats, len(units), len(addresses) * size, moved, beats / bus.rate)


def strided_beats(bus: Bus, count: int, stride: int, window: int = 4096) -> int:
    """Beats of ``count`` accesses that are ``stride`` accesses apart, in closed form.

    A stride meets every part that its greatest common divisor with their number leaves:
    a power of two times the parts meets one.
    """
    touched = bus.parts // math.gcd(bus.parts, stride)
    return bus.burst * math.ceil(count / min(touched, window))
