"""Section 7.6: bytes and peaks by width, published products, the page's loop."""

from functools import partial

import pytest

from stacklib import models
from stacklib.pages.quantizers import decode as page
from stacklib.pages.quantizers import steps
from stacklib.pages.quantizers.decode import drawings, live
from stacklib.quantizers import SCHEMES

from ...live_figures import ask
from ...programs import loop_of

loop = loop_of("07-quantizers/decode")
readouts = partial(ask, live.explore, live.controls())


@pytest.mark.parametrize("batch", [1, 64, 512])
def test_the_loop_is_the_page(batch: int):
    wide, narrow, gain = loop.prints(
        "4.125, 1, 4096", f"4.125, {batch}, 4096"
    ).splitlines()
    assert float(wide.split()[2]) == pytest.approx(
        1e3 * page.step("bf16", 4096, batch).si, abs=0.006
    )
    assert float(narrow.split()[2]) == pytest.approx(
        1e3 * page.step("w4a16", 4096, batch).si, abs=0.006
    )
    assert float(gain.split()[0]) == pytest.approx(
        page.gain("w4a16", 4096, batch).si, abs=0.006
    )


@pytest.mark.parametrize("batch", [1, 16, 200])
@pytest.mark.parametrize("way", ["bf16", "w8a8", "w4a16"])
def test_where_a_chip_chooses_the_same_operand_it_is_the_chapters_step(way, batch):
    theirs = steps.step(page.WAYS[way].dtype, batch=batch)
    assert page.WAYS[way].peak == theirs.work.dtype
    assert page.step(way, 4096, batch).si == theirs.time.si
    assert page.work(way, 4096, batch).bytes.si == theirs.bytes.si


def test_bits_are_those_of_the_schemes_and_parts_are_all_that_is_read():
    for way in ("w8a8", "w4a16", "w4a4"):
        dtype = page.WAYS[way].dtype
        assert steps.bits(dtype).si == pytest.approx(SCHEMES[dtype].bits)
    both = page.numbers_of("matrices") + page.numbers_of("head")
    assert both.si == models.get(page.MODEL).streamed_parameters.si
    whole, wide = steps.step("int4_g128").time, steps.line(steps.LAYERS, "int4_g128")
    assert page.kept().si + wide.time.si == pytest.approx(whole.si, rel=1e-4)


def test_a_gain_ends_where_products_bind():
    gains = [page.gain("w4a16", 1024, b).si for b in (1, 64, 512)]
    assert gains == sorted(gains, reverse=True)
    assert page.bound("w4a16", 1024, 512).bound == "compute"
    assert page.gain("w4a8", 1024, 512).si > gains[-1]


def test_published_products_run_at_the_peak_of_the_wider_operand():
    wide = page.reached("bfloat16").si
    for key in ("int8_wo", "int4_wo"):
        assert page.reached(key).si == pytest.approx(wide, rel=0.05)
    assert page.reached("sq").si > 1.9 * wide
    with pytest.raises(ValueError, match="no published product"):
        page.row("bfloat16", 7)


def test_the_live_figure_is_the_page_and_refuses_what_a_chip_lacks():
    spec, said = readouts(way="w4a16", batch=64, context=4096)
    assert said["gain"] == page.gain("w4a16", 4096, 64).text()
    assert "limited by bytes" in spec["title"]
    assert "no products in fp4" in readouts(way="w4a4")[0]["message"]
    assert not readouts(way="w4a4", device="b200_sxm")[0].get("message")
    full, said = readouts(way="bf16", batch=1024, context=32_768)
    assert "does not fit" in full["message"] and not said


def test_runs_are_those_in_memory_and_the_drawing_names_peaks():
    assert {run.case["kernel"] for run in page.ran()} >= {"numba-int4", "torch-int8"}
    assert 1 < page.faster("numba", "int4").si < page.faster("torch", "int4").si
    assert "9 PFLOP/s" in drawings.way_of_a_weight().html
