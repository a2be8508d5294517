"""Claims on speculation: tokens a pass, and what it gains."""

from __future__ import annotations

from stacklib.evidence import Finding, claim
from stacklib.pages.serving import speculation as page
from stacklib.quantity import chosen


@claim("spec-decode-draft")
def all_accepted() -> Finding:
    """Tokens of a pass that checks four or eight, where four of five are kept."""
    four, eight = (
        page.tokens(page.reported(0.8), chosen(n, label="drafted tokens"))
        for n in (4, 8)
    )
    return Finding(
        four.named("four drafted"),
        to=eight.named("eight drafted"),
        why="That all are accepted is the best case. The first rejection ends a pass, "
        f"so eight drafted tokens yield only {(eight / four).si - 1:.0%} more than "
        "four, and cost twice the proposals.",
    )


@claim("spec-decoding-2-3")
def two_to_three() -> Finding:
    """Tokens over the time of pass and proposals, for one sequence."""
    low, high = map(page.gain, map(page.reported, page.REPORTED))
    crowd = page.gain(page.reported(0.7), 64)
    return Finding(
        low,
        to=high,
        why="Llama-3-70B on eight H100s with a draft of a billion parameters and four "
        f"proposals, for one sequence. With 64 of them {crowd:.2} is left, because "
        "exchanges and arithmetic go with the rows that are checked.",
    )
