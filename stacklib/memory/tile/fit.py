"""Which tile fits a GPU: what is staged in shared memory, what is summed in registers.

A block of a tiled product holds two things. The steps of its operands pass through
shared memory, several at a time, so that the next is on its way while one is used. Its
sums stay where the tensor cores write them: in registers, and on Blackwell's data
centre chips in a tensor memory of their own.
"""

from __future__ import annotations

from dataclasses import dataclass

from stacklib import hardware
from stacklib.hardware import Accelerator, UnknownSpec
from stacklib.quantity import Quantity, assumed, bytes_per_element, one_of
from stacklib.roofline.work.bounds import device_of
from stacklib.roofline.work.work import sized

from .tiling import TiledMatmul, tile_intensity

STAGES = 2  # steps of the operands that are held: one in use, one on its way
STEP = 64  # granularity of a tile's sides, a multiple of what tensor cores take
LARGEST = 512  # side of a tile that is still tried
SHARE = assumed(
    0.5,
    label="share of the registers that may hold sums",
    why="operands, addresses and counters need the other half",
)


@dataclass(frozen=True, slots=True)
class TileStore:
    """What one compute unit offers a block."""

    staging: Quantity  # bytes of shared memory that one block may ask for
    sums: Quantity  # bytes that may hold fp32 sums
    where: str  # ``registers`` or ``tensor memory``


def tile_store(on: str | Accelerator) -> TileStore:
    """The store of a device's units."""
    device = device_of(on)
    micro = hardware.microarchitecture(device)
    staging = micro.size("shared_per_block").to("B")
    if "tensor_memory" in micro.constants:
        return TileStore(staging, micro.size("tensor_memory").to("B"), "tensor memory")
    registers = device.registers_per_unit
    if registers is None:
        raise UnknownSpec(f"{device.key}: registers of a unit are unknown")
    return TileStore(staging, (registers * SHARE).to("B"), "registers")


@dataclass(frozen=True, slots=True)
class TileFit:
    """A tile on a device: what it holds, and whether that fits."""

    tile_m: int  # the tile, and the steps held at once
    tile_n: int
    tile_k: int
    stages: int
    staged: Quantity  # bytes of operands
    sums: Quantity  # of fp32 sums
    intensity: Quantity  # FLOP for each byte of operands read
    store: TileStore  # what there is

    @property
    def fits(self) -> bool:
        """Whether both parts fit."""
        return not self.why

    @property
    def why(self) -> str:
        """Why it does not fit, with the sum; empty where it does."""
        for what, needed, there in (
            ("shared memory", self.staged, self.store.staging),
            (self.store.where, self.sums, self.store.sums),
        ):
            if needed.si > there.si:
                return (
                    f"{needed.text('KiB', 4)} of {what} wanted, "
                    f"{there.text('KiB', 4)} there"
                )
        return ""


def fit_tile(
    on: str | Accelerator,
    tile_m: int,
    tile_n: int,
    tile_k: int = 64,
    *,
    dtype: str = "bf16",
    dtype_w: str = "",  # of W where it differs
    stages: int = STAGES,
) -> TileFit:
    """A tile on a device."""
    down, across = sized(tile_m, "tile_m"), sized(tile_n, "tile_n")
    depth, held = sized(tile_k, "tile_k"), sized(stages, "stages")
    x, w = bytes_per_element(dtype), bytes_per_element(dtype_w or dtype)
    staged = (held * depth * (down * x + across * w)).named("operands staged")
    sums = (down * across * bytes_per_element("fp32")).named("fp32 sums")
    operation = one_of("FLOP", "operation")
    intensity = tile_intensity(down, across, x, w) * operation
    return TileFit(
        tile_m,
        tile_n,
        tile_k,
        stages,
        staged,
        sums,
        intensity.named("intensity of the tile"),
        tile_store(on),
    )


def best_tile(
    on: str | Accelerator,
    m: int,
    n: int,
    k: int,
    *,
    dtype: str = "bf16",
    dtype_w: str = "",
    tile_k: int = 64,
    stages: int = STAGES,
) -> TileFit:
    """The tile that fits and moves the fewest bytes for a product.

    Sides are multiples of 64; of equal ones the taller goes after the wider.
    """
    x, w = (bytes_per_element(d).si for d in (dtype, dtype_w or dtype))

    def moved(tile: TileFit) -> float:
        down, across = TiledMatmul(m, n, k, tile.tile_m, tile.tile_n, tile_k).grid
        return k * (m * across * x + n * down * w)

    sides = range(STEP, LARGEST + 1, STEP)
    tried = [
        fit_tile(on, a, b, tile_k, dtype=dtype, dtype_w=dtype_w, stages=stages)
        for a in sides
        for b in sides
    ]
    fitting = [tile for tile in tried if tile.fits]
    if not fitting:
        raise ValueError(f"no tile of {STEP} x {STEP} and up fits: {tried[0].why}")
    return min(fitting, key=lambda tile: (moved(tile), tile.tile_m))
