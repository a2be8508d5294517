"""A table that is one case fails where one of its rows does, and says which."""

import json

import pytest

from . import rows

pytest_plugins = ["pytester"]

TABLE = """
import pytest
from hypothesis import given, strategies as st

rows = pytest.mark.rows

@rows("n", [1, 2, 3])
@rows("text, more", [("a", 0), ("b", 1)])
def test_two_fail(n, text, more, tmp_path):
    assert (n, text) not in {(1, "b"), (3, "a")}

@rows("n", [1, 2])
def test_one_is_skipped(n):
    if n == 2:
        pytest.skip("two")

@rows("n", [1, 2])
def test_none_can_run(n):
    pytest.importorskip("no_such_package")

@rows("n", [1, 0])
@given(drawn=st.integers(1, 9))
def test_a_property(n, drawn):
    assert n * drawn

@pytest.mark.parametrize("power", [1, 2])
@rows(("n", "m"), [(1, 1), (2, 4)])
def test_beside_other_marks(n, m, power):
    assert n**power <= m
"""


def test_each_row_that_fails_is_named_and_the_rest_pass(pytester):
    pytester.makepyfile(TABLE)
    told = pytester.runpytest_inprocess("-rf", "-p", "no:xdist", plugins=[rows])
    named = {line.split("]")[0] for line in told.outlines if "SUBFAILED" in line}
    wanted = ("text='b', more=1, n=1", "text='a', more=0, n=3", "n=0")
    assert named == {f"SUBFAILED[{row}" for row in wanted}
    # Failed are two cases and their three rows.
    told.assert_outcomes(passed=3, failed=5, skipped=1)


LONG = """
import pytest

tried = []

@pytest.mark.rows("n", range(100), drawn=7)
def test_some(n):
    tried.append(n)

def test_how_many():
    print(f"tried={tried}")
"""


def test_some_of_a_long_table_are_drawn_by_the_tree(pytester, monkeypatch):
    pytester.makepyfile(LONG)

    def tried(*options):
        options = ("-s", "-p", "no:xdist", *options)
        told = pytester.runpytest_inprocess(*options, plugins=[rows])
        (line,) = (x for x in told.outlines if "tried=" in x)
        return json.loads(line.partition("tried=")[2].split("]")[0] + "]")

    assert tried() == list(range(100))
    few = tried("-m", "not slow")
    assert len(set(few)) == 7 and few == sorted(few) == tried("-m", "not slow")
    monkeypatch.setattr(rows, "sources", lambda: "another tree")
    assert tried("-m", "not slow") != few


def test_a_table_without_rows_is_refused(pytester):
    text = 'import pytest\n@pytest.mark.rows("n", [])\ndef test(n): pass'
    pytester.makepyfile(text)
    told = pytester.runpytest_inprocess("-p", "no:xdist", plugins=[rows])
    told.assert_outcomes(errors=1)
    told.stdout.fnmatch_lines("*no row of n: a table without rows tests nothing*")


def test_what_is_taken_or_refused_in_other_words_fails():
    refused = rows.refusals(("x", "invalid"), by=int)
    refused(("x",), "invalid literal")
    with pytest.raises(pytest.fail.Exception, match="DID NOT RAISE"):
        refused(("1",), "invalid literal")
    with pytest.raises(AssertionError, match="not match"):
        refused(("x",), "too large")
