"""Rules of power: supply, spikes, plugs, cables, and the circuit in the wall.

Left out: rails inside a supply, and cables that are longer than their rating.
"""

from __future__ import annotations

import math

from stacklib.cost.catalogue import Component

from .build import Build
from .findings import Amount, Leaf, given, of, per, told
from .placing import spread
from .rules import Case, Found, clash, counted, every, one, over, rule, total

PLUGS = {"16-pin": "plugs_16", "8-pin": "plugs_8"}
LOW = 200  # V: below, a supply runs at the rating for low mains
Terms = list[tuple[float, tuple[Leaf, ...]]]


def power(build: Build, card: Component) -> Leaf:
    """What a card draws: its design power, or the limit where that is less."""
    own = of(card, "power")
    if build.limit is None or build.limit >= own.value:
        return own
    return given(build.limit, "W", "power limit of a card")


def drawn(build: Build) -> Amount:
    """What the supplies give: cards, processor and the rest."""
    terms = [(float(n), power(build, card)) for n, card in counted(build.gpus)]
    terms += [(1.0, of(build.cpu, "peak")), (1.0, told("rig.rest"))]
    return total("power of the machine", *terms)


def _rated(build: Build, field: str) -> Amount:
    return every(build.psu, field, "rating of the supplies")


@rule("limit", "limit")
def limit(case: Case) -> Found:
    """No card is asked for less than its driver allows."""
    asked = case.build.limit or math.inf
    for card in case.cards:
        if asked < math.inf and asked < card["power"]:
            need = one(card, "least", "lowest limit of the card")
            have = total("limit", (1, given(asked, "W", "power limit")))
            yield over(card, f"{card.name} takes no such limit", need, have)


@rule("supply", "psu", "limit")
def supply(case: Case) -> Found:
    """The supply carries cards, processor and the rest together."""
    need, have = drawn(case.build), _rated(case.build, "watts")
    yield over(case.build.psu[0], "the supply is too small", need, have)


@rule("mains", "psu", "mains")
def mains(case: Case) -> Found:
    """The supply gives that at this voltage, too."""
    build = case.build
    if case.mains < LOW and drawn(build).value <= _rated(build, "watts").value:
        says = f"at {case.mains:g} V the supply gives less than its label"
        yield over(build.psu[0], says, drawn(build), _rated(build, "watts_low"))


@rule("transient", "psu", "limit")
def transient(case: Case) -> Found:
    """A card's spike of 100 us stays below what the supply stands."""
    build = case.build
    *others, hot = sorted(build.gpus, key=lambda card: power(build, card).value)
    terms: Terms = [(1.0, (told("rig.card_excursion"), power(build, hot)))]
    terms += [(float(n), (power(build, card),)) for n, card in counted(others)]
    terms += [(1.0, (of(build.cpu, "peak"),)), (1.0, (told("rig.rest"),))]
    ratings = tuple(
        (float(n), (told(f"rig.atx{psu['standard']:g}_excursion"), of(psu, "watts")))
        for n, psu in counted(build.psu)
    )
    if drawn(build).value <= _rated(build, "watts").value:
        need = Amount(tuple(terms), "W", "power while one card spikes")
        have = Amount(ratings, "W", "what the supplies stand for 100 us")
        yield over(build.psu[0], "a spike trips the supply", need, have)


Plug = tuple[Component, dict[str, float], tuple[float, Leaf]]


def plugs(build: Build) -> list[Plug]:
    """Every card, the plugs it takes of the supply by field, and what those carry."""
    found: list[Plug] = []
    cables = spread(build.cables, len(build.gpus))
    for card, cable in zip(build.gpus, cables, strict=True):
        many16, many8, eps = (card[f"plugs_{n}"] for n in ("16", "8", "eps"))
        if cable is not None and (many := card[PLUGS[cable["gives"]]]):
            takes = {PLUGS[cable["from"]]: many * cable["takes"]}
            found.append((card, takes, (many, of(cable, "watts"))))
        elif many16:
            carry = (many16, told("rig.plug_16"))
            found.append((card, {"plugs_16": many16}, carry))
        else:  # a card with an EPS plug has an adapter of two 8-pin plugs in its box
            many = many8 + 2 * eps
            found.append((card, {"plugs_8": many}, (many, told("rig.plug_8"))))
    return found


def _plugged(case: Case, field: str, says: str) -> Found:
    terms = [
        (takes[field], given(1, "", f"plug of {card.name}"))
        for card, takes, _ in plugs(case.build)
        if takes.get(field)
    ]
    if terms:
        psus = case.build.psu
        have = every(psus, field, "plugs of supplies")
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
    have = every(case.build.psu, "plugs_eps", "EPS plugs of the supplies")
    yield over(case.build.psu[0], "too few EPS plugs for the board", need, have)


@rule("cable", "cables", "limit")
def cable(case: Case) -> Found:
    """Plugs and slot carry what the card draws: a cable with two plugs does not."""
    build = case.build
    for card, wire in zip(
        build.gpus, spread(build.cables, len(build.gpus)), strict=True
    ):
        if wire is not None and not card[PLUGS[wire["gives"]]]:
            field = PLUGS[wire["gives"]]
            yield clash((wire, "gives"), (card, field), "{0} has no plug for {1}")
    for card, _, carry in plugs(build):
        need = total("power of the card", (1, power(build, card)))
        have = total("what slot and plugs carry", (1, told("rig.slot")), carry)
        yield over(card, f"the cables of {card.name} run hot", need, have)


def _loss(build: Build) -> Leaf:
    """Over the efficiency of the worst supply."""
    shares = [told(f"rig.{psu['level']}") for psu in build.psu]
    return per(min(shares, key=lambda share: share.value))


def _circuit(case: Case) -> tuple[float, tuple[Leaf, ...]]:
    amps = told("rig.amps_low" if case.mains < LOW else "rig.amps_high")
    return float(case.build.circuits), (given(case.mains, "V", "mains"), amps)


@rule("circuit", "limit", "circuits", "mains")
def circuit(case: Case) -> Found:
    """The circuits carry that for hours: 80 % of the breaker."""
    build, loss = case.build, _loss(case.build)
    terms = tuple((n, (*leaves, loss)) for n, leaves in drawn(build).terms)
    many, leaves = _circuit(case)
    hours = given(case.continuous, "", "share of a breaker that holds for hours")
    have = Amount(((many, (*leaves, hours)),), "W", "what the circuits carry for hours")
    need = Amount(terms, "W", "power at the wall")
    yield over(build.gpus[0], "the breaker goes", need, have)


@rule("supplies", "circuits", "mains", "psu")
def supplies(case: Case) -> Found:
    """Two supplies on one circuit add plugs, and no watts behind the breaker."""
    build = case.build
    if len(build.psu) > build.circuits:
        loss, rows = _loss(build), counted(build.psu)
        rated = tuple((float(n), (of(psu, "watts"), loss)) for n, psu in rows)
        need = Amount(rated, "W", "what the supplies may draw")
        have = Amount((_circuit(case),), "W", "what the breaker lets through")
        says = "the supplies together may draw more than their circuit has"
        yield over(build.psu[0], says, need, have)
