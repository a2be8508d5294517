"""Seven kinds of project: what each costs, how long it takes, what it teaches.

Money comes from parts, boards and rents with their dates, from the least to the most.
Weeks are evenings and weekends of one person who programs, and are judgements. A chip
that is being made is waited for beside them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import reduce
from itertools import product
from operator import add

from stacklib.cost.catalogue import part
from stacklib.cost.data import prices
from stacklib.cost.spans import Span, span
from stacklib.quantity import maximum, minimum, quoted, resolve

from .devices import device, table

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
    prices = [price for name in PARTS if (price := part(name).price)]
    assert len(prices) == len(PARTS)
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
