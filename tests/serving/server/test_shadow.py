"""The simulator beside a server: the same requests, both answers, and the page."""

import json
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from xml.etree import ElementTree

import pytest

from stacklib import tinylm
from stacklib.cli import main
from stacklib.serving import simulate
from stacklib.serving.engine.timed import Noted
from stacklib.serving.server import shadow, shadow_page
from stacklib.serving.simulation.pace import Pace
from stacklib.serving.simulation.steps import Work
from stacklib.serving.simulation.traffic import Row

from .served import asked, server

MODEL = tinylm.load("draft")
PACE = Pace((5.0, 0, 0, 0, 0, 0, 0), 0.8, 1.25, 256)
SIZES = {"blocks": 32, "max_batch": 2, "chunk": 16}


def told(address, path, body=None):
    method = "GET" if body is None else "POST"
    status, _, data = asked(address, method, path, body and json.dumps(body))
    assert status == 200, data
    return data


def test_a_server_shows_both():
    flags = "--model draft --max-batch 2 --chunk 16 --shadow"
    with server(flags) as (_, address):
        assert json.loads(told(address, "/shadow.json"))["requests"] == 0
        assert b"No request has ended yet" in told(address, "/shadow")
        body = {"model": "draft", "max_tokens": 20, "temperature": 0}
        asks = [body | {"prompt": f"Number {n} is"} for n in range(5)]
        with ThreadPoolExecutor(5) as threads:
            list(threads.map(partial(told, address, "/v1/completions"), asks))
        found = json.loads(told(address, "/shadow.json"))
        page = told(address, "/shadow").decode()
    assert found["requests"] == 5 and len(found["times"]) == 12
    assert found["steps_s"] > 0 and found["steps_timed"] >= 128
    assert 0.01 < found["steps_over_law"] < 100
    for row in found["times"]:
        assert row["measured_s"] > 0
        if row["predicted_s"]:
            assert row["low_s"] <= row["predicted_s"]
    svg = page[page.index("<svg") : page.index("</svg>") + 6]
    drawn = ElementTree.fromstring(svg)
    assert sum(each.get("class") == "seen" for each in drawn.iter("circle")) == 12
    assert "http" not in page and "5 requests" in page


def served(prompts, new):
    """An engine whose steps take five seconds each, and its window."""
    ticks = iter(range(10_000))
    engine = Noted(MODEL, block_size=16, clock=lambda: 1.0 * next(ticks), **SIZES)
    for prompt in prompts:
        engine.submit(prompt, tinylm.Sampling(0), most=new)
    while engine.busy:
        engine.step()
    return engine


def test_what_was_measured_is_what_the_engine_says():
    engine = served([[1, 2, 3], [4] * 20, [5]], 6)
    seen = shadow.window(engine)
    assert [(row.prompt, row.new) for row in seen.rows] == [(3, 6), (20, 6), (1, 6)]
    assert seen.times["itl"].total() == 3 * 5
    whole = {round(r.finished - r.arrived) for r in engine.requests.values()}
    assert {each // 10**9 for each in seen.times["e2e"]} == whole
    assert len(seen.steps) == engine.metrics().counts.steps == len(engine.made)
    assert sum(work.rows for work, _ in seen.steps) == engine.metrics().counts.rows


def test_who_still_runs_hides_those_who_came_later():
    engine = served([[1, 2, 3]], 2)
    engine.submit([5], tinylm.Sampling(0), most=30)
    engine.submit([6], tinylm.Sampling(0), most=1)
    for _ in range(3):
        engine.step()
    assert [row.id for row in shadow.window(engine).rows] == [0]


def test_texts_in_common_are_told_to_the_simulator():
    one, other = [7] * 40, [7] * 32 + [8] * 8
    found = shadow.shared([one, [1, 2], other, one])
    name = (7,) * 16
    assert found == [(name, 32), 0, (name, 32), (name, 32)]
    engine = served([one, other], 4)
    rows = shadow.window(engine).rows
    told = simulate(
        "draft",
        "this-machine",
        rows,
        dtype=None,
        scheduler="chunked",
        gap=PACE,
        **SIZES,
    )
    real = [engine.requests[n].cached for n in (0, 1)]
    assert [each.found for each in told.requests] == real


def test_an_overload_is_said_and_no_percentile():
    rows = [(n, n * 10**9, 4, 40) for n in range(40)]
    seen = shadow.Window(
        tuple(Row(*row) for row in rows), {}, ((Work(1, 9), 5.0),), 0.0
    )
    found = shadow.predict("draft", seen, PACE, SIZES)
    assert found["seconds"] is None and "utilisation" in found["why"]
    told = {
        "model": "<draft>",
        "requests": 40,
        "band": [0.8, 1.25],
        "steps_timed": 256,
        "steps_over_law": 1.0,
        "between_share": 0.0,
        "times": [shadow._row("ttft", 50, 2.0, None)],
        **found,
    }
    page = shadow_page.page(told)
    assert "No percentile is predicted" in page and "<draft>" not in page
    assert page.count('class="seen"') == 1 and 'class="interval"' not in page


@pytest.mark.parametrize(
    "words, says",
    [
        (["--shadow", "--role", "prefill"], "--shadow --role prefill"),
        (["--shadow", "--block-size", "8"], "--block-size 8: the simulator's have 16"),
    ],
)
def test_shadows_that_cannot_be_are_refused(words, says, capsys):
    assert main(["serve", "--port", "0", "--model", "draft", *words]) == 2
    assert says in capsys.readouterr().err
