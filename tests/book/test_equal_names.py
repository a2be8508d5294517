"""One quantity, one name: what two pages call the same has the same value on both."""

import math
from collections import defaultdict

import pytest


@pytest.fixture(scope="module")
def known(numbers):
    """Page, words and value of each number of the book."""
    return {
        name: (number.cell.place.split(",")[0], number.what, number.quantity.si)
        for name, number in numbers.items()
    }


def unlike(numbers):
    """Names whose words are those of another page's, and whose value is not."""
    alike = defaultdict(list)
    for name, (page, what, si) in numbers.items():
        words = " ".join(what.casefold().split()).rstrip(".")
        # "The same with ..." goes on from the number said before it.
        if not words.startswith(("the same", "that ", "the other")):
            alike[words].append((name, page, si))
    return [
        sorted(name for name, *_ in found)
        for found in alike.values()
        if len({page for _, page, _ in found}) > 1
        and not all(math.isclose(si, found[0][2], rel_tol=1e-9) for *_, si in found)
    ]


def test_equal_names_have_equal_values(known):
    assert unlike(known) == []


def test_another_value_under_a_name_is_named(known):
    first, page, what, si = next(
        (name, *number)
        for name, number in known.items()
        if number[2]
        and not number[1].casefold().startswith(("the same", "that ", "the other"))
    )
    planted = {"planted.number": (f"{page}, another", what, 1.002 * si)}
    assert unlike({first: (page, what, si)} | planted) == [
        sorted([first, "planted.number"])
    ]
