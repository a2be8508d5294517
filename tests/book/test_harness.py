"""The page's Python, run outside a browser."""

import json
import runpy
from pathlib import Path

import pytest

HARNESS = Path(__file__).parents[2] / "book" / "_static" / "harness.py"


@pytest.fixture(scope="module")
def harness():
    return runpy.run_path(str(HARNESS))


def run(harness, code):
    return json.loads(harness["run"](code))


def test_a_program_shows_its_prints_and_its_last_value(harness):
    assert run(harness, "print('a')\n1 + 1") == {"output": "a\n2\n", "error": ""}


def test_a_program_starts_without_the_names_of_the_one_before(harness):
    run(harness, "left = 1")
    assert "NameError" in run(harness, "left")["error"]


def test_an_error_shows_the_readers_lines_and_keeps_what_was_printed(harness):
    told = run(harness, "def f(x):\n    return 1 / x\nprint('before')\nf(0)")
    assert told["output"] == "before\n"
    assert told["error"].splitlines() == [
        "line 4: f(0)",
        "line 2: return 1 / x",
        "ZeroDivisionError: division by zero",
    ]


def test_a_syntax_error_names_its_line(harness):
    error = run(harness, "x = 1\nprint(x")["error"]
    assert error.startswith("line 2: print(x") and "SyntaxError" in error


def test_leaving_the_program_is_an_error_not_an_end_of_the_page(harness):
    assert run(harness, "raise SystemExit(3)")["error"].endswith("SystemExit: 3")


def test_a_call_passes_values_by_name(harness):
    told = json.loads(
        harness["call"]("textwrap:shorten", '{"text": "a b", "width": 9}')
    )
    assert told == {"value": "a b"}


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("no_such_module:f", "ModuleNotFoundError"),
        ("math:nothing", "AttributeError"),
        ("math:sqrt", "TypeError"),
    ],
)
def test_a_failed_call_is_told_in_words(harness, target, message):
    assert message in json.loads(harness["call"](target, '{"x": 1}'))["error"]


def test_a_value_that_is_not_finite_is_refused(harness):
    told = json.loads(harness["call"]("json:loads", '{"s": "NaN"}'))
    assert "ValueError" in told["error"]
