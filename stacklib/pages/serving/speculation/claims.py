"""Claims on speculation: tokens a pass, and what it gains."""

from __future__ import annotations

from stacklib.evidence import Finding, claim
from stacklib.pages.serving import speculation as page
from stacklib.quantity import one_of

WARM, GREEDY = 1, 0  # temperatures of the runs


@claim("spec-decode-draft")
def all_accepted() -> Finding:
    """Tokens of a pass that checks four or eight, as many kept as in our greedy run."""
    rate, each = page.ran("draft", "rate", GREEDY), one_of("token")
    four, eight = (page.tokens(rate, page.drafted(n)) * each for n in (4, 8))
    return Finding(
        four.named("four drafted"),
        to=eight.named("eight drafted"),
        why="That all are accepted is the best case. The first rejection ends a pass: "
        f"where each proposal is kept with {rate:.2 %}, as in the book's own greedy "
        f"run, eight drafted tokens yield {(eight / four).si - 1:.0%} more than four, "
        "and cost twice the proposals.",
    )


@claim("spec-decoding-2-3")
def two_to_three() -> Finding:
    """What its inventors measured, and tokens over the time of pass and proposals."""
    rates = [page.ran("draft", "rate", t) for t in (WARM, GREEDY)]
    low, high = (page.gain(rate, engine=False) for rate in rates)
    crowd = page.gain(rates[0], 64)
    return Finding.cited(
        "Source: Leviathan et al., arXiv 2211.17192, abstract: two to three times, of "
        "T5-XXL. Llama-3-70B on eight H100s with a draft of a billion parameters gains "
        f"{low:.2} to {high:.2}, if of four proposals {rates[0]:.2 %} to "
        f"{rates[1]:.2 %} are kept, as in the book's own runs; with 64 sequences it is "
        f"{crowd:.2}, because exchanges and arithmetic go with the rows."
    )
