"""Inside the chip: an SM opened, tiles in waves."""

from __future__ import annotations

from stacklib.gpu.tensor.tile_waves import tile_waves
from stacklib.hardware import Accelerator, get
from stacklib.quantity import Quantity, ceil, chosen, minimum

from ..nodes import Box, Node
from ..parts import gpu, model
from ..picture import Drawing, draw
from ..relate import flow
from ..words import Shown, an, line


def sm_opened(on: str | Accelerator, lit: str = "", name: str = "sm-opened") -> Drawing:
    """An SM: its sub-cores with scheduler, registers and lanes, and what they share."""
    device = get(on) if isinstance(on, str) else on
    title = f"An SM of {an(device)} is a few small processors around one shared memory."
    return draw(gpu.sm(device, lit), name=name, title=title, devices=[device.key])


def tiles_in_waves(
    on: str | Accelerator,
    m: int = 4096,
    n: int = 4096,
    tile: tuple[int, int] = (128, 256),
    name: str = "tiles-in-waves",
) -> Drawing:
    """A result cut into tiles, a wave of them at a time; the last leaves SMs idle."""
    device = get(on) if isinstance(on, str) else on
    down, across = (-(-whole // part) for whole, part in zip((m, n), tile, strict=True))
    units, blocks = device.compute_units, _blocks(m, n, tile)
    waves = range(gpu.count(ceil(blocks / units)))
    steps = [
        (f"wave {at + 1}", _wave(device, (down, across), blocks, at)) for at in waves
    ]
    title = (
        f"The last wave has fewer tiles than {an(device)} has SMs, and takes as long "
        "as the others."
    )
    return draw(steps, name=name, title=title, devices=[device.key])


def _blocks(m: int, n: int, tile: tuple[int, int]) -> Quantity:
    rows, columns = (
        chosen(tile[0], label="rows of a tile"),
        chosen(tile[1], label="columns of a tile"),
    )
    result = tile_waves(
        m=chosen(m, label="m"),
        n=chosen(n, label="n"),
        rows=rows,
        columns=columns,
        units=chosen(1, label="SMs"),
    )
    return result.blocks.named("tiles of the result")


def _wave(
    device: Accelerator, shape: tuple[int, int], blocks: Quantity, at: int
) -> Node:
    """Which tiles run, and on how many SMs."""
    units = device.compute_units
    before = units * chosen(at, label="waves before")
    busy = minimum(units, blocks - before).named("SMs busy in this wave")
    share = (busy / units).named("share of the SMs that is busy")
    first, now = gpu.count(before), gpu.count(busy)
    tiles = model.tiles(*shape, range(first, first + now))
    lit = frozenset(range(now))
    left = Box(
        "result", [line(blocks, " tiles", bold=True), ("run now: ", busy)], tiles
    )
    right = Box(
        "SMs of the chip",
        [line(units, " SMs", bold=True), ("busy: ", busy, ", or ", Shown(share, "%"))],
        gpu.sms(device, (12, 12), 12.0, lit),
    )
    return flow(left, right, gap=14)
