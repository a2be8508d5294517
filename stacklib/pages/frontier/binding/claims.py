"""Claims on layers, on what binds, and on how long it lasts."""

from stacklib.evidence import Finding, claim
from stacklib.pages.chain.posts import OTHER
from stacklib.pages.frontier import binding as page
from stacklib.quantity import quoted
from stacklib.roofline import ridge


@claim("stack-layer-count")
def layers() -> Finding:
    """From the first level that it names to the last, each found in this book's."""
    return Finding(
        (quoted("stack.last") - quoted("stack.first") + 1).named("layers"),
        why="A way to cut, not a fact. Links within a node and between nodes are one "
        "layer of this book, and its layer of the invoice is not among theirs.",
    )


@claim("trn-trainium-sparse-dense")
def sparse_for_dense() -> Finding:
    """What its sparse rate multiplies, and what a dense model's token waits for."""
    more = page.pruned()
    worth = page.elasticity("arithmetic")
    return Finding.depends(
        "its weights are pruned to four of sixteen and many answers share a step",
        f"Then a chip multiplies {more:.3} times as much a second. A token written "
        f"alone gains {worth:.1} per cent for a per cent of arithmetic; and a model "
        "few of whose experts a token passes is sparse in another sense.",
        computed=more,
    )


@claim("essay-reading-time")
def two_headers() -> Finding:
    """The same page's two figures."""
    return Finding(
        quoted("essay.minutes"),
        to=quoted("essay.minutes_again"),
        verdict="conflict",
        why="The header of one page has both.",
    )


@claim("mem-compute-ratio")
def to_arithmetic() -> Finding:
    """Its unit is not said."""
    chip = ridge(OTHER, "bf16")
    return Finding.open(
        f"A B200 does {chip:.3} for what its memory gives, so that neither 1:10 nor "
        "1:20 is in these units. To settle it: bytes, or bytes a second, and for which "
        "operations."
    )


@claim("moat-5-years", "the share of inference sold on other chips, now and then")
@claim("paradigm-3-5-years", "what leads, by which measure, and until which date")
def forecast(missing: str) -> Finding:
    """Nothing in it can be held to a day."""
    return Finding.open(f"A forecast without its measure. To settle it: {missing}.")
