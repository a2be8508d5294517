"""The claim on how full a paged cache is."""

from stacklib.evidence import Finding, claim
from stacklib.pages.serving import blocks as page


@claim("paged-util")
def full() -> Finding:
    """Share of the slots of owned blocks that hold a token, mean of 512 tokens."""
    closed, moments, run = page.ways(page.BLOCK)
    mean = page.in_memory(page.SMALL).text()
    return Finding.depends(
        "sequences are long beside a block, and only what lies between blocks counts",
        f"Blocks of {page.BLOCK} tokens, and {mean} tokens in a sequence on average: "
        f"{closed:.4 %} in closed form, {run:.4 %} in the allocator. Between blocks "
        "nothing is lost, behind each last token half a block: fragmentation, too.",
        computed=moments,
    )
