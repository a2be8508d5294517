"""Experts in tiles: sizes that are whole tiles, tokens that are not."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib import models
from stacklib.kernels.experts.tiles import (
    expert_tiles,
    routed_parameters,
    tile_efficiency,
)
from stacklib.quantity import Quantity, chosen


@pytest.mark.rows("size", [1536, 2048, 7168])
@pytest.mark.rows("tile", [16, 64, 128, 256])
def test_sizes_of_experts_are_whole_tiles(size, tile):
    assert tile_efficiency(size, tile) == 1
    assert tile_efficiency(size + 1, tile) == (size + 1) / (size + tile)


def test_fifteen_hundred_columns_lose_two_percent():
    assert tile_efficiency(1500, 128) == pytest.approx(0.977, abs=1e-3)
    worst = min(tile_efficiency(n, 128) for n in range(1409, 1601))
    assert worst > 0.91


@given(st.integers(1, 10**5), st.integers(1, 512))
def test_floats_quantities_and_arrays_agree(size, tile):
    found = tile_efficiency(size, tile)
    rows = len(range(0, size, tile)) * tile  # as many tiles as begin before the end
    assert found == pytest.approx(size / rows)
    traced = tile_efficiency(chosen(size, label="size"), tile)
    assert isinstance(traced, Quantity) and traced.si == pytest.approx(found)
    assert tile_efficiency(np.array([size, tile]), tile) == pytest.approx([found, 1])


def test_an_expert_of_deepseek_v3_has_44_million_parameters():
    found = expert_tiles("deepseek-v3", tokens=4096)
    assert found.parameters.si == 3 * 7168 * 2048 == 44_040_192
    assert (found.in_hidden.si, found.in_width.si) == (1, 1)
    assert found.tokens == 128
    total = routed_parameters("deepseek-v3").si
    assert total == 256 * 58 * 44_040_192
    left = models.get("deepseek-v3").parameters.si - total
    assert 16e9 < left < 18e9  # attention, shared experts, embeddings
    with_33 = 256 * 58 * 3 * 7168 * 1536
    assert with_33 == pytest.approx(490e9, rel=1e-3)


@given(st.integers(1, 300), st.sampled_from([2, 8, 16]))
@settings(max_examples=15, deadline=None)
def test_the_mean_over_a_router_is_the_exact_sum(tokens, tile):
    model = models.get("qwen3-30b-a3b")
    share = Fraction(model.experts.top_k, model.experts.experts)
    chance = (1 - share) ** tokens
    paid = Fraction(0)
    for count in range(tokens + 1):
        paid += chance * math.ceil(count / tile) * tile
        chance *= share / (1 - share) * Fraction(tokens - count, count + 1)
    mean = tokens * share
    found = expert_tiles("qwen3-30b-a3b", tokens=tokens, tile=tile)
    assert found.in_tokens == pytest.approx(float(mean / paid), rel=1e-9)
    assert found.used == pytest.approx(found.in_tokens)


def test_more_tokens_fill_tiles_better_but_not_step_by_step():
    filled = [
        expert_tiles("deepseek-v3", tokens=n).in_tokens for n in (512, 4096, 65536)
    ]
    assert filled == sorted(filled)
    # an even router that means to fill four tiles pays for a fifth half the time
    short, even = (
        expert_tiles("deepseek-v3", tokens=n).in_tokens for n in (15400, 16384)
    )
    assert even < short


def test_bad_input_is_named():
    with pytest.raises(ValueError, match="llama-3-70b has no experts"):
        expert_tiles("llama-3-70b", tokens=1)
    with pytest.raises(ValueError, match="tokens = 0"):
        expert_tiles("deepseek-v3", tokens=0)
