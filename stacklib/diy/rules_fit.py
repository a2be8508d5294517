"""Rules of what goes together: sockets, memory, boards in cases, coolers, cards."""

from __future__ import annotations

import math
from itertools import product

from .findings import Broken, given, of
from .rules import Case, Found, clash, count, every, one, over, rule, total, unlike

OUTSIDE = "{0} does not go into {1}"


@rule("socket", "cpu", "board")
def socket(case: Case) -> Found:
    """The processor goes into the board's socket."""
    yield unlike((case.cpu, "socket"), (case.board, "socket"), OUTSIDE)


@rule("series", "board", "cpu")
def series(case: Case) -> Found:
    """The board runs processors of this series, not only of this socket."""
    cpu, board = case.cpu, case.board
    if cpu["socket"] == board["socket"]:
        says = "{1} has the socket of {0} and does not run it"
        yield unlike((cpu, "series"), (board, "series"), says, board)


@rule("memory-type", "memory", "board")
def memory_type(case: Case) -> Found:
    """Memory is of the type that board and processor take."""
    cpu, board = case.cpu, case.board
    for kit in case.build.memory:
        yield unlike((kit, "type"), (board, "memory"), OUTSIDE)
    if cpu["socket"] == board["socket"]:
        says = "{1} has no controller for the memory of {0}"
        yield unlike((board, "memory"), (cpu, "memory"), says)


@rule("memory-module", "memory")
def memory_module(case: Case) -> Found:
    """Modules are registered where the board wants that, and plain where not."""
    for kit in case.build.memory:
        if kit["type"] == case.board["memory"]:
            says = "{0} does not start in {1}"
            yield unlike((kit, "module"), (case.board, "modules"), says)


@rule("memory-mixed", "memory")
def memory_mixed(case: Case) -> Found:
    """All modules are alike: registered and plain ones do not mix."""
    first, *others = dict.fromkeys(case.build.memory)
    says = "{0} beside {1}: channels of unequal modules"
    for kit, field in product(others, ("module", "capacity")):
        yield unlike((kit, field), (first, field), says)


@rule("memory-slots", "memory", "board")
def memory_slots(case: Case) -> Found:
    """There is a slot for every module."""
    kits, have = case.build.memory, one(case.board, "dimms", "slots of the board")
    need = every(kits, "modules", "modules")
    yield over(kits[0], "more modules than slots", need, have)


@rule("channels", "memory")
def channels(case: Case) -> Found:
    """No memory channel is empty, or has less than others: that costs bandwidth."""
    kits = case.build.memory
    least = min(case.cpu, case.board, key=lambda part: part["channels"])
    have = every(kits, "modules", "modules")
    if have.value <= case.board["dimms"]:  # more of them are another rule's
        rounds = math.ceil(have.value / least["channels"])
        need = total("modules for all channels", (rounds, of(least, "channels")))
        yield over(kits[0], "channels are empty or unlike", need, have)


@rule("memory-most", "memory", "board")
def memory_most(case: Case) -> Found:
    """Board and processor address all of the memory."""
    least = min(case.cpu, case.board, key=lambda part: part["max_memory"])
    need = every(case.build.memory, "memory", "modules", "capacity")
    have = one(least, "max_memory", "most memory")
    yield over(least, f"{least.name} addresses less", need, have)


@rule("form", "case", "board")
def form(case: Case) -> Found:
    """The case holds a board of this size."""
    yield unlike((case.board, "form"), (case.box, "boards"), OUTSIDE)


@rule("supply-form", "psu", "case")
def supply_form(case: Case) -> Found:
    """The case holds supplies of this shape and length, and so many."""
    box, supplies = case.box, case.build.psu
    for psu in dict.fromkeys(supplies):
        yield unlike((psu, "form"), (box, "psus"), OUTSIDE)
        need = one(psu, "length", "length of the supply")
        have = one(box, "psu_length", "room for it")
        yield over(psu, f"{psu.name} is too long", need, have)
    need, have = count(len(supplies), "supplies"), one(box, "bays", "places for them")
    yield over(supplies[0], f"{box.name} holds fewer supplies", need, have)


@rule("card-length", "case")
def card_length(case: Case) -> Found:
    """The case is as long as the longest card."""
    card = max(case.cards, key=lambda card: card["length"])
    need, have = one(card, "length", "card"), one(case.box, "length", "room for it")
    yield over(card, f"{card.name} does not go into {case.box.name}", need, have)


