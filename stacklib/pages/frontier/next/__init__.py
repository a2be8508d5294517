"""Section 10.2: What will the next machine do for your token?"""

from __future__ import annotations

from stacklib.quantity import Quantity, chosen


def example() -> Quantity:
    """A given of the page, in the place of what it will compute."""
    return chosen(64, label="What this page takes")
