"""The text of an exercise, the stub derived from it, and its wrong answers."""

import ast
import re
from pathlib import Path

import pytest

from stacklib import grading
from stacklib.grading import FormatError, outline, view
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
TOLD = 4 * 0.25
half = 0.5


# how it is done
@cache
def secret(n):
    return n * half


class Desk:
    clock = 1


def test_f():
    'What is asked.'
    right = secret(4)
    µ = 2 * math.pi
    if f(2) != TOLD:
        raise expect.Mistake("twice")
    for desk, wanted in ((Desk(), 3), (Desk(), 4)):
        mine = expect.call(f, {"n": desk})
        expect.number(mine, wanted)
        expect.reading("mine", mine)
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


def test_f():
    'What is asked.'
    ...
    for desk, wanted in ...:
        mine = expect.call(f, {"n": desk})
        expect.number(mine, ...)
        ...
    expect.number(f(4), ..., unit="µs", rel=0.1)
    expect.function_matches(
        f,
        ...,  # secretly
        CASES,
    )

    ...

    expect.number(f(3), ...)
"""


def test_of_the_tests_that_is_shown_which_tells_nothing():
    answer = 'def f():\n    """Doc."""\n    return 1\n\n\n'
    shown = outline.tests_in_view(grading.parse(HEAD + answer + TESTS))
    assert shown.split("kept back.\n\n")[1] == SHOWN


def constants(tree: ast.AST) -> dict[str, object]:
    """What literals and their arithmetic come to, by their text."""
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, (ast.Constant, ast.BinOp, ast.UnaryOp)):
            text = ast.unparse(node)
            if not outline.names_in(node) and not any(
                isinstance(n, ast.Call) for n in ast.walk(node)
            ):
                found[text] = eval(text)
    return {k: v for k, v in found.items() if isinstance(v, (int, float, str))}


def expected(text: grading.Text) -> set[object]:
    """The literals that calls of tests compare with, and those that have a name."""
    tree = ast.parse(text.tests)
    sides: list[ast.AST] = []
    named: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            named |= {n for side in node.comparators for n in outline.names_in(side)}
        if isinstance(node, ast.Call) and len(node.args) > 1:
            if getattr(node.func, "attr", "") in outline.COMPARES:
                sides.append(node.args[1])
                named |= outline.names_in(node.args[1])
    held = [n for n in tree.body if isinstance(n, ast.Assign)]
    sides += [n.value for n in held if outline.bound_by(n) & named]
    sides += [v for side in sides if isinstance(side, ast.Dict) for v in side.values]
    whole = [constants(side).get(ast.unparse(side)) for side in sides]
    return {value for value in whole if value is not None}


def test_no_copy_shows_what_is_expected():
    shown = (ast.For, ast.Assign, ast.Expr)
    for exercise in grading.discover(BOOK):
        text, stub = exercise.text(), exercise.stub()
        tree = ast.parse(outline.tests_in_view(text))
        seen = {ast.unparse(n) for n in ast.walk(tree) if isinstance(n, ast.Call)}
        for test in (n for n in tree.body if isinstance(n, ast.FunctionDef)):
            assert test.name.startswith("test_"), (exercise.id, test.name)
            for node in ast.walk(test):
                assert not isinstance(node, ast.Lambda), exercise.id
                if isinstance(node, ast.stmt) and node is not test:
                    assert isinstance(node, shown), (exercise.id, ast.unparse(node))
        assert not [call for call in seen if "mistakes=" in call], exercise.id
        # What the question gives is no secret, nor are the numbers of every exercise.
        known = f"{text.question} {text.head} {stub.partition(view.TESTS)[0]}"
        secret = {
            v
            for v in expected(text)
            if not (isinstance(v, int) and abs(v) <= 64)
            and (not isinstance(v, str) or len(v) > 1)
            and str(v) not in known
        }
        told = {k: v for k, v in constants(tree).items() if v in secret}
        assert not told, (exercise.id, told)
        assert "hint:" not in stub and text.hint not in stub


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
    assert grading.parse(wrong).tests == outline.tests_in_view(text)


ANSWER = """\
# ---- your answer ----

def f(n):
    for i in range(n):
        n += i
    return n

def g(n):
    return n
"""


@pytest.mark.parametrize(
    ("edits", "old", "new"),
    [
        ("-        n += i\n+        n -= i", "n += i", "n -= i"),
        (" def g(n):\n-    return n\n+    pass", "):\n    return n", "):\n    pass"),
        ("-        n += i\n\n def g(n):\n+    n = 2", "        n += i\n", ""),
    ],
)
def test_a_wrong_answer_may_be_the_lines_that_differ(edits, old, new):
    (one,) = other_answers(f"# ---- a: b\n{edits}\n", "x", ANSWER)
    wanted = ANSWER.partition("\n")[2].replace(old, new)
    if "n = 2" in edits:
        wanted = wanted.replace("def g(n):\n", "def g(n):\n    n = 2\n")
    assert one.code == wanted


@pytest.mark.parametrize(
    ("edits", "times"), [("-    return n\n+    return 1", 2), ("-    return m", 0)]
)
def test_lines_that_do_not_name_one_place_are_refused(edits, times):
    with pytest.raises(FormatError, match=f"x: a: stands {times} times"):
        other_answers(f"# ---- a: b\n{edits}\n", "x", ANSWER)


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


def test_a_hint_says_what_the_question_does_not():
    def words(text: str) -> set[str]:
        return set(re.findall(r"[a-z0-9]{4,}", text.lower()))

    for exercise in grading.discover(BOOK):
        text, asked = exercise.text(), words(exercise.stub().partition(view.TESTS)[0])
        hint = words(text.hint)
        assert len(hint & asked) <= 0.75 * len(hint), (exercise.id, hint - asked)
        pieces = re.split(r"[.?:;]", " ".join(text.question.split()))
        assert not [
            p for p in pieces if len(p) > 40 and p in " ".join(text.hint.split())
        ]
