"""Numbers, formulas and messages worked out by hand: one row, one rule."""

import operator

import numpy as np
import pytest

from stacklib.quantity import (
    Quantity,
    UnitError,
    UnknownName,
    assumed,
    chosen,
    counted,
    explain,
    resolve,
    runs,
)
from stacklib.quantity.bounds import at_least
from stacklib.quantity.helpers import log2, maximum, minimum, where
from stacklib.quantity.say import say
from stacklib.quantity.store import dump, load
from stacklib.quantity.told import refuse_bare, told
from stacklib.quantity.tree import formula, tree
from stacklib.quantity.units import canonical, format_number, parse

A, B, C, TWO = (Quantity(v, label=n) for n, v in zip("abc2", (5, 3, 2, 2), strict=True))


def test_comparisons_and_signs_are_pythons():
    for name in ("lt", "le", "gt", "ge", "eq", "ne"):
        test = getattr(operator, name)
        for other in (1, 2, 3):
            found = test(Quantity(2, "GB"), Quantity(other, "GB"))
            assert bool(found) is test(2, other), (name, other)
    assert A != "5" and A != None and not (A == "5" or A == None)  # noqa: E711
    for value in (-3.0, -0.5, 0.0, 0.5, 3.0):
        q = Quantity(value, "s")
        assert ((-q).si, abs(q).si, bool(q)) == (-value, abs(value), bool(value))
    assert abs(A) is A and sum([A, B]).si == 8 and (0 + A) is A and (1 + A).si == 6
    with pytest.raises(UnitError, match=r"1 \+ 2 GB: a plain number is not B"):
        1 + Quantity(2, "GB")


FORMULAS = [
    (lambda: (A + B) * C, "(a + b) × c", 16),
    (lambda: A + B * C, "a + b × c", 11),
    (lambda: A - (B - C), "a − (b − c)", 4),
    (lambda: A - B - C, "a − b − c", 0),
    (lambda: A / (B * C), "a / (b × c)", 5 / 6),
    (lambda: A / B * C, "a / b × c", 10 / 3),
    (lambda: A**2 * C, "a ^ 2 × c", 50),
    (lambda: (A + B) ** 2, "(a + b) ^ 2", 64),
    (lambda: maximum(A + B, C) * C, "max(a + b, c) × c", 16),
    (lambda: minimum(A, B, C), "min(a, b, c)", 2),
    (lambda: where(A > B, A, B) + C, "(a if a > b else b) + c", 7),
    (lambda: where(False, A, B), "a if the case chosen else b", 3),
    (lambda: A * 1.2345678, "a × 1.23457", 6.172839),
    (lambda: Quantity(6, "GB") / Quantity(2, "GB/s"), "6 GB / 2 GB/s", 3),
    (lambda: log2(C * C), "log2(c × c)", 2),
]


def test_formulas_have_the_brackets_they_need_and_come_back_from_a_file():
    for make, text, value in FORMULAS:
        q = make()
        assert formula(q)[0] == text and q.si == pytest.approx(value), text
        nodes, roots = dump({"q": q})
        again = load(nodes)[roots["q"]]
        assert (again.si, formula(again)[0]) == (q.si, text)
    twin, other = Quantity(5, label="a"), Quantity(7, label="a")
    assert [x.si for x in formula(A * twin + other)[1]] == [5, 7]
    assert tree(Quantity(123456789, "B"))["text"] == "123.456789 MB"
    assert tree(A / 3)["text"] == "1.667" and tree(A / 3)["value"] == 1.66667
    for none in (A - A, A - B - C, C - A):
        with pytest.raises(UnitError, match="positive"):
            log2(none)
    assert log2(Quantity(0.5)).si == -1
    rate = Quantity(2, "GB/s per_chip per_direction", label="x")
    assert explain(rate) == "x = 2 GB/s per_chip per_direction  (bare)"
    assert (
        (rate * Quantity(1, "s")).tags
        == {"per_chip"}
        == (1 * rate).tags - {"per_direction"}
    )


NUMBERS = {
    (0, 3): "0", (1234.5, 3): "1,230", (999.6, 3): "1,000", (0.00012345, 3): "0.000123",
    (1e-4, 3): "0.0001", (9.9e-5, 3): "9.9e-5", (1e15, 3): "1e15", (-2.5, 1): "-2",
    (9.99e14, 3): "999,000,000,000,000", (12.5, 4): "12.5", (1.0, 3): "1",
    (123456789, 15): "123,456,789", (6.02214e23, 4): "6.022e23",
}  # fmt: skip
TEXTS = {
    (1.5e-3, "s"): "1.5 ms", (7200, "s"): "7,200 s", (0.9996, "s"): "1 s",
    (0.9994, "s"): "999 ms", (2e12, "B"): "2 TB", (0.5, "B"): "0.5 B",
    (3e6, ""): "3 million", (999999.5, ""): "1,000,000", (2e12, ""): "2 trillion",
    (999999, ""): "999,999", (-65504, ""): "-65,504", (9216.5, ""): "9,220",
    (4e9, "FLOP/B"): "4,000,000,000 FLOP/B", (1e-12, "J"): "1 pJ",
}  # fmt: skip


