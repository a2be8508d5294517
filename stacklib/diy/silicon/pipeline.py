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
from dataclasses import dataclass
from functools import cache, reduce
from itertools import product
from math import prod
from operator import add
from typing import NamedTuple

from stacklib.quantity import Quantity, chosen, maximum, quoted
from stacklib.quantity.bounds import above_zero
from stacklib.quantity.counting import counted
from stacklib.roofline.work.fit import Infeasible

from .devices import FAMILIES, Fpga, device, per_place
from .fixed import Network

FILL = quoted("fpga.fill").si  # of the look-up tables
CLEAR = 1  # cycle between two tiles


class Engine(NamedTuple):
    """One layer on its array."""

    places: int  # sums that each kernel gives
    kernels: int
    depth: int  # products of a sum
    rows: int  # of the array
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
    """A network on an FPGA, with the array of each layer."""

    device: Fpga
    engines: tuple[Engine, ...]
    blocks: int  # of multipliers, that places take
    tables: int  # look-up tables, likewise
    clock: Quantity  # of all arrays

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
    """Cycles of a layer on its array, tile by tile; see ``Engine``."""
    tiles = -(-places // rows) * -(-kernels // cols)
    return tiles * tile_cycles(depth, rows, cols)


@cache
def choices(places: int, kernels: int, depth: int) -> tuple[Engine, ...]:
    """Arrays for a layer, each faster than all smaller ones, slowest first."""
    # Sizes at which fewer tiles are needed than with one less.
    useful = [{-(-n // tiles) for tiles in range(1, n + 1)} for n in (places, kernels)]
    made = [Engine(places, kernels, depth, *sides) for sides in product(*useful)]
    made.sort(key=lambda engine: (engine.macs, engine.cycles, engine.rows))
    kept = made[:1]
    for engine in made:
        if engine.cycles < kept[-1].cycles:
            kept.append(engine)
    return tuple(kept)


def smallest(layers: list[tuple[int, int, int]], interval: int) -> list[Engine]:
    """For every layer the smallest array that is done in so many cycles, if all are."""
    fast = [[e for e in choices(*each) if e.cycles <= interval] for each in layers]
    return [each[0] for each in fast] if all(fast) else []


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
        A device, such as ``up5k`` or ``zynq_7020``.
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
    # What passes between layers is there twice: written while it is read.
    needed = network.bits + 2 * 8 * sum(map(prod, network.shapes()[:-1]))
    there = of.memory.to("bit").value
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
    return Design(of, tuple(found), -(-in_blocks // each), round(tables), beat)


def fastest(layers: list[tuple[int, int, int]], most: int) -> list[Engine]:
    """The smallest arrays at the shortest interval that ``most`` places allow."""
    times = sorted({e.cycles for layer in layers for e in choices(*layer)})

    def holds(time: int) -> bool:
        found = smallest(layers, time)
        return bool(found) and sum(e.macs for e in found) <= most

    # The longest time is what one place a layer takes.
    return smallest(layers, times[bisect_left(times, True, key=holds)])
