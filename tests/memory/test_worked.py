"""Closed forms of the room on small round numbers, each by its sum."""

from __future__ import annotations

import math
from itertools import product

import pytest

from stacklib import hardware
from stacklib.memory.dram import rates
from stacklib.memory.dram.in_flight import (
    channels_of,
    closed_rate,
    closed_run,
    saturate,
)
from stacklib.memory.dram.parts import dram_part
from stacklib.memory.ladder.energy import decode_energy
from stacklib.memory.tiers.mix import Pages, harmonic, zipf_pages
from stacklib.memory.tile.fit import best_tile, fit_tile
from stacklib.memory.tile.tiling import (
    TiledMatmul,
    hong_kung,
    tile_intensity,
    tile_traffic,
)


def test_the_longest_rule_of_a_dram_sets_the_pace():
    base = {"burst": 1.0, "rc": 8.0, "banks": 16, "rrd": 0.25, "faw": 2.0}
    assert rates.random_interval(**base) == 1
    for change, time in [
        ({"rc": 32.0}, 2), ({"rrd": 3.0}, 3), ({"faw": 20.0}, 5), ({"banks": 4}, 2),
    ]:  # fmt: skip
        assert rates.random_interval(**{**base, **change}) == time
    chunk = {"bursts": 4, "ccd": 3.0, **base}
    assert rates.chunk_interval(**chunk) == 4  # the bus, four times
    assert rates.chunk_interval(**{**chunk, "banks": 2}) == 6  # 4 x 3 in one of two
    assert rates.chunk_interval(**{**chunk, "rc": 160.0}) == 10
    assert rates.row_run_time(3, 40.0, 10.0, 2.0, 5.0, 7.0) == 40
    assert rates.row_run_time(13, 40.0, 10.0, 2.0, 5.0, 7.0) == 10 + 24 + 5 + 7
    assert rates.turnaround_share(4, 2.0, 5.0, 3.0) == 16 / (12 + 8)
    for key in ("hbm3", "ddr5_4800"):
        p = dram_part(key)
        gap = p.rtp.si + p.rp.si + p.rfc.si + p.rcd.si - p.burst_time.si
        assert rates.refresh_gap(key).si == pytest.approx(gap)
        assert rates.stream_share(key).si == pytest.approx(1 - gap / p.refi.si)
        assert rates.refresh_overhead(key).si == p.rfc.si / p.refi.si
        one = rates.random_rate(key, 1).si
        assert one == pytest.approx(p.burst.si / max(p.rc.si, p.burst_time.si))


def test_a_closed_network_of_queues():
    assert closed_rate(1, 4, 2.0, 6.0) == 1 / 8
    # the second finds, of the one before, 2/8 of a request in four queues
    assert closed_rate(2, 4, 2.0, 6.0) == pytest.approx(2 / (6 + 2 * (1 + 2 / 8 / 4)))
    assert closed_rate(10**4, 4, 2.0, 6.0) == pytest.approx(4 / 2, rel=1e-2)
    run = closed_run(16, 4, 2.0, 6.0, rounds=2000)
    assert run == pytest.approx(closed_rate(16, 4, 2.0, 6.0), rel=0.03)
    alone = closed_run(1, 1, 2.0, 6.0, random_service=False)
    assert alone == pytest.approx(1 / 8, rel=0.01)
    h100 = hardware.get("h100")
    assert channels_of(h100).si == h100.memory_pins.si / 32
    full, half = saturate("h100", 64), saturate("h100", 4, 512)
    assert full.in_flight.si == 132 * 2048 * 64 and full.bound == "dram"
    assert half.in_flight.si == 132 * 512 * 4 and half.bound == "concurrency"
    assert 0.99 < full.share.si / hardware.efficiency("dram_read") <= 1
    served = 3.35e12 * hardware.efficiency("dram_read")
    late = hardware.level("h100", "dram").latency.si + half.waiting.si
    assert half.share.si == pytest.approx(
        min(served, half.in_flight.si / late) / 3.35e12
    )
    assert half.idle_limit.si > half.share.si and half.waiting.si > 0
    both = saturate("h100", 4, 512, stored=4)
    assert both.in_flight.si == half.in_flight.si and both.share.si > half.share.si


