"""Numbers of the section on tiles: what they move, what fits, what the sweep showed."""

from __future__ import annotations

from functools import cache
from statistics import median

from stacklib import hardware, roofline
from stacklib.memory import TiledMatmul
from stacklib.memory.tile.fit import SHARE, TileFit, best_tile, fit_tile
from stacklib.memory.tile.fusion import chain_bytes
from stacklib.memory.tile.tiling import hong_kung, tile_intensity
from stacklib.quantity import Quantity, Source, bytes_per_element
from stacklib.roofline.bound.cache_aware import levels_of

from .. import runs, tile_sweep
from .registry import number

DEVICE = "h100-sxm"
N = 8192
TILE = 128, 256
PASSES = 6  # of the chain
RAGGED = 129  # rows, one more than a tile
CHIP = 11, 12  # tiles of all units side by side


def _assumed(value: float, unit: str, label: str) -> Quantity:
    return Quantity(value, unit, label=label, kind="assumption")


def _counted(value: float, unit: str, label: str, where: str) -> Quantity:
    source = Source("this section", where, "2026-11-22", "secondary")
    return Quantity(value, unit, label=label, source=source, kind="assumption")


def _side() -> Quantity:
    return _assumed(N, "1", "rows, columns and steps of the product")


@number("tiling.n", evidence="spec", digits=4)
def side() -> Quantity:
    """Rows and columns of the matrices of this section's example."""
    return _side()


@number("tiling.each_use", unit="TB")
def each_use() -> Quantity:
    """Bytes if every use of a bf16 number came from memory."""
    n, uses = _side(), _assumed(2, "1", "operands of a multiply-add")
    return (uses * n * n * n * bytes_per_element("bf16")).named("bytes, every use")


@number("tiling.once", unit="MB")
def once() -> Quantity:
    """Bytes if every number of the three matrices crossed once."""
    n, matrices = _side(), _assumed(3, "1", "matrices")
    return (matrices * n * n * bytes_per_element("bf16")).named("bytes, once each")


@number("tiling.time_each_use", unit="ms")
def time_each_use() -> Quantity:
    """Time of all those bytes on an H100."""
    bandwidth = hardware.get(DEVICE).memory_bandwidth.across(1)
    return (each_use() / bandwidth).named("time of the bytes")


@number("tiling.time_arithmetic", unit="ms")
def time_arithmetic() -> Quantity:
    """Time of the arithmetic on an H100 in dense bf16."""
    n, peak = _side(), hardware.get(DEVICE).peak("bf16").across(1)
    work = n * n * n * _assumed(2, "FLOP", "operations of a multiply-add")
    return (work / peak).named("time of the arithmetic")


@cache
def _tiled() -> TiledMatmul:
    return TiledMatmul(N, N, N, *TILE)


@number("tiling.tile_bytes", unit="GB")
def tile_bytes() -> Quantity:
    """Bytes moved in blocks of 128 x 256."""
    count = _counted(_tiled().numbers_moved, "1", "numbers moved", "TiledMatmul")
    return (count * bytes_per_element("bf16")).named("bytes in tiles")


@number("tiling.saves")
def saves() -> Quantity:
    """How many times fewer bytes than every use from memory."""
    return each_use() / tile_bytes()


@number("tiling.over_least", digits=3)
def over_least() -> Quantity:
    """What square tiles that fill a store move, over the least there can be."""
    side = 128
    held = side * side + 2 * side
    moved = TiledMatmul(N, N, N, side, side, 1).numbers_moved
    least = _counted(hong_kung(N, N, N, held), "1", "least numbers moved", "hong_kung")
    return _counted(moved, "1", "numbers moved", "TiledMatmul") / least


# -- what fits ----------------------------------------------------------------------


@cache
def _best(device: str) -> TileFit:
    return best_tile(device, N, N, N)


@number("tiling.block_shared", evidence="spec", unit="KiB")
def block_shared() -> Quantity:
    """Shared memory that one block of an H100 may ask for."""
    return hardware.microarchitecture(hardware.get(DEVICE)).size("shared_per_block")


@number("tiling.staged", unit="KiB")
def staged() -> Quantity:
    """Shared memory of the best tile's operands, two stages."""
    return _best(DEVICE).staged


@number("tiling.sums", unit="KiB")
def sums() -> Quantity:
    """Registers that the best tile's sums take."""
    return _best(DEVICE).sums


