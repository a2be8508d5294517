"""The live figures of section 3.4: a small cache, and attention by order of blocks."""

import pytest

from stacklib import hardware, plots
from stacklib.evidence import guard
from stacklib.memory import Cache, TiledAttention
from stacklib.plots import spec as grammar
from stacklib.plots.live import caches
from stacklib.quantity import Quantity


def start(controls):
    return {c["name"]: c["value"] for c in controls}


def texts(spec):
    return {r["name"]: r["text"] for r in spec["readouts"]}


def small(**changed):
    found = caches.explore(**{**start(caches.controls()), **changed})
    return found, texts(found)


def order(**changed):
    found = caches.orders(**{**start(caches.order_controls()), **changed})
    return found, texts(found)


@pytest.mark.parametrize("pattern", [p for p, _ in caches.PATTERNS])
@pytest.mark.parametrize(("size", "ways", "line"), [(8192, 4, 64), (1024, 16, 128)])
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


def test_keys_move_readouts_in_the_page():
    call = "stacklib.pages.memory.caches.live:explore"
    shown = plots.live(call=call, controls=caches.controls(), name="cache", alt="hits")
    bigger = caches.SIZES[caches.SIZES.index(8192) + 1]
    assert shown.test == {"control": "size", "keys": ["ArrowRight"], "readout": "hits",
                          "text": small(size=bigger)[1]["hits"]}  # fmt: skip
    assert small()[1]["hits"] != small(size=bigger)[1]["hits"]
    shown = plots.live(call="stacklib.pages.memory.caches.live:orders",
                       controls=caches.order_controls(), name="orders",
                       alt="bytes")  # fmt: skip
    longer = caches.LENGTHS[caches.LENGTHS.index(16384) + 1]
    assert shown.test["text"] == order(length=longer)[1][shown.test["readout"]]
    assert guard.faults([shown._repr_mimebundle_()[guard.MIME]]) == []


def test_the_orders_are_the_closed_form():
    plan = TiledAttention(64, 8, 16384, 16384)
    told = plan.reads(at_once=132, capacity=hardware.get("h100").l2_capacity.si,
                      section=64)  # fmt: skip
    found, said = order(section=64)
    assert said["moved"] == f"{told.missed / 1e9:.3g} GB"
    assert "H100" in found["title"]


@pytest.mark.parametrize("device", [key for key, _ in caches._devices()][::9])
@pytest.mark.parametrize("section", [1, 64])
def test_every_device_draws_and_passes_the_guard(device, section):
    for length in (caches.LENGTHS[0], caches.LENGTHS[-1]):
        found, _ = order(device=device, section=section, length=length)
        grammar.check(found)
        assert guard.faults([grammar.guard_entry(found, "f")]) == []


@pytest.mark.parametrize("line", caches.LINES)
@pytest.mark.parametrize("ways", caches.WAYS)
def test_every_small_cache_draws(line, ways):
    for size in (caches.SIZES[0], caches.SIZES[-1]):
        found, _ = small(line=line, ways=ways, size=size)
        grammar.check(found)
        assert guard.faults([grammar.guard_entry(found, "f")]) == []
