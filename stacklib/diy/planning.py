"""What a budget runs: the fastest machines that every rule allows.

Cards decide speed, all else decides whether they hold together and what they cost. So
every kind and number of cards, at full power or limited, gets a bound on its speed from
its bandwidth; the most promising is asked first, by ``speed`` and then by
``platforms.cheapest``, and the search ends when nothing left can be faster than what
was found. Machines are ranked by the seconds of one token of each workload, then by
price: no machine of the catalogue that keeps the rules and the budget is faster.

Left out: unlike cards in one machine, two supplies, limits below half of a card's
power, risers, and used prices that no row tells. A price is the newest up to the date,
never the clock's.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice
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

from .breaker import Chain, chain
from .build import KIND_OF, Build
from .cards import Cards, link_of, of_build
from .checker import verify
from .planned import Excluded, Planned, checked, commands, loudness, price, shown_as
from .platforms import CHOSEN, Judge, Limit, Offer, cheapest, offers
from .rules import Case
from .splits import Speed, decode, soonest, speed
from .voltage import power

MOST_CARDS = 8
SHARES = (1.0, 0.8, 0.65, 0.5)  # of a card's power, as its limit
HALF = 0.5  # of a card's own link, the least that a rule allows
MARKETS = ("us",)


class Choice(NamedTuple):
    """Cards at a limit, with slots that give at least a share of their own link."""

    card: Component
    many: int
    limit: float | None
    link: float

    @property
    def kind(self) -> tuple[str, int]:
        """What is one machine in the ranking, whoever's board it is."""
        return self.card.device, self.many


@dataclass
class Search:
    """What one call of ``plan`` asks over and over."""

    budget: float
    workloads: tuple[str, ...]
    batch: int
    context: int
    prices: Mapping[str, float]
    judge: Judge
    known: Mapping[str, list[Offer]]
    noise: float | None
    built: dict[tuple[Choice, float], tuple[float, Build] | None] = field(
        default_factory=dict
    )

    def bound(self, choice: Choice) -> float:
        """Seconds that one token of each workload takes at the least."""
        device = hardware.get(choice.card.device)
        asked = self.workloads, self.batch, self.context
        return _bound(device.key, choice.many, *asked) / _left(choice)

    def seconds(self, choice: Choice) -> float:
        """Seconds of one token of each workload; infinite where one does not fit."""
        cards = _cards(choice._replace(limit=None))
        found = 0.0
        for one in self.workloads:
            made = _fastest(cards, one, self.batch, self.context)
            found += inf if made is None else made[0]
        return found / _left(choice)

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
        return choice.many * self.prices[choice.card.key]

    def machine(self, choice: Choice, most: float) -> tuple[float, Build] | None:
        """The cheapest machine around a choice, and its dollars.

        What no machine carries at the lowest limit and on the narrowest links is not
        asked for at others.
        """
        for easier in (self.easiest(choice), choice._replace(link=HALF)):
            if easier != choice and self._built(easier, most) is None:
                return None
        return self._built(choice, most)

    def easiest(self, choice: Choice) -> Choice:
        """The same cards at their lowest limit, on the narrowest links."""
        limits = (_limit(choice.card, share) for share in reversed(SHARES))
        lowest = next((watts for watts in limits if watts), None)
        return choice._replace(limit=lowest, link=HALF)

    def _built(self, choice: Choice, most: float) -> tuple[float, Build] | None:
        if (choice, most) in self.built:
            return self.built[choice, most]
        cards, limits = self.paid(choice), self.limits(choice)
        fixed: dict[str, Any] = {
            "gpus": (choice.card,) * choice.many,
            "limit": choice.limit,
        }
        found = cheapest(self.judge, fixed, self.known, most - cards, limits)
        made = None
        if found is not None:
            chosen = {name: found.values[name] for name in CHOSEN}
            made = cards + found.dollars, Build(**fixed, **chosen)
        self.built[choice, most] = made
        return made


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
        Most dBA of cards and cooler together; a part that tells none is left out.
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
        price, or what no card of the catalogue holds.
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
    above_zero(budget=budget, circuit=circuit)
    whole(batch=batch, context=context, most=most)
    if noise is not None:
        above_zero(noise=noise)
    resolve(market, MARKETS, "market", exact=True)
    asked = (workloads,) if isinstance(workloads, str) else tuple(workloads)
    if not asked or not all(isinstance(one, str) for one in asked):
        raise ValueError(f"workloads = {workloads!r}: name one model at least")
    checked(date)
    for one in asked:
        soonest(hardware.get("rtx_3090"), 1, one, batch, context)  # unknown names raise
    known = parts or {kind: catalogue.parts(kind) for kind in set(KIND_OF.values())}
    prices = {
        card.key: dollars
        for card in known["gpu"]
        if (dollars := price(card, date)) is not None
    }
    search = Search(
        float(budget),
        asked,
        batch,
        context,
        prices,
        Judge(circuit, 0.8),
        offers(known, lambda part: price(part, date)),
        noise,
    )
    cards = [card for card in known["gpu"] if card.key in prices]
    found = list(islice(_ranked(search, cards, search.budget, most), most))
    if not found:
        raise Infeasible(_miss(search, cards))
    return [_planned(search, choice, build, date) for choice, build in found]


