"""Section 5.9: When does leaving pay?"""

from __future__ import annotations

from functools import cache

from stacklib import hardware
from stacklib.accelerators import compare, limits, machine, porting_cost
from stacklib.accelerators.machines.compare import Compared
from stacklib.accelerators.machines.porting import Port
from stacklib.accelerators.machines.possible import Limits
from stacklib.pages.chain.posts import CONTEXT, MODEL
from stacklib.pages.kernels import choose
from stacklib.quantity import (
    Quantity,
    assumed,
    chosen,
    counted,
    counting,
    one_of,
    quoted,
)

PEOPLE, MONTHS, STAY, YEARS = 20, 12, 5, 3
HOURS = 2000  # that an engineer works a year
USED = 0.7  # share of the hours in which a GPU works
OWN, OTHER = "H100", "MI300X"
FLEETS = (500, 2000, 8000)
RATIO = 20.0  # as Etched claims
HUAWEI = ("ascend_910c", "ascend_950pr", "ascend_950dt")
CLAIMED = "h100_sxm"  # of the comparison


def wage() -> Quantity:
    """Dollars a year of an engineer, as chapter 4 takes the hour."""
    hours = chosen(HOURS, "h/year", label="hours of a year")
    return (choose.wage() * hours).to("USD/year").named("a year of an engineer")


def port(years: float = YEARS) -> Port:
    """Some people for a year, and fewer who keep it running."""
    asked = {"engineers": PEOPLE, "months": MONTHS, "keeping": STAY}
    return porting_cost(**asked, wage=wage(), years=years)


def year_hours() -> Quantity:
    """Hours of a year."""
    return one_of("year").to("h").named("hours of a year")


def used() -> Quantity:
    """Share of the hours in which a chip works."""
    why = "a service that follows the day; a training fleet works more"
    return assumed(USED, "", "share of the hours in use", why=why)


@cache
def row(name: str) -> Compared:
    """The running case on a machine."""
    return compare(MODEL, [name], context=CONTEXT)[0]


def dollars(name: str) -> Quantity:
    """A million tokens at the roof, rented at the lowest quote."""
    found = row(name).dollars
    assert found is not None
    return found.named(f"a million tokens on {name}")


def rent() -> Quantity:
    """Dollars an hour of a GPU of one's own kind, at the lowest quote."""
    found = row(OWN)
    mine = counted(row, OWN, take="machine.chips", label="GPUs")
    assert found.roof is not None
    token = chosen(1, "token", label="a token")
    hour = dollars(OWN) * token / found.roof / mine
    return hour.to("USD/h").named(f"an hour of an {OWN}")


def saved() -> Quantity:
    """Dollars an hour that the other chip saves for each of one's own in use."""
    kept = dollars(OTHER) / dollars(OWN)
    return (rent() * (1 - kept)).to("USD/h").named("saved an hour")


def fleet(years: float = YEARS) -> Quantity:
    """GPUs from which on the port pays."""
    return port(years).fleet(saved(), used())


def gain(chips: int) -> Quantity:
    """Dollars of a year that a fleet gains or loses."""
    return port().worth(chips, saved(), used())


# -- twenty times ----------------------------------------------------------------------


def terms(context: int) -> Limits:
    """What a step of the claim's comparison takes on one of its H100s."""
    return limits(MODEL, CLAIMED, "e4m3fn", context=context)


def prompt() -> int:
    """Tokens of a prompt in the comparison."""
    return round(quoted("etched.input").si)


def alone() -> Quantity:
    """Readers at which twenty is possible where nobody has a cache to read."""
    return first_batch(1)


@counting("readers from which twenty is possible, {context:,} tokens each")
def first_batch(context: int) -> int:
    """The fewest at which arithmetic alone can gain what is claimed."""
    found = terms(context).batch(RATIO)
    if found is None:
        raise ValueError(f"context = {context}: at no number of readers")
    return found


def with_prompts() -> Quantity:
    """The most that arithmetic can gain with a prompt's cache each, at any batch."""
    return terms(prompt()).end


def work() -> Quantity:
    """Operations of a token without its cache."""
    peak = hardware.get(CLAIMED).peak("fp8").across(1)
    return (terms(1).work * peak).named("operations of a token")


def needed(which: str, *, answers: bool) -> Quantity:
    """Operations a second behind a quoted rate, of eight chips.

    - ``which``: ``"rate"`` of Sohus or ``"h100"`` of the H100s
    - ``answers``: the rate counts tokens of answers, and their prompts come on top
    """
    rate = quoted(f"etched.{which}") / chosen(1, "token", label="a token")
    if answers:
        both = quoted("etched.input") + quoted("etched.output")
        rate = rate * (both / quoted("etched.output"))
    return (rate * work()).named(f"operations a second behind {which}")


def share(*, answers: bool) -> Quantity:
    """Of the peak of eight H100s that their quoted rate would take."""
    eight = hardware.get(CLAIMED).peak("fp8").across(8)
    found = needed("h100", answers=answers) / eight
    return found.named("of the peak of eight H100s")


def each() -> Quantity:
    """Operations a second that a Sohu must have, in H100s, if prompts are counted."""
    eight = hardware.get(CLAIMED).peak("fp8").across(8)
    found = needed("rate", answers=False) / eight
    return found.named("a Sohu's peak over an H100's")


# -- a new chip every year -------------------------------------------------------------


def ascend(on: str) -> Quantity:
    """A token of the running case on eight of Huawei's chips, at the roof."""
    (found,) = compare(MODEL, [machine(on, 8)], context=CONTEXT)
    assert found.roof is not None
    return found.roof


def next_rate() -> Quantity:
    """The bandwidth announced for the year after, over this year's best."""
    now = hardware.get(HUAWEI[-1]).memory_bandwidth.across(1)
    return (quoted("ascend960.bandwidth") / now).named("a year later")
