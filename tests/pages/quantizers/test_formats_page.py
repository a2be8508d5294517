"""Section 7.1: a new format is in the table, the menu and the line; four bits."""

import math
from functools import partial

import numpy as np
import pytest

from stacklib.pages.quantizers import formats as page
from stacklib.pages.quantizers.formats import drawings, live
from stacklib.quantizers import FORMATS, Format, Row
from stacklib.quantizers.arrays import decode_array

from ...live_figures import ask
from ...programs import loop_of

loop = loop_of("07-quantizers/formats")
readouts = partial(ask, live.explore, live.controls())


@pytest.mark.rows("name", ["e4m3fn", "e5m2", "e3m2", "e2m3", "e2m1", "fp16"])
def test_the_loop_decodes_every_number(name: str):
    form, names = Format(name), {}
    row = form.row
    text = loop().replace(
        "= 4, 3, 7", f"= {row.exponent}, {row.significand}, {row.bias}"
    )
    exec(text.split("for code")[0], names)
    for code in range(1 << form.bits):
        value = form.decode(code)
        if math.isfinite(value):
            assert names["decode"](code) == value
    said = loop.prints().split()
    assert said[7] == "448" and float(said[9]) == page.every_code("e4m3fn")


def test_a_new_row_is_in_table_menu_and_line(monkeypatch: pytest.MonkeyPatch):
    """Nothing else has to be written for a format to be shown."""
    monkeypatch.setitem(FORMATS, "e2m2", Row(2, 2, 1, "finite"))
    (row,) = (r for r in page.zoo() if r["format"] == "e2m2")
    assert row["bits"] == "1+2+2" and row["largest"] == "7"
    (menu,) = (c for c in live.controls() if c["name"] == "form")
    assert ["e2m2", "e2m2"] in menu["options"]
    spec = live.explore(form="e2m2", number=1.2, sign="plus", rounding="nearest")
    line = next(m for m in spec["marks"] if m["name"] == "numbers held")
    assert line["x"] == [x for x in Format("e2m2").values if 0 <= x <= 3]
    assert line["to"][:4] == [0.25] * 4 and line["to"][-1] == 0.5, "gaps by octave"
    codes = np.arange(32, dtype=np.uint8)
    many = decode_array(Format("e2m2"), codes)
    assert many.tolist() == [Format("e2m2").decode(c) for c in range(32)]


def test_the_table_has_every_format_and_says_its_ends():
    assert [row["format"] for row in page.zoo()] == list(FORMATS)
    by_name = {row["format"]: row for row in page.zoo()}
    assert by_name["e4m3fn"]["largest"] == "448"
    assert by_name["e5m2"]["least"] == "1.53e-05"


def test_an_exponent_pays_where_tails_are_long():
    def ratio(of):
        return page.tail_error("int4", of).si / page.tail_error("e2m1", of).si

    assert ratio("normal") < 1 < ratio("laplace") < ratio("student_3")
    for of in page.TAILS:
        found = {name: page.tail_error(name, of).si for name in page.FOUR}
        assert found["e3m0"] > found["e2m1"]


def test_the_error_of_a_block_is_that_of_drawn_numbers():
    x = np.random.default_rng(3).standard_normal((1 << 14, page.SHARED))
    for name in page.FOUR:
        places = np.array(Format(name).values)
        scale = np.abs(x).max(axis=1, keepdims=True) / places.max()
        off = x / scale
        off = (places[np.abs(off[..., None] - places).argmin(axis=-1)] - off) * scale
        drawn = float(np.sqrt((off**2).mean() / (x**2).mean()))
        assert page.tail_error(name, "normal").si == pytest.approx(drawn, rel=0.01)


def test_stochastic_sums_are_right_in_the_mean():
    sums = [page.added("stochastic", seed) for seed in range(30)]
    error = np.std(sums, ddof=1) / len(sums) ** 0.5
    assert abs(np.mean(sums) - 2) < 4 * error
    assert page.added("nearest") == page.added("zero") == 1


@pytest.mark.rows("name", FORMATS)
def test_the_live_line_stores_what_the_format_does(name: str):
    spec, said = readouts(form=name, number=1.2, sign="minus", rounding="nearest")
    found = Format(name).decode(Format(name).encode(-1.2))
    if not math.isfinite(found) or found > 0:
        assert spec["message"]
    else:
        assert f"{found:.6g}" in spec["title"] and float(said["stored"]) == approx(
            found
        )


def approx(found: float) -> object:
    return pytest.approx(-found, rel=0.01)


def test_the_live_line_says_what_overflows_and_what_vanishes():
    assert "nan" in readouts(form="e4m3fn", number=1024.0)[0]["message"]
    assert "becomes zero" in readouts(form="e2m1", number=2.0**-20)[0]["message"]


def test_the_drawing_stores_its_number():
    found = drawings.bits_and_line()
    held = Format("e4m3fn").decode(Format("e4m3fn").encode(page.EXAMPLE))
    assert f"{held:g}" in found.alt + found.html
