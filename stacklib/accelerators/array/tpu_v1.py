"""The first TPU and its six applications, from what its paper says of their layers.

A tile of 256 x 256 weights takes a cycle for each vector that passes it, and the next
tile comes from DDR3 meanwhile: whichever is longer sets the pace (the roofline, in
cycles a tile). Shifting a tile in takes 256 cycles, hidden by a second register unless
the array has nothing else to do. Two cycles a vector where either operand has 16 bits.

Nothing is fitted. Left out: dependences between layers, cycles without a matrix, and
the host. The layers are ``network``'s.

Source: N. Jouppi and others, *In-datacenter performance analysis of a tensor processing
unit*, ISCA 2017, table 1 and section 2.
"""

from __future__ import annotations

from dataclasses import dataclass

from stacklib import hardware
from stacklib.quantity import Quantity, chosen, resolve
from stacklib.quantity.bounds import whole

from .network import APPLICATIONS, network

SIDE = 256  # of the matrix unit


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an application does on the array, shares of all its cycles."""

    active: float  # cycles in which vectors pass a tile
    shifted: float  # in which a tile is shifted in and nothing else happens
    stalled: float  # in which the array waits for weights
    useful: float  # active, times the part of each tile that holds weights
    rate: float  # operations a second, two a multiply-add
    inferences: float  # a second, of what is batched

    @property
    def bound(self) -> str:
        """``compute`` or ``memory``, whichever takes more cycles."""
        return "compute" if self.active >= self.shifted + self.stalled else "memory"


def loading() -> Quantity:
    """Cycles until the next tile of weights has come from DDR3."""
    device = hardware.get("tpu_v1")
    tile = chosen(SIDE * SIDE, "B", label="a tile of 256 x 256 bytes")
    found = tile / device.memory_bandwidth.across(1) * device.tensor_clock
    return found.named("cycles of a tile's loading")


def tpu_v1(name: str, each: int = 1) -> Outcome:
    """An application of the paper on TPU v1.

    - ``name``: ``mlp0``, ``mlp1``, ``lstm0``, ``lstm1``, ``cnn0``, ``cnn1``.
    - ``each``: cycles a vector takes; 2 where one operand has 16 bits, 4 where both.
    - raises ``UnknownName`` for another, ``ValueError`` for no whole cycles.
    """
    whole(each=each)
    app = APPLICATIONS[resolve(name, APPLICATIONS, "application", exact=True)]
    clock, wait = hardware.get("tpu_v1").tensor_clock.si, loading().si
    active = shifted = stalled = worked = 0.0
    for layer in network(name):
        tiles = layer.count * -(-layer.n // SIDE) * -(-layer.k // SIDE)
        passing = each * layer.m
        idle = max(0.0, wait - passing)
        shift = min(SIDE, idle)
        active += tiles * passing
        shifted += tiles * shift
        stalled += tiles * (idle - shift)
        worked += layer.macs / SIDE**2
    cycles = active + shifted + stalled
    return Outcome(
        active / cycles,
        shifted / cycles,
        stalled / cycles,
        each * worked / cycles,
        2 * SIDE * SIDE * clock * worked / cycles,
        app.batch * clock / cycles,
    )
