"""Rules of slots and lanes: where a card stands, and what is left of its link."""

from __future__ import annotations

from itertools import pairwise

from stacklib.cost.catalogue import Component

from .findings import Amount, Broken, Leaf, given, of, told
from .placing import Seat
from .rules import Case, rule, total


@rule("slots", "board")
def slots(case: Case) -> Broken | None:
    """Every card has a slot of its length."""
    cards, left = case.build.gpus, case.placed.cards_left
    if not left:
        return None
    need = total("", "cards", (1, given(len(cards), "", "cards of the build")))
    held = given(len(cards) - left, "", "slots of their length")
    says = f"{case.build.board.name} has no slot for each card"
    return Broken(case.build.board, says, need, total("", "slots", (1, held)))


def _lanes(seat: Seat) -> Leaf:
    words = f"lanes left to {seat.slot.name}"
    return given(seat.told("lanes"), "", words)


def _short(case: Case, root: str, taken: str) -> tuple[Seat, Amount, Amount] | None:
    """A card with fewer lanes than it needs, of one cause."""
    names = {seat.slot.name for seat in case.placed.seats}
    for seat in case.placed.seats:
        cause = ("card" if seat.taker in names else "drive") if seat.taker else ""
        least = min(told("rig.least_lanes").value, seat.card["lanes"])
        if seat.told("root") == root and cause == taken and seat.told("lanes") < least:
            need = total("", "lanes that a card needs", (1, _leaf(least, seat.card)))
            return seat, need, total("", "lanes left", (1, _lanes(seat)))
    return None


def _leaf(least: float, card: Component) -> Leaf:
    rule = told("rig.least_lanes")
    return rule if rule.value == least else of(card, "lanes")


@rule("narrow", "slots", "board")
def narrow(case: Case) -> Broken | None:
    """A slot that is long enough has the lanes, too, not four of them."""
    if not (found := _short(case, "cpu", "")):
        return None
    seat, need, have = found
    says = f"slot {seat.slot.name} of {case.build.board.name} is long and wired narrow"
    return Broken(case.build.board, says, need, have)


@rule("split", "board", "slots")
def split(case: Case) -> Broken | None:
    """No card takes so many lanes from another that too few are left."""
    if not (found := _short(case, "cpu", "card")):
        return None
    seat, need, have = found
    says = f"the card in {seat.taker} takes lanes from {seat.slot.name}"
    return Broken(case.build.board, says, need, have)


@rule("shared", "storage", "board", "slots")
def shared(case: Case) -> Broken | None:
    """No drive takes so many lanes from a card that too few are left."""
    if not (found := _short(case, "cpu", "drive")):
        return None
    seat, need, have = found
    drive = next(d for d, s in case.placed.sockets if s.name == seat.taker)
    says = f"the drive in {seat.taker} takes lanes from {seat.slot.name}"
    return Broken(drive, says, need, have)


@rule("chipset", "slots", "board")
def chipset(case: Case) -> Broken | None:
    """No card stands behind the chipset, whose uplink all its devices share."""
    board = case.build.board
    for seat in case.placed.seats:
        if seat.told("root") == "chipset":
            drives = [s for _, s in case.placed.sockets if s.root == "chipset"]
            terms = [(1.0, _lanes(seat))]
            terms += [
                (1.0, given(s.lanes or 4, "", f"lanes of {s.name}")) for s in drives
            ]
            least = told("rig.least_lanes")
            need = total("", "lanes that a card needs", (1, least), *terms[1:])
            have = total("", "lanes to the processor", (1, of(board, "uplink")))
            lanes = min(have.value, seat.told("lanes"))
            if lanes >= min(least.value, seat.card["lanes"]) and not drives:
                continue
            if seat.told("lanes") < have.value:
                have = total("", "lanes of the slot", (1, _lanes(seat)))
            says = (
                f"slot {seat.slot.name} hangs on the chipset, with drives and network"
            )
            return Broken(board, says, need, have)
    return None


@rule("lanes", "cpu", "board")
def lanes(case: Case) -> Broken | None:
    """The processor has the lanes that slots and sockets in use are wired to."""
    cpu = case.build.cpu
    terms = [
        (
            1.0,
            given(min(s.told("lanes"), s.card["lanes"]), "", f"lanes of {s.slot.name}"),
        )
        for s in case.placed.seats
        if s.told("root") == "cpu"
    ]
    for _, socket in case.placed.sockets:
        if socket.root == "cpu":
            terms.append((1.0, given(socket.lanes or 4, "", f"lanes of {socket.name}")))
    if not terms:
        return None
    need = total("", "lanes in use", *terms)
    have = total("", "lanes of the processor", (1, of(cpu, "lanes")))
    if need.value <= have.value:
        return None
    says = f"{cpu.name} cannot feed the slots in use: some stay dark"
    return Broken(cpu, says, need, have)


