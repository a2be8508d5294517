"""Seven kinds of project: what each costs, how long it takes, what it teaches.

Money comes from parts, boards and rents with their dates, from the least to the most.
Weeks are evenings and weekends of one person who programs, and are judgements. A chip
that is being made is waited for beside them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from stacklib.cost.catalogue import part
from stacklib.cost.data import Range, prices
from stacklib.cost.spans import Span, span
from stacklib.quantity import maximum, minimum, quoted, resolve

from .devices import device

PARTS = {
    "rtx_5090": 2,
    "7960x": 1,
    "trx50_aero_d": 1,
    "renegade_pro_128": 1,
    "straight_power_12_1500": 1,
    "990_pro_4tb": 1,
    "enthoo_pro_2_server": 1,
    "xe360_tr5": 1,
}


@dataclass(frozen=True)
class Project:
    """One kind of project.

    - ``money``: dollars, least and most
    - ``weeks``: of one person, least and most
    - ``teaches``: what is known afterwards and was not before
    - ``needs``: what must be there first
    """

    key: str
    name: str
    money: Span
    weeks: Span
    teaches: str
    needs: str

    @property
    def stars(self) -> int:
        """Hardness from one to five, by the most weeks that it takes."""
        steps = (1, 2, 4, 6)
        return 1 + sum(self.weeks.high.si > step for step in steps)


def two_cards() -> Span:
    """The parts of a machine with two large cards."""
    total: Span | None = None
    for name, count in PARTS.items():
        price = part(name).price
        assert isinstance(price, Range)
        each = span(price) * count
        total = each if total is None else total + each
    assert total is not None
    return total.named("parts of a machine with two cards")


def rented(card: str) -> Span:
    """A card in the cloud, for the hours that a first kernel takes."""
    rates = [q.value for q in prices(card, "cloud")]
    hours = span(*(quoted(f"realism_kernels.hours_{end}") for end in ("low", "high")))
    return (span(minimum(*rates), maximum(*rates)) * hours).to("USD")


def bought(*names: str) -> Span:
    """What several devices are sold for, from the cheapest to the dearest."""
    found = [
        q.value
        for name in names
        for what in ("launch", "purchase")
        for q in prices(name, what)
    ]
    return span(minimum(*found), maximum(*found))


def quoted_span(key: str) -> Span:
    """Two ends that stand in the file of quotes."""
    return span(quoted(f"{key}_low"), quoted(f"{key}_high"))


def boards() -> Span:
    """From the smallest board that runs the network to one with a thousand blocks."""
    return span(device("up5k").price.low, device("k26").price.high)


_KINDS: Mapping[str, tuple[str, Callable[[], Span], str, str]] = {
    "workstation": (
        "a machine with two cards",
        two_cards,
        "lanes, supplies, splitting a model, and what a link costs",
        "a circuit that carries it",
    ),
    "power": (
        "power and heat of a card",
        lambda: quoted_span("realism_power.meter"),
        "what a watt buys, and when a clock falls",
        "a card of one's own",
    ),
    "kernels": (
        "kernels of one's own",
        lambda: rented("h100_sxm"),
        "why a bound is not reached, and how it is",
        "a rented card, by the hour",
    ),
    "fpga": (
        "a network on an FPGA",
        boards,
        "cycles, fixed point, what a multiplier costs",
        "patience with tools",
    ),
    "tenstorrent": (
        "kernels on a card of tiles",
        lambda: bought("tt_blackhole_p150", "tt_wormhole_n150"),
        "data moved by program, not by cache",
        "a slot with sixteen lanes",
    ),
    "edge": (
        "a model in a hand",
        lambda: bought("jetson_orin_nano_super"),
        "one memory for all, and eight bits without loss",
        "nothing",
    ),
    "tile": (
        "a tile of a shared chip",
        lambda: quoted_span("tinytapeout.price"),
        "gates, area, and that nothing can be mended afterwards",
        "a year's wait at the worst",
    ),
}


def realism(kind: str | None = None) -> list[Project]:
    """Kinds of project with money, weeks and what is learnt, the shortest first.

    Parameters
    ----------
    kind : str, optional
        One of ``workstation``, ``power``, ``kernels``, ``fpga``, ``tenstorrent``,
        ``edge`` and ``tile``; all if left out.

    Returns
    -------
    list of Project
        Money in dollars and weeks, each least and most.

    Raises
    ------
    UnknownName
        For a kind that is not known.

    Examples
    --------
    >>> [(one.key, one.stars) for one in realism()][0]
    ('power', 1)
    """
    keys = _KINDS if kind is None else [resolve(kind, _KINDS, "project")]
    made = []
    for key in keys:
        name, money, teaches, needs = _KINDS[key]
        weeks = quoted_span(f"realism_{key}.weeks")
        made.append(Project(key, name, money().named(name), weeks, teaches, needs))
    return sorted(made, key=lambda one: (one.weeks.high.si, one.weeks.low.si))
