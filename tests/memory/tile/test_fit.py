"""Tiles on devices: what is held, what fits, and which of those moves least."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stacklib import hardware
from stacklib.hardware import UnknownSpec
from stacklib.memory import TiledMatmul
from stacklib.memory.tile.fit import best_tile, fit_tile, tile_store

from ...rows import refusals

DEVICES = ("a100-sxm-80gb", "h100-sxm", "b200-sxm", "rtx-4090")


@pytest.mark.rows("device", DEVICES)
def test_a_block_may_ask_for_less_than_its_unit_has(device):
    chip, store = hardware.get(device), tile_store(device)
    assert 0 < store.staging.si < chip.shared_per_unit.si
    assert chip.shared_per_unit.si - store.staging.si == 1024  # the system's reserve
    assert store.sums.si <= 256 * 1024


def test_what_a_tile_holds_is_what_the_tiling_holds():
    tile = fit_tile("h100-sxm", 128, 192, 32, stages=3)
    plan = TiledMatmul(1024, 1024, 1024, 128, 192, 32)
    assert tile.staged.si == 3 * 32 * (128 + 192) * 2
    assert tile.sums.si == 128 * 192 * 4
    assert tile.staged.si / 3 + tile.sums.si == plan.bytes_held
    # Operations over the bytes that the closed form says it reads.
    work = 2 * 1024**3 / (plan.k * (1 / 192 + 1 / 128) * 1024 * 1024 * 2)
    assert tile.intensity.si == pytest.approx(work)


@pytest.mark.rows(
    ("device", "best", "where"),
    [
        ("a100-sxm-80gb", (128, 256), "registers"),
        ("h100-sxm", (128, 256), "registers"),
        ("b200-sxm", (256, 256), "tensor memory"),
    ],
)
def test_best_tiles_are_those_libraries_ship(device, best, where):
    tile = best_tile(device, 8192, 8192, 8192)
    assert (tile.tile_m, tile.tile_n) == best
    assert tile.store.where == where
    assert tile.fits


@given(
    st.sampled_from(DEVICES),
    st.sampled_from([64, 128, 1000, 4096]),
    st.sampled_from([64, 500, 8192]),
    st.sampled_from([2, 3]),
)
def test_no_tile_that_fits_moves_less(device, m, n, stages):
    def moved(tile):
        return TiledMatmul(m, n, 512, tile.tile_m, tile.tile_n).numbers_moved

    best = best_tile(device, m, n, 512, stages=stages)
    sides = range(64, 513, 64)
    tried = [fit_tile(device, a, b, stages=stages) for a in sides for b in sides]
    assert best.fits
    assert moved(best) == min(moved(t) for t in tried if t.fits)


def test_what_does_not_fit_says_the_sum():
    assert fit_tile("h100-sxm", 256, 256).why == (
        "256 KiB of registers wanted, 128 KiB there"
    )
    deep = fit_tile("h100-sxm", 128, 256, 256, stages=2)
    assert deep.why == "384 KiB of shared memory wanted, 227 KiB there"
    with pytest.raises(ValueError, match=r"no tile of 64 x 64 and up fits: .* wanted"):
        best_tile("h100-sxm", 64, 64, 64, tile_k=4096)


def test_a_narrow_operand_makes_the_tile_wide():
    even = best_tile("h100-sxm", 8192, 8192, 8192)
    narrow = best_tile("h100-sxm", 8192, 8192, 8192, dtype_w="int4")
    assert narrow.tile_m / narrow.tile_n < even.tile_m / even.tile_n


test_bad_tiles_are_refused = refusals(
    (lambda: fit_tile("h100-sxm", 0, 64), "tile_m = 0"),
    (lambda: fit_tile("h100-sxm", 64, 64, stages=True), "stages = True"),
    (lambda: fit_tile("h100-sxm", 64, 1.5), "tile_n = 1.5"),
)


def test_a_device_without_blocks_has_no_store():
    with pytest.raises(UnknownSpec, match="shared memory that one block"):
        tile_store("tpu-v5p")
