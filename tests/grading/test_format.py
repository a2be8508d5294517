"""The text of an exercise, the stub derived from it, and its wrong answers."""

import ast

import pytest

from stacklib import grading
from stacklib.grading import FormatError
from stacklib.grading.format import wrong_answers

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


def test_a_stub_differs_only_in_the_bodies(checkout):
    stub = grading.stub(checkout.file.read_text())
    assert "trick" not in stub and "that is all" not in stub
    body = "    # the whole trick\n    return BYTES / 2\n    # and that is all\n"
    blank = '    raise NotImplementedError("write read_time")\n'
    assert stub == checkout.file.read_text().replace(body, blank)


def test_a_stub_of_a_stub_is_the_stub(checkout):
    stub = grading.stub(checkout.file.read_text())
    assert grading.stub(stub) == stub


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
    bits, ways = wrong_answers(WRONG)
    assert (bits.name, bits.diagnosis) == ("bits", "8 times the answer")
    assert (ways.name, ways.diagnosis) == ("2_ways", "You multiplied")
    assert bits.code.startswith("import math") and "40.0" in bits.code
    assert "20.0" not in bits.code and "a comment of its own" in ways.code


def test_a_wrong_answer_holds_only_what_differs(checkout):
    text = grading.parse(checkout.file.read_text())
    wrong = text.with_wrong(grading.Wrong("x", "y", "def read_time():\n    return 1\n"))
    assert "BYTES = 10" in wrong and wrong.index("return 1\n") > wrong.index(
        "BYTES / 2"
    )
    names: dict = {}
    exec(grading.parse(wrong).answer, names)
    assert names["read_time"]() == 1
    assert grading.parse(wrong).tests == text.tests


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("bits: 8 times the answer", "bits", "' bits' is not|# ---- bits' is not"),
        ("bits: 8", "two words: 8", "is not '# ---- name: diagnosis'"),
        ("# ---- bits: 8", "# bits: 8", "begins without"),
        ("2_ways", "bits", "two wrong answers are called 'bits'"),
    ],
)
def test_a_wrong_answer_without_name_or_diagnosis_is_refused(old, new, message):
    assert old in WRONG
    with pytest.raises(FormatError, match=f"wrong/01_x.py: .*({message})"):
        wrong_answers(WRONG.replace(old, new), "wrong/01_x.py")
