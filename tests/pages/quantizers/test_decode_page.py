"""Section 7.6: bytes and peaks by width, published products, the page's loop."""

from functools import partial

import pytest

from stacklib.pages.quantizers import decode as page
from stacklib.pages.quantizers.decode import drawings, live
from stacklib.quantizers import SCHEMES
from stacklib.roofline import decode_step

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
def test_in_bf16_it_is_chapter_ones_step(batch: int):
    mine = page.step("bf16", 4096, batch).si
    theirs = decode_step("llama-3-70b", on="h100_sxm", tp=8, batch=batch, context=4096)
    assert mine == pytest.approx(theirs.time.si, rel=1e-3)


def test_bits_are_those_of_the_schemes():
    for way, scheme in (
        ("w8a8", "fp8_128x128"),
        ("w4a16", "int4_g128"),
        ("w4a4", "nvfp4"),
    ):
        assert page.WAYS[way].bits == pytest.approx(SCHEMES[scheme].bits)


def test_a_gain_ends_where_products_bind():
    gains = [page.gain("w4a16", 1024, b).si for b in (1, 64, 512)]
    assert gains == sorted(gains, reverse=True)
    by_bytes, by_work = page.times("w4a16", 1024, 512)
    assert by_work.si > by_bytes.si
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
    assert "no room" in full["message"] and not said


def test_runs_are_those_in_memory_and_the_drawing_names_peaks():
    assert {run.case["kernel"] for run in page.ran()} >= {"numba-int4", "torch-int8"}
    assert 1 < page.faster("numba", "int4").si < page.faster("torch", "int4").si
    assert "9 PFLOP/s" in drawings.way_of_a_weight().html
