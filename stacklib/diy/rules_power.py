"""Rules of power: supply, spikes, plugs, cables, and the circuit in the wall.

Left out: rails inside a supply, and cables that are longer than their rating.
"""

from __future__ import annotations

from typing import NamedTuple

from stacklib.cost.catalogue import Component

from .build import Build
from .findings import Amount, Broken, Leaf, given, of, per, told
from .placing import spread
from .rules import Case, counted, rule, total

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
    terms = [(float(n), power(build, card)) for n, card in counted(build.gpus)]
    terms += [(1.0, of(build.cpu, "peak")), (1.0, told("rig.rest"))]
    return total("W", "power of the machine", *terms)


def _rated(build: Build, field: str) -> Amount:
    terms = ((float(n), of(psu, field)) for n, psu in counted(build.psu))
    return total("W", "rating of the supplies", *terms)


@rule("limit", "limit")
def limit(case: Case) -> Broken | None:
    """No card is asked for less than its driver allows."""
    build = case.build
    for card in dict.fromkeys(build.gpus) if build.limit is not None else ():
        need = total("W", "lowest limit of the card", (1, of(card, "least")))
        have = total("W", "limit", (1, given(build.limit or 0, "W", "power limit")))
        if need.value > have.value:
            return Broken(card, f"{card.name} takes no such limit", need, have)
    return None


@rule("supply", "psu", "limit")
def supply(case: Case) -> Broken | None:
    """The supply carries cards, processor and the rest together."""
    need, have = drawn(case.build), _rated(case.build, "watts")
    if need.value <= have.value:
        return None
    return Broken(case.build.psu[0], "the supply is too small", need, have)


@rule("mains", "psu", "mains")
def mains(case: Case) -> Broken | None:
    """The supply gives that at this voltage, too."""
    build = case.build
    if case.mains >= LOW or drawn(build).value > _rated(build, "watts").value:
        return None
    need, have = drawn(build), _rated(build, "watts_low")
    if need.value <= have.value:
        return None
    says = f"at {case.mains:g} V the supply gives less than its label"
    return Broken(build.psu[0], says, need, have)


@rule("transient", "psu", "limit")
def transient(case: Case) -> Broken | None:
    """A card's spike of 100 us stays below what the supply stands."""
    build = case.build
    leaf = max((power(build, card) for card in build.gpus), key=lambda one: one.value)
    others = list(counted(build.gpus))
    terms: list[tuple[float, tuple[Leaf, ...]]] = []
    terms.append((1.0, (told("rig.card_excursion"), leaf)))
    spiked = False
    for n, card in others:
        one = power(build, card)
        left = n - (not spiked and one.value == leaf.value)
        spiked = spiked or left < n
        if left:
            terms.append((float(left), (one,)))
    terms += [(1.0, (of(build.cpu, "peak"),)), (1.0, (told("rig.rest"),))]
    need = Amount(tuple(terms), "W", "power while one card spikes")
    ratings = tuple(
        (float(n), (told(f"rig.atx{psu['standard']:g}_excursion"), of(psu, "watts")))
        for n, psu in counted(build.psu)
    )
    have = Amount(ratings, "W", "what the supplies stand for 100 us")
    if need.value <= have.value or drawn(build).value > _rated(build, "watts").value:
        return None
    return Broken(build.psu[0], "a spike trips the supply", need, have)


class Plug(NamedTuple):
    """How a card is fed: plugs that it takes of the supply, watts that they carry."""

    takes: dict[str, float]  # field of the supply: plugs
    watts: tuple[float, Leaf]  # plugs, what each carries


def plugs(build: Build) -> list[tuple[Component, Plug]]:
    """Every card with the plugs it takes."""
    found = []
    cables = spread(build.cables, len(build.gpus))
    for card, cable in zip(build.gpus, cables, strict=True):
        many16, many8, eps = (card[f"plugs_{n}"] for n in ("16", "8", "eps"))
        if cable is not None and (many := card[PLUGS[cable["gives"]]]):
            takes = {PLUGS[cable["from"]]: many * cable["takes"]}
            plug = Plug(takes, (many, of(cable, "watts")))
        elif many16:
            plug = Plug({"plugs_16": many16}, (many16, told("rig.plug_16")))
        else:  # a card with an EPS plug has an adapter of two 8-pin plugs in its box
            many = many8 + 2 * eps
            plug = Plug({"plugs_8": many}, (many, told("rig.plug_8")))
        found.append((card, plug))
    return found