@rule("cooler-socket", "cooling")
def cooler_socket(case: Case) -> Found:
    """The cooler mounts on the board's socket."""
    board, cooler = case.board, case.build.cooling
    says = "{1} does not mount on {0}"
    yield unlike((board, "socket"), (cooler, "sockets"), says, cooler)


@rule("cooler-height", "cooling", "case")
def cooler_height(case: Case) -> Found:
    """A cooler on air stands below the side panel."""
    cooler = case.build.cooling
    if not cooler["radiator"]:
        says = f"{cooler.name} does not go into {case.box.name}"
        need = one(cooler, "height", "height of the cooler")
        yield over(cooler, says, need, one(case.box, "height", "room for it"))


@rule("cooler-power", "cooling", "cpu")
def cooler_power(case: Case) -> Found:
    """The maker lists the cooler for a processor as hot as this one."""
    cpu, cooler = case.cpu, case.build.cooling
    need = one(cpu, "peak", "power of the processor")
    have = one(cooler, "cools", "what the cooler is listed for")
    yield over(cooler, f"{cpu.name} is hotter than {cooler.name}", need, have)


@rule("radiator", "cooling", "case")
def radiator(case: Case) -> Found:
    """The case has a place for the radiator."""
    cooler = case.build.cooling
    if cooler["radiator"]:
        says = "{1} has no place for the radiator"
        yield unlike((cooler, "radiator"), (case.box, "radiators"), says)


@rule("display", "cpu", "board")
def display(case: Case) -> Found:
    """Something has a display output: a card, the processor or the board."""
    facts = [(card, "display") for card in case.cards]
    facts += [(case.cpu, "graphics"), (case.board, "bmc")]
    if not any(part.get(field) for part, field in facts):
        for part, field in facts:
            part[field]  # unknown: it cannot be decided
        says = "no card, no processor and no board shows a picture at the first start"
        yield Broken(case.cards[0], says, facts=tuple(facts))


@rule("airflow", "case", "gpus")
def airflow(case: Case) -> Found:
    """A card without a fan has a duct before it."""
    for card in case.cards:
        if card["cooling"] == "passive" and not case.box["ducted"]:
            says = "{0} has no fan, and {1} no duct"
            yield clash((card, "cooling"), (case.box, "ducted"), says)


@rule("rebar", "cpu", "gpus")
def rebar(case: Case) -> Found:
    """A card that needs Resizable BAR gets it."""
    for card in case.cards:
        if card["rebar"] and not case.cpu["rebar"]:
            says = "{0} is slow without Resizable BAR, which {1} lacks"
            yield clash((card, "rebar"), (case.cpu, "rebar"), says)


@rule("nvlink", "gpus", "bridges")
def nvlink(case: Case) -> Found:
    """A bridge has cards that take it: no RTX 40 or 50 does."""
    says = "{0} takes no such bridge"
    for bridge, card in product(dict.fromkeys(case.build.bridges), case.cards):
        yield unlike((card, "bridge"), (bridge, "bridge"), says)


@rule("bridge-pairs", "bridges")
def bridge_pairs(case: Case) -> Found:
    """A bridge joins two cards and only two, and a card takes one bridge."""
    bridges, cards = case.build.bridges, case.build.gpus
    if bridges:
        each = given(2, "", "cards that a bridge joins")
        need = total("cards to be joined", (len(bridges), each))
        says = "bridges for cards that are not there"
        pairs = sum(cards.count(card) // 2 * 2 for card in case.cards)
        yield over(bridges[0], says, need, count(pairs, "cards in pairs of a kind"))


@rule("bridge-span", "bridges", "slots")
def bridge_span(case: Case) -> Found:
    """A bridge is as long as the way between the slots of its cards."""
    bridges = case.build.bridges
    if bridges and not any(nvlink(case)):
        places = sorted(seat.told("at") for seat in case.placed.seats)
        pairs = zip(bridges, places[::2], places[1::2], strict=False)
        for bridge, upper, lower in pairs:
            way = count(lower - upper, "slots between the cards")
            have = one(bridge, "span", "slots that the bridge spans")
            if way.value != have.value:
                says = f"{bridge.name} does not reach from card to card"
                yield Broken(bridge, says, way, have, "is not")


@rule("peer", "gpus", "peer")
def peer(case: Case) -> Found:
    """Cards read each other's memory only where the driver lets them."""
    for card in case.cards if case.build.peer else ():
        if not card["peer"]:
            says = f"the stock driver of {card.name} sends every copy over host memory"
            yield Broken(card, says, facts=((card, "peer"),))
