"""Claims on a chip that is a model, and on one that was nearly that in 1991."""

from stacklib import hardware
from stacklib.evidence import Finding, claim
from stacklib.pages.accelerators import wiring as page
from stacklib.quantity import counted, quoted

SILICON = "Source: SiliconANGLE on Taalas, February 2026"


@claim("taalas-transistors")
def transistors() -> Finding:
    """As published for the chip."""
    each = page.each()
    return Finding(
        hardware.get(page.CHIP).transistors,
        why=f"That is {each.text()} transistors per weight, so one for each weight is "
        f"{(1 / each).text('%')} of them.",
    )


@claim("taalas-4bit-16-products")
def sixteen() -> Finding:
    """Levels of a weight of four bits."""
    return Finding(
        page.codes(),
        why="Whatever numbers the codes stand for: each is a wire.",
    )


@claim("taalas-rom-mac")
def routed() -> Finding:
    """Routing against multiplying, a matrix of the tiny model, a hundred inputs."""
    return Finding(
        counted(page.chosen_equals, label="largest difference"),
        why="What is left of a product are sums, and wires to carry sixteen numbers "
        "past every output.",
    )


@claim("taalas-3-vs-4-bit")
def bits() -> Finding:
    """A cell, and what is put in it."""
    return Finding.cited(
        "Source: Anurag K., How Taalas prints an LLM onto a chip, 2026: the cell holds "
        "four bits, HC1's weights have three and six. A cell of four bits can hold "
        "three, so the two are no contradiction."
    )


@claim("taalas-two-masks")
def masks() -> Finding:
    """A company's figure."""
    return Finding.cited(f"{SILICON}: two of more than a hundred layers change.")


@claim("taalas-200w")
def watts() -> Finding:
    """Power of the card, by the reports of its launch and by those of its sale."""
    return Finding(
        hardware.get(page.CHIP).tdp,
        to=quoted("taalas.power"),
        verdict="conflict",
        why="Of a card, by reports of its launch and of its sale; nobody has measured "
        f"one. With the lower a token takes {page.joules().text('mJ/token')}.",
    )


@claim("taalas-73x-400usd")
def times() -> Finding:
    """Its published rate over an H200's account, one user."""
    return Finding(
        page.times(),
        why="One user against one user, whom an H200 serves at the speed of its memory "
        f"at best. Full, that GPU makes {page.full().text()} times as many tokens.",
    )


@claim("taalas-die-cost")
def cost() -> Finding:
    """A good die of that area at the price of a wafer."""
    return Finding(page.die(), why="The die, without package, board and power.")


@claim("anna-1989")
def anna() -> Finding:
    """When the chip was published."""
    return Finding(
        quoted("anna.year"),
        why="Boser et al. published it in December 1991: weights of six bits, digits "
        "read. The network that it ran is from 1989.",
    )


@claim("taalas-turnaround")
def months() -> Finding:
    """A company's figure."""
    return Finding.cited(
        "Source: Taalas, The path to ubiquitous AI, 2026: two months from a model it "
        "has never seen to hardware. Its base wafers wait; the last layers are made."
    )
