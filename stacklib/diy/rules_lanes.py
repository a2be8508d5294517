"""Rules of slots and lanes: where a card stands, and what is left of its link."""

from __future__ import annotations

from itertools import pairwise, product

from stacklib.hardware.accelerator import UnknownSpec

from .findings import Amount, Leaf, Term, given, of, told
from .placing import Seat
from .rules import Case, Found, count, one, over, rule, total


@rule("slots", "slots", "board")
def slots(case: Case) -> Found:
    """Every card has a slot of its length."""
    held = sum(s.slot.name not in case.board["short"] for s in case.placed.seats)
    need, have = count(len(case.build.gpus), "cards"), count(held, "slots for them")
    says = f"{case.board.name} has no slot of its length for each card"
    yield over(case.board, says, need, have)


def _least(seat: Seat) -> Leaf:
    """Lanes that a card should have, or all of its own where those are fewer."""
    both = told("rig.least_lanes"), of(seat.card, "lanes")
    return min(both, key=lambda leaf: leaf.value)


def _short(case: Case, by: str, says: str) -> Found:
    """Cards with too few lanes, that are lost to nobody, a card or a drive."""
    names = {seat.slot.name for seat in case.placed.seats}
    drives = {socket.name: drive for drive, socket in case.placed.sockets}
    for seat in case.placed.seats:
        slot, taker = seat.slot.name, seat.taker
        lost = taker and ("card" if taker in names else "drive")
        if seat.told("root") == "cpu" and lost == by:
            need = total("lanes that a card needs", (1, _least(seat)))
            have = count(seat.told("lanes"), f"left to {slot}")
            culprit = drives.get(taker, case.board)
            yield over(culprit, says.format(slot=slot, taker=taker), need, have)


@rule("narrow", "slots", "board")
def narrow(case: Case) -> Found:
    """A slot that is long enough has the lanes, too, not four of them."""
    says = f"slot {{slot}} of {case.board.name} is long and wired narrow"
    return _short(case, "", says)


@rule("split", "board", "slots")
def split(case: Case) -> Found:
    """No card takes so many lanes from another that too few are left."""
    return _short(case, "card", "the card in {taker} takes lanes from {slot}")


@rule("shared", "storage", "board", "slots")
def shared(case: Case) -> Found:
    """No drive takes so many lanes from a card that too few are left."""
    return _short(case, "drive", "the drive in {taker} takes lanes from {slot}")


def _drives(case: Case, root: str | None) -> list[Term]:
    """Lanes of the sockets in use at one root."""
    sockets = [s for _, s in case.placed.sockets if s.root == root]
    return [(1, given(s.lanes or 4, "", f"lanes of {s.name}")) for s in sockets]


@rule("chipset", "slots", "board")
def chipset(case: Case) -> Found:
    """No card stands behind the chipset, whose uplink all its devices share."""
    for seat in case.placed.seats:
        if seat.told("root") == "chipset":
            name, needs = seat.slot.name, (1, _least(seat))
            says = f"slot {name} hangs on the chipset, with drives and network"
            need = total("lanes that a card needs", needs)
            have = count(seat.told("lanes"), f"lanes of {name}")
            yield over(case.board, says, need, have)
            need = total("lanes for it and drives", needs, *_drives(case, "chipset"))
            have = one(case.board, "uplink", "lanes from chipset to processor")
            yield over(case.board, says, need, have)


@rule("lanes", "cpu", "board")
def lanes(case: Case) -> Found:
    """The processor has the lanes that slots and sockets in use are wired to."""
    used: list[Term] = [
        (1, given(min(s.told("lanes"), s.card["lanes"]), "", f"lanes of {s.slot.name}"))
        for s in case.placed.seats
        if s.told("root") == "cpu"
    ]
    if used := used + _drives(case, "cpu"):
        have = one(case.cpu, "lanes", "lanes of the processor")
        says = f"{case.cpu.name} cannot feed the slots in use: some stay dark"
        yield over(case.cpu, says, total("lanes in use", *used), have)
        perhaps = _drives(case, None)
        if perhaps and total("", *used, *perhaps).value > have.value:
            raise UnknownSpec(f"{case.board.name}: root of an M.2 socket is unknown")


