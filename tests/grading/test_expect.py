"""The helpers of tests: right answers pass, wrong ones are told apart."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
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
    "value",
    [
        21.1,
        21,
        21.1000001,
        Quantity(0.0211, "s"),
        Quantity(21100, "µs"),
        np.float32(21.1),
        np.int64(21),
        np.array(21.1),
        Fraction(211, 10),
        Decimal("21.1"),
    ],
)
def test_a_right_number_passes_in_any_kind(value):
    assert expect.number(value, RIGHT, unit="ms", rel=0.01) is None


@pytest.mark.parametrize(
    ("unit", "factor", "sentence"),
    [
        ("FLOP", 2, "twice the answer; a MAC is two FLOP"),
        ("FLOP/B", 0.5, "half the answer; a MAC is two FLOP"),
        ("GB/s", 2, "twice the answer; is one direction asked for"),
        ("GB/s", 0.5, "half the answer; is one direction asked for"),
        ("GB", 2, "42.2 GB: twice the answer."),
        ("ms", 2, "42.2 ms: twice the answer."),
        ("B", 8, "8 times the answer; a byte is eight bits"),
        ("FLOP/B", 1 / 8, "an eighth of the answer; a byte is eight bits"),
        ("ms", 8, "too large by a factor of about 8."),
        ("ms", 1e3, "1e3 times the answer; one step of the prefix ladder"),
        ("GB/s", 1e-3, "1e-3 of the answer; one step of the prefix ladder"),
        ("W", 1e6, "two steps of the prefix ladder (k, M, G, T) too many?"),
        ("ms", 1e-9, "three steps of the prefix ladder (k, M, G, T) too few?"),
        ("", 1e3, "too large by a factor of about 1000."),
        ("USD", 1e3, "too large by a factor of about 1000."),
        ("cycle", 1e12, "too large by a factor of about 1e12."),
        ("GB", 1.024**3, "7.4 % too large, as GiB and GB are apart"),
        ("GB/s", 1 / 1.024**3, "6.9 % too small, as GiB/s and GB/s are apart"),
        ("MB", 1.024**2, "4.9 % too large, as MiB and MB are apart"),
        ("ms", 1.024**3, "7.4 % too large."),
        ("%", 0.01, "a fraction, not a percentage?"),
        ("", 0.01, "too small by a factor of about 100."),
        ("ms", -1, "the sign"),
        ("ms", 1.3, "30 % too large"),
        ("ms", 0.8, "20 % too small"),
        ("ms", 3.7, "too large by a factor of about 3.7"),
        ("ms", 1 / 42, "too small by a factor of about 42"),
        ("ms", 0, "off by 21.1"),
    ],
)
def test_a_slip_is_guessed_only_where_the_unit_admits_it(unit, factor, sentence):
    assert sentence in told(21.1 * factor, 21.1, unit)


@pytest.mark.parametrize(
    ("value", "expected", "sentence"),
    [
        (0.5, 0.005, "100 times the answer; a percentage where a fraction"),
        (96, 12, "96: too large by a factor of about 8."),
        (24, 12, "24: twice the answer."),
        (13, 12, "13: one too many."),
        (11, 12, "11: one too few."),
        (-12, 12, "-12: the sign is turned round."),
        (1 / 12, 12, "too small by a factor of about 144."),
        (1, 0, "off by 1"),
        (2, 1, "twice the answer"),
        (3, 0, "off by 3"),
    ],
)
def test_a_count_is_off_by_a_count(value, expected, sentence):
    assert sentence in told(value, expected, "", rel=1e-9)


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


def test_whether_flop_are_carried_as_a_unit_is_free():
    for value, unit in ((3, "FLOP/B"), (3, "1/B"), (0.375, "FLOP/bit")):
        expect.number(Quantity(value, unit), 3, unit="FLOP/B")
    for value in (Quantity(3, "FLOP"), Quantity(3, "1"), Quantity(300, "%")):
        expect.number(value, 3)
    for value in (Quantity(3, "B"), Quantity(3, "FLOP/B")):
        with pytest.raises(Mistake, match="a number is asked for"):
            expect.number(value, 3)


PAIR = (1, "a")


@pytest.mark.parametrize("value", [PAIR, [*PAIR], iter(PAIR), np.array(PAIR, "O")])
def test_a_list_is_right_in_any_kind(value):
    assert expect.sequence(value, "a pair", 2) == [1, "a"]


@pytest.mark.parametrize(
    "value", [None, 3, "ab", {1: 2}, {1, 2}, [1], [1, 2, 3], np.array(3)]
)
def test_what_is_no_pair_is_said(value):
    with pytest.raises(Mistake, match="a pair is asked for"):
        expect.sequence(value, "a pair", 2)


def test_whole_numbers_and_truths_in_any_kind():
    assert [expect.whole(x) for x in (3, 3.0, np.int8(3), Fraction(3))] == [3] * 4
    assert [expect.truth(x) for x in (True, np.True_, 1)] == [True] * 3
    for f, value in [(expect.whole, 3.5), (expect.whole, None), (expect.truth, "yes")]:
        with pytest.raises(Mistake, match="is asked for"):
            f(value)
    expect.equal(np.str_("memory"), "memory")
    expect.equal([1, 2.0], (1, 2))
    for value in ([1], "12", {1: 2}, np.array([[1], [2]])):
        with pytest.raises(Mistake):
            expect.equal(value, (1, 2))


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


def test_a_mistake_has_to_explain_every_case_that_fails():
    cases = [{"n": n} for n in (2, 3)]
    known = {"You squared.": lambda n: n * n}
    for answer, words in [(lambda n: n + 2, "one too many"), (lambda n: n**2, "You")]:
        with pytest.raises(Mistake, match=f"gives 4: {words}"):
            expect.function_matches(answer, lambda n: n + 1, cases, mistakes=known)


def test_a_case_is_not_spoiled_by_a_list_that_is_emptied():
    def emptied(items):
        total = sum(items)
        items.clear()
        return total

    case = {"items": [1, 2]}
    expect.function_matches(emptied, lambda items: sum(items), [case, case])


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
