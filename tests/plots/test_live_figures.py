"""Every live figure of the book: the page's own test, all its steps, no NumPy."""

import html
import itertools
import json
import random
import re
import subprocess
import sys
from functools import cache

import pytest

from stacklib import plots
from stacklib.evidence import guard

from ..live_figures import ask, figures, values
from ..rows import sources
from ..test_plain_python import PROLOGUE

LIVE = figures()
each = pytest.mark.rows("figure", LIVE)


@cache
def show(figure):
    return plots.live(
        call=figure.call, controls=figure.controls, name=figure.name, alt="an explorer"
    )


def some(steps, most):
    """Evenly spread, both ends with them."""
    last, most = len(steps) - 1, min(len(steps), most)
    return [steps[round(i * last / max(most - 1, 1))] for i in range(most)]


def test_every_page_with_a_live_figure_is_found():
    assert len(LIVE) >= 23 and all(figure.controls for figure in LIVE)


def in_the_page(figure):
    """Its test is what the function says, and the page holds all that was made."""
    found = show(figure)
    page = found.html
    test = json.loads(html.unescape(re.search(r'data-test="([^"]*)"', page)[1]))
    assert test == found.test
    control = next(c for c in figure.controls if c["name"] == test["control"])
    steps, ahead = values(control), test["keys"][0] in ("ArrowRight", "ArrowDown")
    to = steps[steps.index(control["value"]) + (1 if ahead else -1)]
    _, texts = ask(figure.function, figure.controls, **{control["name"]: to})
    assert texts[test["readout"]] == test["text"]
    name = figure.name
    assert f'id="live-{name}"' in page and f'id="fig-{name}"' in page
    script = re.search(r"<script[^>]*>(.*?)</script>", page, re.S)[1]
    assert json.loads(script) == json.loads(json.dumps(figure.controls))
    assert all(html.escape(r["text"]) in page for r in found.spec["readouts"])
    bundle = found._repr_mimebundle_()
    assert guard.faults([bundle[guard.MIME]]) == []


@pytest.mark.rows("figure", LIVE, drawn=10)
def test_the_page_of_a_figure(figure):
    """Its notebook draws each anew as well, and compares it with what is stored."""
    in_the_page(figure)


@pytest.mark.slow
@each
def test_the_page_of_every_figure(figure):
    in_the_page(figure)


@pytest.mark.rows("figure", LIVE, drawn=5)
def test_a_figure_is_the_same_whenever_it_is_shown(figure):
    again = show.__wrapped__(figure)._repr_mimebundle_()
    assert again == show(figure)._repr_mimebundle_()


def draw(figure, most):
    """So many values of every control, and about as many corners, each state once."""
    steps = {c["name"]: values(c) for c in figure.controls}
    start = {c["name"]: c["value"] for c in figure.controls}
    states = [
        start | {name: value}
        for name, all_of_it in steps.items()
        for value in some(all_of_it, most)
    ]
    corners = list(itertools.product(*((v[0], v[-1]) for v in steps.values())))
    for corner in corners[:: len(corners) // most + 1]:
        states.append(dict(zip(steps, corner, strict=True)))
    for state in {tuple(state.items()): state for state in states}.values():
        ask(figure.function, figure.controls, **state)


@pytest.mark.rows("figure", LIVE, drawn=16)
def test_ends_and_corners_draw_and_pass_the_guard(figure):
    draw(figure, 3)


@pytest.mark.slow
@each
def test_more_steps_draw_and_pass_the_guard(figure):
    draw(figure, 8)


BLOCKED = """
import json
from importlib import import_module
for call, start in json.load(sys.stdin).items():
    module, _, name = call.partition(":")
    try:
        assert getattr(import_module(module), name)(**start)
    except Exception as error:
        print(call, repr(error))
from stacklib import plots
assert callable(plots.live) and plots.roofline_spec(["h100"], title="t")
try:
    plots.figure
except ImportError:
    print("plain")
"""


def test_the_browser_needs_the_plain_python_core_alone(unpacked, pytestconfig):
    few = random.Random(sources()).sample(LIVE, len(LIVE) // 3)
    shown = few if pytestconfig.option.markexpr == "not slow" else LIVE
    starts = {f.call: {c["name"]: c["value"] for c in f.controls} for f in shown}
    code = PROLOGUE.format(root=unpacked) + BLOCKED
    run = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code],
        input=json.dumps(starts),
        capture_output=True,
        text=True,
    )
    assert run.stdout == "plain\n", run.stderr
