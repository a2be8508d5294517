"""What a budget runs: the fastest machines that every rule allows.

Cards decide speed, all else decides whether they hold together and what they cost. So
every kind and number of cards, at full power or limited, gets a bound on its speed from
its bandwidth; the most promising is asked first, by ``speed`` and then by
``platforms.cheapest``, and the search ends when nothing left can be faster than what
was found. Machines are ranked by the seconds of one token of each workload, then by
price: no machine of the catalogue that keeps the rules and the budget is faster.

Left out: unlike cards in one machine (``speed`` has them, by layers), two circuits, and
limits below half of a card's power. A price is the newest up to the date given.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from heapq import heappop, heappush
from math import inf
from typing import Any, NamedTuple

from stacklib import hardware
from stacklib.cost import catalogue
from stacklib.cost.catalogue import Component
from stacklib.hardware.accelerator import UnknownSpec
from stacklib.interconnect.networks.pcie import slot
from stacklib.quantity import resolve
from stacklib.quantity.bounds import above_zero, whole
from stacklib.roofline.work.fit import Infeasible
from stacklib.serving.estimates.asked import SPLITS

from .breaker import chain
from .build import KIND_OF, Build
from .cards import Cards, link_of, of_build
from .checker import outlet, verify
from .planned import SOUNDING, Excluded, Planned, checked, commands, noise_of, shown_as
from .platforms import CHOSEN, MOST_CARDS, Judge, Limit, cheapest, offers
from .rules import Case
from .splits import decoding, soonest, speed
from .voltage import power

SHARES = (1.0, 0.8, 0.65, 0.5)  # of a card's power, as its limit
HALF = 0.5  # of a card's own link, the least that a rule allows
MARKETS = ("us",)
CONTINUOUS = 0.8  # of a breaker, for hours


class Choice(NamedTuple):
    """Cards at a limit, with slots that give at least a share of their own link."""

    card: Component
    many: int
    limit: float | None
    link: float

    @property
    def left(self) -> float:
        """Share of the speed that is left under the limit."""
        return 1.0 if self.limit is None else power(self.card.device, self.limit).speed

    @property
    def cards(self) -> Cards:
        """The cards without their limit, on the narrowest links that are allowed."""
        cards = Cards((hardware.get(self.card.device),) * self.many)
        links = tuple((made, max(1, int(w * self.link))) for made, w in cards.links)
        return cards.swapped(links=links)


@dataclass
class Search:
    """What one call of ``plan`` asks over and over.

    - ``parts``: by kind; ``date``: of the prices; ``circuit``: volts of the outlet
    """

    budget: float
    workloads: tuple[str, ...]
    parts: Mapping[str, Sequence[Component]]
    date: str | None = None
    circuit: float = 120
    noise: float | None = None
    batch: int = 1
    context: int = 4096

    def __post_init__(self) -> None:
        priced = ((card, card.dollars_on(self.date)) for card in self.parts["gpu"])
        self.prices = {card: dollars for card, dollars in priced if dollars is not None}
        self.judge = Judge(self.circuit, CONTINUOUS)
        self.known = offers(self.parts, self.date)
        self.built: dict[Any, tuple[float, Build] | None] = {}

    def bound(self, choice: Choice) -> float:
        """Seconds that one token of each workload takes at the least."""
        asked = self.workloads, self.batch, self.context
        return _bound(choice.card.device, choice.many, *asked) / choice.left

    def seconds(self, choice: Choice) -> float:
        """Seconds of one token of each workload; infinite where one does not fit."""
        cards, asked = choice.cards, (self.batch, self.context)
        each = [_fastest(cards, one, *asked)[0] for one in self.workloads]
        return sum(each) / choice.left

    def limits(self, choice: Choice) -> dict[str, Limit]:
        """What must hold of a machine besides the rules."""
        found: dict[str, Limit] = {}
        if choice.many > 1:
            found[f"links {choice.link}"] = lambda case: _wide(case, choice.link)
        if self.noise is not None:
            found["noise"] = lambda case: _quiet(case, self.noise or 0.0)
        return found

    def paid(self, choice: Choice) -> float:
        """Dollars of the cards."""
        return choice.many * self.prices[choice.card]

    def machine(self, choice: Choice, most: float) -> tuple[float, Build] | None:
        """The cheapest machine around a choice, and its dollars.

        What no machine carries at the lowest limit on the narrowest links, or at its
        own limit on those, is not asked for at others.
        """
        limits = (_limit(choice.card, share) for share in reversed(SHARES))
        lowest = next((watts for watts in limits if watts), None)
        easiest, made = choice._replace(limit=lowest, link=HALF), None
        for one in (easiest, choice._replace(link=HALF), choice):
            if (one, most) not in self.built:
                self.built[one, most] = self._built(one, most, made[0] if made else 0.0)
            if (made := self.built[one, most]) is None:
                break
        return made

    def _built(
        self, choice: Choice, most: float, least: float
    ) -> tuple[float, Build] | None:
        cards, limits = self.paid(choice), self.limits(choice)
        gpus = (choice.card,) * choice.many
        fixed: dict[str, Any] = {"gpus": gpus, "limit": choice.limit}
        dollars = most - cards, limits, least - cards
        found = cheapest(self.judge, fixed, self.known, *dollars)
        if found is None:
            return None
        chosen = {name: found[1][name] for name in CHOSEN}
        return cards + found[0], Build(**fixed, **chosen)


def plan(
    budget: float,
    workloads: str | Sequence[str],
    *,
    market: str = "us",
    date: str | None = None,
    circuit: float = 120,
    noise: float | None = None,
    batch: int = 1,
    context: int = 4096,
    most: int = 3,
    parts: Mapping[str, Sequence[Component]] | None = None,
) -> list[Build]:
    """The fastest machines for a budget, each of another kind or number of cards.

    Parameters
    ----------
    budget : float
        Dollars for all parts.
    workloads : str or sequence of str
        Models with the format of their weights: ``"llama-3-70b:q4_k_m"``. Each must
        fit; the ranking is by one token of each.
    market : str
        ``"us"``: where prices are from.
    date : str, optional
        The day of the prices, such as ``2025-10``: the newest up to it. The newest of
        all if left out.
    circuit : float
        Volts of the outlet: below 200 V it has 15 A, else 16 A.
    noise : float, optional
        Most dBA of cards, cooler, supplies and case together, a metre away. A part of
        which no level is known adds none: such a build has its ``noise`` *at least*.
    batch, context : int
        Sequences at once, and tokens cached in each.
    most : int
        Machines that are wanted.
    parts : mapping, optional
        Parts by kind, in place of the catalogue's.

    Returns
    -------
    list of Build
        Each is a ``Planned``: with bill, watts, heat, speeds, the rule that excluded
        the next cheaper part, and the commands that would prove it wrong.

    Raises
    ------
    Infeasible
        Where no machine within the budget runs all workloads; the nearest miss with its
        price, or what no card of the catalogue holds, or the noise that is too much.
    UnknownName
        For a model, a format or a market that is not known.
    ValueError
        For a budget that is none, no workload, a date that is none.

    Examples
    --------
    >>> first = plan(5000, "qwen3-32b:q4_k_m", most=1)[0]
    >>> first.total <= 5000, verify(first)
    (True, [])
    """
    above_zero(budget=budget)
    outlet(circuit=circuit)
    whole(batch=batch, context=context, most=most)
    if noise is not None:
        above_zero(noise=noise)
    resolve(market, MARKETS, "market", exact=True)
    asked = (workloads,) if isinstance(workloads, str) else tuple(workloads or ())
    if not asked or not all(isinstance(one, str) for one in asked):
        raise ValueError(f"workloads = {workloads!r}: name one model at least")
    checked(date)
    for one in asked:
        soonest(hardware.get("rtx_3090"), 1, one, batch, context)  # unknown names raise
    every = {kind: catalogue.parts(kind) for kind in KIND_OF.values()}
    known: Mapping[str, Sequence[Component]] = {**every, **(parts or {})}
    search = Search(budget, asked, known, date, circuit, noise, batch, context)
    found = _ranked(search, most)
    if not found and (loud := _ranked(replace(search, noise=None), 1)):
        says = f"{shown_as(loud[0].gpus)}, the fastest without it: {noise_of(loud[0])}"
        raise Infeasible(f"noise leaves no machine; {says} > {noise:g} dBA")
    if not found:
        raise Infeasible(_miss(search))
    return [_planned(search, build) for build in found]


def _ranked(search: Search, most: int) -> list[Build]:
    """The cheapest machine of each kind and number of cards, the fastest first.

    A choice waits under its bound, then under its seconds, then with its machine; where
    none has its links whole, it waits again with half of them. What leaves the queue
    with a machine is not slower than anything left.
    """
    queue: list[tuple[float, int, float, int, Choice, Build | None]] = []
    for at, choice in enumerate(_choices(search, search.budget)):
        if (least := search.bound(choice)) < inf:
            heappush(queue, (least, 0, 0.0, at, choice, None))
    found: dict[tuple[str, int], tuple[float, float, int, Build]] = {}
    last = inf  # seconds of the slowest that is wanted
    while queue and queue[0][0] <= last:
        seconds, stage, dollars, at, choice, build = heappop(queue)
        kind = choice.card.device, choice.many  # one machine, whoever's board it is
        if kind in found and seconds > found[kind][0]:
            continue
        if stage == 0 and (seconds := search.seconds(choice)) < inf:
            heappush(queue, (seconds, 1, dollars, at, choice, None))
        elif stage == 1 and (made := search.machine(choice, search.budget)):
            heappush(queue, (seconds, 2, made[0], at, choice, made[1]))
        elif stage == 1 and choice.link > HALF:  # no faster on links of half the width
            half = choice._replace(link=HALF)
            heappush(queue, (seconds, 0, 0.0, at, half, None))
        elif build and (seconds, dollars) < found.get(kind, (inf,))[:2]:
            found[kind] = seconds, dollars, at, build
            last = seconds if len(found) >= most else inf
    return [row[3] for row in sorted(found.values(), key=lambda row: row[:3])[:most]]


def _choices(search: Search, budget: float) -> Iterator[Choice]:
    """Every kind, number and limit of cards that the budget could pay."""
    rest = sum(min((o.dollars for o in r), default=inf) for r in search.known.values())
    boards = [offer.value for offer in search.known["board"]]
    seats = max((len(board["slots"]) for board in boards), default=0)
    for card in search.prices:
        for many in range(1, min(seats, MOST_CARDS) + 1):
            if many * search.prices[card] + rest > budget:
                break
            for share in SHARES:
                limit = _limit(card, share)
                if limit is None and share < 1:
                    continue
                yield Choice(card, many, limit, 1.0 if many > 1 else HALF)


def _limit(card: Component, share: float) -> float | None:
    """Watts of a share of a card's power in steps of ten; None at all of it."""
    if share == 1.0 or "power" not in card.values or "least" not in card.values:
        return None
    watts = 10 * round(share * card["power"] / 10)
    return float(watts) if watts >= card["least"] else None


