"""Numbers of chapter 2, first and last page: a token in issue slots and in silicon."""

from __future__ import annotations

from functools import cache

from stacklib import cost, hardware
from stacklib.cost.spans import Span
from stacklib.gpu.chip.chips import chip as chips_chip
from stacklib.gpu.issue import hiding
from stacklib.gpu.issue.decode_slots import Slots, decode_slots
from stacklib.quantity import Quantity

from .chapter_01_front import CHIPS, DEVICE, MODEL
from .registry import number

YEARS = 4
SECONDS = 365.25 * 24 * 3600


@cache
def slots(part: str) -> Slots:
    """One part of one of eight H100s for a token of Llama-3-70B."""
    (one,) = [s for s in decode_slots(MODEL, on=DEVICE, tp=CHIPS) if s.part == part]
    return one


def busy(part: str) -> Quantity:
    """Time a part is busy over the time the memory is."""
    share = slots(part).time / slots("memory").time
    return share.named(f"{part}: busy, share of the memory's time")


@number("slots.memory", unit="ms", digits=3)
def memory() -> Quantity:
    """Time the memory of each chip is busy for one token."""
    return slots("memory").time


@number("slots.weights", digits=3)
def weights() -> Quantity:
    """Weights that one of eight chips multiplies for a token."""
    return slots("fp32 lanes").work


@number("slots.issue", unit="%", digits=2)
def issue() -> Quantity:
    """Issue slots filled if ordinary lanes multiply, share of the memory's time."""
    return busy("issue slots")


@number("slots.lanes", unit="%", digits=2)
def lanes() -> Quantity:
    """FP32 lanes busy, share of the memory's time."""
    return busy("fp32 lanes")


@number("slots.tensor", unit="%", digits=2)
def tensor() -> Quantity:
    """Tensor cores busy if they multiply, share of the memory's time."""
    return busy("tensor cores")


@number("slots.columns", digits=1, evidence="spec")
def columns() -> Quantity:
    """Columns of an mma, of which one token fills one."""
    return Quantity(8, label="columns of mma.m16n8, the fewest", kind="constant")


@number("slots.threads", unit="%", digits=3)
def threads() -> Quantity:
    """Share of the bandwidth that all threads draw with a load of 4 bytes each."""
    return hiding.hide(threads=256, registers=32, each=4, device=DEVICE).share


@cache
def made() -> Span:
    """Dollars of one good H100 die, with the units that it may do without."""
    chip = hardware.get(DEVICE)
    found = cost.die(chip.die_area, node="n5", units=144, needed=132, share=0.5)
    return found.cost


@number("slots.die_low", unit="USD", digits=2)
def die_low() -> Quantity:
    """What a good die costs to make, at the least."""
    return made().low


@number("slots.die_high", unit="USD", digits=2)
def die_high() -> Quantity:
    """At the most."""
    return made().high


@number("slots.years", digits=1)
def years() -> Quantity:
    """Years over which the dies are paid off, an assumption."""
    return Quantity(YEARS, label="years of service", kind="assumption")


@number("slots.million", digits=1)
def million() -> Quantity:
    """Tokens that prices are stated for."""
    return Quantity(1e6, label="tokens that a price is for", kind="constant")


@number("slots.silicon", unit="USD", digits=2)
def silicon() -> Quantity:
    """Silicon in a million tokens, if one reader has eight chips all their life."""
    life = years() * Quantity(SECONDS, "s", label="a year", kind="constant")
    tokens = life / slots("memory").time / million()
    chips = Quantity(CHIPS, label="chips", kind="assumption")
    return (chips * die_high() / tokens).named("silicon in a million tokens")


@number("front.units_share", unit="%", digits=3)
def units_share() -> Quantity:
    """Units of an H100 that are on, of those on its die."""
    chip = chips_chip(DEVICE)
    return chip.units / chip.units_designed
