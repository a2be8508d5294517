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
    """The oldest process of a present accelerator, and the newest, by an analyst."""
    return Finding(
        quoted("ibs_design.n7"),
        to=quoted("ibs_design.n2"),
        why="At 7 nm and at 2 nm, by International Business Strategies, for a large "
        "chip with its software. The low end is near; nothing printed there comes to "
        "half of the high one.",
    )
