"""A table that is one case fails where one of its rows does, and says which."""

import pytest

from .rows import rows

pytest_plugins = ["pytester"]

TABLE = """
import pytest
from hypothesis import given, strategies as st
from tests.rows import rows

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
@given(st.integers(1, 9))
def test_a_property(n, drawn):
    assert n * drawn

@pytest.mark.parametrize("power", [1, 2])
@rows("n", [1, 2])
@pytest.mark.filterwarnings("error")
def test_beside_other_marks(n, power):
    assert n**power < 5
"""


def test_each_row_that_fails_is_named_and_the_rest_pass(pytester):
    pytester.makepyfile(TABLE)
    told = pytester.runpytest("-rA", "-p", "no:cacheprovider", "-p", "no:xdist")
    named = {line.split("]")[0] for line in told.outlines if "SUBFAILED" in line}
    wanted = ("n=1, text='b', more=1", "n=3, text='a', more=0", "n=0")
    assert named == {f"SUBFAILED[{row}" for row in wanted}
    told.assert_outcomes(passed=3, skipped=1, failed=5)  # two cases, their three rows


def test_a_table_without_rows_is_refused():
    with pytest.raises(AssertionError, match="no row of a, b"):
        rows("a, b", [])