@number("tiling.sums_there", unit="KiB")
def sums_there() -> Quantity:
    """Registers that may hold sums: half of them."""
    return _best(DEVICE).store.sums


@number("tiling.sum_bytes", evidence="spec")
def sum_bytes() -> Quantity:
    """Bytes of one sum."""
    return _assumed(1, "1", "sum") * bytes_per_element("fp32")


@number("tiling.sums_share", evidence="spec", unit="%")
def sums_share() -> Quantity:
    """Share of the registers that we let hold sums."""
    return SHARE


@number("tiling.intensity")
def intensity() -> Quantity:
    """Operations a byte of the best tile on an H100."""
    return _best(DEVICE).intensity


@number("tiling.square_intensity")
def square_intensity() -> Quantity:
    """Operations a byte of the largest square of whole steps that fits."""
    return fit_tile(DEVICE, 128, 128).intensity


@number("tiling.square_too_large", unit="KiB")
def square_too_large() -> Quantity:
    """Registers that the sums of 192 x 192 would take."""
    return fit_tile(DEVICE, 192, 192).sums


@number("tiling.ridge")
def ridge() -> Quantity:
    """Ridge of an H100 in bf16, memory."""
    return roofline.ridge(DEVICE, "bf16")


@number("tiling.l2_ridge")
def l2_ridge() -> Quantity:
    """Ridge of an H100 in bf16 for data in its L2."""
    _, l2, _ = levels_of(DEVICE)
    return l2.ridge(hardware.get(DEVICE).peak("bf16"))


def _together(rows: int, columns: int, label: str) -> Quantity:
    """Operations a byte of several tiles that share what they read."""
    each = bytes_per_element("bf16")
    down = _assumed(TILE[0] * rows, "1", "rows together")
    across = _assumed(TILE[1] * columns, "1", "columns together")
    found = tile_intensity(down, across, each, each) * _assumed(1, "FLOP", "operation")
    return found.named(label)


@number("tiling.pair_intensity")
def pair_intensity() -> Quantity:
    """Operations a byte of two such blocks that share a tile of W."""
    return _together(2, 1, "intensity of a pair")


@number("tiling.chip_intensity")
def chip_intensity() -> Quantity:
    """Operations a byte of all blocks of an H100 at once, their reads merged."""
    return _together(*CHIP, "intensity of the chip")


@number("tiling.units", evidence="spec")
def units() -> Quantity:
    """Compute units of an H100."""
    return hardware.get(DEVICE).compute_units


@number("tiling.b200_intensity")
def b200_intensity() -> Quantity:
    """Operations a byte of the best tile on a B200."""
    return _best("b200-sxm").intensity


@number("tiling.tensor_memory", evidence="spec", unit="KiB")
def tensor_memory() -> Quantity:
    """Tensor memory of a unit of a B200."""
    chip = hardware.get("b200-sxm")
    return hardware.microarchitecture(chip).size("tensor_memory")


@number("tiling.aspect", evidence="predicted")
def aspect() -> Quantity:
    """Rows over columns of the best block for bf16 activations and int4 weights."""
    return bytes_per_element("int4") / bytes_per_element("bf16")


@number("tiling.ragged_rows", evidence="spec")
def ragged_rows() -> Quantity:
    """Rows of the ragged example: one more than a tile has."""
    return _assumed(RAGGED, "1", "rows")


@number("tiling.ragged", unit="%", digits=2)
def ragged() -> Quantity:
    """Share of the multiply-adds that are not wasted beyond the edge."""
    useful = TiledMatmul(RAGGED, N, N, *TILE).useful
    return _counted(useful, "1", "useful share", "TiledMatmul.useful")


# -- a chain of passes --------------------------------------------------------------


@number("tiling.passes", evidence="spec")
def passes() -> Quantity:
    """Operations of the chain."""
    return _assumed(PASSES, "1", "passes")


def _crossings(near: int) -> Quantity:
    once = chain_bytes(PASSES, 1, 1, near)
    return _counted(once, "1", "crossings of an array", "chain_bytes")


@number("tiling.crossings")
def crossings() -> Quantity:
    """Times an array crosses to memory, pass by pass."""
    return _crossings(1)


@number("tiling.crossings_near")
def crossings_near() -> Quantity:
    """Times an array crosses to memory for one pass, or for all on near blocks."""
    return _crossings(PASSES)


