"""The first TPU and its six applications, from what the paper's first table gives.

Given are layers, weights, and how often a weight is used once it is there; sizes of
layers are not, so each is taken as a square. A tile of 256 x 256 weights takes a cycle
for each vector that passes it, and the next tile comes from DDR3 meanwhile: whichever
is longer sets the pace (the roofline, in cycles a tile). Shifting a tile in takes 256
cycles, hidden by a second register unless the array has nothing else to do.

Nothing is fitted. Left out: layers of other sizes than square, fully connected layers
behind convolutions (the paper's CNN1 has four, which reuse a weight only 32 times),
16-bit operands, which run at half the rate, dependences between layers, and the host.

Source: N. Jouppi and others, *In-datacenter performance analysis of a tensor processing
unit*, ISCA 2017, table 1 and section 2.
"""

from __future__ import annotations

from dataclasses import dataclass

from stacklib import hardware
from stacklib.quantity import Quantity, chosen, resolve

SIDE = 256  # of the matrix unit


@dataclass(frozen=True, slots=True)
class Application:
    """A row of the paper's table 1."""

    layers: int  # that multiply: fully connected and convolutions
    weights: float
    intensity: int  # multiply-adds per byte of weights
    batch: int

    @property
    def side(self) -> int:
        """Of a layer's matrix, were all alike and square."""
        return round((self.weights / self.layers) ** 0.5)


APPLICATIONS = {
    "mlp0": Application(5, 20e6, 200, 200),
    "mlp1": Application(4, 5e6, 168, 168),
    "lstm0": Application(24, 52e6, 64, 64),
    "lstm1": Application(37, 34e6, 96, 96),
    "cnn0": Application(16, 8e6, 2888, 8),
    "cnn1": Application(76, 100e6, 1750, 32),
}


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
        """``compute`` or ``memory``."""
        return "memory" if self.stalled else "compute"


def loading() -> Quantity:
    """Cycles until the next tile of weights has come from DDR3."""
    device = hardware.get("tpu_v1")
    tile = chosen(SIDE * SIDE, "B", label="a tile of 256 x 256 bytes")
    found = tile / device.memory_bandwidth.across(1) * device.tensor_clock
    return found.named("cycles of a tile's loading")


def tpu_v1(name: str) -> Outcome:
    """An application of the paper on TPU v1.

    - ``name``: ``mlp0``, ``mlp1``, ``lstm0``, ``lstm1``, ``cnn0``, ``cnn1``.
    - raises ``UnknownName`` for another.
    """
    app = APPLICATIONS[resolve(name, APPLICATIONS, "application", exact=True)]
    device = hardware.get("tpu_v1")
    clock = device.tensor_clock.si
    pace = max(app.intensity, loading().si)
    idle = pace - app.intensity
    shift = min(SIDE, idle)
    tiles = -(-app.side // SIDE)
    full = (app.side / SIDE / tiles) ** 2
    cycles = app.layers * tiles**2 * pace
    active = app.intensity / pace
    return Outcome(
        active,
        shift / pace,
        (idle - shift) / pace,
        active * full,
        2 * SIDE * SIDE * clock * active * full,
        app.batch * clock / cycles,
    )
