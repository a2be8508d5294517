"""Requests as maps of sectors and banks, live too, and the strides of section 3.2."""

import pytest

from stacklib.memory import Swizzle, Tile, bank_access, coalesce
from stacklib.memory.warp.lanes import strided
from stacklib.memory.warp.swizzle import padded
from stacklib.pages.memory._request_maps import bank_spec, chunk_spec, sector_spec
from stacklib.pages.memory.banks import live as banks
from stacklib.pages.memory.coalescing import live as coalescing
from stacklib.pages.memory.coalescing.figures import stride_spec, walk_spec
from stacklib.plots import spec as grammar

from ...live_figures import ask

# -- maps ----------------------------------------------------------------------------


def cells(spec, name):
    """Places of a mark, and its texts."""
    found = [m for m in spec["marks"] if m["name"].startswith(name)]
    return [(x, y) for m in found for x, y in zip(m["x"], m["y"], strict=True)]


def test_a_map_of_sectors_shows_what_the_counter_counts():
    for stride, base in ((1, 0), (1, 16), (3, 0), (32, 0), (0, 0)):
        lanes = list(strided(stride, base=base))
        spec = sector_spec(lanes, 4, title="A request.")
        request = coalesce(lanes)
        read = cells(spec, "read by")
        moved = read + cells(spec, "moved with")
        assert len(moved) == len(set(moved)) == 8 * len(request.sectors)
        assert len(moved) + len(cells(spec, "not moved")) == 32 * request.lines
        assert len(cells(spec, "lane")) == 32 and 4 * len(read) == request.asked


@pytest.mark.parametrize("place", [lambda o: o, padded(128, 4), Swizzle(5, 2, 5)])
def test_a_map_of_banks_shows_the_conflict(place):
    tile = Tile(32, 32, 4)
    request = tile.down().requests[5]
    spec = bank_spec(tile, place, request, 4, title="A column.")
    busiest, others = cells(spec, "wanted from"), cells(spec, "wanted")
    ways = bank_access([place(o) for o in request]).degree
    assert len(others) == 32
    assert len(busiest) == (32 if ways == 32 else 0)
    assert len({bank for bank, _ in others}) == 32 // ways
    held = cells(spec, "the tile") + others
    assert len(held) == len(set(held)) == 1024


def test_a_map_of_chunks_shows_the_swizzle():
    spec = chunk_spec(Swizzle(3, 4, 3), 2, title="Chunks.")
    mine = cells(spec, "chunk 2")
    assert {x for x, _ in mine if x < 8} == {2}
    assert sorted(x - 9 for x, _ in mine if x > 8) == list(range(8))
    everything = mine + cells(spec, "16 bytes")
    assert len(set(everything)) == len(everything) == 128


# -- live ------------------------------------------------------------------------------


def said(module, **changed):
    return ask(module.explore, module.controls(), **changed)


@pytest.mark.rows("stride", coalescing.STRIDES)
@pytest.mark.rows("width", [1, 4, 16])
def test_the_live_sectors_are_the_counted_ones(stride, width):
    for offset in (0, 1, 7, 32):
        first = (4096 * 16 + offset) * width
        request = coalesce(strided(stride, width=width, base=first), width)
        _, text = said(coalescing, stride=stride, width=width, offset=offset)
        assert text["sectors"] == str(len(request.sectors))
        assert text["lines"] == str(request.lines)
        assert text["moved"] == f"{request.moved:,} B"


def test_the_live_banks_say_what_the_section_says():
    assert said(banks)[1]["ways"] == "32"
    assert said(banks, padding=4)[1] == {"ways": "1", "waste": "3.12 %"}
    halves = {"width": "2", "columns": 64}
    assert said(banks, **halves, padding=2)[1]["ways"] == "2"
    assert said(banks, **halves, bits=5, keep="2")[1]["ways"] == "2"
    assert said(banks, **halves, bits=5, keep="4")[1]["ways"] == "1"
    chunks = {**halves, "bits": 3, "keep": "16"}
    assert said(banks, **chunks)[1]["ways"] == "4"
    assert said(banks, **chunks, access="ldmatrix")[1]["ways"] == "1"
    spec, text = said(banks, **halves, access="ldmatrix", padding=2)
    assert text["ways"] == "not possible" and "multiples of the 16" in spec["message"]


def test_the_walks_are_drawn_with_both_predictions():
    spec = walk_spec(title="Walks.")
    grammar.check(spec)
    kinds = [(m["kind"], m["evidence"]) for m in spec["marks"]]
    assert kinds == [("line", "predicted"), ("line", "predicted"), ("dots", "measured")]


def test_the_figure_of_strides_has_both_ways_agree():
    spec = stride_spec(title="Strides.")
    grammar.check(spec)
    lines = [m["y"] for m in spec["marks"] if m["kind"] == "line"]
    dots = [m["y"] for m in spec["marks"] if m["kind"] == "dots"]
    assert lines == dots and [line[-1] for line in lines] == [8, 16, 32]