@rule("generation", "board", "cpu", "slots")
def generation(case: Case) -> Found:
    """A card's link keeps half of its own rate: lanes and generation together."""
    share = told("rig.least_share")
    for seat in case.placed.seats:
        if seat.told("root") != "cpu" or seat.told("lanes") < _least(seat).value:
            continue  # another rule's
        many, gen = seat.card["lanes"], seat.card["generation"]
        need = _rate(many, gen, "half its own link", share)
        gen = min(gen, seat.told("generation"), case.cpu["generation"])
        have = _rate(min(many, seat.told("lanes")), gen, "the link that it gets")
        name, card = seat.slot.name, seat.card.name
        says = f"slot {name} gives {card} less than half of its link"
        yield over(case.board, says, need, have)


def _rate(many: int, gen: int, words: str, *factors: Leaf) -> Amount:
    """Lanes times what a lane carries: 250 MB/s in the first generation, doubled."""
    lane = given(0.25 * 2 ** (gen - 1), "GB/s", f"a lane of PCIe {gen}.0, about")
    return total(words, (many, lane, *factors))


@rule("spacing", "slots", "board")
def spacing(case: Case) -> Found:
    """No card covers the slot of the next."""
    seats = case.placed.seats
    if len(seats) > 1 and not all(seat.riser for seat in seats):
        for upper, lower in pairwise(sorted(seats, key=lambda seat: seat.told("at"))):
            if not upper.riser:
                words = f"slots from {upper.slot.name} to {lower.slot.name}"
                have = count(lower.told("at") - upper.told("at"), words)
                need = one(upper.card, "slots", "thickness of the card in slots")
                says = f"{upper.card.name} covers slot {lower.slot.name}"
                yield over(upper.card, says, need, have)


@rule("case-slots", "case", "slots")
def case_slots(case: Case) -> Found:
    """The case has a cover plate behind every slot that a card takes."""
    box, have = case.box, one(case.box, "slots", "slots at the back")
    standing = [seat for seat in case.placed.seats if not seat.riser]
    if standing:
        last = max(standing, key=lambda seat: seat.told("at"))
        above = given(last.told("at") - 1, "", f"slots above {last.slot.name}")
        words = "slots down to the last"
        need = total(words, (1, above), (1, of(last.card, "slots")))
        yield over(box, f"{last.card.name} does not end inside {box.name}", need, have)


@rule("riser-link", "risers")
def riser_link(case: Case) -> Found:
    """A riser carries the generation and the lanes of card and slot."""
    words = {"generation": "PCIe generation", "lanes": "lanes"}
    for seat, (field, word) in product(case.placed.seats, words.items()):
        if riser := seat.riser:
            own = min(seat.card[field], seat.told(field))
            own = min(own, case.cpu[field]) if field == "generation" else own
            need = count(own, f"{word} of card and slot")
            says = f"{riser.name} trains the card's {word} down, or gives errors"
            yield over(riser, says, need, one(riser, field, f"{word} of the riser"))


@rule("riser-length", "risers", "case")
def riser_length(case: Case) -> Found:
    """A riser reaches the mount of the case."""
    for riser in dict.fromkeys(case.build.risers):
        need = one(case.box, "riser", "way to the mount")
        have = one(riser, "length", "length of the riser")
        yield over(riser, f"{riser.name} is too short", need, have)


@rule("m2", "board", "storage")
def m2(case: Case) -> Found:
    """There is a socket or a port for every drive."""
    for plug, field in (("M.2", "m2"), ("SATA", "sata"), ("U.2", "u2")):
        drives = [drive for drive in case.build.storage if drive["plug"] == plug]
        if drives:
            there = case.board[field]
            ports = count(len(there) if field == "m2" else there, f"{plug} ports")
            says = f"{case.board.name} has no {plug} port for each drive"
            yield over(drives[0], says, count(len(drives), f"{plug} drives"), ports)