@rule("generation", "board", "cpu", "slots")
def generation(case: Case) -> Broken | None:
    """A card's link keeps half of its own rate: lanes and generation together."""
    share, cpu = told("rig.least_share"), case.build.cpu
    for seat in case.placed.seats:
        if seat.told("root") != "cpu":
            continue
        card = seat.card
        if seat.told("lanes") < min(told("rig.least_lanes").value, card["lanes"]):
            continue  # another rule's
        gen = min(card["generation"], seat.told("generation"), cpu["generation"])
        many = min(card["lanes"], seat.told("lanes"))
        own = 2.0 ** card["generation"] * card["lanes"]
        if 2.0**gen * many < share.value * own:
            need = _rate(
                card["lanes"], card["generation"], "the card's own link", share
            )
            have = _rate(many, gen, "the link that it gets")
            says = f"slot {seat.slot.name} gives {card.name} less than half of its link"
            return Broken(case.build.board, says, need, have)
    return None


def _rate(many: int, gen: int, words: str, *factors: Leaf) -> Amount:
    """Lanes times what a lane carries: 250 MB/s in the first generation, doubled."""
    lane = given(0.25 * 2 ** (gen - 1), "GB/s", f"a lane of PCIe {gen}.0, about")
    return Amount(((float(many), (lane, *factors)),), "GB/s", words)


@rule("spacing", "slots", "board")
def spacing(case: Case) -> Broken | None:
    """No card covers the slot of the next."""
    standing = [seat for seat in case.placed.seats if not seat.riser]
    if len(standing) < 2:
        return None
    for upper, lower in pairwise(sorted(standing, key=lambda seat: seat.told("at"))):
        way = lower.told("at") - upper.told("at")
        need = total("", "thickness of the card", (1, of(upper.card, "slots")))
        words = f"slots from {upper.slot.name} to {lower.slot.name}"
        have = total("", words, (1, given(way, "", words)))
        if need.value > have.value:
            says = f"{upper.card.name} covers slot {lower.slot.name}"
            return Broken(upper.card, says, need, have)
    return None


@rule("case-slots", "case", "slots")
def case_slots(case: Case) -> Broken | None:
    """The case has a cover plate behind every slot that a card takes."""
    box, seats = case.build.case, case.placed.seats
    standing = [seat for seat in seats if not seat.riser]
    have = total("", "slots at the back", (1, of(box, "slots")))
    if not standing:
        return None
    last = max(standing, key=lambda seat: seat.told("at"))
    above = given(last.told("at") - 1, "", f"slots above {last.slot.name}")
    need = total("", "slots down to the last", (1, above), (1, of(last.card, "slots")))
    if need.value <= have.value:
        return None
    return Broken(box, f"{last.card.name} does not end inside {box.name}", need, have)


@rule("riser-link", "risers")
def riser_link(case: Case) -> Broken | None:
    """A riser carries the generation and the lanes of card and slot."""
    for seat in case.placed.seats:
        riser = seat.riser
        if riser is None:
            continue
        for field, words in (("generation", "PCIe generation"), ("lanes", "lanes")):
            slot = case.build.cpu[field] if field == "generation" else 16
            least = min(seat.card[field], seat.told(field), slot)
            need = total("", f"{words} of card and slot", (1, given(least, "", words)))
            have = total("", f"{words} of the riser", (1, of(riser, field)))
            if need.value > have.value:
                says = f"{riser.name} trains the card's {words} down, or gives errors"
                return Broken(riser, says, need, have)
    return None


@rule("riser-length", "risers", "case")
def riser_length(case: Case) -> Broken | None:
    """A riser reaches the mount of the case."""
    for riser in dict.fromkeys(case.build.risers):
        need = total("mm", "way to the mount", (1, of(case.build.case, "riser")))
        have = total("mm", "length of the riser", (1, of(riser, "length")))
        if need.value > have.value:
            return Broken(riser, f"{riser.name} is too short", need, have)
    return None


@rule("m2", "board", "storage")
def m2(case: Case) -> Broken | None:
    """There is a socket or a port for every drive."""
    build, board = case.build, case.build.board
    for plug, field in (("M.2", "m2"), ("SATA", "sata"), ("U.2", "u2")):
        drives = [drive for drive in build.storage if drive["plug"] == plug]
        if not drives:
            continue
        there = len(board[field]) if field == "m2" else board[field]
        if len(drives) > there:
            need = total("", "drives", (1, given(len(drives), "", f"{plug} drives")))
            held = given(there, "", f"{plug} ports of the board")
            says = f"{board.name} has no {plug} port for each drive"
            return Broken(drives[0], says, need, total("", "ports", (1, held)))
    return None
