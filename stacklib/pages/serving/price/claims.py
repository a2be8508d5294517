"""Claims on what a token costs. Twelve come from one printed bill: counted once."""

from stacklib import cost, hardware, models
from stacklib.cost.spans import Span
from stacklib.cost.tokens import ROWS, UNIT
from stacklib.evidence import Finding, claim
from stacklib.pages.serving import price as page
from stacklib.quantity import chosen, counted, quoted
from stacklib.serving.prices.machine import GPUS

TOTAL, SPARSE = "token-cost-total", "qwen3-30b-a3b"
LINKED = f"The slip is that of {TOTAL}, and counted there."


def _ends(found: Span) -> str:
    """A span in words, or one value where its ends are the same."""
    return found.text() if found.width.si > 1 else found.low.text(digits=2)


@claim("token-cost-total")
def total() -> Finding:
    """The bill of one H200 that answers 64 at once, in use as said."""
    found, theirs = page.theirs().total, page.told_total()
    alike = page.lmsys_price(page.lmsys_chips()[1])
    rates = [page.theirs().implied(row, page.told(row)).middle for row in ROWS]
    low, high = min(rates, key=lambda q: q.si), max(rates, key=lambda q: q.si)
    return Finding(
        found.middle.to(UNIT),
        why=f"From first principles {found.text()}; LMSYS's 96 rented GPUs come to "
        f"{alike.text(digits=2)} with a larger model. The printed rows stand for "
        f"{low.text(digits=2)} to {high.text(digits=2)} on one H200. Read per billion, "
        f"{theirs.text()} would be near, but the rows would be no nearer each other.",
    )


@claim("token-cost-sum")
@claim("token-cost-shares-sum", "_share")
def whole(of: str = "") -> Finding:
    """The six printed rows, or their percentages, added up."""
    first, *more = (quoted(f"token_bill.{row}{of}") for row in ROWS)
    return Finding(
        sum(more, first).named("the six printed together"),
        why="Whatever the rows are; the percentages follow from them.",
    )


@claim("token-cost-capital", "capital")
@claim("token-cost-power", "power")
@claim("token-cost-storage", "storage")
@claim("token-cost-network", "network")
@claim("token-cost-cooling", "cooling")
@claim("token-cost-labour", "people")
def one_row(name: str) -> Finding:
    """A row of the same bill, from quotes; cooling is what the PUE adds to power."""
    found, hour = page.theirs().rows[name], page.theirs().hourly[name]
    return Finding(
        found.middle.to(UNIT),
        why=f"{_ends(hour)} for the machine, {_ends(found)}. {LINKED}",
    )


@claim("token-cost-power-share")
def power_share() -> Finding:
    """Power over the whole bill."""
    bill = page.theirs()
    found = bill.share("power")
    return Finding(
        (bill.rows["power"].middle / bill.total.middle).to("%").named("power's share"),
        why=f"{found.text('%')} by the quotes: most of the bill is the chip. {LINKED}",
    )


@claim("token-cost-production")
def production() -> Finding:
    """Twice the whole bill."""
    twice = (2 * page.theirs().total.middle).to(UNIT)
    return Finding(twice, why=f"Two times a bill scales with the bill. {LINKED}")


@claim("token-cost-row-consistency")
def one_machine() -> Finding:
    """Tokens a second that the capital row implies over those of the power row."""
    quotes = [q.value.across(GPUS) for q in cost.prices(page.H200, "purchase")]
    bill = cost.token(
        1.0,
        capital=max(quotes, key=lambda price: price.si),
        power=hardware.get(page.H200).tdp.across(GPUS),
        pue=1.0,
        cooling=0,
        storage=0,
        network=0,
        people=0,
        utilisation=1.0,
        years=page.THEIRS["years"],
        price_of_power=quoted("eia.industry_2023"),
    )
    capital, power = (
        bill.implied(row, page.told(row)).low for row in ("capital", "power")
    )
    return Finding(
        (capital / power).named("tokens a second by capital over those by power"),
        why=f"{capital.text(digits=3)} and {power.text(digits=3)} on eight GPUs: no "
        "slip of a unit repairs two rows that are so far apart. Not part of "
        f"{TOTAL}.",
    )


@claim("context-cost-128k", 131_072, right_if="batch 32 is kept and the cache is FP8")
@claim("context-cost-1m", 1_000_000, right_if="batch 32 is kept and the cache is FP8")
def longer(context: int) -> Finding:
    """Bytes of a step of 32 with a long context over one of 4,096 tokens."""
    found = page.longer(context)
    same = page.longer(context, "h200")
    return Finding(
        same.held,
        then=found.bytes,
        why="In the same memory, that of eight H200s in FP8, the batch shrinks from "
        "{:,} to {:,} as well. At the same batch a step reads the weights once and "
        "each one's own cache, 160 KiB a token with grouped heads.".format(
            *(same.batches or ())
        ),
    )


@claim("context-superlinear")
def exponent() -> Finding:
    """The exponent of a token's cost in its context, at the same batch."""
    long, longer = page.longer(page.LONG), page.longer(page.LONGER)
    return Finding(
        counted(page.exponent, page.LONG, label="exponent between the two contexts"),
        why="The bytes are a line in the context, so the exponent is "
        f"{long.exponent:.2} to {long.long:,} tokens, {longer.exponent:.2} to "
        f"{longer.long:,}, and 1 at the most. A whole answer costs more than in "
        "proportion; one token does not.",
    )


@claim("electricity-price")
def electricity() -> Finding:
    """What industry paid for a kilowatt hour."""
    low, high = quoted("eia.iowa_2025"), quoted("eia.rhode_island_2025")
    return Finding(
        quoted("eia.industry_2023"),
        why="The average of the United States in 2023; in April 2025 it was "
        f"{low.text()} in Iowa and {high.text()} in Rhode Island.",
    )


@claim("h100-40k")
def card() -> Finding:
    """The lowest and the highest quote."""
    found = [quote.value for quote in cost.prices("h100", "purchase")]
    low, high = (pick(found, key=lambda price: price.si) for pick in (min, max))
    share = quoted("cluster_sheet.server") / chosen(GPUS, label="GPUs of a server")
    return Finding(
        low,
        to=high,
        verdict="conflict",
        why="Quotes of a card in 2026. With its share of a server one came to "
        f"{share.text()} in 2024.",
    )


@claim("gpu-utilisation-65")
def used() -> Finding:
    """A day of one service: the nodes that served on average over those at the peak."""
    share = quoted("deepseek.nodes_mean") / quoted("deepseek.nodes_peak")
    return Finding(
        share.named("nodes of a service in use, of those of its peak"),
        why="A best case that one day of DeepSeek's service was better than; at night "
        "its other nodes did research. The price goes as one over it.",
    )


@claim("gpt4-175b")
def smaller() -> Finding:
    """The older model's 175 billion over what the newer one's maker has."""
    return Finding(
        quoted("progress.before") / models.get(SPARSE).active_parameters,
        why="The first figure is GPT-3's (T. Brown et al., Language Models are "
        "Few-Shot Learners, 2020, table 2.1), the second no model's.",
    )


@claim("qwen-27b-2b")
def active() -> Finding:
    """Active parameters of the sparse model of that maker nearest in size."""
    found = models.get(SPARSE)
    return Finding(
        found.active_parameters,
        why=f"No sparse model of that maker has 27 billion; {found.name} has "
        f"{found.parameters.text()} and keeps {found.active_parameters.text()} active.",
    )
