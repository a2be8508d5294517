"""Figures that a writer types where a number should be computed."""

import ast

import pytest
from _tools import choices, written

from stacklib import hardware
from stacklib.quantity import chosen, say

from .test_choices import stored_cell


def found(rule, source):
    """What a rule names in a source."""
    return [text for _, text in rule(ast.parse(source))]


def test_no_page_cell_or_command_tells_a_figure_that_it_types():
    assert [*written.faults()] == []


def test_no_rate_and_no_exact_time_or_price_is_chosen(numbers):
    cells = {id(number.cell): number.cell for number in numbers.values()}
    assert [*choices.rates(cells.values())] == []


# A writer's ways to tell a result in words; and what words may hold.
TOLD = [
    "say('t', a=(a, 'Time over the roofline, 4.53 times'))",
    "d.line('busy 71 %', bold=True)",
    "chart('H100: 712 TFLOP/s at most', x=x)",
    "label = 'three times as fast'",
    "d.text(f'{chip}: 4.53x')",
    "plots.table(rows, caption='It draws 412.5 W.')",
    "x = axis('share, 0.87 of it')",
]
SPELLED = [
    "d.line(f'{4.53} times as fast')",
    "label = f'{chip}: {0.871:.0%} of its time'",
    "title = '%s times as fast' % 4.53",
    "title = '{} times as fast'.format(4.53)",
    "title = str(4.53) + ' times as fast'",
]
LEFT = ["f'{gain.text()} times'", "f'{gain:.3} times'", "'%s times' % gain", "3.2 + x"]
SAID = [
    "'''At most 4.53 times.'''\nx = 3",
    "def f():\n    '''4.53 times.'''\n    'as an expression: 9 %'\n",
    "say('t', a=(a, 'Tokens of 64 sequences'))",
    "d.line('busy ', share, ' of the time')",
    "chart(f'{rate.text()} at most', x=x)",
    "'H100, bf16'",
    "'95 % interval of it'",
]


@pytest.mark.rows("source", TOLD)
def test_a_result_in_words_is_named(source):
    assert len(found(written.words, source)) == 1


@pytest.mark.rows("source", SPELLED)
def test_a_result_put_together_of_words_and_a_typed_number_is_named(source):
    assert found(written.words, source) == []
    told = written.results(written.spelled(ast.parse(source)))
    assert len([*told]) == 1


@pytest.mark.rows("source", LEFT)
def test_a_number_that_a_model_made_is_left_in_its_words(source):
    assert [*written.results(written.spelled(ast.parse(source)))] == []


@pytest.mark.rows("source", SAID)
def test_words_without_a_result_are_left_alone(source):
    assert found(written.words, source) == []


POINTS = [
    ("line(x, [3.1, 4.53], 'model', 'predicted')", True),
    ("Y = [3.1, 4.53]\nline(X, Y, 'model', 'simulated')", True),
    ("dots([1, 2], (312, 402), 'run', 'simulated')", True),
    ("line([0, last], [mean, mean], 'model', 'predicted')", False),
    ("line(ENDS, ENDS, 'as measured', 'predicted')", False),
    ("line(x, [0, 1], 'bound', 'predicted')", False),
    ("line(x, [f(n) for n in x], 'model', 'predicted')", False),
]
LIVE = [
    ("counted(4530, 'cycles')", True),
    ("counted(CYCLES, 'cycles')", True),
    ("chosen(int(RATE), 'B', 'bytes')", True),
    ("counted(run.cycles, 'cycles')", False),
    ("chosen(batch, label='batch')", False),
    ("counted(0, 'what will do')", False),
]


@pytest.mark.rows(("source", "typed"), POINTS)
def test_typed_points_of_a_prediction_are_named(source, typed):
    assert bool(found(written.points, source)) == typed


@pytest.mark.rows(("source", "typed"), LIVE)
def test_a_figure_that_no_control_moves_is_named(source, typed):
    assert bool(found(written.given, source)) == typed


def test_a_figure_in_the_help_of_a_command_is_named(monkeypatch):
    monkeypatch.delitem(written.HELP, "16KiB")
    assert {told.split()[0] for told in written.helps()} == {"collective"}


RATES = [
    (chosen(712, "TFLOP/s", "what it does"), True),
    (chosen(512, "W", "limit"), True),
    (chosen(4.53, "ms", "a step"), True),
    (chosen(3.07, "USD/h", "rent"), True),
    (chosen(2, "USD/h", "rent"), False),
    (chosen(30, "s", "a checkpoint"), False),
    (chosen(4096, label="tokens"), False),
    (hardware.get("h100-sxm").memory_bandwidth, False),
]


@pytest.mark.rows(("number", "typed"), RATES)
def test_a_rate_that_is_chosen_is_named(number, typed):
    assert bool([*choices.rates([stored_cell(say("t", a=number))])]) == typed
