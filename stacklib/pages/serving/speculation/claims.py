"""Claims on speculation: tokens a pass, and what it gains."""

from __future__ import annotations

from stacklib.evidence import Finding, claim
from stacklib.evidence.ledger import get
from stacklib.pages.serving import speculation as page
from stacklib.quantity import Quantity, chosen

LOW, HIGH = 0.7, 0.8  # chances that a token is kept, as servers report them


def rate(value: float) -> Quantity:
    """A chance that a drafted token is kept."""
    return chosen(value, label="acceptance")
