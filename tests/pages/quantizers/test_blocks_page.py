"""Section 7.3: rules in plain Python and in the package, three ways, and the loop."""

from functools import partial

import gguf
import numpy as np
import pytest

from stacklib.pages.quantizers import blocks as page
from stacklib.pages.quantizers.blocks import drawings, figures, live
from stacklib.plots import spec as grammar
from stacklib.quantizers import dequantize, quantize
from stacklib.tinylm import load

from ...live_figures import ask
from ...programs import loop_of

loop = loop_of("07-quantizers/blocks")
readouts = partial(ask, live.explore, live.controls())
SCHEMES = {"e2m1": "mxfp4", "e2m3": "mxfp6_e2m3", "e3m2": "mxfp6_e3m2"}
SCHEMES |= {"e4m3fn": "mxfp8_e4m3", "e5m2": "mxfp8_e5m2"}


def test_the_loop_is_the_package(capsys: pytest.CaptureFixture[str]):
    names: dict[str, object] = {}
    for seed in (3, 4, 9):
        exec(
            loop().replace("Random(3)", f"Random({seed})").replace("(0, 1):", "(0,):"),
            names,
        )
        found = dequantize(quantize(np.array(names["block"]), "mxfp4"))
        assert np.allclose(names["found"], found)


@pytest.mark.rows("element", SCHEMES)
@pytest.mark.rows("rule", live.RULES)
def test_a_live_block_is_the_packages(element: str, rule: str):
    for draw in range(1, 30):
        numbers = live.block("laplace" if draw % 2 else "normal", 1.3, draw)
        mine = live.stored(numbers, element, rule)[1]
        theirs = dequantize(quantize(np.array(numbers), SCHEMES[element], rule=rule))
        assert np.allclose(mine, theirs), (rule, draw)


def test_borders_of_a_scale_are_the_packages():
    """Magnitudes at a power of two, at the element's end, and beside them."""
    sizes = [1.0, 2.0, 6.0, 7.0, 0.75, 0.875, 12.0, 448.0, 3.5]
    near = [
        float(np.nextafter(np.float32(s), np.float32(t)))
        for s in sizes
        for t in (0, 9e9)
    ]
    for size in sizes + near:
        for rule in live.RULES:
            for element, scheme in SCHEMES.items():
                codes = quantize([size], scheme, rule=rule).scales
                mine = live.power_of(size, element, rule)
                assert mine == int(codes[0][0]) - 127, (size, rule, element)


@pytest.mark.rows("scheme", page.WAYS)
def test_three_ways_agree(scheme: str):
    assert page.by_drawing(scheme) == pytest.approx(page.by_integral(scheme), rel=0.005)
    told = page.of_the_model_foretold(scheme)
    assert page.of_the_model(scheme) == pytest.approx(told, rel=0.05)


def test_cut_blocks_are_those_between_the_ends():
    assert page.cut("e2m1", "floor").si == pytest.approx(np.log2(8 / 6), abs=0.005)
    assert page.cut("e4m3fn", "floor").si == pytest.approx(
        np.log2(512 / 448), abs=0.005
    )
    assert page.cut("e2m1", "rceil").si == 0 == page.cut("e2m1", "ceil").si


def test_rules_win_where_the_page_says():
    four = {r: page.loss("e2m1", r).si for r in page.rules()}
    eight = {r: page.loss("e4m3fn", r).si for r in page.rules()}
    assert (
        min(four, key=four.__getitem__) == "even" and four["ceil"] > 1.2 * four["floor"]
    )
    assert eight["rceil"] == pytest.approx(eight["ceil"])
    assert eight["ceil"] < eight["even"] < eight["floor"]


def test_the_live_figure_says_who_loses_least():
    spec, said = readouts()
    assert said["scale"] == "0.25" and "even loses least" in spec["title"]
    grammar.check(figures.grids_spec(title="Grids."))


def test_drawings_count_their_bytes():
    found = drawings.bytes_of_blocks()
    assert "34 B" in found.html and "36 B" in found.html
    assert "448" in drawings.two_levels().html


def test_gguf_differs_at_half_ways_and_nowhere_else():
    """Its quantizer, over every matrix of the model."""
    kind = gguf.GGMLQuantizationType.MXFP4
    apart = many = 0
    for weight in load().weights.values():
        if weight.ndim == 2:
            theirs = gguf.quants.dequantize(gguf.quants.quantize(weight, kind), kind)
            apart += int((theirs != dequantize(quantize(weight, "mxfp4"))).sum())
            many += weight.size
    assert page.half_ways().si == pytest.approx(apart / many, rel=1e-5)
    assert 0.0047 < apart / many < 0.0049
