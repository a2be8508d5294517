"""Claims on a session whose every turn sends all that came before."""

from stacklib.evidence import Finding, claim
from stacklib.pages.serving import prefix as page
from stacklib.quantity import Quantity, counted, quoted


@claim("session-prefill-uncached-sum")
def uncached() -> Quantity:
    """Tokens of all five turns."""
    return page.all_turns()


@claim("session-context-50k")
def fifth() -> Finding:
    """The longest of its own list, which the fifth is."""
    return Finding(
        counted(max, *page.turns(), label="longest prompt of the session"),
        why=f"All there are, if each is computed once ({page.last_turn().text()}).",
    )


@claim("prompt-cache-hit")
def again() -> Finding:
    """Share of a turn that the one before has left, the least of the four."""
    each = sorted(page.reused(), key=lambda q: q.si)
    return Finding.true(
        f"The least of its own turns; the most is {each[-1]:.3 %}. What is left to "
        "compute is little more than half of what the sentence allows.",
        computed=each[0],
    )


@claim("prompt-cache-speedup")
def faster() -> Finding:
    """Operations of the first turn's prompt over those that the second turn adds."""
    return Finding(
        page.fewer_operations(),
        why=f"In tokens it is {page.fewer_tokens():.3}. The new ones still attend to "
        "all that came before, and that grows with the context.",
    )


@claim("prompt-cache-ttl")
def lifetime() -> Quantity:
    """As a provider documents it; every use renews it."""
    return quoted("anthropic.cache_ttl", "life of a cached prompt")
