"""The live figures of section 3.4: a small cache, and attention by order of blocks."""

from functools import partial

import pytest

from stacklib import hardware
from stacklib.memory import Cache
from stacklib.memory.cache.attention_trace import TiledAttention
from stacklib.pages.memory.caches import live as caches
from stacklib.quantity import Quantity

from ...live_figures import ask

small = partial(ask, caches.explore, caches.controls())
order = partial(ask, caches.orders, caches.order_controls())


@pytest.mark.rows("pattern", [p for p, _ in caches.PATTERNS])
@pytest.mark.rows(("size", "ways", "line"), [(8192, 4, 64), (1024, 16, 128)])
def test_the_small_cache_is_the_simulator(pattern, size, ways, line):
    run = Cache(size, min(ways, size // line), line).run(list(caches.trace(pattern)))
    said = small(pattern=pattern, size=size, ways=ways, line=line)[1]
    assert said["misses"] == Quantity(run.misses, "1").text(digits=4)
    assert said["hits"] == Quantity(run.hit_rate, "1").text("%")


def test_the_patterns_show_what_they_are_there_for():
    # a loop that does not fit never hits; padding mends a column
    assert caches.hit_rate("loop", 8192, 128, 64) == 0
    assert caches.hit_rate("loop", 16384, 256, 64) > 0.9
    assert caches.hit_rate("column", 8192, 4, 64) == 0
    assert caches.hit_rate("padded", 8192, 4, 64) > 0.8
    assert caches.hit_rate("stream", 512, 1, 64) == 1 - 8 / 64
    with pytest.raises(ValueError, match="pattern 'row': one of loop"):
        caches.trace("row")


def test_the_orders_are_the_closed_form():
    plan = TiledAttention(64, 8, 16384, 16384)
    told = plan.reads(
        at_once=132, capacity=hardware.get("h100").l2_capacity.si, section=64
    )
    found, said = order(section=64)
    assert said["moved"] == f"{told.missed / 1e9:.3g} GB"
    assert "H100" in found["title"]
