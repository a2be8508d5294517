"""KV on flash: pages by formula and drawn, drives by formula and stepped."""

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from stacklib import memory, models
from stacklib.memory.tiers import kv
from stacklib.memory.tiers.kv import drives_needed
from stacklib.memory.tiers.queueing import Queue, run_reads, run_step
from stacklib.quantity import Quantity

from ...rows import refusals

DRIVE = memory.drive("micron-9550")


@given(st.integers(1, 12), st.integers(1, 6), st.integers(1, 5), st.data())
@settings(max_examples=150, deadline=None)
def test_pages_read_is_the_mean_over_every_choice(tokens, per_page, block, data):
    """Every set of picked blocks, counted page by page."""
    from itertools import combinations

    blocks = [range(at, at + block) for at in range(0, tokens - block + 1, block)]
    assume(blocks)
    picked = data.draw(st.integers(1, len(blocks)))
    counts = [
        len({token // per_page for one in chosen for token in one})
        for chosen in combinations(blocks, picked)
    ]
    mean = sum(counts) / len(counts)
    found = kv.pages_read(tokens, picked * block, per_page, block)
    assert found == pytest.approx(mean)


def test_blocks_that_do_not_divide_a_page_reach_into_the_next():
    # Three tokens to a page, blocks of two: a page meets parts of two blocks.
    page = Quantity(3 * 1152, "B")
    case = {"context": 60_000, "top_k": 40, "block": 2, "page": page}
    found = memory.kv_demand("deepseek-v3", **case)
    assert found.pages.si / found.layers == pytest.approx(26.66, abs=0.01)


def test_pages_read_is_what_draws_give():
    generator = np.random.default_rng(1)
    drawn = [
        len({*(generator.choice(20_000, 500, replace=False) // 3)}) for _ in range(40)
    ]
    assert kv.pages_read(20_000, 500, 3) == pytest.approx(np.mean(drawn), rel=5e-3)


def test_llamas_token_fills_a_page_and_deepseeks_does_not():
    llama = memory.kv_demand("llama-3-70b", context=131_072, top_k=2048)
    assert llama.amplification.si == 1
    assert llama.pages.si == 80 * 2048
    latent = memory.kv_demand("deepseek-v3", context=131_072, top_k=2048)
    assert latent.amplification.si == pytest.approx(4096 / 1152, rel=0.02)
    dense = memory.kv_demand("deepseek-v3", context=131_070)
    assert dense.amplification.si == pytest.approx(4096 / (3 * 1152), rel=1e-3)
    known = models.get("llama-3-70b").kv_bytes(4096, "bf16")
    assert memory.kv_demand("llama-3-70b", context=4096).wanted.si == known.si


def test_neighbours_picked_together_share_pages():
    alone = memory.kv_demand("deepseek-v3", context=60_000, top_k=1920)
    blocks = memory.kv_demand("deepseek-v3", context=60_000, top_k=1920, block=60)
    assert blocks.read.si < alone.read.si / 2.5
    assert blocks.amplification.si == pytest.approx(4096 / (3 * 1152), rel=1e-3)
    half = memory.kv_demand("llama-3-8b", context=60_000, top_k=512, dtype="fp8")
    assert half.amplification.si > 1.9  # two tokens a page, one of them wanted


def test_a_small_page_takes_several_for_a_token():
    small = Quantity(512, "B")
    found = memory.kv_demand("llama-3-70b", context=100, top_k=10, page=small)
    assert found.pages.si == 80 * 10 * 8 and found.amplification.si == 1


test_a_demand_of_nothing_is_refused = refusals(
    ({"context": 0}, "context"),
    ({"context": 10, "top_k": 0}, "top_k"),
    ({"context": 10, "top_k": True}, "top_k"),
    ({"context": 100, "top_k": 10, "block": 3}, "block = 3"),
    ({"context": 100, "top_k": 10, "block": 0}, "block"),
    by=lambda asked: memory.kv_demand("llama-3-70b", **asked),
)


def test_a_cache_with_windows_is_refused():
    with pytest.raises(ValueError, match="does not grow evenly"):
        memory.kv_demand("gemma-3-27b", context=100)
    for bad in ((0, 1, 1), (5, 6, 1), (5, 1, 0)):
        with pytest.raises(ValueError):
            kv.pages_read(*bad)


# -- drives --------------------------------------------------------------------


def test_little_says_how_deep_the_queue_must_be():
    depth = kv.drive_depth(DRIVE)
    assert depth.si == pytest.approx(198)
    assert kv.reads_per_second(DRIVE, 1).si == pytest.approx(1 / 60e-6)
    assert kv.reads_per_second(DRIVE, 400).si == DRIVE.reads.si


@given(st.integers(1, 64), st.integers(1, 100), st.integers(0, 300))
@settings(deadline=None)
def test_stepped_reads_are_rounds_of_the_depth(planes, depth, pages):
    queue = Queue(planes, 60e-6, depth)
    rounds = math.ceil(pages / min(planes, depth))
    assert run_reads(queue, pages) == pytest.approx(rounds * 60e-6)


@given(
    st.integers(1, 40),
    st.integers(1, 12),
    st.integers(0, 200),
    st.floats(0, 5e-3),
    st.booleans(),
)
@settings(max_examples=200, deadline=None)
def test_a_stepped_decode_is_the_formula_within_a_latency_a_layer(
    planes, layers, pages, compute, ahead
):
    latency = 60e-6
    rate = planes / latency
    stepped = run_step(
        Queue(planes, latency, 10**6),
        compute=compute,
        layers=layers,
        pages=pages,
        ahead=ahead,
    )
    formula = kv.step_time(compute, layers, pages, rate, latency, ahead=ahead)
    # the formula lets the last round flow, the planes finish it whole
    assert formula - layers * latency - 1e-12 <= stepped <= formula + 1e-12


def test_reading_ahead_hides_all_but_the_first_layer():
    rate, latency = 3.3e6, 60e-6
    alone = kv.step_time(20e-3, 80, 300, rate, latency, ahead=False)
    hidden = kv.step_time(20e-3, 80, 300, rate, latency, ahead=True)
    fetch = latency + 300 / rate
    assert alone == pytest.approx(20e-3 + 80 * fetch)
    assert hidden == pytest.approx(20e-3 + fetch)


def test_the_largest_of_three_limits_counts():
    demand = memory.kv_demand("llama-3-70b", context=131_072, top_k=2048)
    need = drives_needed(demand, DRIVE, tokens_per_second=48, sequences=3000)
    assert need["reads"] == pytest.approx(48 * demand.pages.si / 3.3e6)
    assert need["bandwidth"] == pytest.approx(48 * demand.read.si / 14e9)
    assert need["capacity"] == pytest.approx(3000 * 42.9e9 / 12.8e12, rel=1e-2)
    for rate in (0, -1, math.nan, math.inf):
        with pytest.raises(ValueError, match="tokens_per_second"):
            drives_needed(demand, DRIVE, tokens_per_second=rate)


def test_a_drive_written_at_its_allowance_lasts_its_warranty():
    allowed = DRIVE.capacity * DRIVE.writes_per_day
    assert kv.lifetime(DRIVE, written=allowed, drives=1).text("year") == "5 years"
    twice = kv.lifetime(DRIVE, written=allowed, drives=2)
    assert twice.to("year").value == pytest.approx(10)
    with pytest.raises(ValueError, match="drives"):
        kv.lifetime(DRIVE, written=allowed, drives=0)
    with pytest.raises(ValueError, match="written"):
        kv.lifetime(DRIVE, written=allowed * 0, drives=1)


def test_queues_and_steps_that_are_none_are_refused():
    for bad in ((0, 1.0, 1), (1, 0.0, 1), (1, 1.0, 0)):
        with pytest.raises(ValueError, match="planes"):
            Queue(*bad)
    with pytest.raises(ValueError, match="layers = 0"):
        kv.step_time(1, 0, 1, 1, 1, ahead=True)
    for bad in ((1, 1, 1, 0, 1), (-0.5, 1, 1, 1, 1), (1, 1, 1, 1, -0.5)):
        with pytest.raises(ValueError, match=f"rate = {bad[3]}"):
            kv.step_time(*bad, ahead=False)
    alone = [kv.layer_time("llama-3-8b", on="h100-sxm", **tp) for tp in ({}, {"tp": 1})]
    assert alone[0].si == alone[1].si
    assert kv.layer_time("llama-3-70b", on="h100-sxm", tp=2).si == pytest.approx(
        2.6e-4, rel=0.02
    )
