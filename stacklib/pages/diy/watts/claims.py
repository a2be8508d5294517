"""A claim on what cards draw."""

from stacklib.evidence import Finding, claim
from stacklib.pages.diy import watts as page


@claim("gpu-draw-350-600")
def drawn() -> Finding:
    """From the card of the smallest builds to that of the largest."""
    return Finding(
        page.board(page.CARD),
        to=page.board(),
        why="An RTX 3090 and an RTX 5090 as they are sold, for hours; for "
        "milliseconds a card draws more.",
    )