@lru_cache(maxsize=4096)
def _bound(
    device: str, many: int, workloads: tuple[str, ...], batch: int, context: int
) -> float:
    chip = hardware.get(device)
    with suppress(UnknownSpec):  # no rate in that format
        return sum(soonest(chip, many, one, batch, context) for one in workloads)
    return inf


@lru_cache(maxsize=4096)
def _fastest(
    cards: Cards, workload: str, batch: int, context: int
) -> tuple[float, str]:
    """Seconds a token by the faster split, and which; infinite where none fits."""
    best = inf, SPLITS[0]
    for split in SPLITS if len(cards.devices) > 1 else SPLITS[:1]:
        with suppress(ValueError, LookupError):
            made = decoding(cards, workload, split, batch, context)
            best = min(best, (made.seconds, split))
    return best


def _wide(case: Case, share: float) -> bool:
    """Whether every slot gives a card that share of its own link."""
    with suppress(UnknownSpec):
        return all(
            slot(*link_of(seat, case.build.cpu))
            >= share * slot(int(seat.card["generation"]), int(seat.card["lanes"]))
            for seat in case.placed.seats
        )
    return False


def _quiet(case: Case, most: float) -> bool:
    """Whether all together are no louder, the cards asked first."""
    fields = (SOUNDING[: n + 1] for n in range(len(SOUNDING)))
    return all(noise_of(case.build, some).dba <= most for some in fields)


