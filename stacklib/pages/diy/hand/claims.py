"""The claim that a 7B model runs on a module of eight gigabytes."""

from stacklib.evidence import Finding, claim
from stacklib.pages.diy import hand as page


@claim("jetson-7b")
def small_enough() -> Finding:
    """Weights and cache in what the system leaves of the memory."""
    held = page.at()
    low, high = (page.at(mode).ceiling.si for mode in page.MODES)
    return Finding.true(
        f"{page.MODEL} in Q4_K_M takes {held.weights.text()} and {held.cache.text()} "
        f"of cache, and {held.left.text()} are left beside the system. Bytes over "
        f"bandwidth allow {low:.3g} to {high:.3g} tokens a second, by power mode.",
        computed=held.left,
    )
