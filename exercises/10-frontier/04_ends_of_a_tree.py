"""What does a tree of factors multiply to, and what does it count more than once?

level: estimate

A gain is told as a tree. A factor is a pair `(least, most)`, or a mapping of names to
factors, whose product it is. Suppose `causes` says for some names what is behind them,
such as `{"chip": ["silicon", "FP4"], "FP4": ["FP4"]}`.

- `least(tree)`, `most(tree)`: the ends of the product.
- `shared(causes)`: how many causes stand behind more than one factor.

Ends that run downwards, such as `(5, 3)`, and ends that are not above zero are no
factor: raise `ValueError`. Then move the sliders of *Do gains multiply?* to the factors
of a slide that you were shown, and say what it counts again.

hint: A product is largest where each of its factors is. A cause that one factor names
again is still behind one factor.
"""

import math
from functools import partial

from stacklib.grading import expect

# ---- your answer ----


def ends(tree):
    """Both ends of the product."""
    if isinstance(tree, dict):
        pairs = [ends(factor) for factor in tree.values()]
        return tuple(map(math.prod, zip(*pairs, strict=True)))
    low, high = tree
    if not 0 < low <= high:
        raise ValueError(f"({low}, {high}): from a least above zero to a most")
    return low, high


def least(tree):
    """The lower end."""
    return ends(tree)[0]


def most(tree):
    """The upper end."""
    return ends(tree)[1]


def shared(causes):
    """Causes behind more than one factor."""
    named = [cause for of in causes.values() for cause in set(of)]
    return sum(named.count(cause) > 1 for cause in set(named))


# ---- tests ----

TREES = [
    {"tree": {"chip": (3, 5), "NVLink": (2, 3), "FP4": (2, 3)}},
    {"tree": {"chip": {"silicon": (2.2, 2.3), "FP4": (1.5, 2)}, "NVLink": (2, 2)}},
    {"tree": {"a": {"b": {"c": (0.5, 1.5)}}, "d": (4, 4)}},
    {"tree": (3, 7)},
]
CAUSES = [
    {"causes": {"chip": ["silicon", "FP4"], "NVLink": ["links"], "FP4": ["FP4"]}},
    {"causes": {"chip": ["silicon", "silicon"], "FP4": ["FP4"]}},
    {"causes": {"a": ["x", "y"], "b": ["y", "x"], "c": ["x"]}},
]


def leaves(tree):
    """All pairs, wherever they hang."""
    if not isinstance(tree, dict):
        return [tree]
    return [pair for factor in tree.values() for pair in leaves(factor)]


def product(tree, take):
    """One number of each pair, multiplied."""
    return math.prod(map(take, leaves(tree)))


def twice(causes, seen=set):
    """Causes whose factors are more than one."""
    every = [cause for of in causes.values() for cause in seen(of)]
    return len({cause for cause in every if every.count(cause) > 1})


def test_ends():
    for f, take in ((least, min), (most, max)):
        told = {
            "Factors multiply, they do not add up.": (
                lambda tree, take=take: sum(map(take, leaves(tree)))
            ),
            "The middle is no end.": lambda tree: product(tree, lambda p: sum(p) / 2),
        }
        right = partial(product, take=take)
        expect.function_matches(f, right, TREES, mistakes=told)


def test_shared():
    told = {
        "A cause that one factor names twice is behind one.": (
            lambda causes: twice(causes, list)
        ),
        "A cause counts once, however many factors it is behind.": (
            lambda causes: sum(len(set(of)) for of in causes.values()) - 2
        ),
    }
    expect.function_matches(shared, twice, CAUSES, rel=1e-9, mistakes=told)


def test_what_is_no_factor_is_refused():
    for pair in ((5, 3), (0, 2), (-1, 2)):
        expect.refuses(least, {"tree": {"a": pair}}, because="its ends are no factor's")
