"""The helpers of tests: right answers pass, wrong ones are told apart."""

import math

import pytest

from stacklib.grading import expect
from stacklib.grading.expect import ExpectationError, Mistake
from stacklib.quantity import Quantity

RIGHT = Quantity(21.1, "ms")


def told(value, expected=RIGHT, unit="ms", **options) -> str:
    with pytest.raises(Mistake) as caught:
        expect.number(value, expected, unit=unit, **options)
    return str(caught.value)


@pytest.mark.parametrize(
    "value", [21.1, 21, Quantity(0.0211, "s"), Quantity(21100, "µs"), 21.1000001]
)
def test_a_right_number_passes_in_any_unit(value):
    assert expect.number(value, RIGHT, unit="ms", rel=0.01) is None


@pytest.mark.parametrize(
    ("factor", "sentence"),
    [
        (2, "twice the answer"),
        (0.5, "half the answer"),
        (8, "8 times the answer; a byte is eight bits"),
        (1 / 8, "an eighth"),
        (1e3, "1000 times"),
        (1e-3, "a thousandth"),
        (1e6, "a million times"),
        (1e-9, "three prefix steps too few"),
        (1.024**3, "from GB to GiB"),
        (1 / 1.024**3, "from GiB to GB"),
        (1.024**2, "from MB to MiB"),
        (100, "a percentage where a fraction"),
        (0.01, "a fraction where a percentage"),
        (-1, "the sign"),
        (1.3, "30 % too large"),
        (0.8, "25 % too small"),
        (3.7, "too large by a factor of about 3.7"),
        (1 / 42, "too small by a factor of about 42"),
        (0, "off by 21.1"),
    ],
)
def test_a_slip_is_known_by_its_ratio(factor, sentence):
    assert sentence in told(21.1 * factor)


def test_the_reciprocal_is_known():
    assert "upside down" in told(1 / 21.1)


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        (None, "nothing came back"),
        (math.nan, "nan is no answer"),
        (-math.inf, "-inf is no answer"),
        ("21.1", "'21.1' is of type str"),
        (True, "True is of type bool"),
        ([21.1], "[21.1] is of type list"),
        (21.1j, "21.1j is of type complex"),
        (Quantity(21.1, "GB"), "a number in ms is asked for"),
        ("x" * 10_000, "..."),
    ],
)
def test_what_is_no_number_is_said_clearly(value, sentence):
    message = told(value)
    assert sentence in message
    assert len(message) < 300


def test_a_known_mistake_comes_before_the_general_slip():
    known = {"You forgot the second chip.": 2 * RIGHT}
    message = told(42.2, mistakes=known)
    assert message == "42.2 ms: You forgot the second chip."


def test_a_mistake_that_gives_the_right_answer_is_the_tests_fault():
    with pytest.raises(ExpectationError, match=r"gives the right answer: no mistake"):
        expect.number(1.0, RIGHT, unit="ms", mistakes={"no mistake": 21.15})


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        ("compute", "'compute' is not the answer"),
        ("both", "one of 'memory', 'compute'"),
        (None, "nothing came back"),
    ],
)
def test_a_word_must_be_the_right_one(value, sentence):
    expect.equal("memory", "memory", among=("memory", "compute"))
    with pytest.raises(Mistake, match=sentence):
        expect.equal(value, "memory", among=("memory", "compute"))


def test_true_is_not_one():
    expect.equal(1, 1)
    with pytest.raises(Mistake):
        expect.equal(True, 1)


def test_a_function_is_shown_its_first_failing_case():
    def area(width, height):
        return width * height if height < 3 else width + height

    cases = [{"width": 2, "height": h} for h in (1, 2, 5, 9)]
    expect.take_readings()
    with pytest.raises(Mistake) as caught:
        expect.function_matches(
            area,
            lambda width, height: width * height,
            cases,
            unit="m2",
            mistakes={"You added.": lambda width, height: width + height},
        )
    assert str(caught.value) == "area(width=2, height=5) gives 7 m2: You added."
    assert expect.take_readings() == ["cases that agree: 2 of 4"]


def test_a_function_that_breaks_names_its_case():
    with pytest.raises(ZeroDivisionError) as caught:
        expect.function_matches(lambda n: 1 / n, lambda n: n, [{"n": 0}])
    assert caught.value.__notes__ == ["in <lambda>(n=0)"]


def test_no_cases_is_the_tests_fault():
    with pytest.raises(ExpectationError, match="no cases"):
        expect.function_matches(float, float, [])


def test_refusing_is_raising_the_right_error():
    def half(n):
        if n == 2:
            raise ValueError("no")
        if n == 3:
            raise NotImplementedError("write half")
        return n / 2

    expect.refuses(half, {"n": 2}, because="2 is taken")
    with pytest.raises(Mistake, match=r"half\(n=4\) gives 2\.0; .* 4 is taken"):
        expect.refuses(half, {"n": 4}, because="4 is taken")
    with pytest.raises(NotImplementedError):
        expect.refuses(half, {"n": 3}, because="3 is taken")


def test_readings_are_taken_once():
    expect.take_readings()
    expect.reading("bank conflicts", 31)
    expect.reading("bandwidth", 3.35, "TB/s")
    assert expect.take_readings() == ["bank conflicts: 31", "bandwidth: 3.35 TB/s"]
    assert expect.take_readings() == []