def _miss(search: Search) -> str:
    """What comes nearest where nothing fits."""
    names = ", ".join(search.workloads)
    most, best = inf, None
    for full in sorted(_choices(search, inf), key=search.paid):
        choice = full._replace(link=HALF)
        if search.paid(choice) >= most:
            break
        if search.bound(choice) < inf and (made := search.machine(choice, most)):
            if made[0] < most and search.seconds(choice) < inf:
                most, best = made[0], choice
    if best is None:
        told = f" at {search.judge.mains:g} V"
        if search.noise is not None:
            told += f", within {search.noise:g} dBA"
        if search.date is not None:
            told += f", at prices of {search.date}"
        return (
            f"{names}: no {MOST_CARDS} like cards of the catalogue hold it in a machine"
            f" that every rule allows{told}"
        )
    return (
        f"{names}: {search.budget:,.12g} USD buy no machine that runs it; the nearest "
        f"has {best.many} x {best.card.name} and costs {most:,.12g} USD"
    )


def _planned(search: Search, build: Build) -> Planned:
    """A build with what the reader asks of it."""
    cards, asked = of_build(build), (search.batch, search.context)
    splits = [_fastest(cards, one, *asked)[1] for one in search.workloads]
    runs = tuple(
        speed(cards, one, split=split, batch=search.batch, context=search.context)
        for one, split in zip(search.workloads, splits, strict=True)
    )
    made = chain(build, mains=search.judge.mains)
    return Planned(
        **{name: getattr(build, name) for name in Build.__dataclass_fields__},
        bill=tuple((p.name, p.dollars_on(search.date) or 0.0) for p in build.parts()),
        runs=runs,
        watts=made.wall,
        room=made.curve.room[-1],
        left=made.speed,
        excluded=_excluded(search, build),
        commands=commands(cards.devices[0].vendor, runs, search.context),
    )


def _excluded(search: Search, build: Build) -> Excluded | None:
    """Of all swaps for the next cheaper part the nearest, and what it breaks."""
    swaps: list[tuple[float, str, Any]] = []
    for name in CHOSEN:
        rows = search.known[name]
        mine = next(o.dollars for o in rows if o.value == getattr(build, name))
        less = [(mine - o.dollars, name, o.value) for o in rows if o.dollars < mine]
        swaps += less[-1:]
    if not swaps:
        return None
    saves, name, value = min(swaps, key=lambda swap: swap[0])
    other = build.swapped(**{name: value})
    broken, noise = verify(other, mains=search.judge.mains), noise_of(other)
    why = "speed", "its slots are narrower"
    if broken:
        why = broken[0].rule, broken[0].sum
    elif search.noise is not None and noise.dba > search.noise:
        why = "noise", f"{noise} > {search.noise:g} dBA"
    return Excluded(shown_as(value), saves, *why)
