"""Claims on what a mistake at tape-out costs, and on how long a wafer takes."""

from stacklib.cost.making import fact
from stacklib.cost.spans import span
from stacklib.evidence import Finding, claim
from stacklib.frontier import respins
from stacklib.pages.figures_of import claimed
from stacklib.quantity import chosen, one_of, quoted


@claim("respin-cost")
def cost() -> Finding:
    """A set of masks; the rest of the figure is what a delay loses."""
    masks = span(fact("masks", "leading"))
    month = respins.implied(claimed("respin-cost"))
    return Finding.depends(
        "six months of delay are counted, and a product that loses enough in each",
        f"For the claimed sum a month must lose {month.low.text()} to "
        f"{month.high.text()}, which a product of a billion a year does and a small "
        "one does not. Without delay it is a set of masks.",
        computed=masks.high.named("a set of masks, at most"),
    )


@claim("respin-delay")
def delay() -> Finding:
    """The fab is counted below; the search for the bug is not."""
    return Finding.open(
        "A wafer takes months, and nobody says how long the bug was sought before. To "
        "settle it: dates of the first and the second silicon of one chip."
    )


@claim("eda-design-time")
def designed() -> Finding:
    """Neither where it begins nor where it ends is said."""
    return Finding.open(
        "It is not said whether design is part of it; the same text has three to four "
        "months for the fab alone. To settle it: of one chip, the dates of its "
        "architecture, its tape-out and its first sale."
    )


@claim("eda-fab-time")
def fab() -> Finding:
    """Days that a wafer took at 7 nm, and what was expected at 5."""
    month = one_of("year") / chosen(12, label="months of a year")
    low, high = (quoted(f"fab_cycle.days_{end}") / month for end in ("low", "high"))
    return Finding(
        low.named("months at 7 nm"),
        to=high.named("months at 5 nm"),
        why="SemiEngineering's days, at one for each mask layer; on average a fab took "
        "up to half a day more.",
    )


@claim("eda-metal-layers")
def stacked() -> Finding:
    """Two processes whose layers their makers list, and one that has few."""
    return Finding.depends(
        "a process of the leading edge is meant",
        "Intel 7 has seventeen and Intel 4 eighteen; SkyWater's process of 130 nm, in "
        "which chips are made as well, has five. Source: WikiChip Fuse, A look at "
        "Intel 4 process technology, June 2022, page 3 (read 2026-11-29, secondary); "
        "the documentation of SkyWater's open PDK.",
    )


@claim("eda-verification-share")
def verified() -> Finding:
    """What two guides to the work print."""
    return Finding(
        quoted("eda_work.verification"),
        why="Of a chip's development. Neither guide says how it was counted.",
    )


@claim("chipstack-speedup")
def agents() -> Finding:
    """What the maker says is of another step."""
    return Finding.open(
        "Cadence says up to ten times of writing, testing and debugging a front end "
        "(coreprose.com and hw.dev, May 2026), and names no stacked chip, no task and "
        "no baseline. To settle it: one 3D-IC, laid out with the agent and without."
    )


@claim("dsoai-speedup")
def closed() -> Finding:
    """The one customer who prints a factor."""
    return Finding(
        quoted("dsoai.st"),
        why="STMicroelectronics, on the layout of one Arm core. Its vendor's own "
        "larger factors name no task and no baseline.",
    )
