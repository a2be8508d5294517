"""Section 7.8: windows of loss scales, the page's scaler, and stored runs."""

import re

import pytest

from stacklib.pages.quantizers import training as page
from stacklib.pages.quantizers.training import drawings, figures
from stacklib.plots import spec as grammar
from stacklib.quantizers import Format
from stacklib.tinylm.low_precision import runs

from ...programs import loop_of

loop = loop_of("07-quantizers/training")


def test_the_loops_scale_is_that_of_the_classifier():
    source = loop().replace("range(1, 401)", f"range(1, {runs.STEPS + 1})")
    calm: dict[str, object] = {}
    exec(source.replace("1e-3", "1e-9"), calm)
    assert calm["scale"] == page.last_scale()


def test_the_loop_comes_back_from_an_infinity():
    told = loop.prints()
    left_out = [int(n) for n in re.findall(r"step (\d+): left out", told)]
    assert 300 in left_out and len(left_out) >= 2
    assert "left out" not in loop.prints('"fp16"', '"bf16"')


def test_no_gradient_at_the_logits_is_a_number_of_fp16():
    half, bf16 = Format("fp16"), Format("bf16")
    found = page.gradients()
    assert page.mean_over().si == runs.MEAN_OVER
    assert max(found) <= 1 / runs.MEAN_OVER
    assert all(half.decode(half.encode(g)) == 0 for g in found)
    assert all(bf16.decode(bf16.encode(g)) > 0 for g in found)
    scaled = [half.decode(half.encode(g * 2.0**page.FIRST)) for g in found]
    assert sum(s > 0 for s in scaled) > 0.99 * len(scaled)


def test_a_window_is_wider_with_more_exponents():
    e4m3, e5m2, fp16 = (page.window(f).si for f in ("e4m3fn", "e5m2", "fp16"))
    assert 0 < e4m3 < e5m2 < fp16
    assert page.works("bf16") == [page.SWEPT[0], page.SWEPT[-1]]
    spec = figures.scales_spec(title="Windows.")
    grammar.check(spec)
    by_name = {m["name"]: m for m in spec["marks"]}
    assert by_name["E4M3"]["y"] == page.sweep("e4m3fn")


def test_stored_runs_are_read_as_they_stand():
    for run in page.RUNS.values():
        low, mean, high = (page.behind(run, e).si for e in ("low", "mean", "high"))
        assert low < mean < high
        assert mean == pytest.approx(runs.behind(run)[-1][1], rel=1e-9)
    assert page.trained("int2").si < page.once("int2").si < page.control("int2").si
    assert page.trained("int4").si < page.control("int4").si < page.once("int4").si
    assert page.adapted("base").si < page.adapted("before").si


@pytest.mark.parametrize("rank", [16, 64])
def test_the_parts_of_a_step_add_up(rank):
    total = sum(part.si for part in page.grouped(rank).values())
    assert total == pytest.approx(page.memory(rank).total.si)


def test_the_drawings_have_every_format_and_every_part():
    line = drawings.where_gradients_lie()
    assert all(name in line.alt for name in page.FORMATS.values())
    parts = drawings.memory_in_parts()
    assert all(name in parts.alt for name in page.grouped(64))
