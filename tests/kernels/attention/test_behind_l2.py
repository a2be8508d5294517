"""Keys and values come from memory once only behind an L2 that holds what is shared."""

import pytest

from stacklib.kernels.attention.behind_l2 import read_once
from stacklib.kernels.attention.count import io_count
from stacklib.memory.cache.attention_trace import TiledAttention
from stacklib.memory.cache.cache import Cache
from stacklib.memory.cache.l2 import l2_cache

TILE = 128 * 128 * 2
PLAN = TiledAttention(8, 8, 4096, 4096)


def test_once_holds_behind_the_l2_of_an_h100():
    found = read_once(PLAN, l2_cache("h100_sxm", line=TILE), at_once=132)
    assert found.times_read == 1
    assert found.times_asked == pytest.approx((1 + 2 * 32) / 3)


def test_once_fails_where_the_l2_is_small_and_heads_take_turns():
    small = Cache(64 * TILE, 16, TILE)  # 2 MB: the keys and values of one head
    for at_once, section, least in ((4, 8, 21), (4, 1, 5), (132, 8, 2)):
        found = read_once(PLAN, small, at_once=at_once, section=section)
        assert least < found.times_read <= found.times_asked


def test_without_a_cache_the_tiles_read_what_the_formula_says():
    nothing = Cache(TILE, 1, TILE)  # one tile: the next replaces it
    one = TiledAttention(1, 1, 1024, 1024)
    told = io_count(tokens=1024, head_dim=128, tile_q=128, tile_k=128)
    assert read_once(one, nothing, at_once=1).missed == sum(told.read.values())
    assert read_once(one, nothing, at_once=1).asked == sum(told.read.values())
