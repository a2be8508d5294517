"""Claims on what factors multiply to, and on what a year brings."""

from stacklib.evidence import Finding, claim
from stacklib.pages.frontier import multiply as page
from stacklib.quantity import chosen, quoted

TOLD = f"The ends that are told multiply to {page.told().text()}, and thirty is one of "


@claim("30x-decomposition")
def multiplied() -> Finding:
    """The three factors by data sheets, FP4 in two of them as it is told."""
    return Finding(
        page.sheets(),
        why=f"{TOLD}those. By data sheets, dense, the chip is that fast only in FP4 "
        "over FP8, NVLink has twice the bandwidth, and FP4 over FP8 is told again.",
    )


@claim("30x-no-double-count")
def once() -> Finding:
    """The same with the chip in one format."""
    return Finding(
        page.sheets(once=True),
        why=f"With the chip in one format the told ends give {page.told(True).text()}.",
    )


@claim("codesign-100x")
def hundred() -> Finding:
    """No system has been measured one layer at a time and jointly."""
    return Finding.open(
        "Three gains of two to eight multiply to anything from eight to some five "
        "hundred, so the number by itself shows no leap. To settle it: one system's "
        "gains, each alone and all together, from one start."
    )


@claim("codesign-leapfrog-8-to-100")
def leap() -> Finding:
    """One space, where every point was asked, refutes no other."""
    return Finding.open(
        "No system is named. For a layer of experts over tile, format, experts and "
        f"network, together is {page.found('ratio').text(digits=3)} times the product; "
        "a larger leap needs layers that are each of little use alone. To settle it: "
        "one system's gains, each alone and all together, from one start."
    )


@claim("codesign-100x-annual")
def annual() -> Finding:
    """A hundred in three years, beside the rate that the same document has."""
    return Finding(
        (quoted("leapfrog.total") ** (1 / 3)).named("a hundred in three years, a year"),
        to=quoted("leapfrog.annual_low"),
        verdict="conflict",
        why="One is a gain of systems, the other a fall in price at one quality; the "
        "document has both as one trend.",
    )


@claim("two-orders-per-year")
def orders() -> Finding:
    """What a price did in a year, where a score was held."""
    return Finding(
        quoted("epoch.price_science"),
        why=f"By benchmark it is from {quoted('epoch.price_least').text()} to "
        f"{quoted('epoch.price_most').text()} a year.",
    )


@claim("inferencex-40-60x")
def a_year() -> Finding:
    """Two analysts, who hold two scores."""
    return Finding(
        quoted("epoch.price_science"),
        to=quoted("a16z.yearly"),
        verdict="conflict",
        why="No score is named. GPT-4's on PhD-level science questions fell as fast as "
        "the low end (Epoch AI); GPT-3's and GPT-4's on general knowledge far slower "
        f"(a16z). Over six benchmarks it is {quoted('epoch.price_least').text()} to "
        f"{quoted('epoch.price_most').text()}. The benchmark that the document names "
        "counts tokens of one model, not quality, and has no such row.",
    )


@claim("inferencex-50m")
def worth() -> Finding:
    """GPUs of a full run, at a server's price for each."""
    server = quoted("cluster_sheet.server") / chosen(8, label="GPUs of a server")
    return Finding.depends(
        "a GPU with its share of a server is a thousandth of that in the mean",
        f"An H100's came to {server.text(digits=4)} in 2024; most of these are newer.",
        (quoted("inferencex.gpus") * server).named("of a full run, all as H100s"),
    )


@claim("compute-per-intelligence-10x")
def intelligence() -> Finding:
    """Its baseline is a rumour."""
    return Finding.open(
        "The size of the older model was never published. To settle it: activated "
        "parameters and one score of both models, by their makers."
    )
