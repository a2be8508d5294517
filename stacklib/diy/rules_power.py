"""Rules of power: supply, spikes, plugs, cables, and the circuit in the wall.

Left out: rails inside a supply, and cables that are longer than their rating.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from stacklib.cost.catalogue import Component

from .build import Build
from .findings import Amount, Leaf, Term, given, of, per, told
from .placing import spread
from .rules import Case, Found, clash, counted, every, one, over, rule, total

PLUGS = {"16-pin": "plugs_16", "8-pin": "plugs_8"}
LOW = 200  # V: below, a supply runs at the rating for low mains


def power(build: Build, card: Component) -> Leaf:
    """What a card draws: its design power, or the limit where that is less."""
    own = of(card, "power")
    if build.limit is None or build.limit >= own.value:
        return own
    return given(build.limit, "W", "power limit of a card")


def drawn(build: Build) -> Amount:
    """What the supplies give: cards, processor and the rest."""
    return total("power of the machine", *_terms(build, build.gpus))


def _terms(build: Build, cards: Sequence[Component]) -> list[Term]:
    each: list[Term] = [(n, power(build, card)) for n, card in counted(cards)]
    return [*each, (1, of(build.cpu, "peak")), (1, told("rig.rest"))]


def _rated(build: Build, field: str = "watts") -> Amount:
    return every(build.psu, "rating of the supplies", field)


@rule("limit", "limit")
def limit(case: Case) -> Found:
    """No card is asked for less than its driver allows."""
    asked = case.build.limit
    for card in case.cards:
        if asked is not None and asked < card["power"]:
            need = one(card, "least", "lowest limit of the card")
            have = total("limit", (1, given(asked, "W", "power limit")))
            yield over(card, f"{card.name} takes no such limit", need, have)


@rule("supply", "psu", "limit")
def supply(case: Case) -> Found:
    """The supply carries cards, processor and the rest together."""
    build, says = case.build, "the supply is too small"
    yield over(build.psu[0], says, drawn(build), _rated(build))


@rule("mains", "psu", "mains")
def mains(case: Case) -> Found:
    """The supply gives that at this voltage, too."""
    build = case.build
    if case.mains < LOW and drawn(build).value <= _rated(build).value:
        says = f"at {case.mains:g} V the supply gives less than its label"
        yield over(build.psu[0], says, drawn(build), _rated(build, "watts_low"))


@rule("transient", "psu", "limit")
def transient(case: Case) -> Found:
    """A card's spike of 100 us stays below what the supply stands."""
    build = case.build
    *others, hot = sorted(build.gpus, key=lambda card: power(build, card).value)
    spike = 1, told("rig.card_excursion"), power(build, hot)
    ratings = [
        (n, told(f"rig.atx{psu['standard']:g}_excursion"), of(psu, "watts"))
        for n, psu in counted(build.psu)
    ]
    if drawn(build).value <= _rated(build).value:
        need = total("power while one card spikes", spike, *_terms(build, others))
        have = total("what the supplies stand for 100 us", *ratings)
        yield over(build.psu[0], "a spike trips the supply", need, have)


def _cabled(build: Build) -> Iterator[tuple[Component, Component | None]]:
    return zip(build.gpus, spread(build.cables, len(build.gpus)), strict=True)


def _plugs(build: Build) -> Iterator[tuple[Component, str, float, Term]]:
    """Every card, which plugs of the supply it takes, how many, and what it gets."""
    for card, cable in _cabled(build):
        many16, many8, eps = (card[f"plugs_{n}"] for n in ("16", "8", "eps"))
        if cable is not None and (many := card[PLUGS[cable["gives"]]]):
            carry = many, of(cable, "watts")
            yield card, PLUGS[cable["from"]], many * cable["takes"], carry
        elif many16:
            yield card, "plugs_16", many16, (many16, told("rig.plug_16"))
        else:  # a card with an EPS plug has an adapter of two 8-pin plugs in its box
            many = many8 + 2 * eps
            yield card, "plugs_8", many, (many, told("rig.plug_8"))


def _plugged(case: Case, field: str, says: str) -> Found:
    terms = [
        (many, given(1, "", f"plug of {card.name}"))
        for card, taken, many, _ in _plugs(case.build)
        if many and taken == field
    ]
    if terms:
        psus = case.build.psu
        have = every(psus, "plugs of supplies", field)
        yield over(psus[0], says, total("plugs of cards", *terms), have)


@rule("plugs-16", "psu", "cables")
def plugs_16(case: Case) -> Found:
    """The supply has a 12V-2x6 plug for every card that takes one."""
    return _plugged(case, "plugs_16", "too few 12V-2x6 plugs")


@rule("plugs-8", "psu")
def plugs_8(case: Case) -> Found:
    """The supply has the 8-pin plugs that cards and adapters take."""
    return _plugged(case, "plugs_8", "too few 8-pin PCIe plugs")


@rule("eps", "psu", "board")
def eps(case: Case) -> Found:
    """The supply has an EPS plug for each on the board."""
    need = one(case.board, "plugs_eps", "EPS plugs of the board")
    have = every(case.build.psu, "EPS plugs of the supplies", "plugs_eps")
    yield over(case.build.psu[0], "too few EPS plugs for the board", need, have)


@rule("cable", "cables", "limit")
def cable(case: Case) -> Found:
    """Plugs and slot carry what the card draws: a cable with two plugs does not."""
    build = case.build
    for card, wire in _cabled(build):
        if wire is not None and not card[field := PLUGS[wire["gives"]]]:
            yield clash((wire, "gives"), (card, field), "{0} has no plug for {1}")
    for card, *_, carry in list(_plugs(build)):  # each is known, or none is judged
        need = total("power of the card", (1, power(build, card)))
        have = total("what slot and plugs carry", (1, told("rig.slot")), carry)
        yield over(card, f"the cables of {card.name} run hot", need, have)


def _loss(build: Build) -> Leaf:
    """Over the efficiency of the worst supply."""
    shares = [told(f"rig.{psu['level']}") for psu in build.psu]
    return per(min(shares, key=lambda share: share.value))


def _circuit(case: Case) -> Term:
    amps = told("rig.amps_low" if case.mains < LOW else "rig.amps_high")
    return case.build.circuits, given(case.mains, "V", "mains"), amps


@rule("circuit", "limit", "circuits", "mains")
def circuit(case: Case) -> Found:
    """The circuits carry that for hours: 80 % of the breaker."""
    build, loss = case.build, _loss(case.build)
    need = total("power at the wall", *((*term, loss) for term in drawn(build).terms))
    hours = given(case.continuous, "", "share of a breaker that holds for hours")
    carried = *_circuit(case), hours
    have = total("what the circuits carry for hours", carried, unit="W")
    yield over(build.gpus[0], "the breaker goes", need, have)


@rule("supplies", "circuits", "mains", "psu")
def supplies(case: Case) -> Found:
    """Two supplies on one circuit add plugs, and no watts behind the breaker."""
    build = case.build
    if len(build.psu) > build.circuits:
        loss = _loss(build)
        rated = ((*term, loss) for term in _rated(build).terms)
        need = total("what the supplies may draw", *rated)
        have = total("what the breaker lets through", _circuit(case), unit="W")
        says = "the supplies together may draw more than their circuit has"
        yield over(build.psu[0], says, need, have)