def _plugged(case: Case, field: str, says: str) -> Broken | None:
    fed = [(card, plug.takes.get(field, 0)) for card, plug in plugs(case.build)]
    takers = [(many, card) for card, many in fed if many]
    if not takers:
        return None
    words = "plugs that cards take"
    need = total(
        "", words, *((n, given(1, "", f"plug of {c.name}")) for n, c in takers)
    )
    have = total(
        "", "plugs", *((n, of(psu, field)) for n, psu in counted(case.build.psu))
    )
    if need.value <= have.value:
        return None
    return Broken(case.build.psu[0], says, need, have)


@rule("plugs-16", "psu", "cables")
def plugs_16(case: Case) -> Broken | None:
    """The supply has a 12V-2x6 plug for every card that takes one."""
    return _plugged(case, "plugs_16", "too few 12V-2x6 plugs")


@rule("plugs-8", "psu")
def plugs_8(case: Case) -> Broken | None:
    """The supply has the 8-pin plugs that cards and adapters take."""
    return _plugged(case, "plugs_8", "too few 8-pin PCIe plugs")


@rule("eps", "psu", "board")
def eps(case: Case) -> Broken | None:
    """The supply has an EPS plug for each on the board."""
    board = case.build.board
    need = total("", "EPS plugs of the board", (1, of(board, "plugs_eps")))
    ratings = ((float(n), of(psu, "plugs_eps")) for n, psu in counted(case.build.psu))
    have = total("", "EPS plugs of the supplies", *ratings)
    if need.value <= have.value:
        return None
    return Broken(case.build.psu[0], "too few EPS plugs for the board", need, have)


@rule("cable", "cables", "limit")
def cable(case: Case) -> Broken | None:
    """Plugs and slot carry what the card draws: a cable with two plugs does not."""
    cables = spread(case.build.cables, len(case.build.gpus))
    for card, wire in zip(case.build.gpus, cables, strict=True):
        if wire is not None and not card[PLUGS[wire["gives"]]]:
            says = f"{wire.name} has no plug for {card.name}"
            return Broken(wire, says, facts=((wire, "gives"),))
    for card, plug in plugs(case.build):
        need = total("W", "power of the card", (1, power(case.build, card)))
        have = total(
            "W", "what slot and plugs carry", (1, told("rig.slot")), plug.watts
        )
        if need.value > have.value:
            return Broken(card, f"the cables of {card.name} run hot", need, have)
    return None


def _efficiency(build: Build) -> Leaf:
    """Of the worst supply."""
    return min(
        (told(f"rig.{psu['level']}") for psu in build.psu), key=lambda e: e.value
    )


def _circuit(case: Case) -> tuple[float, tuple[Leaf, ...]]:
    amps = told("rig.amps_low" if case.mains < LOW else "rig.amps_high")
    return float(case.build.circuits), (given(case.mains, "V", "mains"), amps)


@rule("circuit", "limit", "circuits", "mains")
def circuit(case: Case) -> Broken | None:
    """The circuits carry that for hours: 80 % of the breaker."""
    build = case.build
    loss = per(_efficiency(build))
    terms = tuple((n, (*leaves, loss)) for n, leaves in drawn(build).terms)
    need = Amount(terms, "W", "power at the wall")
    many, leaves = _circuit(case)
    hours = given(case.continuous, "", "share of a breaker that holds for hours")
    have = Amount(((many, (*leaves, hours)),), "W", "what the circuits carry for hours")
    if need.value <= have.value:
        return None
    return Broken(build.gpus[0], "the breaker goes", need, have)


@rule("supplies", "circuits", "mains", "psu")
def supplies(case: Case) -> Broken | None:
    """Two supplies on one circuit add plugs, and no watts behind the breaker."""
    build = case.build
    if len(build.psu) <= build.circuits:
        return None
    loss = per(_efficiency(build))
    rated = tuple((float(n), (of(psu, "watts"), loss)) for n, psu in counted(build.psu))
    need = Amount(rated, "W", "what the supplies may draw")
    have = Amount((_circuit(case),), "W", "what the breaker lets through")
    if need.value <= have.value:
        return None
    says = "the supplies together may draw more than their circuit has"
    return Broken(build.psu[0], says, need, have)
