"""Section 4.8: making scales, packing them, and multiplying them in."""

import pytest

from stacklib.kernels.scaled.fused_quantization import quantizing_share
from stacklib.pages.kernels import feed
from stacklib.pages.kernels import scaled as page
from stacklib.pages.kernels.scaled import drawings, figures, live

from ...programs import loop_of

loop = loop_of("04-kernels/scaled")


@pytest.mark.parametrize(("reads", "copies"), [(1, 1), (1, 2), (2, 2)])
def test_the_loop_is_the_package(
    reads: int, copies: int, capsys: pytest.CaptureFixture[str]
):
    program = loop().replace("= 1, 1", f"= {reads}, {copies}")
    exec(program, {})
    for one in capsys.readouterr().out.splitlines():
        columns, said = one.removeprefix("columns ").split(": ")
        mine = page.share(int(columns), reads=reads, copies=copies).si
        assert float(said.rstrip("%")) == pytest.approx(100 * mine, abs=0.06)


def test_the_napkin_is_the_package():
    ratio = page.quantizing_of_one() / page.product_of_one()
    assert ratio.si == pytest.approx(page.share().si)
    assert page.rule_of_thumb().si == pytest.approx(0.412, abs=1e-3)


def test_the_share_is_nearly_that_of_an_h100():
    assert quantizing_share("h100_sxm", 2048).si == pytest.approx(
        page.share().si, rel=0.02
    )


def test_fusing_moves_fewer_bytes_for_the_same_products():
    apart, fused = page.layer(False), page.layer(True)
    assert sum(s.macs for s in apart) == sum(s.macs for s in fused)
    assert page.layer_bytes(True).si < 0.75 * page.layer_bytes(False).si
    assert page.layer_time(True).si < page.layer_time(False).si


def test_packing_comes_back_and_fractions_are_the_unit():
    assert page.layout_agrees() == (True, True)
    assert page.fractions_agree()
    assert page.offset(37).si == page.offset(5).si + page.BLOCKS


def test_the_formula_foretells_what_the_unit_loses():
    for every in page.INTERVALS[1:]:
        assert page.foretold(every) == pytest.approx(page.lost(every), rel=0.05)
    losses = [page.lost(n) for n in page.INTERVALS]
    assert losses == sorted(losses) and losses[-1] > 100 * losses[2]
    assert page.on_cores(32).si == pytest.approx(4 * page.on_cores(128).si)
    for device in (page.HOPPER, page.BLACKWELL):
        told = page.told_on_cores(device).si
        assert page.on_cores(32, device).si == pytest.approx(told, rel=0.11)


def test_scales_take_what_the_prompt_gains():
    peak, fp8, apart = (page.spent(w).si for w in ("peak", "product", "quantize"))
    wide = feed.spent("all").si
    assert 2 * peak == pytest.approx(feed.spent("peak").si, rel=1e-3)
    assert peak < fp8 < fp8 + apart < wide
    assert all(0.8 < row["ratio"].si < 1.25 for row in page.beside())


def test_the_drawing_and_the_figures_say_the_pages_numbers():
    found = drawings.packed_scales()
    assert all(page.offset(row).text() in found.html for row in (5, 37, 101))
    assert len(figures.promotion_spec()["marks"]) == 3
    for way, (reads, copies) in live.WAYS.items():
        shown = live.explore(device="b200_sxm", columns=2048, way=way, reached=100)
        (said,) = shown["readouts"]
        assert said["text"] == page.share(reads=reads, copies=copies).text("%")
