"""Claims on what a mistake at tape-out costs, and on how long a wafer takes."""

from stacklib.cost.making import fact
from stacklib.cost.spans import span
from stacklib.evidence import Finding, claim
from stacklib.frontier import respins
from stacklib.pages.figures_of import claimed


@claim("respin-cost")
def cost() -> Finding:
    """A set of masks; the rest of the figure is what a delay loses."""
    masks = span(fact("masks", "leading"))
    month = respins.implied(claimed("respin-cost"))
    return Finding(
        masks.low,
        to=masks.high,
        why="A set of masks. The rest is delay: for the claimed sum each of six months "
        f"must lose {month.low.text()} to {month.high.text()}, which a product of a "
        "billion a year does and a small one does not.",
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
