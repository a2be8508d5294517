"""Section 6.14: the page's loop, tokens in stages, schedules counted and in form."""

import pytest

from stacklib.interconnect.pipelines.order import pipeline
from stacklib.interconnect.pipelines.run import run_pipeline
from stacklib.pages.interconnect import pipelines as page
from stacklib.pages.interconnect.pipelines import drawings, live, runs

from ...programs import loop_of

loop = loop_of("06-interconnect/pipelines")


def test_the_loop_is_the_package():
    for line in loop.prints().splitlines():
        schedule, words = line.replace(",", "").split(": ")
        run = run_pipeline(pipeline(8, 32, schedule))
        _, step, _, bubble = words.split()
        assert float(step) == run.time
        assert float(bubble) == pytest.approx(run.bubble, abs=1e-4)
    further = loop.prints("range(stages, 0, -1)", "range(2 * stages, 0, -2)")
    assert further == loop.prints()
    slower = loop.prints("took[kind]", "took[kind] * (1.3 if s == 7 else 1)")
    for line in slower.splitlines():  # rounds of three, as the page's form has them
        step = float(line.split()[2].rstrip(","))
        assert step == pytest.approx(3 * page.rounds(page.slow()).si, abs=0.1)


def test_stages_that_differ_are_dealt_as_their_authors_did():
    assert (page.dealt("the first").si, page.dealt("an inner").si) == (7, 8)
    assert page.dealt("the last").si == 7
    assert page.rounds(page.slow()).si == pytest.approx(32 * 1.3 + 7)
    assert page.alike().si == pytest.approx(32 * (1 + page.closed("1F1B").si))
    assert page.dual().si < page.closed("1F1B, chunks").si


def test_a_token_reads_the_whole_model_one_gpu_at_a_time():
    whole = page.stages().si * page.stage().si
    assert whole < page.token().si < 1.02 * whole
    assert 7 < page.slower().si < 8
    assert page.filled().si == pytest.approx(8 * page.in_turn().si)
    assert page.together().si > 7 * page.filled().si


def test_schedules_wait_as_the_forms_say():
    for name in page.SCHEDULES:
        assert page.waits(name).si == pytest.approx(page.closed(name).si, abs=1e-9)
        assert page.held(name).si == page.held_closed(name)
    order = ["ZB-H2", "ZB-H1", "1F1B, chunks", "1F1B"]
    waits = [page.closed(name).si for name in order]
    assert waits == sorted(waits)
    assert page.memory("GPipe").si == pytest.approx(4 * page.memory("1F1B").si)


def test_sending_costs_1f1b_more():
    plain = page.closed("1F1B").si
    gpipe, ours = (page.waits(n, page.SEND).si for n in ("GPipe", "1F1B"))
    assert plain < gpipe < ours


def test_a_wrong_order_is_told_as_the_page_tells_it():
    told = page.wrong_order()
    for stage, other in ((0, 1), (1, 2)):
        assert f"stage {stage} waits with backward of microbatch 0 for" in told
        assert f"of stage {other}" in told
    assert "stage 2 waits with backward of microbatch 0 for forward" in told


def test_the_published_gain_is_that_of_the_defaults():
    assert page.seen().si == pytest.approx(page.gain().si, rel=0.03)
    assert page.gain(page.MICROBATCHES).si < 1.11 < page.seen().si


def test_the_live_figure_and_the_drawings():
    given = {c["name"]: c["value"] for c in live.controls()}
    assert live.explore(**given)["title"].startswith("1F1B: waiting is 38 %")
    shown = live.explore(**given | {"schedule": "zb-h2", "chunks": 2})
    assert "without chunks" in shown["title"]
    assert float(shown["readouts"][1]["text"].split()[0]) == 0
    for words in drawings.SCHEDULES:
        ahead, rest = drawings._run(words)
        slots = [len(a | b) for a, b in zip(ahead, rest, strict=True)]
        slow = {36} if words == drawings.LAST else set()
        assert set(slots) == {24} | slow
        assert max(max(r) for r in rest) < drawings.SLOTS
    for made in (drawings.lanes(), drawings.who_reads()):
        assert len(made.html) < 90_000


def test_runs_over_processes_are_those_of_one_stage():
    assert runs.loss_off().si < 1e-6
    for id in runs.NAMES:
        case = runs.cases()[id]
        assert case["kept_bytes"] == case["told"]["kept_bytes"], id
    kept = [runs.seen(id, "kept").si for id in ("gpipe-1-8", "1f1b-1-8")]
    assert kept[0] == 4 * kept[1]
    assert runs.half_off().si < runs.most_off().si < 0.3


def test_the_last_stage_is_slow_and_the_form_does_not_know():
    assert runs.part(1).si > 1.2 * runs.part(0).si
    plain = runs.PLAIN
    assert runs.formed(plain).si == 1 / 8
    assert runs.seen(plain, "bubble").si > 1.5 * runs.formed(plain).si
    assert runs.gain().si > 1
