"""The claim of section 5.9: a chip for one kind of model, twenty times as fast."""

from stacklib.evidence import Finding, claim
from stacklib.pages.accelerators import leaving as page


@claim("sohu-20x")
def twenty() -> Finding:
    """Its maker says it; what would have to be true is worked out on the page."""
    asked = page.share(answers=True)
    return Finding.cited(
        "Source: Etched on X, 25 June 2024: 20 times an H100 server, and awesomeagents."
        "ai, March 2026: nobody else has measured one. While tokens are written, with "
        "prompts as long as there, caches bind and arithmetic gains nothing. The rate "
        f"of the H100s would take {asked.text(digits=2)} times their peak if answers "
        "alone were counted, so it counts prompts. To that the claim says a chip of "
        f"{page.each().text(digits=2)} H100s that is always busy."
    )
