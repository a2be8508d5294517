"""Named bets: what would have to be true for each, and what is today.

Each row is one condition, computed from a model of this book, and one value beside it.
A bet is not refuted by a row that does not hold: the row says what it waits for.
"""

from __future__ import annotations

from typing import NamedTuple

from stacklib import models
from stacklib.quantity import Quantity, chosen, counted, quoted
from stacklib.quantity.bounds import whole
from stacklib.quantity.stored import bytes_per_element

from .analog import digital_energy

MODEL = "llama-3-70b"
CONVERTER = 8  # bits that kept the small model whole
STEPS, PASSES = 4, 3  # of descent on a token's energy; forward, and twice as much back


class Bet(NamedTuple):
    """One condition of one bet.

    - ``needs``: what would have to be true, in words
    - ``wanted``, ``today``: its value, and what there is
    - ``holds``: whether it is true today
    """

    name: str
    needs: str
    wanted: Quantity
    today: Quantity
    holds: bool


def chips_for(model: str, held: Quantity, dtype: str | None = None) -> Quantity:
    """Chips that hold a model's weights: by number of weights, or in a format."""
    weights = models.get(model).parameters
    size = weights if dtype is None else weights * bytes_per_element(dtype)
    return (size / held).to("").named("chips that hold the model")


def rows_for(bits: int) -> Quantity:
    """Products that must share a conversion before it is cheaper than digital ones."""
    whole(bits=bits)
    return (quoted("adc.walden") * 2**bits / digital_energy()).to("").named("rows")


def joules_a_token() -> Quantity:
    """What NorthPole's appliance drew for each token."""
    return (quoted("northpole.power") / quoted("northpole.rate")).to("J/token")


def smaller(steps: int = STEPS) -> Quantity:
    """How many times smaller a model must be that descends so often for each token."""
    whole(steps=steps)
    taken = chosen(steps, label="steps of descent") * chosen(
        PASSES, label="passes a step"
    )
    return taken.named("times the passes of a token")


def bets() -> tuple[Bet, ...]:
    """Five of them, each with the condition that decides.

    The small model kept its accuracy with converters of eight bits; digits were read
    by 1.7 additions a product where three cost as much as one.
    """
    from .spikes import spiking

    one = chosen(1, label="one chip")
    core = quoted("loihi2.core") * quoted("loihi2.cores")
    cards = quoted("northpole.memory") * quoted("northpole.cards")
    mythic = chips_for(MODEL, quoted("mythic.weights"))
    loihi, pole = chips_for(MODEL, core, "int8"), chips_for(MODEL, cards, "int4")
    each = counted(spiking, take="each", label="additions for each product")
    pair = digital_energy() / quoted("horowitz.add32")
    rows, least = chosen(256, label="rows of a bitline"), rows_for(CONVERTER)
    told = (
        ("Mythic", "so many chips hold all weights", one, mythic),
        ("Lightmatter", "so many products share a conversion", least, rows),
        ("Loihi 2", "a product takes so few additions", pair, each),
        ("Loihi 2", "so many chips hold all weights", one, loihi),
        ("NorthPole", "so many appliances hold all weights", one, pole),
        ("energy-based", "a model so much smaller is as good", smaller(), one),
    )
    # Of rows there must be so many at least, of all else so much at most.
    found = []
    for name, needs, want, today in told:
        more = name in ("Lightmatter", "energy-based")
        holds = today.si >= want.si if more else today.si <= want.si
        found.append(Bet(name, needs, want, today, holds))
    return tuple(found)
