"""Rules of what goes together: sockets, memory, boards in cases, coolers, cards."""

from __future__ import annotations

import math

from stacklib.cost.catalogue import Component

from .findings import Amount, Broken, given, of
from .rules import Case, counted, rule, total


def _other(
    a: Component, field: str, b: Component, of_b: str, culprit: Component, says: str
) -> Broken:
    """Two texts that do not go together."""
    return Broken(culprit, says, facts=((a, field), (b, of_b)))


@rule("socket", "cpu", "board")
def socket(case: Case) -> Broken | None:
    """The processor goes into the board's socket."""
    cpu, board = case.build.cpu, case.build.board
    if cpu["socket"] == board["socket"]:
        return None
    says = f"{cpu.name} does not go into {board.name}"
    return _other(cpu, "socket", board, "socket", cpu, says)


@rule("series", "board", "cpu")
def series(case: Case) -> Broken | None:
    """The board runs processors of this series, not only of this socket."""
    cpu, board = case.build.cpu, case.build.board
    if cpu["socket"] != board["socket"] or cpu["series"] in board["series"]:
        return None
    says = f"{board.name} has the socket of {cpu.name} and does not run it"
    return _other(cpu, "series", board, "series", board, says)


@rule("memory-type", "memory", "board")
def memory_type(case: Case) -> Broken | None:
    """Memory is of the type that board and processor take."""
    board = case.build.board
    for kit in case.build.memory:
        if kit["type"] != board["memory"]:
            says = f"{kit.name} does not go into {board.name}"
            return _other(kit, "type", board, "memory", kit, says)
    cpu = case.build.cpu
    if cpu["socket"] == board["socket"] and board["memory"] not in cpu["memory"]:
        says = f"{cpu.name} has no controller for the memory of {board.name}"
        return _other(cpu, "memory", board, "memory", board, says)
    return None


@rule("memory-module", "memory")
def memory_module(case: Case) -> Broken | None:
    """Modules are registered where the board wants that, and plain where not."""
    board = case.build.board
    for kit in case.build.memory:
        if kit["type"] == board["memory"] and kit["module"] not in board["modules"]:
            says = f"{kit.name} does not start in {board.name}"
            return _other(kit, "module", board, "modules", kit, says)
    return None


@rule("memory-mixed", "memory")
def memory_mixed(case: Case) -> Broken | None:
    """All modules are alike: registered and plain ones do not mix."""
    first, *others = dict.fromkeys(case.build.memory)
    for kit in others:
        if (kit["module"], kit["capacity"]) != (first["module"], first["capacity"]):
            says = f"{kit.name} beside {first.name}: channels of unequal modules"
            return Broken(kit, says, facts=((first, "capacity"), (kit, "capacity")))
    return None


@rule("memory-slots", "memory", "board")
def memory_slots(case: Case) -> Broken | None:
    """There is a slot for every module."""
    board, kits = case.build.board, counted(case.build.memory)
    need = total("", "modules", *((many, of(kit, "modules")) for many, kit in kits))
    have = total("", "slots of the board", (1, of(board, "dimms")))
    if need.value <= have.value:
        return None
    return Broken(kits[0][1], "more modules than slots", need, have)


@rule("channels", "memory")
def channels(case: Case) -> Broken | None:
    """No memory channel is left empty: each empty one takes its bandwidth away."""
    cpu, board, kits = case.build.cpu, case.build.board, counted(case.build.memory)
    least = min(cpu, board, key=lambda part: part["channels"])
    need = total("", "channels", (1, of(least, "channels")))
    have = total("", "modules", *((many, of(kit, "modules")) for many, kit in kits))
    if need.value <= have.value:
        return None
    return Broken(kits[0][1], "channels stay empty", need, have)


@rule("memory-most", "memory", "board")
def memory_most(case: Case) -> Broken | None:
    """Board and processor address all of the memory."""
    cpu, board, kits = case.build.cpu, case.build.board, counted(case.build.memory)
    least = min(cpu, board, key=lambda part: part["max_memory"])
    terms = tuple(
        (float(many), (of(kit, "modules"), of(kit, "capacity"))) for many, kit in kits
    )
    need = Amount(terms, "GB", "memory")
    have = total("GB", "most memory", (1, of(least, "max_memory")))
    if need.value <= have.value:
        return None
    return Broken(least, f"{least.name} addresses less", need, have)


@rule("form", "case", "board")
def form(case: Case) -> Broken | None:
    """The case holds a board of this size."""
    board, box = case.build.board, case.build.case
    if board["form"] in box["boards"]:
        return None
    says = f"{board.name} does not go into {box.name}"
    return _other(board, "form", box, "boards", box, says)


@rule("supply-form", "psu", "case")
def supply_form(case: Case) -> Broken | None:
    """The case holds supplies of this shape and length."""
    box = case.build.case
    for psu in dict.fromkeys(case.build.psu):
        if psu["form"] not in box["psus"]:
            says = f"{psu.name} does not go into {box.name}"
            return _other(psu, "form", box, "psus", psu, says)
        need = total("mm", "length of the supply", (1, of(psu, "length")))
        have = total("mm", "room for it", (1, of(box, "psu_length")))
        if need.value > have.value:
            return Broken(psu, f"{psu.name} is too long", need, have)
    return None


@rule("card-length", "case")
def card_length(case: Case) -> Broken | None:
    """The case is as long as the longest card."""
    box = case.build.case
    card = max(dict.fromkeys(case.build.gpus), key=lambda card: card["length"])
    need = total("mm", "length of the card", (1, of(card, "length")))
    have = total("mm", "room for it", (1, of(box, "length")))
    if need.value <= have.value:
        return None
    return Broken(card, f"{card.name} does not go into {box.name}", need, have)


