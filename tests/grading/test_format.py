"""The text of an exercise, the stub derived from it, and its wrong answers."""

import ast
from pathlib import Path

import pytest

from stacklib import grading
from stacklib.grading import FormatError, view
from stacklib.grading.format import other_answers
from stacklib.grading.view import copy_of

BOOK = Path(__file__).parents[2]
HEAD = '''"""T.

level: build

Q.

hint: H.
"""

# ---- your answer ----

'''
TAIL = "\n\n# ---- tests ----\n\n\ndef test_f():\n    assert f()\n"


def test_a_text_is_taken_apart_and_joins_again(checkout):
    source = checkout.file.read_text()
    text = grading.parse(source)
    assert text.source == source
    assert text.title == "The time of a read."
    assert (text.level, text.project) == ("estimate", ("P1.1", "P1.3"))
    assert text.question == "Suppose 10 GB and 2 GB/s.\n\nHow long?"
    assert text.hint == "Divide."
    assert text.answer_names == ("read_time",)
    assert text.test_names == ("test_read_time",)


def test_a_stub_loses_bodies_and_imports_and_what_would_tell(checkout):
    stub = grading.stub(checkout.file.read_text())
    assert "trick" not in stub and "that is all" not in stub
    assert 'BYTES = 10\n\n\ndef read_time():\n    """Seconds' in stub
    assert '    raise NotImplementedError("write read_time")\n' in stub
    assert "import" not in stub.split("# ---- your answer")[0]
    tests = stub[stub.index("def test_read_time") :]
    assert "5.0" not in tests and "multiplied" not in tests
    assert "read_time()," in tests and 'unit="s"' in tests and "...," in tests


TESTS = """\
# ---- tests ----

import math

CASES = [{"n": n} for n in (1, 2)]
half = 0.5


# how it is done
@cache
def secret(n):
    return n * half


class Desk:
    clock = 1


def test_f():
    right = secret(4)
    µ = 2 * math.pi
    expect.number(f(4), right + 1, unit="µs", mistakes={"x": secret(1)}, rel=0.1)
    expect.function_matches(
        f,
        lambda n: n * 3,  # secretly
        CASES,
        mistakes={
            "You added, secretly.": lambda n: n + 3,
        },
    )

    def secretly(n):
        return n

    expect.number(f(3), secret)
"""

SHOWN = """\
CASES = [{"n": n} for n in (1, 2)]


class Desk:
    clock = 1


def test_f():
    right = ...
    µ = ...
    expect.number(f(4), ..., unit="µs", rel=0.1)
    expect.function_matches(
        f,
        ...,  # secretly
        CASES,
    )


    expect.number(f(3), secret)
"""


def test_of_the_tests_that_is_shown_which_tells_nothing():
    answer = 'def f():\n    """Doc."""\n    return 1\n\n\n'
    shown = view.tests_in_view(grading.parse(HEAD + answer + TESTS))
    assert shown.split("kept back.\n\n")[1] == SHOWN


def test_no_exercise_shows_a_helper_or_a_mistake():
    for exercise in grading.discover(BOOK):
        text = exercise.text()
        tree = ast.parse(view.tests_in_view(text))
        defined = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)]
        methods = [n for c in tree.body if isinstance(c, ast.ClassDef) for n in c.body]
        tests = [n for n in defined if n.name.startswith("test_")]
        assert len(tests) + len(methods) >= len(defined), exercise.id
        calls = [n for n in ast.walk(tree) if isinstance(n, ast.Call)]
        names = {k.arg for call in calls for k in call.keywords}
        assert "mistakes" not in names, exercise.id
        assert not [n for n in ast.walk(tree) if isinstance(n, ast.Lambda)]


def test_methods_and_several_functions_are_emptied():
    answer = (
        'class Cache:\n    def get(self, key):\n        """Get."""\n'
        "        secret = 1\n        return secret\n\n\n"
        'def f(\n    a,\n    b=2,\n):\n    """Two\n\n    lines."""\n    secret = a\n'
    )
    stub = grading.stub(HEAD + answer + TAIL)
    ast.parse(stub)
    assert "secret" not in stub
    assert 'NotImplementedError("write Cache.get")' in stub
    assert 'lines."""\n    raise NotImplementedError("write f")' in stub


def test_a_docstring_alone_is_a_body_too():
    stub = grading.stub(HEAD + 'def f():\n    """Doc."""\n' + TAIL)
    assert '"""Doc."""\n    raise NotImplementedError("write f")\n' in stub


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("# ---- tests ----", "# tests", "stands 0 times"),
        ("# ---- tests ----", "# ---- tests ----\n# ---- tests ----", "stands 2 times"),
        ("level: build", "level: hard", "level 'hard' is not one of estimate"),
        ("\nhint: H.", "", "no hint"),
        ("\nQ.\n", "", "no question"),
        ('    """Doc."""\n', "", "f has no docstring on lines of its own"),
        ("def f():", "x = 1\n\n\ndef f(:", "the answer region"),
        ("def test_f():", "def test_f(:", "outside the answer region"),
    ],
)
def test_a_text_without_the_shape_is_refused(old, new, message):
    text = HEAD + 'def f():\n    """Doc."""\n    return 1\n' + TAIL
    assert old in text
    with pytest.raises(FormatError, match=message):
        grading.stub(text.replace(old, new), "01_x.py")


def test_an_answer_region_without_function_has_no_stub():
    with pytest.raises(FormatError, match="no function between"):
        grading.stub(HEAD + "x = 1\n" + TAIL)


WRONG = """\
# ---- bits: 8 times the answer
import math


def read_time():
    return 40.0


# ---- 2_ways: You multiplied
def read_time():
    # a comment of its own
    return 20.0
"""


def test_wrong_answers_are_told_apart_by_name_and_diagnosis():
    bits, ways = other_answers(WRONG)
    assert (bits.name, bits.words) == ("bits", "8 times the answer")
    assert (ways.name, ways.words) == ("2_ways", "You multiplied")
    assert bits.code.startswith("import math") and "40.0" in bits.code
    assert "20.0" not in bits.code and "a comment of its own" in ways.code


def test_a_wrong_answer_holds_only_what_differs(checkout):
    text = grading.parse(checkout.file.read_text())
    wrong = copy_of(text, "def read_time():\n    return 1\n")
    assert "BYTES = 10" in wrong and wrong.index("return 1\n") > wrong.index(
        "BYTES / 2"
    )
    names: dict = {}
    exec(grading.parse(wrong).answer, names)
    assert names["read_time"]() == 1
    assert grading.parse(wrong).tests == view.tests_in_view(text)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("bits: 8 times the answer", "bits", "' bits' is not|# ---- bits' is not"),
        ("bits: 8", "two words: 8", "is not '# ---- name: words'"),
        ("# ---- bits: 8", "# bits: 8", "begins without"),
        ("2_ways", "bits", "two answers are called 'bits'"),
    ],
)
def test_a_wrong_answer_without_name_or_diagnosis_is_refused(old, new, message):
    assert old in WRONG
    with pytest.raises(FormatError, match=f"wrong/01_x.py: .*({message})"):
        other_answers(WRONG.replace(old, new), "wrong/01_x.py")
