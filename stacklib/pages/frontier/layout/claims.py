"""Claims on what a mistake at tape-out costs, and on how long a wafer takes."""

from stacklib.cost.making import fact
from stacklib.cost.spans import span
from stacklib.evidence import Finding, claim
from stacklib.frontier import respins
from stacklib.pages.figures_of import claimed
from stacklib.pages.frontier import layout as page
from stacklib.quantity import quoted


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
    """The fab again, and what is done before and after it."""
    low, high = page.fab()
    return Finding(
        low + quoted("respin.debug_low"),
        to=high + quoted("respin.debug_high"),
        why="A hundred mask layers, and our judgement of the time to find the bug.",
    )


@claim("eda-fab-time")
def fab() -> Finding:
    """Mask layers, and days that a fab takes for one."""
    low, high = page.fab()
    return Finding(low, to=high, why="A hundred mask layers at 1 to 1.5 days each.")
