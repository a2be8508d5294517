"""Section 8.10: the page's loop, its napkin, its table and its claims."""

import pytest

from stacklib.pages.serving import layouts as page
from stacklib.pages.serving.layouts import claims, drawings, figures
from stacklib.plots import spec as grammar
from stacklib.serving import search

from ...programs import loop_of

loop = loop_of("08-serving/layouts")


def best(text):
    rate, chips, batch = text.strip().splitlines()[-1].strip("()").split(",")
    return float(rate), int(chips), int(batch)


def test_the_loop_finds_what_the_package_does():
    rate, chips, batch = best(loop.prints())
    found = page.layout(page.ONE)
    assert (chips, batch) == (found.pool.tp, found.pool.batch)
    assert rate == pytest.approx(found.tokens_per_gpu)


def test_a_stricter_promise_turns_the_winner():
    _, chips, batch = best(loop.prints('"tpot": 0.05', '"tpot": 0.03'))
    case = {"gpus": page.GPUS, "on": page.DEVICE, "traffic": (page.PROMPT, page.NEW)}
    found = search(page.MODEL, **case, slo={"ttft": 2.0, "tpot": 0.03})
    row = next(row for row in found.kept if row.kind == page.ONE)
    assert (chips, batch) == (row.pool.tp, row.pool.batch) and chips == 8


def test_the_napkin_is_the_search():
    assert page.by_hand().si == pytest.approx(page.of("tokens_per_gpu", page.ONE).si)
    step, prompt = page.part("step").si, page.part("prompt").si
    batch = page.of("batch", page.ONE).si
    told = step + (batch - 1) / page.NEW * prompt
    assert told == pytest.approx(page.of("tpot", page.ONE).si)


def test_both_pools_are_busy_within_the_promise():
    assert 0 < page.busy().si < 1
    assert page.of("ttft", page.TWO).si <= page.LIMITS["ttft"]
    wait = page.busy().si * page.part("alone", 2).si / 2 / (1 - page.busy().si)
    assert page.of("ttft", page.TWO).si - wait == pytest.approx(
        page.part("alone", 2).si + 0.03, abs=0.01
    )


def test_the_best_row_is_first_and_machines_are_against_the_best():
    rates = [row["tokens a second a GPU"].si for row in page.rows()]
    assert rates == sorted(rates, reverse=True)
    others = [m for m in page.MACHINES if m != page.compared().best.device]
    for name in others:
        best_ = page.machine(page.compared().best.device).si
        assert page.machine(name, "apart").si == pytest.approx(
            best_ / page.machine(name).si
        )


def test_engines_have_figures_and_the_gain_is_of_the_medians():
    table = {row["engine"]: row for row in page.engine_rows()}
    assert set(table) == {"vLLM", "SGLang", "TensorRT-LLM", "TGI", "llama.cpp"}
    ratio = page.stands("vLLM").si / page.stands("TensorRT-LLM").si
    assert page.gain().si == pytest.approx(ratio - 1)
    assert f"{page.gain():.2 %} in their medians" in claims.over_vllm().why


def test_the_figure_hatches_what_is_refused():
    spec = figures.front_spec(title="t")
    grammar.check(spec)
    slow = next(m for m in spec["marks"] if m["name"] == "refused")
    assert max(slow["x"]) <= 1 / page.LIMITS["tpot"]
    assert drawings.eight_chips()
