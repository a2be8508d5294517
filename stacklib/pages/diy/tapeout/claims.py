"""Claims on the time of the path, and on what a chip of one's own costs."""

from stacklib.evidence import Finding, claim
from stacklib.pages.diy import tapeout as page
from stacklib.quantity import quoted


@claim("timeline-3-months")
def months() -> Finding:
    """The guide's phases have a sum, and nobody has timed one."""
    path = page.path()
    return Finding.open(
        f"The guide's phases add up to {path.weeks.text()} weeks, {path.months.text()} "
        "months: three is the lower end. To settle it: diaries of people who did it."
    )


@claim("design-cost-200m-2b")
def design() -> Finding:
    """The oldest process of a present accelerator, by an analyst."""
    return Finding(
        quoted("ibs_design.n7"),
        why="For 7 nm, by International Business Strategies; "
        f"{quoted('ibs_design.n2').text()} at 2 nm. Both lie within the claim's range, "
        "and both are an analyst's, for a large chip with its software.",
    )