@rule("cooler-socket", "cooling")
def cooler_socket(case: Case) -> Broken | None:
    """The cooler mounts on the board's socket."""
    board, cooler = case.build.board, case.build.cooling
    if board["socket"] in cooler["sockets"]:
        return None
    says = f"{cooler.name} does not mount on {board.name}"
    return _other(cooler, "sockets", board, "socket", cooler, says)


@rule("cooler-height", "cooling", "case")
def cooler_height(case: Case) -> Broken | None:
    """A cooler on air stands below the side panel."""
    box, cooler = case.build.case, case.build.cooling
    if cooler["radiator"]:
        return None
    need = total("mm", "height of the cooler", (1, of(cooler, "height")))
    have = total("mm", "room for it", (1, of(box, "height")))
    if need.value <= have.value:
        return None
    return Broken(cooler, f"{cooler.name} does not go into {box.name}", need, have)


@rule("cooler-power", "cooling", "cpu")
def cooler_power(case: Case) -> Broken | None:
    """The maker lists the cooler for a processor as hot as this one."""
    cpu, cooler = case.build.cpu, case.build.cooling
    need = total("W", "power of the processor", (1, of(cpu, "peak")))
    have = total("W", "what the cooler is listed for", (1, of(cooler, "cools")))
    if need.value <= have.value:
        return None
    return Broken(cooler, f"{cpu.name} is hotter than {cooler.name}", need, have)


@rule("radiator", "cooling", "case")
def radiator(case: Case) -> Broken | None:
    """The case has a place for the radiator."""
    box, cooler = case.build.case, case.build.cooling
    if not cooler["radiator"] or cooler["radiator"] in box["radiators"]:
        return None
    says = f"{box.name} has no place for the radiator"
    return _other(cooler, "radiator", box, "radiators", cooler, says)


@rule("display", "cpu", "board")
def display(case: Case) -> Broken | None:
    """Something has a display output: a card, the processor or the board."""
    build = case.build
    sources = [(card, "display") for card in dict.fromkeys(build.gpus)]
    sources += [(build.cpu, "graphics"), (build.board, "bmc")]
    if any(part.get(field) for part, field in sources):
        return None
    for part, field in sources:
        part[field]  # unknown: it cannot be decided
    says = "no card, no processor and no board shows a picture at the first start"
    return Broken(build.gpus[0], says, facts=tuple(sources))


@rule("airflow", "case", "gpus")
def airflow(case: Case) -> Broken | None:
    """A card without a fan has a duct before it."""
    box = case.build.case
    for card in dict.fromkeys(case.build.gpus):
        if card["cooling"] == "passive" and not box["ducted"]:
            says = f"{card.name} has no fan, and {box.name} no duct"
            return _other(card, "cooling", box, "ducted", card, says)
    return None


@rule("rebar", "cpu", "gpus")
def rebar(case: Case) -> Broken | None:
    """A card that needs Resizable BAR gets it."""
    cpu = case.build.cpu
    for card in dict.fromkeys(case.build.gpus):
        if card["rebar"] and not cpu["rebar"]:
            says = f"{card.name} is slow without Resizable BAR, which {cpu.name} lacks"
            return _other(card, "rebar", cpu, "rebar", cpu, says)
    return None


@rule("nvlink", "gpus", "bridges")
def nvlink(case: Case) -> Broken | None:
    """A bridge has cards that take it: no RTX 40 or 50 does."""
    for bridge in dict.fromkeys(case.build.bridges):
        for card in dict.fromkeys(case.build.gpus):
            if card["bridge"] != bridge["bridge"]:
                says = f"{card.name} takes no such bridge"
                return _other(card, "bridge", bridge, "bridge", card, says)
    return None


@rule("bridge-pairs", "bridges")
def bridge_pairs(case: Case) -> Broken | None:
    """A bridge joins two cards and only two, and a card takes one bridge."""
    bridges, cards = case.build.bridges, case.build.gpus
    if not bridges:
        return None
    each = given(2, "", "cards that a bridge joins")
    need = total("", "cards to be joined", (len(bridges), each))
    have = total("", "cards", (1, given(len(cards), "", "cards of the build")))
    if need.value <= have.value:
        return None
    return Broken(bridges[0], "bridges for cards that are not there", need, have)


@rule("bridge-span", "bridges", "slots")
def bridge_span(case: Case) -> Broken | None:
    """A bridge is as long as the way between the slots of its cards."""
    bridges = case.build.bridges
    if not bridges or nvlink(case):
        return None
    places = sorted(seat.told("at") for seat in case.placed.seats)
    for n, bridge in enumerate(bridges):
        pair = places[2 * n : 2 * n + 2]
        if len(pair) < 2:
            return None
        way = given(pair[1] - pair[0], "", "slots between the cards")
        need = total("", "slots between them", (1, way))
        have = total("", "slots that the bridge spans", (1, of(bridge, "span")))
        if not math.isclose(need.value, have.value):
            says = f"{bridge.name} does not reach from card to card"
            return Broken(bridge, says, need, have, "is not")
    return None


@rule("peer", "gpus", "peer")
def peer(case: Case) -> Broken | None:
    """Cards read each other's memory only where the driver lets them."""
    if not case.build.peer:
        return None
    for card in dict.fromkeys(case.build.gpus):
        if not card["peer"]:
            says = f"the stock driver of {card.name} sends every copy over host memory"
            return Broken(card, says, facts=((card, "peer"),))
    return None
