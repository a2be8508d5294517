"""The cheapest change of one field that mends a finding and breaks nothing else.

What costs nothing comes first: another slot, a lower power limit, a second circuit.
Then every part of the catalogue, the cheapest first. Each change is checked by the
rules before it is proposed, and nothing is proposed whose price is unknown.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any

from stacklib.cost.catalogue import Component, parts
from stacklib.hardware.accelerator import UnknownSpec

from .build import KIND_OF, MANY, USES, Build, Parts
from .findings import Mend, number
from .rules import RULES, Case, Rule, counted

HIGH = 240  # V
STEP = 5  # W: power limits are tried in such steps
REPLACED = {"gpus": "memory", "storage": "capacity"}  # only the part that breaks a rule
Choice = tuple[str, dict[str, Any]]  # what is said of it, and what it changes
Offers = list[tuple[Mend, Case]]  # with the build as it is after each


def holds(rule: Rule, case: Case) -> bool | None:
    """Whether a build keeps a rule; None where that cannot be decided."""
    if rule.id not in case.asked:
        try:
            case.asked[rule.id] = rule.check(case) is None
        except UnknownSpec:
            case.asked[rule.id] = None
    return case.asked[rule.id]


class Mender:
    """Changes of one build, each tried once however many rules it may mend."""

    def __init__(self, case: Case, broken: list[Rule], undecided: list[str]) -> None:
        self.case, self.broken = case, broken
        lost = {*undecided, *(rule.id for rule in broken)}
        self.kept = [RULES[id] for id in RULES if id not in lost]
        self.offers = cache(self._offers)

    def mend(self, rule: Rule, culprit: Component) -> Mend | None:
        """The cheapest change by which the rule holds, and all still do that did.

        A change of a field that mends whatever else is broken there comes before one
        that does not. ``culprit``: the part that breaks the rule.
        """
        best: Mend | None = None
        for field in sorted(rule.mends, key=lambda name: name not in CHOICES):
            if best is not None and field not in CHOICES and best.field in CHOICES:
                break
            offers = self.offers(field, culprit if field in REPLACED else None)
            others = [r for r in self.broken if field in r.mends]
            found = self._first(offers, others) or self._first(offers, [rule])
            if found and (best is None or found.dollars < best.dollars):
                best = found
        return best

    def _first(self, offers: Offers, rules: list[Rule]) -> Mend | None:
        """The first offer by which these rules hold, and all that did."""
        if offers and offers[0][0].field == "limit":  # less power mends more: halve
            first = bisect_left(
                offers, True, key=lambda o: all(holds(rule, o[1]) for rule in rules)
            )
            offers = offers[first : first + 1]
        for offer, after in offers:
            try:
                if all(holds(rule, after) for rule in (*rules, *self.kept)):
                    return offer
            except ValueError:  # slots that the other board does not have
                continue
        return None

    def _offers(self, field: str, culprit: Component | None) -> Offers:
        mains, share = self.case.mains, self.case.continuous
        return [
            (offer, Case(offer.build, offer.mains or mains, share))
            for offer in _offers(field, culprit, self.case.build)
        ]


def _offers(field: str, culprit: Component | None, build: Build) -> Iterator[Mend]:
    """Builds that differ in one field, the cheapest first."""
    if field in CHOICES:
        for says, changes in CHOICES[field](build):
            built, mains = build.swapped(**changes), changes.get("mains")
            yield Mend(field, f"{field}: {says}", 0.0, built, mains)
        return
    before, offers = build.held(field), []
    for part in parts(KIND_OF[field]):
        try:
            after = _instead(field, part, before, culprit, build)
            if after and after != before:
                offers.append((_cost(after) - _cost(before), part.key, after))
        except UnknownSpec:
            continue
    for dollars, _, after in sorted(offers):  # no two have a key in common
        names = [f"{n} x {p.name}" if n > 1 else p.name for n, p in counted(after)]
        slots = () if field == "board" else build.slots
        value = after if field in MANY else after[0]
        built = build.swapped(**{"slots": slots, field: value})
        yield Mend(field, f"{field}: {', '.join(names)}", dollars, built)


def _cost(parts: Parts) -> float:
    return sum(part.dollars for part in parts)


def _instead(
    field: str, part: Component, before: Parts, culprit: Component | None, build: Build
) -> Parts:
    """What stands in a field once a part is in it; nothing where it is no use there."""
    if field == "memory":
        return _memory(part, before, build)
    if culprit is not None:  # what holds less is no change but another machine
        size = REPLACED[field]
        if culprit not in before or part[size] < culprit[size]:
            return ()
        place = before.index(culprit)
        if field == "storage":  # one drive of several
            return (*before[:place], part, *before[place + 1 :])
        return tuple(part if old is culprit else old for old in before)
    if field in USES and USES[field][0] not in part.values:
        return ()
    return (part,) * max(1, len(before))


def _memory(part: Component, before: Parts, build: Build) -> Parts:
    """As many kits as fill the channels and hold what was there, so far as it fits."""
    held = sum(kit["modules"] * kit["capacity"] for kit in before)
    most = min(build.board["max_memory"], build.cpu["max_memory"])
    lanes = min(build.board["channels"], build.cpu["channels"])
    each = part["modules"] * part["capacity"]
    room = build.board["dimms"] // part["modules"]
    round_ = max(1, math.ceil(lanes / part["modules"]))  # kits that fill all channels
    many = round_ * math.ceil(min(held, most) / each / round_)
    return (part,) * int(min(many, room // round_ * round_))


def _limits(build: Build) -> Iterator[Choice]:
    """Lower power limits, the highest first."""
    try:
        top = max(card["power"] for card in build.gpus)
        least = max(card["least"] for card in build.gpus)
    except UnknownSpec:
        return
    start = max(min(top, build.limit or top), least + STEP)
    for step in range(1, math.ceil((start - least) / STEP) + 1):
        limit = max(least, STEP * math.ceil(start / STEP - step))
        yield f"each card to {number(limit)} W", {"limit": limit}


OUTLET = f"an outlet of {HIGH} V, if the supply takes it", {"mains": HIGH}
PLACED = "the cards as this checker places them", {"slots": ()}
CHOICES: dict[str, Callable[[Build], Iterable[Choice]]] = {  # what costs nothing
    "mains": lambda _: [OUTLET],
    "limit": _limits,
    "circuits": lambda build: [
        (f"the supplies on {many} circuits", {"circuits": many})
        for many in range(build.circuits + 1, len(build.psu) + 1)
    ],
    "slots": lambda build: build.slots and [PLACED],
    # asked only where peers are wanted
    "peer": lambda _: [("copies over host memory, split by layers", {"peer": False})],
}
