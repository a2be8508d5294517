"""What a chip that is a model can afford: transistors, sums, and a life.

Closed forms, for floats and quantities alike.
"""

from __future__ import annotations

from typing import Any

from stacklib.quantity.bounds import above_zero, at_least

FULL_ADDER = 28  # transistors of a static CMOS full adder
SRAM_CELL = 6  # of a bit


def per_weight(transistors: Any, weights: Any) -> Any:
    """Transistors that a chip has for each weight of its model."""
    above_zero(transistors=transistors, weights=weights)
    return transistors / weights


def sharing(budget: Any, adder_bits: Any, cell: Any = 1) -> Any:
    """Weights that have to share one adder: its transistors over what is left for it.

    ``budget``: transistors per weight; ``cell``: those that hold the weight itself.
    """
    at_least(0, cell=cell)
    above_zero(adder_bits=adder_bits, **{"budget - cell": budget - cell})
    return adder_bits * FULL_ADDER / (budget - cell)


def break_even_tokens(once: Any, price: Any, ours: Any) -> Any:
    """Tokens after which what was spent once has paid: its sum over the gain a token.

    ``once``: masks and design; ``price`` and ``ours``: a token elsewhere and here.
    """
    above_zero(once=once, **{"price - ours": price - ours})
    return once / (price - ours)
