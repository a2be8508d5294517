"""Cells of the plotting grammar, and the maps and live figures made of them."""

import copy
import re

import pytest

from stacklib import plots
from stacklib.evidence import guard
from stacklib.memory import Swizzle, Tile, bank_access, coalesce
from stacklib.memory.warp.lanes import strided
from stacklib.memory.warp.swizzle import padded
from stacklib.plots import spec as grammar
from stacklib.plots.bank_maps import bank_spec, chunk_spec, sector_spec
from stacklib.plots.live import banks, coalescing
from stacklib.plots.walks import stride_spec, walk_spec

from ..live_figures import ask

CELLS = {"kind": "cells", "evidence": "simulated", "name": "asked", "x": [0, 1],
         "y": [0, 0], "shades": [1, 0.3], "texts": ["a", "b"]}  # fmt: skip
GOOD = {
    "title": "A sentence.",
    "x": {"label": "Bank", "ticks": [0, 1], "limits": [-0.6, 1.6]},
    "y": {"label": "Row", "ticks": [], "limits": [1.5, -0.6]},
    "marks": [CELLS],
}


def with_cells(**changes):
    return {**copy.deepcopy(GOOD), "marks": [{**CELLS, **changes}]}


def test_cells_pass_the_grammar_and_the_guard():
    grammar.check(GOOD)
    assert guard.faults([grammar.guard_entry(GOOD, "f")]) == []


@pytest.mark.parametrize(
    ("bad", "says"),
    [(with_cells(x=[0]), "1 x and 2 y"), (with_cells(shades=[1]), "1 shades, 2 cells"),
     (with_cells(shades=[1, 1.5]), "shade 1.5"), (with_cells(shades=[1, "x"]), "'x'"),
     (with_cells(texts=["a"]), "1 texts"), (with_cells(texts=["a", "12345"]), "12345"),
     (with_cells(texts=["a", 3]), "3 is no text"),
     ({**GOOD, "x": {"label": "x", "scale": "log"}, "marks": [{**CELLS, "x": [1, 2]}]},
      "linear axes")],
)  # fmt: skip
def test_cells_outside_the_grammar_are_refused(bad, says):
    with pytest.raises(plots.SpecError, match=says):
        grammar.check(bad)


def test_the_digest_counts_what_cells_show_and_nothing_new_elsewhere():
    before = grammar.digest(GOOD)
    for changed in (with_cells(shades=[1, 0.4]), with_cells(texts=["a", "c"])):
        assert grammar.digest(changed) != before
    assert grammar.digest(with_cells(series=3)) == before
    line = {"kind": "line", "evidence": "predicted", "name": "a", "x": [1], "y": [2]}
    plain = {**GOOD, "marks": [line]}
    assert grammar.digest(plain) == grammar.digest(
        {**GOOD, "marks": [{**line, "shades": [1]}]}
    )


def test_cells_are_drawn_with_a_key_and_text_that_can_be_read():
    shown = plots.figure(GOOD, name="cells", alt="two cells")
    again = plots.figure(GOOD, name="cells", alt="two cells")
    assert shown.svg == again.svg
    texts = re.findall(r">([^<>]+)</text>", shown.svg)
    assert {"a", "b", "asked", "Row", "Bank"} <= set(texts)
    assert "var(--st-over, #ffffff)" in shown.svg  # on the full colour
    assert shown.svg.count("var(--st-series-0") >= 3  # two shades and the key


def test_a_large_grid_is_drawn_in_runs():
    many = [(x, y) for y in range(32) for x in range(32)]
    big = with_cells(
        x=[x for x, _ in many], y=[y for _, y in many], shades=[0.2] * 1024
    )
    big["marks"][0].pop("texts")
    assert len(plots.figure(big, name="big", alt="a grid").svg) < 20_000


# -- maps ----------------------------------------------------------------------------


def cells(spec, name):
    """Places of a mark, and its texts."""
    found = [m for m in spec["marks"] if m["name"].startswith(name)]
    return [
        (x, y) for m in found for x, y in zip(m["x"], m["y"], strict=True)
    ]  # fmt: skip


def test_a_map_of_sectors_shows_what_the_counter_counts():
    for stride, base in ((1, 0), (1, 16), (3, 0), (32, 0), (0, 0)):
        lanes = list(strided(stride, base=base))
        spec = sector_spec(lanes, 4, title="A request.")
        request = coalesce(lanes)
        moved = cells(spec, "all of it") + cells(spec, "moved for")
        assert len(moved) == len(set(moved)) == len(request.sectors)
        assert len(moved) + len(cells(spec, "not moved")) == 4 * request.lines
        part = [int(t) for m in spec["marks"] for t in m.get("texts", ())]
        whole = 32 * len(cells(spec, "all of it"))
        assert whole + sum(part) == request.asked


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


@pytest.mark.parametrize("stride", coalescing.STRIDES)
@pytest.mark.parametrize("width", [1, 4, 16])
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
