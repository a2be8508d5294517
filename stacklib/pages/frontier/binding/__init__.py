"""Section 10.1: Which layer binds you?"""

from __future__ import annotations

from stacklib.quantity import Quantity, chosen


def example() -> Quantity:
    """A given of the page, in the place of what it will compute."""
    return chosen(64, label="What this page takes")
