"""Factor trees with known answers, and what they count twice."""

import math
import random
from fractions import Fraction
from functools import reduce

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stacklib.cost.spans import Span
from stacklib.frontier import factors
from stacklib.frontier.factor_tree import Factor, drawn, generation, thirty, twice
from stacklib.quantity import Quantity, UnitError, chosen

ENDS = st.tuples(st.floats(0.01, 100), st.floats(1, 10)).map(
    lambda p: (p[0], p[0] * p[1])
)
TREES = st.recursive(
    ENDS,
    lambda below: st.one_of(
        st.lists(below, min_size=1, max_size=3),
        st.dictionaries(st.sampled_from("abc"), below, min_size=1, max_size=3),
    ),
    max_leaves=8,
)


def multiplied(tree) -> tuple[float, float]:
    """Both ends, by plain recursion."""
    if isinstance(tree, tuple):
        return tree
    parts = [*map(multiplied, tree.values() if isinstance(tree, dict) else tree)]
    return math.prod(p[0] for p in parts), math.prod(p[1] for p in parts)


@given(TREES)
def test_any_tree_is_the_product_of_its_ends(tree):
    found = factors(tree)
    assert (found.low.si, found.high.si) == pytest.approx(multiplied(tree))


@given(TREES, st.integers(0, 1000))
def test_no_draw_leaves_the_product(tree, seed):
    found, value = factors(tree), drawn(tree, random.Random(seed))
    assert found.low.si * (1 - 1e-9) <= value <= found.high.si * (1 + 1e-9)


@pytest.mark.parametrize(
    ("tree", "low", "high"),
    [
        ({"chip": (3, 5), "link": (2, 3), "fp4": (2, 3)}, 12, 45),
        ((3, 5), 3, 5),
        ([np.int64(3), np.float32(5)], 3, 5),
        ([3, 5, 2], 30, 30),
        (7, 7, 7),
        ([(1, 2)], 1, 2),
        ({"a": {"b": {"c": (0.5, 1)}}}, 0.5, 1),
        ({"a": Span(chosen(2), chosen(4)), "b": chosen(200, "%")}, 4, 8),
        (Factor([(1, 2), 3], of=("x",)), 3, 6),
        ({"a": Fraction(1, 2), "1.5x, " + "." * 60: (1, Fraction(3, 2))}, 0.5, 0.75),
        ([1.0] * 300, 1, 1),
    ],
)
def test_known_answers(tree, low, high):
    found = factors(tree)
    assert (found.low.si, found.high.si) == pytest.approx((low, high))


def test_thirty_counts_fp4_twice_and_is_nine_to_twenty_without():
    told, once = factors(thirty()), factors(thirty(once=True))
    assert (told.low.si, told.high.si) == (12, 45)
    assert twice(thirty()) == {"fp4": ["chip", "FP4"]} and twice(thirty(True)) == {}
    assert 9 < once.low.si < 9.3 and 20 < once.high.si < 21
    assert chosen(30) in told and chosen(30) not in once


def test_rubin_over_b200_from_the_rows():
    """Dense over dense: 50 PFLOP/s of an announcement is no dense rate."""
    found = {name: each.low.si for name, each in generation().items()}
    assert found["HBM"] == pytest.approx(2.8, rel=0.03)
    assert found["link"] == pytest.approx(2)
    assert 3.4 < found["fp4"] < 4 < 50 / 9
    assert found["bf16"] < 2 < found["fp8"]


@pytest.mark.parametrize(
    ("tree", "says"),
    [
        ({}, "tree = {}: no factor"),
        ([], r"tree = \[\]: no factor"),
        ({"a": {"b": []}}, r"tree\.a\.b = \[\]"),
        ({"a": (5, 3)}, r"tree\.a = \(5, 3\): ends run"),
        ({"a": 0}, r"tree\.a = 0"),
        ({"a": (-1, 2)}, r"tree\.a = -1"),
        ([1, True], r"tree = True"),
        ({"a": math.nan}, "tree.a = nan"),
        ({"a": (1, math.inf)}, "tree.a = inf"),
        ({"a": "3"}, "tree.a = '3'"),
        (None, "tree = None"),
        ({"a": 10**400}, "within every float"),
        (np.array([2, 3]), "one number"),
        ({"a": {2, 3}}, r"tree\.a = \{2, 3\}"),
        ({"a": 1e200, "b": 1e200}, "2 factors multiply beyond every float"),
        ({"a": 1e-200, "b": 1e-200}, "2 factors multiply beyond every float"),
        ([1.0] * 301, "300 factors at most"),
        (reduce(lambda below, _: [below, below], range(60), (1, 2)), "at most"),
        (reduce(lambda below, _: Factor(below), range(5000), 2), "50 levels deep"),
    ],
)
def test_what_is_no_factor_is_named(tree, says):
    with pytest.raises(ValueError, match=says):
        factors(tree)


def test_a_factor_has_no_unit():
    with pytest.raises(UnitError, match=r"tree\.time = .*a ratio"):
        factors({"time": Quantity(3, "ms")})


def test_a_tree_that_holds_itself_has_no_product():
    tree: list = []
    tree.append(tree)
    for asked in (factors, twice, lambda tree: drawn(tree, random.Random(0))):
        with pytest.raises(ValueError, match="50 levels deep"):
            asked({"a": tree})


def test_a_cause_is_counted_where_it_is_named_lowest():
    one, two = Factor(2, "fp4"), Factor((1, 2), ("fat", "fat"))
    assert one.of == ("fp4",) and twice({"a": one, "b": two}) == {}
    assert twice({"a": Factor({"b": one}, ("fp4",))}) == {}
    both = {"a": Factor({"b": one, "c": [one]}, ("fp4", "x"))}
    assert twice(both) == {"fp4": ["a.b", "a.c.0"]}
