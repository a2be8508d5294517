"""Every number of the text rests on a document, a measurement or a named assumption."""

from __future__ import annotations

from typing import Any

import pytest

from stacklib.evidence import numbers
from stacklib.quantity import Quantity


def grounded(tree: dict[str, Any]) -> bool:
    """Whether some leaf has a source, or says that it is assumed or a constant."""
    if tree.get("source") or tree.get("kind") in ("assumed", "constant"):
        return True
    return any(grounded(part) for part in tree.get("inputs") or ())


@pytest.mark.parametrize("name", [n.name for n in numbers.all()])
def test_a_number_shows_where_it_is_from(name):
    assert grounded(numbers.get(name).tree()), f"{name} has no source"


def test_a_bare_number_is_seen():
    assert not grounded(Quantity(3, label="three", kind="claimed").tree())
