"""Seven kinds of project, what each costs and teaches; the path of them in weeks.

Money comes from parts, boards and rents with their dates, from the least to the most.
Weeks are evenings and weekends of one person who programs, and are judgements. A chip
that is being made is waited for beside them: a tile is handed in at the end of its
phase, and comes back when the shuttle has been made, whatever one does meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import reduce
from itertools import product
from operator import add
from typing import NamedTuple

from stacklib.cost.catalogue import part
from stacklib.cost.data import prices, wafer_price
from stacklib.cost.making import fact
from stacklib.cost.spans import Span, span
from stacklib.quantity import maximum, minimum, one_of, quoted, resolve

from ..build import table
from .devices import device

WEEKS_A_MONTH = (
    (one_of("year") / (12 * (7 * one_of("day")))).to("").named("weeks of a month")
)
LOT = 25  # wafers
PARTS = (
    *("rtx_5090", "rtx_5090", "7960x", "trx50_aero_d", "renegade_pro_128"),
    *("straight_power_12_1500", "990_pro_4tb", "enthoo_pro_2_server", "xe360_tr5"),
)


@dataclass(frozen=True)
class Project:
    """One kind of project."""

    key: str
    name: str
    money: Span  # dollars
    weeks: Span  # of one person
    teaches: str  # what is known afterwards and was not before
    needs: str  # what must be there first

    @property
    def stars(self) -> int:
        """Hardness from one to five, by the most weeks that it takes."""
        steps = (1, 2, 4, 6)
        return 1 + sum(self.weeks.high.si > step for step in steps)


def two_cards() -> Span:
    """The parts of a machine with two large cards."""
    prices = (price for name in PARTS if (price := part(name).price))
    return reduce(add, map(span, prices)).named("parts of a machine with two cards")


def market(*names: str, by: Iterable[str] = ("launch", "purchase")) -> Span:
    """What devices are sold for, by kinds of prices: cheapest quote to dearest."""
    values = [q.value for name, what in product(names, by) for q in prices(name, what)]
    return span(minimum(*values), maximum(*values))


def quoted_span(key: str) -> Span:
    """Two ends that stand in the file of quotes."""
    return span(quoted(f"{key}_low"), quoted(f"{key}_high"))


_MONEY: dict[str, Callable[[], Span]] = {
    "workstation": two_cards,
    "power": lambda: quoted_span("realism_power.meter"),
    # A card in the cloud, for the hours that a first kernel takes.
    "kernels": lambda: (
        market("h100_sxm", by=["cloud"]) * quoted_span("realism_kernels.hours")
    ).to("USD"),
    # From the smallest board that runs the network to one with a thousand blocks.
    "fpga": lambda: span(device("up5k").price.low, device("k26").price.high),
    "tenstorrent": lambda: market("tt_blackhole_p150", "tt_wormhole_n150"),
    "edge": lambda: market("jetson_orin_nano_super"),
    "tile": lambda: quoted_span("tinytapeout.price"),
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
    keys = _MONEY if kind is None else [resolve(kind, _MONEY, "project")]
    words = table("projects")
    made = []
    for key in keys:
        money = _MONEY[key]().named(words[key]["name"])
        weeks = quoted_span(f"realism_{key}.weeks")
        made.append(Project(key, money=money, weeks=weeks, **words[key]))
    return sorted(made, key=lambda one: (one.weeks.high.si, one.weeks.low.si))


class Phase(NamedTuple):
    """One phase: its own weeks, and the week in which it ends, least and most."""

    name: str
    weeks: Span
    ends: Span


class Timeline(NamedTuple):
    """All phases one after another, and the chip."""

    phases: tuple[Phase, ...]
    weeks: Span  # of all, as the guide has them: what its phases add up to
    months: Span
    chip: Span  # weeks until it is there: the path, and what its making takes


def timeline() -> Timeline:
    """The path through this book's machines in weeks.

    Returns
    -------
    Timeline
        Phases in their order; ``weeks`` and ``months`` of all, ``chip`` until a tile
        that was handed in at the end comes back.

    Examples
    --------
    >>> path = timeline()
    >>> path.weeks.low.si, path.weeks.high.si
    (12.0, 23.0)
    """
    made: list[Phase] = []
    for key, row in table("phases").items():
        weeks = quoted_span(f"timeline_{key}.weeks")
        end = made[-1].ends + weeks if made else weeks
        made.append(Phase(row["name"], weeks, end.named(f"end of {key}")))
    weeks = span(quoted("timeline_guide.low"), quoted("timeline_guide.high"))
    chip = weeks + quoted_span("tinytapeout.wait") * WEEKS_A_MONTH
    chip = chip.named("weeks until the chip is there")
    return Timeline(tuple(made), weeks, weeks / WEEKS_A_MONTH, chip)


def own_chip() -> dict[str, Span]:
    """What a leading chip of one's own costs before the first one is sold."""
    wafer = span(wafer_price("n3"))
    parts = {
        "design": quoted_span("own_chip.design"),
        "masks": span(fact("masks", "leading")),
        "wafers": (wafer * LOT).named(f"{LOT} wafers"),
        "wafer": wafer,
    }
    total = parts["design"] + parts["masks"] + parts["wafers"]
    return {**parts, "total": total.named("before the first is sold")}
