"""Claims on markets, contracts and campuses: computed where two numbers meet."""

from stacklib.evidence import Finding, claim
from stacklib.frontier import deals
from stacklib.pages.frontier import supply as page
from stacklib.quantity import quoted


@claim("eda-tam-2035")
def two_firms_sell_more() -> Finding:
    """The end of the projection, from its own start and from what two firms sell."""
    grown = (1 + quoted("eda_market.growth_low")) ** 10
    other = (page.sold() * grown).named("two firms' sales, grown so")
    return Finding(
        quoted("eda_market.2035"),
        to=other,
        verdict="conflict",
        why="Backed out, the market began at "
        f"{page.market().text(digits=3)}; two firms alone sold "
        f"{page.sold().text(digits=3)} (one figure from memory). "
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
        f"Backed out, it begins at {page.market('cpo-market-2036').low.text(digits=3)}."
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
        "Source: Uptime Institute, hyperscale facilities at 1.1 to 1.2 (lowdown.today, "
        "2026-04-26, secondary); none was found that compares cooling alone. Over "
        f"1.35 the meter shows {page.saved().text(digits=3)} less."
    )


@claim("agentic-cpu-per-gw")
def processors() -> Finding:
    """What it would take from GPUs."""
    return Finding.open(
        f"Four times the processors take {page.fewer(page.MORE).text(digits=2)} of a "
        "gigawatt's GPUs. To settle it: processor seconds of an agent's request in a "
        "production trace."
    )


@claim("inference-larger-than-oil")
def oil() -> Finding:
    """The bar, and no date."""
    return Finding.open(
        f"The world pays {deals.oil().text(digits=3)} a year for oil (from memory). To "
        "settle it: a year, and audited sales of inference."
    )