@number("tiling.chain_arrays", evidence="spec")
def chain_arrays() -> Quantity:
    """Arrays of a block that are under way: source, result, two between."""
    return _assumed(4, "1", "arrays under way")


@number("tiling.chain_block", unit="KiB")
def chain_block() -> Quantity:
    """Largest block with which all of them fit the second cache."""
    return (second_cache() / chain_arrays()).named("largest block")


# -- the sweep ----------------------------------------------------------------------


@number("tiling.sweep_error", evidence="measured", unit="%", digits=2)
def sweep_error() -> Quantity:
    """Median error of the predicted times."""
    return runs.median_error(runs.load(tile_sweep.NAME))


@number("tiling.sweep_cases", evidence="measured")
def sweep_cases() -> Quantity:
    """Products that were predicted and run."""
    return _counted(tile_sweep.between()[1], "1", "cases", tile_sweep.NAME)


@number("tiling.sweep_between", evidence="measured")
def sweep_between() -> Quantity:
    """Of them, those that took between the longest part and the sum of all parts."""
    return _counted(tile_sweep.between()[0], "1", "cases between", tile_sweep.NAME)


@number("tiling.sweep_slower", evidence="measured")
def sweep_slower() -> Quantity:
    """Of them, those that took longer than the sum of all parts."""
    return _counted(tile_sweep.slower(), "1", "cases slower", tile_sweep.NAME)


def _slower(n: int, tile: str) -> Quantity:
    """Time of a tile over that of the fastest."""
    point = tile_sweep.point(n, tile)
    return point.run.measured / tile_sweep.best(n).run.measured


@number("tiling.small", evidence="measured", digits=2)
def small() -> Quantity:
    """Time with the smallest tile over that with the fastest, largest matrices."""
    return _slower(2048, "16x16x16")


@number("tiling.small_loop", unit="%", digits=2)
def small_loop() -> Quantity:
    """Share of the smallest tile's predicted time that is the innermost loop."""
    point = tile_sweep.point(2048, "16x16x16")
    return point.core / point.run.predicted


@number("tiling.whole", evidence="measured", digits=2)
def whole() -> Quantity:
    """Time untiled over that of the fastest tile, largest matrices."""
    return _slower(2048, "whole")


@number("tiling.whole_fits", evidence="measured", digits=3)
def whole_fits() -> Quantity:
    """The same for matrices that the third cache holds."""
    return _slower(1040, "whole")


@number("tiling.regret", evidence="measured", digits=3)
def regret() -> Quantity:
    """Most that choosing the tile predicted to be best costs, over the fastest one."""
    chosen = [_slower(n, tile_sweep.best(n, predicted=True).tile)
              for n in tile_sweep.sizes()]  # fmt: skip
    return max(chosen, key=lambda q: q.si)


@number("tiling.pitch_bytes", evidence="simulated", digits=2)
def pitch_bytes() -> Quantity:
    """L1 misses of a tile of 64, rows a power of two apart over rows that are not."""
    near, odd = (tile_sweep.point(n, "64x64x64") for n in (1024, 1040))
    return (near.from_l2 / near.run.operations) / (odd.from_l2 / odd.run.operations)


@number("tiling.pitch_time", evidence="measured", digits=2)
def pitch_time() -> Quantity:
    """Time of a multiply-add there, over rows that are no power of two apart."""
    near, odd = (tile_sweep.point(n, "64x64x64").run for n in (1024, 1040))
    return (odd.rate / near.rate).named("slower by the power of two")


@number("tiling.pitch_small", evidence="measured", digits=2)
def pitch_small() -> Quantity:
    """The same for the smallest tile."""
    near, odd = (tile_sweep.point(n, "16x16x16").run for n in (1024, 1040))
    return (odd.rate / near.rate).named("slower by the power of two")


@number("tiling.l2", evidence="spec", unit="MiB")
def second_cache() -> Quantity:
    """The second cache of this machine, one core's."""
    return _counted(tile_sweep.caches()[1], "B", "L2 as reported", tile_sweep.NAME)


@number("tiling.whole_over", digits=2)
def whole_over() -> Quantity:
    """Predicted over measured time, untiled, where the third cache holds everything."""
    told = [tile_sweep.point(n, "whole").run for n in (768, 1024, 1040)]
    ratios = [(r.predicted / r.measured).si for r in told]
    return _counted(median(ratios), "1", "median of the ratios", tile_sweep.NAME)
