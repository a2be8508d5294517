"""Section 10.5: How many can the world make?"""

from __future__ import annotations

from functools import cache
from typing import Any

from stacklib import cost
from stacklib.cost.making import fact
from stacklib.cost.packages import reticle
from stacklib.cost.spans import Span, span
from stacklib.frontier import campus, deals, gigawatt, projections, supplies, supply
from stacklib.frontier.gigawatt import Campus
from stacklib.frontier.supplies import Supply
from stacklib.pages.chain.posts import CONTEXT, MODEL, READERS, TP
from stacklib.quantity import (
    Quantity,
    chosen,
    constant,
    counted,
    maximum,
    minimum,
    one_of,
    quoted,
)
from stacklib.serving import estimate

YEAR = "2026"
GPU, OURS = "b200-sxm", "h100-sxm"
PLANNED, BUILT = "hbm_capacity.2025", "hbm_capacity.2024"
SERVED = ("llama-3-70b", "fp8", 2, READERS)  # model, format, GPUs of a copy, readers
MORE, LEAN = 4, 2  # processors for each of today's, and what each does a watt


def part() -> Span:
    """The share of packaging that one maker gets, and for want of a better, of HBM."""
    return span(fact("capacity", "nvidia_share"))


@cache
def made(capacity: str = PLANNED) -> Supply:
    """GPUs of a year, with so many HBM wafers a month in the world."""
    return supply(YEAR, hbm_wafers=span(quoted(capacity)) * part())


def wafers() -> Span:
    """Packaging's wafers of the year, of that maker."""
    return (made().wafers * constant("months") * part()).named("its wafers")


def climbed() -> Span:
    """GPUs if the rate of the year's end were that of every month."""
    last, year = span(fact("capacity", f"cowos_{YEAR}")), made()
    low = year.packages.low / year.wafers.low * last.low
    high = year.packages.high / year.wafers.high * last.high
    return Span(low, high).named("at the year's last rate")


@cache
def site(on: str = GPU, processors: float = 1, a_watt: float = 1) -> Campus:
    """A gigawatt at the meter."""
    return campus(on=on, processors=processors, a_watt=a_watt)


def fewer(processors: float, a_watt: float = 1) -> Quantity:
    """Of the GPUs, how many give way to processors."""
    left = site(GPU, processors, a_watt).gpus.high / site().gpus.high
    return (1 - left).to("%").named("GPUs that give way")


def needed() -> Span:
    """Watts at the meter for the GPUs of a year, each with its share of a server."""
    return (made().packages * site().each).to("GW").named("watts of a year's GPUs")


def housed() -> Span:
    """GPUs in the campuses that should reach a gigawatt in the year."""
    return (site().gpus * quoted("campus_count.2026")).named("GPUs of these campuses")


def planned() -> Quantity:
    """GPUs of a gigawatt in the campus whose rooms were told."""
    each = quoted("abilene.gpus") / quoted("abilene.power")
    return (each * one_of("GW", "the campus")).to("").named("told of Abilene")


def reticles(year: str) -> Quantity:
    """Scanner fields of the roadmap's interposer, of 2026 or 2027."""
    said = fact("carries", "cowos_l").quotes
    return next(quote.value for quote in said if quote.date == year)


def fitting(year: str) -> Quantity:
    """Square interposers of so many fields on a wafer."""
    area = (reticles(year) * reticle()).to("mm2").value
    return counted(supplies.a_wafer, area, label=f"interposers on a wafer, {year}")


def saved() -> Quantity:
    """At the meter, from cooling by air to cooling by liquid, as a guide tells both."""
    liquid, air = quoted("pue.liquid"), quoted("pue.air")
    return (1 - liquid / air).to("%").named("saved at the meter")


# -- the token's share -----------------------------------------------------------------


def copies() -> Span:
    """Eights of H100s in a gigawatt."""
    return (site(OURS).gpus / chosen(TP, label="H100s of the token")).named("eights")


@cache
def step() -> Quantity:
    """Seconds of the token by itself: no other answers, and no prompts of others."""
    return estimate(MODEL, on=OURS, dtype="bf16", tp=TP, context=CONTEXT).tpot


def alone() -> Span:
    """Joules at the meter, at the most, while eight H100s write one token."""
    eight = site(OURS).each * chosen(TP, label="H100s of the token")
    return (eight * step()).to("J").named("one token at the meter")


def rate() -> Span:
    """Tokens a second of the campus, each copy with its readers."""
    return site().tokens(*SERVED)


def shared() -> Span:
    """Joules at the meter for a token of that campus."""
    watts = span(one_of("GW", "the campus"))
    return (watts / rate()).to("J/token").named("a token among others")


# -- dollars ---------------------------------------------------------------------------


def dollars(paid: Quantity, unit: float = 1) -> Quantity:
    """As a count, which is read in millions and billions."""
    return (paid / chosen(unit, "USD", label="dollars")).to("")


def system() -> Quantity:
    """Dollars of a CS-3, if the contract bought systems and nothing else."""
    keys = "deal_cerebras.dollars", "deal_cerebras.watts", "campus_power.cs3"
    return gigawatt.deal_a_system(*map(quoted, keys))


def price(gpu: str, what: str) -> Span:
    """Its lowest and its highest quote of a kind."""
    said = [quote.value for quote in cost.prices(gpu, what)]
    return Span(minimum(*said), maximum(*said)).named(f"{gpu}, {what}")


def profits_later() -> Quantity:
    """Profit over profit a quarter after that of ``deals.profits``."""
    memory = quoted("hynix_2026.margin") * quoted("hynix_2026.revenue")
    foundry = quoted("tsmc_2026.margin") * quoted("tsmc_2026.revenue")
    return (memory / foundry).to("").named("one profit over the other, a quarter later")


def a_watt() -> Span:
    """Dollars of GPUs alone for a watt at the meter."""
    return (price("b200_sxm", "purchase") / site().each).to("USD/W").named("a watt")


def contracts() -> list[dict[str, Any]]:
    """What was signed: billions, by the year and by the watt."""
    return [
        {
            "buyer": deal.buyer,
            "seller": deal.seller,
            "billions of dollars": dollars(deal.dollars, 1e9),
            "a year": dollars(deal.a_year, 1e9),
            "a watt": deal.a_watt.to("USD/W") if deal.a_watt else None,
        }
        for deal in deals.deals()
    ]


def spans() -> list[dict[str, Any]]:
    """Ours beside what was published."""
    rows = (
        ("wafers for NVIDIA, 2026", wafers(), quoted("cowos.nvidia_2026")),
        ("its GPUs, 2026", made().gpus, quoted("cowos.nvidia_chips_2026")),
        ("B200s of a gigawatt", site().gpus, planned()),
    )
    names = "what", "least", "most", "published"
    return [
        dict(zip(names, (what, ours.low, ours.high, told), strict=True))
        for what, ours, told in rows
    ]


def market(of: str = "eda-tam-2035") -> Span:
    """What a projected market sold at its start, by its own growth."""
    return projections.backed_out()[of].base


def sold() -> Quantity:
    """What the two largest firms of design software sold in a year."""
    quarters = chosen(4, label="quarters") * quoted("cadence.q1_2025")
    return (quarters + quoted("synopsys.fy2024")).named("two firms' sales")


def needs() -> Quantity:
    """Growth a year that would do, from what these two sold."""
    take, words = "['eda-tam-2035'].needed", "growth that would do"
    return counted(projections.backed_out, take=take, label=words, shown="%")


def foundries() -> dict[str, str]:
    """What each of two sentences on foundries counts."""
    return {says: counts for says, _, counts in deals.FOUNDRIES}
