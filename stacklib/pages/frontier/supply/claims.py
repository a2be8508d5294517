"""Claims on markets, contracts and campuses: computed where two numbers meet."""

from stacklib.evidence import Finding, claim
from stacklib.frontier import deals
from stacklib.pages.figures_of import claimed
from stacklib.pages.frontier import supply as page
from stacklib.quantity import Quantity, chosen, one_of, quoted


def billions(value: Quantity) -> str:
    """Dollars as a sentence says them."""
    return f"{value.si / 1e9:,.3g} billion USD"


@claim("eda-tam-2035")
def market_sells_more() -> Finding:
    """A year of the market, by its trade association, grown at the least as told."""
    year = chosen(4, label="quarters") * quoted("semi_edmd.q4_2023")
    grown = (1 + quoted("eda_market.growth_low")) ** 10
    return Finding(
        (year * grown).named("four quarters, grown ten years"),
        why=f"From the {billions(year)} a year that SEMI counts. Backed out, the claim "
        f"begins at {billions(page.market().low)} to {billions(page.market().high)}; "
        f"two firms alone sold {billions(page.sold())}, from which "
        f"{page.needs().text(digits=3)} a year would do.",
    )


@claim("cadence-revenue-growth")
def grew() -> Finding:
    """A quarter over the same quarter a year before."""
    now, then = quoted("cadence.q1_2025"), quoted("cadence.q1_2024")
    grown = (now / then - 1).to("%").text(digits=3)
    return Finding(
        quoted("cadence.growth"), why=f"Its two quarters, as printed there: {grown}."
    )


@claim("eda-duopoly-share")
def two_of_all() -> Finding:
    """A quarter of each over all that the trade association counts."""
    two = quoted("synopsys.q4_2023") + quoted("cadence.q1_2024")
    return Finding(
        (two / quoted("semi_edmd.q4_2023")).to("%").named("two firms' share"),
        why="Quarters about the end of 2023, blocks of design and services counted on "
        "both sides; the three quarters do not end on one day.",
    )


@claim("openai-trainium-138b")
def two_contracts() -> Finding:
    """Both added, as Amazon's words have it."""
    return Finding(
        (quoted("deal_openai.first") + quoted("deal_openai.more")).named("both"),
        why="In the companies' words the first contract is expanded by the second; "
        "some reports have it grow to that. The eight years are the second's.",
    )


@claim("gw-campus")
def first_ones() -> Finding:
    """What a tracker of sites counts."""
    return Finding.false(
        "Five sites were likely to reach 1 GW in 2026: the first ones, and no routine. "
        "Source: Epoch AI, Frontier Data Centers Hub, 2025-11-04 "
        "(einpresswire.com/article/864214321, read 2026-11-29, secondary)."
    )


@claim("kernel-engineer-cost")
def paid() -> Finding:
    """The lowest and the highest level of one employer's list."""
    return Finding(
        quoted("kernel_engineer.low"),
        to=quoted("kernel_engineer.high"),
        why="In all, at one employer in one valley, in 2026.",
    )


@claim("perf-team-cost")
def team() -> Finding:
    """People whom a hundred million a year pay for, at that employer."""
    wages = (quoted(f"kernel_engineer.{end}") for end in ("high", "low"))
    few, many = (claimed("perf-team-cost") / (wage * one_of("year")) for wage in wages)
    return Finding.open(
        "Neither how many people nor for how long is printed. At what one employer "
        f"pays, {few.text(digits=2)} to {many.text(digits=2)} of them cost a hundred "
        "million dollars in a year. To settle it: the size of such a team, and how "
        "long it was at work."
    )


@claim("table-rental-h100")
def rents() -> Finding:
    """The lowest and the highest quote."""
    found = page.price("h100_sxm", "cloud")
    return Finding(found.low, to=found.high, why="Quotes of 2025 and 2026.")


@claim("cpo-market-2036")
def co_packaged() -> Finding:
    """A projection, and where it begins."""
    return Finding.cited(
        "Source: IDTechEx, as told by ico-optics.org (read 2026-11-29, secondary). "
        f"Backed out, it begins at {billions(page.market('cpo-market-2036').low)}."
    )


@claim("openai-cerebras-deal")
def a_contract() -> Finding:
    """What it would pay for a system."""
    return Finding.cited(
        "Source: OpenAI and Cerebras, 2026-01-14, the dollars from The Wall Street "
        "Journal (coinalertnews.com, read 2026-11-29, secondary). If it buys systems "
        f"and no cooling, one costs {page.system().text()}."
    )


@claim("pue-liquid-vs-air")
def cooled() -> Finding:
    """Of the least that large facilities report."""
    return Finding.cited(
        "Source: globalheadofdatacenterenergy.news on AI density (read 2026-11-30, "
        "secondary): sites made for liquid reach 1.1, the claim's figure. Where "
        "cooling alone was changed, by Vertiv and NVIDIA "
        "for one site, to liquid for three quarters of the load, PUE fell by 3.3 % "
        "(vertiv.com), because fans count as IT. From 1.35 to 1.1 the meter shows "
        f"{page.saved().text(digits=3)} less."
    )


@claim("agentic-cpu-per-gw")
def processors() -> Finding:
    """Told with a product, and what it would take from GPUs."""
    return Finding.cited(
        "Source: Rene Haas of Arm, as theagenttimes.com of 3 July 2026 and kad8.com "
        "tell it (read 2026-11-29, secondary): 120 million cores a gigawatt where 30 "
        "million were. A forecast of who sells them; four times the processors take "
        f"{page.fewer(page.MORE).text(digits=2)} of a gigawatt's GPUs."
    )


@claim("inference-larger-than-oil")
def oil() -> Finding:
    """The bar, and no date."""
    return Finding.open(
        f"The world pays {billions(deals.oil())} a year for oil. To settle it: a year, "
        "and audited sales of inference."
    )