def test_heat_of_pages_by_adding_up():
    for a, b, e in product((1, 5, 300), (1, 150, 900, 5000), (0.0, 0.7, 1.0, 2.5)):
        total = math.fsum(rank**-e for rank in range(a, b + 1))
        assert harmonic(a, b, e) == pytest.approx(total, rel=1e-8, abs=1e-12)
    pages = zipf_pages(1000.0, page=4.0, exponent=1.0, groups=7)
    assert pages.bytes == 1000 and sum(pages.heat) == pytest.approx(1)
    assert pages.heat[0] == pytest.approx(1 / harmonic(1, 250, 1.0))
    for sizes, heat in [((1.0, 1.0), (0.3, 0.7)), ((1.0,), (0.9,)), ((0.0,), (1.0,))]:
        with pytest.raises(ValueError, match=r"hottest first|sum to|above zero"):
            Pages(sizes, heat)
    assert Pages((1.0, 1.0), (0.5, 0.5)).bytes == 2


def test_tiles_by_walking_and_by_formula():
    for m, n, k, a, b in ((96, 64, 50, 32, 16), (100, 70, 50, 32, 32)):
        tiled = TiledMatmul(m, n, k, a, b, 16)
        read, written = tiled.count()
        assert (tiled.numbers_read, tiled.numbers_moved) == (read, read + written)
        down, across = math.ceil(m / a), math.ceil(n / b)
        assert tiled.useful == m * n / (down * a * across * b)
        assert tiled.bytes_held == 2 * 16 * (a + b) + 4 * a * b
        for how in ("row", "column", "grouped"):
            blocks = list(tiled.order(how, 2))
            assert sorted(blocks) == list(product(range(down), range(across)))
    assert (
        tile_traffic(96, 64, 50, 32, 16)
        == TiledMatmul(96, 64, 50, 32, 16).numbers_moved
    )
    assert list(TiledMatmul(4, 2, 1, 1, 1).order("grouped", 3)) == [
        *((r, c) for c in (0, 1) for r in (0, 1, 2)), (3, 0), (3, 1),
    ]  # fmt: skip
    assert tile_intensity(128, 64, 2, 1) == 2 * 128 * 64 / (128 * 2 + 64)
    assert hong_kung(64, 64, 64, 16) == 2 * 64**3 / 4 - 32
    assert hong_kung(4, 5, 6, 10**6) == 4 * 6 + 6 * 5 + 4 * 5
    tile = fit_tile("h100", 128, 256, 64, stages=3, dtype_w="fp8")
    assert tile.staged.si == 3 * 64 * (128 * 2 + 256)
    assert (tile.sums.si, tile.fits) == (128 * 256 * 4, True)
    assert tile.intensity.si == 2 * 128 * 256 / (128 * 2 + 256)
    assert tile.store.sums.si == 0.5 * 256 * 1024
    assert "KiB of registers wanted, 128 KiB there" in fit_tile("h100", 256, 256).why
    assert "of shared memory wanted" in fit_tile("h100", 128, 128, 64, stages=8).why
    best = best_tile("h100", 4096, 4096, 4096)
    for side in product((64, 128, 256, 512), repeat=2):
        if fit_tile("h100", *side).fits:
            assert sum(1 / x for x in side) >= 1 / best.tile_m + 1 / best.tile_n


def test_energy_of_a_step_adds_up():
    step = decode_energy("llama-3-8b", on="h100", tp=2, batch=3)
    assert step.total.si == pytest.approx(sum(q.si for q in step.parts.values()))
    assert step.power.si == pytest.approx(step.total.si / step.time.si / 2)
    kinds = set(step.kinds.values())
    assert sum(step.share(kind).si for kind in kinds) == pytest.approx(1)
    assert step.share(*kinds).si == pytest.approx(1)
    assert sum(row[3].si for row in step.rows()) == pytest.approx(1)
    double = decode_energy("llama-3-8b", on="h100", tp=4, batch=3)
    ratio = double.parts["constant power"].si / step.parts["constant power"].si
    assert ratio == pytest.approx(4 / 2 * double.time.si / step.time.si)
