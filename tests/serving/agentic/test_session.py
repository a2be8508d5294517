"""A session's waits: a document's sum, what the engine finds again, and bad turns."""

from __future__ import annotations

import math

import pytest

from stacklib.quantity import Quantity
from stacklib.serving import estimate, machine_share, session
from stacklib.serving.agentic.session import WHOSE, Turn, components, told
from stacklib.serving.engine.dry import DryRun


def test_the_document_sums_up():
    found = session(told())
    # 5 x 0.4 + 2,000 x 0.03 + 4 x 0.5 + 10 x 0.1
    sums = {"network": 1, "prefill": 2, "decode": 60, "tools": 2}
    assert {what: found.time(what).si for what in WHOSE} == pytest.approx(sums)
    assert found.total.si == pytest.approx(65)
    assert (found.computed(), found.computed(found=False)) == (58_000, 271_000)


def test_parts_follow_one_another_and_nothing_is_no_part():
    found = session(told())
    assert len(found.parts) == 19  # no tool after the last answer
    for left, right in zip(found.parts, found.parts[1:], strict=False):
        assert right.start == pytest.approx(left.start + left.time.si)
    shares = machine_share(found.steps)
    assert shares.length.si == pytest.approx(found.total.si)
    tools = sum(shares.seconds[n].si for n in shares.path if shares.whose[n] == "cpu")
    assert tools / shares.length.si == pytest.approx(found.share("tools").si)
    assert shares.share("cpu").si == pytest.approx(2 / 64)


def test_a_model_is_asked_where_turns_bring_no_times():
    turns = [Turn(8000, 100, 0.5, 0.1), Turn(9000, 100, 0.5, 0.1)]
    again = session(turns, "llama-3-70b", "h100", tp=8)
    anew = session(turns, "llama-3-70b", "h100", tp=8, found=False)
    first, second = (p.time.si for p in again.parts if p.what == "prefill")
    assert second < first / 4  # a thousand of nine thousand are new
    prompts = [p.time.si for p in anew.parts if p.what == "prefill"]
    assert prompts[0] == first < prompts[1]
    # The first of a hundred tokens comes with the prompt.
    step = estimate("llama-3-70b", "h100", tp=8, context=8000, prompt=8000, new=100)
    writing = next(p.time.si for p in anew.parts if p.what == "decode")
    assert writing == pytest.approx(99 * step.tpot.si)
    assert isinstance(again.total, Quantity)


def test_a_turn_that_writes_nothing_only_reads():
    read = session([Turn(8000, 0)], "llama-3-70b", "h100", tp=8)
    assert [part.what for part in read.parts] == ["prefill"]
    assert read.time("decode") == read.time("tools") == 0


def test_the_engine_finds_what_the_sum_leaves_out():
    contexts = [48, 80, 96, 160]
    run = DryRun(blocks=64, block_size=16, max_batch=1, chunk=64)
    computed = 0
    for context in contexts:
        asked = run.submit(range(context), most=1)
        while run.busy:
            run.step()
        computed += context - asked.cached
    turns = [Turn(each, 0, prefill=1.0, token=0.0) for each in contexts]
    assert session(turns).computed() == computed == 160


@pytest.mark.parametrize(
    ("turns", "words"),
    [
        ([], "no turns"),
        ([Turn(9, 1, prefill=1.0, token=1.0), Turn(8, 1)], "holds the one before"),
        ([Turn(9, 1)], "no times"),
        ([Turn(9, 1, prefill=1.0)], "together, or neither"),
        ([Turn(9, -1, prefill=1.0, token=1.0)], "written = -1"),
        ([Turn(-9, 1, prefill=1.0, token=1.0)], "context = -9"),
        ([Turn(True, 1, prefill=1.0, token=1.0)], "context = True"),
        ([Turn(1.5, 1, prefill=1.0, token=1.0)], "context = 1.5"),
        ([Turn(9, 1, math.nan, prefill=1.0, token=1.0)], "tools = nan"),
        ([Turn(9, 1, network=-1.0, prefill=1.0, token=1.0)], "network = -1.0"),
        ([Turn(9, 1, prefill=math.inf, token=1.0)], "prefill = inf"),
    ],
)
def test_bad_turns_are_refused(turns, words):
    with pytest.raises(ValueError, match=words):
        session(turns)


def test_the_sums_figures_lie_in_the_table():
    table, turn = components(), told()[0]
    assert turn.token in table["token"] and turn.prefill in table["prefill"]
    assert turn.tools in table["tool"]
