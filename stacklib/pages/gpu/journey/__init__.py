"""Setup of section 2.8 Where is the token now?"""

from __future__ import annotations

from functools import cache

from stacklib import cost, hardware
from stacklib.cost.spans import Span
from stacklib.gpu.chip.chips import chip as chips_chip
from stacklib.gpu.issue import decode_slots as decode
from stacklib.pages.roofline.journey import CHIPS, DEVICE, MODEL
from stacklib.quantity import Quantity, assumed, chosen, constant

YEARS = 4


@cache
def slots(part: str) -> decode.Slots:
    """One part of one of eight H100s for a token of Llama-3-70B."""
    (one,) = [
        s for s in decode.decode_slots(MODEL, on=DEVICE, tp=CHIPS) if s.part == part
    ]
    return one


def columns() -> Quantity:
    """Columns of the narrowest mma, of which one token fills one."""
    return decode.fewest_columns(DEVICE)


def busy(part: str) -> Quantity:
    """Time a part is busy over the time the memory is."""
    share = slots(part).time / slots("memory").time
    return share.named(f"{part}: busy, share of the memory's time")


@cache
def made() -> Span:
    """Dollars of one good H100 die, with the units that it may do without."""
    chip = hardware.get(DEVICE)
    found = cost.die(chip.die_area, node="n5", units=144, needed=132, share=0.5)
    return found.cost


def die_high() -> Quantity:
    """At the most."""
    return made().high


def years() -> Quantity:
    """Years over which the dies are paid off, an assumption."""
    return assumed(
        YEARS,
        label="years of service",
        why="Hardware of data centres is often written off in that time.",
    )


def million() -> Quantity:
    """Tokens that prices are stated for."""
    return constant("million")


def silicon() -> Quantity:
    """Silicon in a million tokens, if one reader has eight chips all their life."""
    life = years() * constant("year")
    tokens = life / slots("memory").time / million()
    chips = chosen(CHIPS, label="chips")
    return (chips * die_high() / tokens).named("silicon in a million tokens")


def units_share() -> Quantity:
    """Units of an H100 that are on, of those on its die."""
    chip = chips_chip(DEVICE)
    return chip.units / chip.units_designed
