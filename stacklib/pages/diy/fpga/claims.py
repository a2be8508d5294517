"""The claim on a board against a card of a fifth of its price."""

from stacklib.evidence import Finding, claim
from stacklib.pages.diy import fpga as page
from stacklib.quantity import quoted


@claim("fpga-vs-gpu", right_if="a step waits for memory, not for multipliers")
def board_against_card() -> Finding:
    """Dollars for the same rate: in operations, and in bytes."""
    found = page.fight()
    price = quoted("fpga_guide.board") / quoted("fpga_guide.card")
    assert found.bytes is not None
    return Finding(
        (price * found.rate).named("dollars for the same operations"),
        then=(price * found.bytes).named("dollars for the same bytes"),
        why=f"At the claim's own prices. It takes {found.same_speed()} boards with an "
        f"{found.board.name} to multiply as fast as one {found.card.name}; their "
        "memories are nearly alike.",
    )
