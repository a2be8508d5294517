"""The cheapest change of one field that mends a finding and breaks nothing else.

What costs nothing comes first: another slot, a lower power limit, a second circuit.
Then every part of the catalogue, the cheapest first. Each change is checked by the
rules before it is proposed, and nothing is proposed whose price is unknown.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterator

from stacklib.cost.catalogue import Component, parts
from stacklib.hardware.accelerator import UnknownSpec

from .build import KIND_OF, MANY, Build
from .findings import Mend, number
from .rules import RULES, Case, Rule

HIGH = 240  # V
STEP = 5  # W: power limits are tried in such steps


def holds(rule: Rule, case: Case) -> bool | None:
    """Whether a build keeps a rule; None where that cannot be decided."""
    if rule.id not in case.asked:
        try:
            case.asked[rule.id] = rule.check(case) is None
        except UnknownSpec:
            case.asked[rule.id] = None
    return case.asked[rule.id]


class Mender:
    """Changes of one build, each tried once however many rules it may mend.

    ``kept``: ids of the rules that the build keeps now.
    """

    def __init__(self, case: Case, kept: set[str]) -> None:
        self.case, self.kept = case, [RULES[id] for id in RULES if id in kept]
        self.offers: dict[tuple[str, Component | None], list[tuple[Mend, Case]]] = {}

    def mend(self, rule: Rule, culprit: Component) -> Mend | None:
        """The cheapest change by which the rule holds, and all still do that did.

        ``culprit``: the part that breaks it.
        """
        best: Mend | None = None
        for field in sorted(rule.mends, key=lambda name: name not in CHOICES):
            if best is not None and field not in CHOICES and best.field in CHOICES:
                break
            offers = self._offers(field, culprit)
            if field == "limit":  # less power mends more: halve what is left to try
                first = bisect_left(offers, True, key=lambda o: bool(holds(rule, o[1])))
                offers = offers[first : first + 1]
            for offer, after in offers:
                if best is not None and offer.dollars >= best.dollars:
                    break
                if self._mends(rule, after):
                    best = offer
                    break
        return best

    def _mends(self, rule: Rule, after: Case) -> bool:
        try:
            return bool(holds(rule, after)) and all(holds(k, after) for k in self.kept)
        except ValueError:  # slots that the other board does not have
            return False

    def _offers(self, field: str, culprit: Component) -> list[tuple[Mend, Case]]:
        key = (field, culprit if field in ("gpus", "storage") else None)
        if key not in self.offers:
            mains, share = self.case.mains, self.case.continuous
            self.offers[key] = [
                (offer, Case(offer.build, offer.mains or mains, share))
                for offer in _offers(field, culprit, self.case.build)
            ]
        return self.offers[key]


def _offers(field: str, culprit: Component, build: Build) -> Iterator[Mend]:
    """Builds that differ in one field, the cheapest first."""
    if field in CHOICES:
        yield from CHOICES[field](build)
        return
    old = getattr(build, field)
    before = old if field in MANY else (old,)
    offers = []
    for part in parts(KIND_OF[field]):
        try:
            after = _instead(field, part, before, culprit, build)
            if after == before or not after:
                continue
            dollars = _cost(after) - _cost(before)
        except UnknownSpec:
            continue
        offers.append((dollars, part.key, after))
    for dollars, _, after in sorted(offers, key=lambda offer: offer[:2]):
        names = ", ".join(
            part.name
            if after.count(part) == 1
            else f"{after.count(part)} x {part.name}"
            for part in dict.fromkeys(after)
        )
        new = after if field in MANY else after[0]
        slots = () if field == "board" else build.slots
        built = build.swapped(**{field: new, "slots": slots})
        yield Mend(field, f"{field}: {names}", dollars, built)


def _cost(parts: tuple[Component, ...]) -> float:
    return sum(part.dollars for part in parts)


def _instead(
    field: str,
    part: Component,
    before: tuple[Component, ...],
    culprit: Component,
    build: Build,
) -> tuple[Component, ...]:
    """What stands in a field once a part is in it; nothing where it is no use there."""
    if field == "memory":
        return _memory(part, before, build)
    if field == "gpus":  # a card that holds less is no change but another machine
        swapped = culprit in before and part["memory"] >= culprit["memory"]
        return (
            tuple(part if old is culprit else old for old in before) if swapped else ()
        )
    if field == "storage":  # one drive of as much room
        place = before.index(culprit) if culprit in before else 0
        if not before or part["capacity"] < before[place]["capacity"]:
            return ()
        return (*before[:place], part, *before[place + 1 :])
    if field == "bridges":
        return (part,) * len(before) if "bridge" in part.values else ()
    if field == "cables":
        return (part,) if "watts" in part.values else ()
    if field == "risers":
        return (part,) * max(1, len(before))
    return (part,) * len(before)


def _memory(
    part: Component, before: tuple[Component, ...], build: Build
) -> tuple[Component, ...]:
    """As many kits as fill the channels and hold what was there, so far as it fits."""
    held = sum(kit["modules"] * kit["capacity"] for kit in before)
    most = min(build.board["max_memory"], build.cpu["max_memory"])
    lanes = min(build.board["channels"], build.cpu["channels"])
    each = part["modules"] * part["capacity"]
    room = build.board["dimms"] // part["modules"]
    many = max(math.ceil(min(held, most) / each), math.ceil(lanes / part["modules"]))
    return (part,) * int(min(many, room))


def _limits(build: Build) -> Iterator[Mend]:
    """Lower power limits, the highest first."""
    try:
        top = max(card["power"] for card in build.gpus)
        least = max(card["least"] for card in build.gpus)
    except UnknownSpec:
        return
    start = max(min(top, build.limit or top), least + STEP)
    for step in range(1, math.ceil((start - least) / STEP) + 1):
        limit = max(least, STEP * math.ceil(start / STEP - step))
        says = f"limit: each card to {number(limit)} W"
        yield Mend("limit", says, 0.0, build.swapped(limit=limit))


def _circuits(build: Build) -> Iterator[Mend]:
    for many in range(build.circuits + 1, len(build.psu) + 1):
        says = f"circuits: the supplies on {many} circuits"
        yield Mend("circuits", says, 0.0, build.swapped(circuits=many))


def _slots(build: Build) -> Iterator[Mend]:
    if build.slots:
        says = "slots: the cards as this checker places them"
        yield Mend("slots", says, 0.0, build.swapped(slots=()))


def _peer(build: Build) -> Iterator[Mend]:
    if build.peer:
        says = "peer: copies over host memory, split by layers"
        yield Mend("peer", says, 0.0, build.swapped(peer=False))


def _mains(build: Build) -> Iterator[Mend]:
    says = f"mains: an outlet of {HIGH} V, if the supply takes it"
    yield Mend("mains", says, 0.0, build, HIGH)


CHOICES = {
    "mains": _mains,
    "limit": _limits,
    "circuits": _circuits,
    "slots": _slots,
    "peer": _peer,
}
