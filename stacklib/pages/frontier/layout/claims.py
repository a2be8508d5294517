"""Claims on what a mistake at tape-out costs, and on how long a wafer takes."""

from stacklib.cost.making import fact
from stacklib.cost.spans import span
from stacklib.evidence import Finding, claim
from stacklib.frontier import respins
from stacklib.pages.figures_of import claimed
from stacklib.quantity import quoted


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


@claim("eda-fab-time")
def fab() -> Finding:
    """Days of a layer, and how many layers there are."""
    return Finding.cited(
        "Source: SemiEngineering, Battling Fab Cycle Times, as quoted on "
        "hotcopper.co.nz: a fab takes 1 to 1.5 days for a layer, and a 5 nm process "
        "could have a hundred of them."
    )


@claim("eda-metal-layers")
def stacked() -> Finding:
    """A process whose layers its maker's slides list."""
    return Finding.true(
        "A lower bound, and one: seventeen in Intel 7 and eighteen in Intel 4. Source: "
        "WikiChip Fuse, A look at Intel 4 process technology, June 2022, page 3 (read "
        "2026-11-29, secondary)."
    )


@claim("eda-verification-share")
def verified() -> Finding:
    """What two guides to the work print."""
    return Finding(
        quoted("eda_work.verification"),
        why="Of a chip's development. Neither guide says how it was counted.",
    )


@claim("dsoai-speedup")
def closed() -> Finding:
    """The one customer who prints a factor."""
    return Finding(
        quoted("dsoai.st"),
        why="STMicroelectronics, on the layout of one Arm core. Its vendor's own "
        "larger factors name no task and no baseline.",
    )
