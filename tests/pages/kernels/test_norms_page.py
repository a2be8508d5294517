"""Section 4.3: bytes of a norm as calls and as one kernel, and the page's loop."""

import pytest

from stacklib.kernels.rows.norms import layernorm_bytes, unmasked_variance
from stacklib.pages.gpu.simt import series
from stacklib.pages.kernels import norms as page
from stacklib.pages.kernels.norms import calls, claims, drawings, live
from stacklib.quantity import UnknownName


def test_the_fault_by_kernel_and_by_formula():
    assert claims.variance(False) == pytest.approx(unmasked_variance(1, 1, 768, 1024))
    assert claims.variance(True) == pytest.approx(1, abs=1e-5)


def test_calls_by_table_by_graph_and_by_hand():
    rows, columns = page.ROWS, page.width()
    apart = calls.cut(rows, columns, fused=False)
    assert apart.launches == 8
    table = sum(row["reads"].si + row["writes"].si for row in page.call_rows())
    whole = apart.fused_bytes / (rows * columns)
    assert table == pytest.approx(whole, rel=1e-3) == 36  # 2+4 4+4 4 4+4 4+2 2+2
    one = calls.cut(rows, columns, fused=True)
    assert one.launches == 1 and one.unfused_bytes == apart.unfused_bytes
    # As the room has it for a layer norm, which has a bias besides the weight.
    assert one.fused_bytes == layernorm_bytes(rows, columns, 2) - 2 * columns


def test_the_tile_machine_asks_for_what_the_graph_says():
    error, _ = page.ran(64, 768)
    assert error < 2e-6
    assert page.asked(64, 768)["store"] == 64 * 768 * 4
    # Every program asks for the weight, which all but the first find in L2.
    assert page.asked(64, 768)["load"] == 2 * 64 * 768 * 4
    assert page.ran(64, 768)[1].levels.read == 64 * 768 * 4 + 768 * 4


def test_a_step_is_starts_and_a_prompt_is_bytes():
    starts = page.norms() * page.start()
    assert page.step(fused=True).si == pytest.approx(starts.si, rel=0.04)
    assert 7.5 < page.step(fused=False).si / page.step(fused=True).si < 8
    assert page.time(fused=False).si / page.time(fused=True).si > 8.9
    assert page.time(fused=True).si > 15 * page.arithmetic().si
    assert page.even().si * page.row().si == pytest.approx(page.start().si)


def test_work_and_depth_are_counted():
    for row in page.primitive_rows():
        assert row["work"].si == row["counted"].si, row["primitive"]
        assert row["depth"].si == row["barriers"].si, row["primitive"]
    assert 2 ** page.levels().si == page.width()


def test_five_kernels_have_one_speed():
    low, high = page.ends()
    assert high.si / low.si < 1.02
    assert len(page.series_rows()) == 5
    for row in page.series_rows():
        assert row["clock"].si == pytest.approx(row["published"].si, rel=0.25)


def test_the_drawings_say_what_was_computed():
    found = drawings.lanes_beyond_a_row().html
    assert page.lanes().text(None, 4) in found and "1.333" in found
    assert page.levels().text() in drawings.sum_as_a_tree().html


def test_the_live_figure_is_the_page():
    given = {c["name"]: c["value"] for c in live.controls()}
    said = {r["name"]: r["text"] for r in live.explore(**given)["readouts"]}
    one = page.time(fused=True) + page.start()
    assert said["one"] == one.text("us")
    narrow = live.explore(**{**given, "columns": 768, "rows": 1})
    assert "its start" in narrow["title"]
    said = {r["name"]: r["text"] for r in narrow["readouts"]}
    assert (said["idle"], said["variance"]) == ("25 %", "1.333")


def test_a_kernel_that_was_not_timed_has_no_rate_by_the_clock():
    assert page.clock("rms_naive").kind == "counted"
    with pytest.raises(UnknownName, match="did you mean: rms_naive"):
        series.by_clock(page.ONE_ROW, "rms_naiv")
