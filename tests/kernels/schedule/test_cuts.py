"""Cuts: shares of keys by the kernels' own rules, and what a cut costs."""

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stacklib import hardware
from stacklib.kernels.schedule.attention_time import Attention, plan, predict
from stacklib.kernels.schedule.cuts import Cut, doubled, filled, flash, rooted, whole
from stacklib.kernels.schedule.token_time import token_form

SIZES = (st.integers(1, 200_000), st.integers(1, 4000), st.integers(1, 200))
H100 = hardware.get("h100_sxm")
TOKEN = Attention(4, 32, 8, 1, 8192, 128)


def time(on="h100", work=TOKEN, **cut):
    return predict(plan(replace(work, cut=Cut(**cut)), on, "library"))


@given(*SIZES)
def test_shares_are_never_more_than_their_rule_allows(keys, blocks, units):
    assert whole(keys, blocks, units) == 1
    assert filled(keys, blocks, units) * blocks <= units
    assert doubled(8)(keys, blocks, units) <= 8
    count = rooted(keys, blocks, units)
    assert count <= max(1, keys // 128) and count**2 <= max(1, keys / 16) + count
    assert count <= 1 or blocks * count <= 8 * units
    assert 1 <= flash(128)(keys, blocks, units) <= max(1, math.ceil(keys / 128))


@given(*SIZES, st.sampled_from([64, 128, 256]), st.sampled_from([1, 2]))
def test_flash_takes_the_fewest_shares_near_the_best_last_wave(
    keys, blocks, units, step, beside
):
    places, tiles = units * beside, math.ceil(keys / step)
    found = flash(step, beside)(keys, blocks, units)
    if blocks >= 0.8 * places:
        assert found == 1
        return

    def full(n):  # share of the last wave's places that are taken
        per = math.ceil(tiles / n)
        again = n > 1 and per == math.ceil(tiles / (n - 1))
        return 0.0 if again else blocks * n / places / math.ceil(blocks * n / places)

    tried = [full(n) for n in range(1, min(128, places, tiles) + 1)]
    near = [n for n, e in enumerate(tried, 1) if e >= 0.85 * max(tried)]
    assert found == near[0]


def test_xqa_shares_out_as_its_code_does():
    # computeMultiBlockCount by hand: 128, 512 and 8 counts; the last adjusted to waves
    assert rooted(16384, 8, 132) == 32 and rooted(65536, 4, 132) == 64
    assert rooted(1024, 64, 132) == 8 and rooted(1024, 400, 132) == 2


def test_sglang_shares_out_as_its_code_does():
    # so many keys for as many blocks as units: one share, and one more a doubling of 64
    assert [doubled(8)(keys, 132, 132) for keys in (8, 100, 256, 1024)] == [1, 1, 2, 4]


def test_each_part_of_a_cut_costs_what_it_says():
    base = time()
    assert time(rows=128).tensor > 3 * base.tensor
    assert time(shares=whole).time > 1.2 * base.time
    assert time(trips=8).time > base.time and time(stalls=2).time > base.time
    few = Attention(64, 32, 8, 1, 128, 128)
    merged = time(work=few, merges=True).launch
    assert merged == pytest.approx(2 * time(work=few).launch)


def test_unpacked_heads_have_a_block_each():
    held = [
        plan(Attention(64, 32, 8, 1, 512, 128, cut=Cut(packs=p)), "h100", "library")
        for p in ("one", "none")
    ]
    assert held[1].grid.blocks == 4 * held[0].grid.blocks


def test_packed_heads_of_a_short_prompt_leave_more_of_the_mask_out():
    def tiles(packs):
        work = Attention(1, 32, 1, 256, 256, 128, causal=True, cut=Cut(packs=packs))
        return plan(work, "h100", "tuned").grid.tiles

    # two tiles of keys for the later half of the queries, one for the earlier
    assert tiles("one") == 32 * 3 and tiles("all") == 64 * 1.5


def test_a_form_is_of_the_plain_cut_alone():
    with pytest.raises(ValueError, match="no engine's"):
        token_form(Attention(1, 8, 8, 1, 512, 128, cut=Cut(trips=4)), H100, "tuned")
