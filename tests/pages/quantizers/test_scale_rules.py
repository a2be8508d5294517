"""The atlas of scale rules: computed anew in places, and its borders."""

import numpy as np
import pytest

from stacklib.pages.quantizers import scale_rules as page
from stacklib.pages.quantizers.scale_rules import figures
from stacklib.plots import spec as grammar
from stacklib.quantizers import SCHEMES, dequantize, quantize

SAMPLE = [entry for at, entry in enumerate(page.entries()) if at % 37 == 5]


def test_the_store_has_every_field_and_no_other():
    assert set(page.atlas()) == {" ".join(map(str, e)) for e in page.entries()}


@pytest.mark.parametrize("entry", SAMPLE, ids=lambda e: "-".join(map(str, e)))
def test_fields_computed_anew(entry: tuple[str, int, str, str]):
    assert page.computed(*entry) == pytest.approx(page.error(*entry), rel=1e-4)


@pytest.mark.rows("name", ["mxfp4", "mxfp8_e4m3", "mxfp6_e2m3", "mxint8"])
@pytest.mark.rows("rule", page.RULES)
def test_the_atlas_codes_as_the_scheme_does(name: str, rule: str):
    x = np.random.default_rng(2).standard_t(3, (16, 128)).astype(np.float32)
    mine = page.coded(x, SCHEMES[name].element, 32, rule)
    assert np.array_equal(mine, dequantize(quantize(x, name, rule=rule)))


def test_integral_and_drawn_numbers_name_the_same_winners():
    random = np.random.default_rng(8)
    x = random.standard_normal((1 << 11, 128)) * np.repeat(page.PHASES, 1 << 8)[:, None]
    x = x.astype(np.float32)
    for element in ("e2m1", "e4m3fn"):
        for block in (8, 32, 128):
            found = {r: page.by_run(x, element, block, r) for r in page.RULES}
            assert min(found, key=found.__getitem__) in page.best(
                element, block, "normal"
            )


def test_the_borders_that_the_page_tells():
    for source in page.SOURCES:
        assert page.best("e2m1", 32, source) == ("even",)
        assert "floor" in page.best("e2m1", 64, source)
        for block in page.BLOCKS:
            assert page.best("e4m3fn", block, source) == ("rceil", "ceil")
            assert "floor" not in page.best("e3m0", block, source)
    assert page.worse("e4m3fn", 32, "student_3") > page.worse("e4m3fn", 32, "normal")


def test_the_maps_hold_every_field_once():
    for source in page.SOURCES:
        spec = figures.map_spec(source, title="A map.")
        grammar.check(spec)
        held = [
            (x, y) for m in spec["marks"] for x, y in zip(m["x"], m["y"], strict=True)
        ]
        assert len(held) == len(set(held)) == len(page.ELEMENTS) * len(page.BLOCKS)
    grammar.check(figures.cost_spec("e4m3fn", title="A cost."))
