"""Section 10.4: Can you lay it out?"""

from __future__ import annotations

from stacklib.quantity import Quantity, chosen


def example() -> Quantity:
    """A given of the page, in the place of what it will compute."""
    return chosen(64, label="What this page takes")
