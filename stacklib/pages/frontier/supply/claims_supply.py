"""Claims on who makes how much: shares, margins and what a plant costs.

What only a document can say stands with its source in ``cited.toml``. Here is what two
documents, or two of their figures, say together.
"""

from stacklib import hardware
from stacklib.evidence import Finding, claim
from stacklib.frontier import deals
from stacklib.pages.frontier import supply as page
from stacklib.quantity import quoted


@claim("cowos-shares")
def whole() -> Finding:
    """A bank's three shares, and the rest as the document has it."""
    theirs = quoted("cowos_2026.nvidia") + quoted("cowos_2026.broadcom")
    known = theirs + quoted("cowos_2026.amd")
    return Finding(
        (known + quoted("cowos_2026.others")).named("shares of CoWoS together"),
        why="The first three are Morgan Stanley's for 2026, told in July 2025, of a "
        f"million wafers: {known.text()} together. Its note of May 2026 gives Broadcom "
        "a larger part.",
    )


@claim("hbm-market-shares")
def half() -> Finding:
    """The tracker that has this split, and one three years later."""
    return Finding(
        quoted("hbm_share.trendforce_2022"),
        to=quoted("hbm_share.counterpoint_q2"),
        verdict="conflict",
        why="It is TrendForce's split of 2022. By Counterpoint's count of shipments in "
        "the second quarter of 2025 the leader had more, and Micron had passed "
        "Samsung. A share needs its quarter.",
    )


@claim("skhynix-share-60")
def sixty() -> Finding:
    """One tracker's two quarters, about which the author's two posts lie."""
    return Finding(
        quoted("hbm_share.counterpoint_q3"),
        to=quoted("hbm_share.counterpoint_q2"),
        why="Counterpoint's second quarter of 2025, by shipments, and its third, by "
        "revenue. Another post by the same author has the figure of the third; neither "
        "names its quarter, and both are right of one.",
    )


@claim("skhynix-margin")
def margin() -> Finding:
    """As printed; the filing rounds it."""
    return Finding(
        quoted("margin.hynix_printed"),
        why="Of the fourth quarter of 2025. The company's own release rounds it to "
        "58 %; its 19,169.6 over 32,826.7 billion won are the figure.",
    )


@claim("tsmc-gm-62")
def gross() -> Finding:
    """As the foundry prints it."""
    return Finding(quoted("margin.tsmc_gross"), why="The fourth quarter of 2025.")


@claim("skhynix-more-profit")
def more() -> Finding:
    """Margin times sales of both, in the quarter of the margins."""
    return Finding.false(
        "In the quarter whose margins the document prints, the higher margin was on "
        "fewer sales and the smaller profit. Only a quarter later was memory's "
        f"{page.profits_later().text(digits=3)} times the foundry's. Neither "
        "reports what of it comes from AI.",
        computed=deals.profits(),
    )


@claim("micron-hbm4-loss")
def lost() -> Finding:
    """A forecast that its subject corrected."""
    return Finding.false(
        "One analyst's forecast (SemiAnalysis, February 2026: no orders for Rubin, for "
        "its base die was too slow) was taken as a fact. The same month Micron's "
        "finance chief called it inaccurate: HBM4 was shipping, above 11 Gbit/s a pin. "
        "In June it was one of three suppliers approved for Vera Rubin. Source: "
        "ChosunBiz, 2026-02-12, on Micron at Wolfe Research; Bloomberg, 2026-06-05, as "
        "told by omegatechnologysolutionsgroupinc.com."
    )


@claim("skhynix-2026-soldout")
def sold_out() -> Finding:
    """True of the year, untold of the buyer."""
    return Finding.depends(
        "no buyer is named",
        "All memory of 2026 was sold, and not to one buyer: SK hynix is also told to "
        "be the only supplier of Microsoft's Maia 200. Source: Bloomberg in The "
        "Business Times, 2026-02-23; up2info.com, 2026-01-28, on Yonhap.",
    )


@claim("no-alt-foundry")
def others() -> Finding:
    """Foundries besides TSMC that offer a process of that class."""
    found = quoted("foundry.samsung_3nm") + quoted("foundry.intel_3")
    processes = [hardware.get(name).process for name in hardware.names()]
    marks = ("N3", "3nm", "Intel 3")
    small = [made for made in processes if any(mark in made for mark in marks)]
    theirs = [made for made in small if made.startswith("TSMC")]
    both = [made for made in theirs if "Samsung" in made]
    return Finding(
        found.named("other foundries at 3 nm"),
        why="Samsung has shipped 3 nm since 2022, and Intel offers Intel 3. What is "
        f"meant holds: of {len(small)} devices of that class in this book's tables "
        f"{len(theirs)} come from TSMC, {len(both)} of them from Samsung as well. The "
        "author's other post, on AI5, names the second foundry.",
    )


@claim("fab-cost-2000")
def old_plant() -> Finding:
    """The one 130 nm plant whose price its owner prints."""
    return Finding(
        quoted("fab_22.cost"),
        why="Intel's Fab 22, built and equipped, opened in October 2001 for wafers of "
        "200 mm. A year later its first for 300 mm at 130 nm cost as much.",
    )


@claim("advanced-demand-3x")
def short() -> Finding:
    """What its chief executive said on a stage."""
    return Finding.cited(
        "Source: C. C. Wei of TSMC at the award of the Semiconductor Industry "
        "Association, 2025-11-20, as told by Longbridge: by its customers' plans "
        "capacity is about three times short. No wafers requested or made are printed."
    )
