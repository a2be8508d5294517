"""The claim of section 5.9: a chip for one kind of model, twenty times as fast."""

from stacklib.evidence import Finding, claim
from stacklib.pages.accelerators import leaving as page


@claim("sohu-20x")
def twenty() -> Finding:
    """What arithmetic alone can gain while tokens are written, with a prompt each."""
    asked = page.share(answers=True)
    return Finding(
        page.with_prompts(),
        why="While tokens are written, at no batch, with the prompts of its "
        "comparison: caches bind. The quoted rate of the H100s would take "
        f"{asked.text(digits=2)} times their peak if it counted answers alone, so it "
        "counts prompts, where arithmetic can be bought. To that the claim says a chip "
        f"of {page.each().text(digits=2)} H100s that is always busy.",
    )