def _ranked(
    search: Search, cards: Sequence[Component], budget: float, most: int
) -> Iterator[tuple[Choice, Build]]:
    """Choices with their cheapest machines, the fastest first.

    A choice waits under its bound, then under its seconds; what leaves the queue with
    seconds is not slower than anything left.
    """
    queue: list[tuple[float, int, int, Choice]] = []
    for at, choice in enumerate(_choices(search, cards, budget)):
        if (least := search.bound(choice)) < inf:
            heapq.heappush(queue, (least, 0, at, choice))
    made: dict[Choice, tuple[float, Build]] = {}
    done: set[tuple[str, int]] = set()
    tied: dict[tuple[str, int], tuple[float, Choice, Build]] = {}
    now = 0.0
    while queue and len(done) < most:
        seconds, known, at, choice = heapq.heappop(queue)
        if seconds > now and tied:
            yield from _flushed(tied, done)
            tied = {}
        if choice.kind in done:
            continue
        if not known:
            built = search.machine(choice, budget)
            if built and (seconds := search.seconds(choice)) < inf:
                made[choice] = built
                heapq.heappush(queue, (seconds, 1, at, choice))
            continue
        now = seconds
        dollars, build = made[choice]
        if choice.kind not in tied or dollars < tied[choice.kind][0]:
            tied[choice.kind] = dollars, choice, build
    yield from _flushed(tied, done)


def _flushed(
    tied: Mapping[tuple[str, int], tuple[float, Choice, Build]],
    done: set[tuple[str, int]],
) -> Iterator[tuple[Choice, Build]]:
    """Machines of one speed, the cheapest first."""
    for kind, (_, choice, build) in sorted(tied.items(), key=lambda row: row[1][0]):
        done.add(kind)
        yield choice, build


def _choices(
    search: Search, cards: Sequence[Component], budget: float
) -> Iterator[Choice]:
    """Every kind, number, limit and link of cards that the budget could pay."""
    rest = sum(min((o.dollars for o in r), default=inf) for r in search.known.values())
    boards = [offer.value for offer in search.known["board"]]
    seats = max((len(board["slots"]) for board in boards), default=0)
    for card in cards:
        for many in range(1, min(seats, MOST_CARDS) + 1):
            if many * search.prices[card.key] + rest > budget:
                break
            for share in SHARES:
                limit = _limit(card, share)
                if limit is None and share < 1:
                    continue
                for link in (1.0, HALF) if many > 1 else (1.0,):
                    yield Choice(card, many, limit, link)


def _left(choice: Choice) -> float:
    """Share of the speed that is left under the limit."""
    if choice.limit is None:
        return 1.0
    return power(choice.card.device, choice.limit).speed


def _limit(card: Component, share: float) -> float | None:
    """Watts of a share of a card's power in steps of ten; None at all of it."""
    if share == 1.0 or "power" not in card.values or "least" not in card.values:
        return None
    watts = 10 * round(share * card["power"] / 10)
    return float(watts) if watts >= card["least"] else None


def _cards(choice: Choice) -> Cards:
    """The cards of a choice with the narrowest links that it allows."""
    device = hardware.get(choice.card.device)
    cards = Cards((device,) * choice.many, limit=choice.limit)
    if choice.link == 1.0 or choice.many == 1:
        return cards
    halved = tuple(
        (made, max(1, int(lanes * choice.link))) for made, lanes in cards.links
    )
    return cards.swapped(links=halved)


@lru_cache(maxsize=4096)
def _bound(
    device: str, many: int, workloads: tuple[str, ...], batch: int, context: int
) -> float:
    chip = hardware.get(device)
    return sum(soonest(chip, many, one, batch, context) for one in workloads)