def test_numbers_for_a_reader():
    for (value, digits), text in NUMBERS.items():
        assert format_number(value, digits) == text
    for (value, unit), text in TEXTS.items():
        assert Quantity(value, unit).text() == text
    assert Quantity(65504).text(digits=2) == "66,000"  # asked for
    assert Quantity(65504, "s").text() == "65,500 s"
    assert counted(len, range(9216)).text() == repr(chosen(9216)) == "9,216"
    assert Quantity(3e6).text(digits=6) == "3 million"
    assert Quantity(3e6).text(digits=7) == "3,000,000"
    for symbol in ("m/s2", "B*s/m", "1/s", ""):
        assert canonical(parse(symbol).dims).symbol == symbol


def test_messages_list_what_helps():
    few, many = ([f"n{i:02}" for i in range(n)] for n in (24, 25))
    for keys, known in [(few, "known: n00, n01, "), (many, "n02 and 22 more")]:
        with pytest.raises(UnknownName, match=known):
            resolve("", keys, "thing")
    with pytest.raises(UnknownName, match="could be several\ndid you mean: n00, n01"):
        resolve("n0", few, "thing")
    with pytest.raises(UnknownName, match=r"did you mean: a-long, so-long$"):
        resolve("long", ["a-long", "so-long", "lone"], "thing")
    with pytest.raises(UnknownName, match="known: abc, def"):
        resolve("zzz", ["def", "abc"], "thing")
    for wrong, says in {
        "Gb/s": "'Gb' in 'Gb/s' is ambiguous: use bit for bits",
        "TFLOPS": "ambiguous: use FLOP for work",
        "gb": "did you mean Gbit|did you mean GB",
        "GB per_chp": "did you mean per_chip",
    }.items():
        with pytest.raises(UnitError, match=says):
            Quantity(1, wrong)
    total = sum(Quantity(i, label=f"x{i}") for i in range(1, 7))
    with pytest.raises(ValueError, match="x1 = 1, x2 = 2, x3 = 3, x4 = 4: a typed"):
        refuse_bare("what", total)

    def run(value):
        return value

    calls = [counted(sum, [1] * n).label for n in (4, 5)]
    assert calls == ["sum([1, 1, 1, 1])", "sum(5 values)"]
    for length, shown in ((38, "x" * 38 + "'"), (39, "x" * 38 + "…")):
        assert counted(len, "x" * length).label == f"len('{shown})"
    assert counted(max, Quantity(3), 2.5).label == "max(3, 2.5)"
    assert counted(run, np.ones((2, 3)), take=np.sum).label == "sum(run(2×3 values))"
    assert counted(max, Quantity(2.5), 1).si == 2.5
    assert counted(run, Quantity(2, "kB")).unit == "kB"
    assert counted(run, Quantity(2, "kB"), unit="B").text() == "2 kB"


def test_words_of_evidence():
    spec, claim = (
        Quantity(2, "GB/s", label=k, kind=k, key=k) for k in ("spec", "claimed")
    )
    guess = assumed(2, "GB/s", label="guess", why="a guess")
    predicted = [Quantity(2, "GB") / spec, claim + guess, guess + spec]
    alone = [(spec / spec, "spec"), (claim / claim, "claimed"), (guess * 2, "assumed")]
    for q, word in [*alone, *((q, "predicted") for q in predicted)]:
        assert told(q) == word, formula(q)


def test_arrays_are_their_elements_and_digits_are_stored():
    x = np.array([1.0, 5.0])
    assert maximum(x, 3, 2).tolist() == [3, 5] and minimum(x, 3).tolist() == [1, 3]
    assert [where(c, x, 0).tolist() for c in (x > 3, True)] == [[0, 5], [1, 5]]
    assert (maximum(2, 7.5), minimum(2, 7.5), where(False, 1, 2)) == (7.5, 2, 2)
    assert maximum(2, np.float64(9)) == 9 and where(True, 1, A).si == 1
    at_least(0, a=np.array([]))
    for bad in (np.array([True]), np.array(["1"]), np.array([1j]), np.array([2, -1])):
        with pytest.raises(ValueError, match="from 0 up"):
            at_least(0, a=bad)
    q = chosen(5, label="q")
    said = say("t", x=q, y=(q, "what", "1", 2)).stored()["numbers"]
    assert "digits" not in said["t.x"] and said["t.y"]["digits"] == 2


def test_a_million_of_six_digits_is_short_of_digits():
    assert runs.counts(999_999.0) and runs.counts(1_234_567.0) and runs.counts(-7.0)
    assert not (runs.counts(1e6) or runs.counts(-1_234_560.0) or runs.counts(0.5))
