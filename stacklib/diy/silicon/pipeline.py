"""A convolution as a pipeline: one array a layer, all layers at work on other frames.

A layer is a product of matrices: as many rows as its sums have places, as many columns
as it has kernels, a depth of one kernel. Its array keeps the sums still (``Array`` of
the hardware that stands beside this room), works tile by tile, and of a tile needs

    depth + rows + columns - 2    until its last product
    + 1                           to hand the sums on and to clear them

whether the tile is full or not. A frame leaves as often as the slowest layer is done.
``fpga`` gives every layer the smallest array that keeps up, and finds the shortest such
time that the device's multipliers, look-up tables and memory allow: no other choice of
arrays is faster. Left out: how frames come in, and the time of control.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, reduce
from itertools import product
from math import prod
from operator import add
from typing import NamedTuple

from stacklib.quantity import Quantity, chosen, maximum, quoted
from stacklib.quantity.bounds import above_zero, whole
from stacklib.quantity.counting import counted
from stacklib.roofline.work.fit import Infeasible

from .devices import FAMILIES, Fpga, device, per_place
from .fixed import Convolution, Image, Network, shape_of

FILL = quoted("fpga.fill").si  # of the look-up tables
CLEAR = 1  # cycle between two tiles


class Engine(NamedTuple):
    """One layer on its array: sums that a kernel gives, kernels, products of a sum."""

    places: int
    kernels: int
    depth: int
    rows: int
    cols: int

    @property
    def cycles(self) -> int:
        """Of one frame."""
        return layer_cycles(*self)

    @property
    def macs(self) -> int:
        """Places of the array."""
        return self.rows * self.cols


@dataclass(frozen=True, slots=True)
class Design:
    """A network on an FPGA.

    - ``engines``: the array of each layer
    - ``blocks``, ``tables``: multiplier blocks and look-up tables that places take
    - ``memory``: bits for weights and for what passes between layers, twice
    - ``clock``: of all arrays
    """

    network: str
    device: Fpga
    engines: tuple[Engine, ...]
    blocks: int
    tables: int
    memory: int
    clock: Quantity

    @property
    def interval(self) -> int:
        """Cycles from a frame to the next."""
        return max(engine.cycles for engine in self.engines)

    @property
    def latency(self) -> int:
        """Cycles of one frame, from layer to layer."""
        return sum(engine.cycles for engine in self.engines)

    @property
    def frames(self) -> float:
        """Frames a second."""
        return self.clock.si / self.interval

    @property
    def used(self) -> float:
        """Products over those that its places could do in the time."""
        done = sum(prod(engine[:3]) for engine in self.engines)
        return done / (self.interval * sum(engine.macs for engine in self.engines))

    def quantities(self) -> dict[str, Quantity]:
        """Interval, latency and frames a second, with what they are made of."""
        each = [
            counted(layer_cycles, *one, unit="cycle", label=f"cycles of layer {n}")
            for n, one in enumerate(self.engines, 1)
        ]
        interval = maximum(*each).named("cycles from a frame to the next")
        latency = reduce(add, each).named("cycles of one frame")
        return {
            "interval": interval,
            "latency": latency,
            "frames": (1 / (interval / self.clock).to("s")).named("frames a second"),
            "time": (latency / self.clock).to("µs").named("time of one frame"),
        }


def tile_cycles(depth: int, rows: int, cols: int) -> int:
    """Cycles of one tile, clearing among them."""
    return depth + rows + cols - 2 + CLEAR


def layer_cycles(places: int, kernels: int, depth: int, rows: int, cols: int) -> int:
    """Cycles of a layer on its array, tile by tile.

    - ``places``, ``kernels``: sums that each kernel gives, and kernels
    - ``depth``: products of a sum
    - ``rows``, ``cols``: of the array
    """
    tiles = -(-places // rows) * -(-kernels // cols)
    return tiles * tile_cycles(depth, rows, cols)


@cache
def choices(places: int, kernels: int, depth: int) -> tuple[Engine, ...]:
    """Arrays for a layer, each faster than all smaller ones, slowest first."""
    made = [
        Engine(places, kernels, depth, rows, cols)
        for rows, cols in product(_useful(places), _useful(kernels))
    ]
    made.sort(key=lambda engine: (engine.macs, engine.cycles, engine.rows))
    kept = made[:1]
    for engine in made:
        if engine.cycles < kept[-1].cycles:
            kept.append(engine)
    return tuple(kept)


def _useful(count: int) -> set[int]:
    """Sizes at which fewer tiles are needed than with one less."""
    return {-(-count // tiles) for tiles in range(1, count + 1)}


def smallest(layers: list[tuple[int, int, int]], interval: int) -> list[Engine]:
    """For every layer the smallest array that is done in so many cycles, if all are."""
    fast = [[e for e in choices(*each) if e.cycles <= interval] for each in layers]
    return [each[0] for each in fast] if all(fast) else []


def memory_bits(network: Network) -> int:
    """Weights, and what passes between layers: one frame written while one is read."""
    return network.bits + 2 * 8 * sum(map(prod, network.shapes()[:-1]))


def room(of: Fpga) -> int:
    """Places that a device can hold: in blocks first, then in look-up tables."""
    blocks = int(of.dsps.si) * FAMILIES[of.family]
    tables = FILL * of.luts.si
    in_blocks = min(blocks, int(tables // per_place(of.family).si))
    left = tables - in_blocks * per_place(of.family).si
    return in_blocks + int(left // per_place(of.family, block=False).si)


def fpga(network: Network, on: str | Fpga, *, clock: float | None = None) -> Design:
    """The fastest pipeline of a network on an FPGA, one array a layer.

    Parameters
    ----------
    network : Network
        In whole numbers, such as ``small_cnn()``.
    on : str or Fpga
        A device or its board, such as ``up5k`` or ``pynq_z2``.
    clock : float, optional
        Hertz; what designs on the device run at if left out.

    Returns
    -------
    Design
        Arrays, cycles, frames a second, and what is used of the device.

    Raises
    ------
    Infeasible
        Where weights do not fit its block memory, or not one place a layer; with the
        sum.
    UnknownName
        For a device that is not known; names the nearest.
    ValueError
        For a clock that is none, and for what is no network.

    Notes
    -----
    The fold of a layer onto an array, as in Umuroglu et al., FINN (2017).

    Examples
    --------
    >>> from stacklib.diy.silicon.glyphs import small_cnn
    >>> design = fpga(small_cnn(), "up5k")
    >>> [(e.rows, e.cols) for e in design.engines], design.interval
    ([(2, 4), (5, 1), (1, 2)], 700)
    """
    if not isinstance(network, Network):
        raise ValueError(f"network = {network!r}: a Network, such as small_cnn()")
    of = on if isinstance(on, Fpga) else device(on)
    beat = of.clock
    if clock is not None:
        above_zero(clock=clock)
        beat = chosen(clock / 1e6, "MHz", "clock")
    needed, there = memory_bits(network), of.memory.to("bit").value
    if needed > there:
        wanted = f"{network.name}: {needed:,} bits of weights and frames"
        raise Infeasible(f"{wanted}; {of.name} has {there:,.0f} bits of block memory")
    layers, most = network.sizes(), room(of)
    if len(layers) > most:
        wanted = f"{network.name}: {len(layers)} layers need a place each"
        raise Infeasible(f"{wanted}; {of.name} holds {most}")
    found = fastest(layers, most)
    macs, each = sum(engine.macs for engine in found), FAMILIES[of.family]
    in_blocks = min(macs, int(of.dsps.si) * each)
    tables = in_blocks * per_place(of.family).si
    tables += (macs - in_blocks) * per_place(of.family, block=False).si
    taken = (-(-in_blocks // each), round(tables), needed)
    return Design(network.name, of, tuple(found), *taken, beat)


def fastest(layers: list[tuple[int, int, int]], most: int) -> list[Engine]:
    """The smallest arrays at the shortest interval that ``most`` places allow."""
    times = sorted({e.cycles for layer in layers for e in choices(*layer)})

    def holds(time: int) -> bool:
        found = smallest(layers, time)
        return bool(found) and sum(e.macs for e in found) <= most

    # The longest time is what one place a layer takes.
    return smallest(layers, times[bisect_left(times, True, key=holds)])


def products_of(
    layer: Convolution, image: Image
) -> tuple[list[list[int]], list[list[int]]]:
    """A convolution as two matrices: windows by rows, kernels by columns."""
    rows, cols = layer.sums(shape_of(image))
    within = [*product(*map(range, layer.size))]
    windows = [
        [image[c][y + dy][x + dx] for c, dy, dx in within]
        for y, x in product(range(rows), range(cols))
    ]
    return windows, [[k[c][dy][dx] for k in layer.kernels] for c, dy, dx in within]


def tiles(
    engine: Engine, windows: list[list[int]], kernels: list[list[int]]
) -> Iterator[tuple[int, int, list[list[int]], list[list[int]]]]:
    """What an array is fed, tile by tile: where, and both operands, zeros beyond."""
    whole(rows=engine.rows, cols=engine.cols)
    depth = engine.depth
    for top in range(0, engine.places, engine.rows):
        a = windows[top : top + engine.rows]
        a = a + [[0] * depth] * (engine.rows - len(a))
        for left in range(0, engine.kernels, engine.cols):
            b = [row[left : left + engine.cols] for row in kernels]
            b = [row + [0] * (engine.cols - len(row)) for row in b]
            yield top, left, a, b
