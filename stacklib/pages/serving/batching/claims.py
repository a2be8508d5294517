"""A claim on what continuous batching gains."""

from stacklib.evidence import Finding, claim
from stacklib.pages.serving import batching as page


@claim("continuous-batching-2x")
def doubled() -> Finding:
    """Tokens a step of a refilled batch over a static one: slots and lengths decide."""
    by_slots, by_engine = page.slots_gain(), page.engine_gain()
    return Finding.open(
        f"For exponential lengths {page.SLOTS} slots gain {page.gain():.3} and 32 gain "
        f"{page.gain(32):.3}; lengths that vary less gain less. Slots with "
        f"{page.REQUESTS} requests gain {by_slots:.3}, and the engine of this book "
        f"makes {by_engine:.2} times the tokens a second, because its steps of few "
        "rows are cheaper than its full ones. To settle it: the slots and the lengths."
    )