@lru_cache(maxsize=4096)
def _fastest(
    cards: Cards, workload: str, batch: int, context: int
) -> tuple[float, str] | None:
    """Seconds a token by the faster split, and which; None where it does not fit."""
    best: tuple[float, str] | None = None
    turns = soonest(cards.devices[0], 1, workload, batch, context, fits=False)
    for split in SPLITS if len(cards.devices) > 1 else SPLITS[:1]:
        if best is not None and best[0] <= turns:
            break  # cards that take turns are no faster than one
        try:
            rate = decode(cards, workload, split=split, batch=batch, context=context)
        except (ValueError, LookupError):
            continue
        best = min(best or (inf, ""), (batch / rate, split))
    return best


def _runs(search: Search, build: Build) -> tuple[Speed, ...]:
    """Every workload by its faster split."""
    cards, runs = of_build(build), []
    for one in search.workloads:
        best = _fastest(cards, one, search.batch, search.context)
        split = best[1] if best else SPLITS[0]
        asked = {"batch": search.batch, "context": search.context}
        runs.append(speed(cards, one, split=split, **asked))
    return tuple(runs)


def _wide(case: Case, share: float) -> bool:
    """Whether every slot gives a card that share of its own link."""
    for seat in case.placed.seats:
        own = slot(int(seat.card["generation"]), int(seat.card["lanes"]))
        try:
            if slot(*link_of(seat, case.build.cpu)) < share * own:
                return False
        except UnknownSpec:
            return False
    return True


def _quiet(case: Case, most: float) -> bool:
    """Whether cards and cooler together are no louder; noise adds as power."""
    sounds = [*case.build.gpus, case.build.cooling]
    try:
        return loudness(sounds) <= most
    except UnknownSpec:
        return False


def _miss(search: Search, cards: Sequence[Component]) -> str:
    """What comes nearest where nothing fits."""
    names = ", ".join(search.workloads)
    best: tuple[float, Choice] | None = None
    for choice in sorted(_choices(search, cards, inf), key=search.paid):
        most = inf if best is None else best[0]
        if search.paid(choice) >= most:
            break
        if search.bound(choice) == inf:
            continue
        made = search.machine(choice, most)
        if made and made[0] < most and search.seconds(choice) < inf:
            best = made[0], choice
    if best is None:
        return (
            f"{names}: no {MOST_CARDS} like cards of the catalogue hold it in a "
            f"machine that every rule allows without risers{_within(search)}"
        )
    dollars, choice = best
    return (
        f"{names}: {search.budget:,.0f} USD buy no machine that runs it; the nearest "
        f"has {choice.many} x {choice.card.name} and costs {dollars:,.0f} USD"
    )


def _within(search: Search) -> str:
    """What else was asked of a machine."""
    told = "" if search.noise is None else f" within {search.noise:g} dBA"
    return f"{told} at {search.judge.mains:g} V"


def _planned(search: Search, choice: Choice, build: Build, date: str | None) -> Planned:
    """A build with what the reader asks of it."""
    runs = _runs(search, build)
    made: Chain = chain(build, mains=search.judge.mains)
    fields = {name: getattr(build, name) for name in Build.__dataclass_fields__}
    bill = tuple((part.name, price(part, date) or 0.0) for part in build.parts())
    return Planned(
        **fields,
        bill=bill,
        runs=runs,
        watts=made.wall,
        room=made.curve.room[-1],
        left=made.speed,
        excluded=_excluded(search, build, choice),
        commands=commands(runs, search.context),
    )


def _excluded(search: Search, build: Build, choice: Choice) -> Excluded | None:
    """Of all swaps for the next cheaper part the nearest, and what it breaks."""
    best: Excluded | None = None
    for name in CHOSEN:
        rows = search.known[name]
        mine = next(o for o in rows if o.value == getattr(build, name))
        for offer in reversed(rows[: rows.index(mine)]):
            saves = mine.dollars - offer.dollars
            if saves <= 0:
                continue
            if best is not None and saves >= best.saves:
                break
            other = build.swapped(**{name: offer.value})
            broken = verify(other, mains=search.judge.mains)
            shown = shown_as(offer.value)
            if broken:
                best = Excluded(shown, saves, broken[0].rule, broken[0].sum)
            else:
                best = Excluded(shown, saves, "speed", "its slots are narrower")
            break
    return best
