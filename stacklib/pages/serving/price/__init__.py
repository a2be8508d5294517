"""Section 8.12: What does a million tokens cost?"""

from __future__ import annotations

from functools import cache
from typing import Any

from stacklib import cost, hardware, serving
from stacklib.cost.spans import Span
from stacklib.cost.tokens import COOLING, POWER, ROWS, UNIT, BreakEven, TokenBill
from stacklib.pages import chain
from stacklib.pages.chain.posts import CONTEXT, DEVICE, MODEL, TP
from stacklib.pages.figures_of import claimed
from stacklib.pages.serving import estimate
from stacklib.pages.serving.estimate import BENCH
from stacklib.quantity import Quantity, chosen, counted, counting, one_of, quoted
from stacklib.serving.prices.contexts import Multiplier, context_multiplier
from stacklib.serving.prices.explain import YEARS, Region, explain_price
from stacklib.serving.prices.machine import Machine, machine, rented
from stacklib.serving.prices.trends import over, per_answer, published, yearly
from stacklib.serving.simulation.results import Simulation

TOGETHER = chain.posts.READERS  # readers of the page's case
CROWD, HALF = 1e4, 1.5  # requests a second: all at once, and about half of its rate
REQUESTS = 5 * TOGETHER
PART = 0.3  # share of the hours in which its machine works
ASKED, TOO_LITTLE = 0.3, 0.01  # prices that are turned inside out
REST = COOLING, "storage", "network", "people"
H200 = "h200_sxm"
LONG, LONGER = chain.posts.LONG, chain.posts.MILLION  # tokens of context
THEIRS: dict[str, Any] = {"batch": 64, "years": 4.0}  # of the bill that is printed
RENT = 2.0  # USD an hour and chip: with it the chips that write cost what they print


@cache
def owned() -> Machine:
    """The machine that the book's model is served on, with what it costs to own."""
    return machine(DEVICE, TP)


def bill(batch: int = 1, utilisation: float = 1.0, years: float = YEARS) -> TokenBill:
    """What a million tokens cost on it, so many readers at once."""
    rate = estimate.rate(batch)
    return owned().bill(rate, utilisation=utilisation, years=years)


def room() -> int:
    """Conversations that an engine holds beside the weights."""
    return asked(1.0).room


def full() -> Quantity:
    """The same, as a number of the page."""
    return counted(room, label="conversations at once")


def dollars(price: Quantity, label: str) -> Quantity:
    """Of a price: what a million tokens cost."""
    return (price * (10**6 * one_of("token"))).to("USD").named(label)


def middle(price: Span, label: str) -> Quantity:
    """What they cost between the ends: as many times the least as the most is of it."""
    return dollars(price.middle, label)


# -- the bill --------------------------------------------------------------------------


def drafted() -> Quantity:
    """A million tokens of one reader, at the pace that the account has so far."""
    time = chain.account("08-serving/price").total()
    rate = (one_of("token") / time).named("tokens a second, drafted")
    return middle(owned().bill(rate).total, "one reader, drafted")


def bill_rows(batch: int = TOGETHER) -> list[dict[str, Any]]:
    """The six rows and their sum: dollars an hour, and a million tokens."""
    found = bill(batch)
    made = {**found.hourly, "in all": found.hour}
    paid = {**found.rows, "in all": found.total}
    return [
        {
            "row": name,
            "an hour, least": made[name].low,
            "an hour, most": made[name].high,
            "a million, least": dollars(paid[name].low, f"{name}, least"),
            "a million, most": dollars(paid[name].high, f"{name}, most"),
        }
        for name in made
    ]


def electricity_share(end: str = "low") -> Quantity:
    """Of an hour's cost, what only electricity takes; ``end``: of the quotes."""
    hour = bill().hourly
    power, cooling = (getattr(hour[row], end) for row in (POWER, COOLING))
    whole = getattr(bill().hour, end)
    return ((power + cooling) / whole).named(f"electricity's share, {end} end")


def the_rest() -> Quantity:
    """Of an hour at the cheapest quotes, all rows but the chips and their power."""
    first, *others = (row.low for name, row in bill().hourly.items() if name in REST)
    return sum(others, first).named("cooling, drives, network, building and people")


def an_hour_s_tokens(batch: int = TOGETHER) -> Quantity:
    """Tokens that it makes in an hour of work."""
    hour = chosen(1, "h", label="an hour")
    return (estimate.rate(batch) * hour).to("token").named("tokens of an hour")


def idle() -> Quantity:
    """The price where the machine works part of the hours, over all of them."""
    some, every = (bill(TOGETHER, used).total.low for used in (PART, 1.0))
    return (some / every).named("price at part of the hours over price at all")


def unplugged(end: str = "low") -> Quantity:
    """The same, if an idle machine drew nothing at all."""
    used, drawn = chosen(PART, label="share of the hours"), electricity_share(end)
    return ((1 - drawn) / used + drawn).named(f"idle hours without power, {end} end")


# -- with prompts, and with a line -----------------------------------------------------


@cache
def run(rate: float, prompt: int = CONTEXT, new: int = BENCH) -> Simulation:
    """The same machine, request by request, as they come in."""
    traffic = serving.poisson(rate, REQUESTS, prompt=prompt, new=new)
    return serving.simulate(MODEL, DEVICE, traffic, tp=TP, max_batch=TOGETHER)


def ran(what: str, rate: float, prompt: int = CONTEXT, new: int = BENCH) -> float:
    """A number of that run: ``tokens_per_s``, ``utilisation`` or ``busy``."""
    return float(getattr(run(rate, prompt, new), what))


def ran_rate(rate: float = CROWD, prompt: int = CONTEXT, new: int = BENCH) -> Quantity:
    """Tokens a second of it."""
    label = "tokens a second, simulated"
    given = rate, prompt, new
    return counted(ran, "tokens_per_s", *given, unit="token/s", label=label)


def ran_share(what: str, rate: float = HALF) -> Quantity:
    """A share of it: of what it can do, or of the time in which steps are made."""
    return counted(ran, what, rate, label=f"{what}, simulated").to("%")


def ran_price(rate: float = CROWD) -> Quantity:
    """A million tokens of the run, lowest quotes."""
    found = owned().bill(ran_rate(rate)).total.low
    return dollars(found, f"a million, {rate:g} requests a second")


# -- rent or buy -----------------------------------------------------------------------


def either(batch: int = TOGETHER, utilisation: float = 1.0) -> BreakEven:
    """The same machine, owned over five years or rented by the hour."""
    given: Any = owned().costs | {"rent": owned().rent, "utilisation": utilisation}
    return cost.break_even(estimate.rate(batch), **given)


# -- what others print -----------------------------------------------------------------


@cache
def theirs() -> TokenBill:
    """The bill of a document's machine: one H200, FP8, a part of the hours."""
    batch, used = THEIRS["batch"], quoted("token_bill.utilisation")
    found = serving.estimate(MODEL, H200, "fp8", 1, batch, CONTEXT, kv_dtype="fp8")
    rate, years = found.tokens_per_s, THEIRS["years"]
    return machine(H200, 1).bill(rate, utilisation=used, years=years)


def told(row: str) -> Quantity:
    """What the document has in a row."""
    return quoted(f"token_bill.{row}", f"{row}, as printed")


@counting("the printed rows together", unit=UNIT)
def told_total() -> float:
    """Its rows added up."""
    return sum(told(row).to(UNIT).value for row in ROWS)


def exponent(context: int) -> float:
    """Of a token's bytes in its context, from 4,096 tokens on."""
    return longer(context).exponent


def told_rows() -> list[dict[str, Any]]:
    """Each printed row beside ours, and the tokens a second that it would stand for."""
    own = theirs()
    return [
        {
            "row": row,
            "printed": dollars(told(row), f"{row}, printed"),
            "least": dollars(own.rows[row].low, f"{row}, least"),
            "most": dollars(own.rows[row].high, f"{row}, most"),
            "implies": own.implied(row, told(row)).middle.named(f"implied by {row}"),
        }
        for row in ROWS
    ]


def lmsys_price(chips: Quantity, rent: Quantity | None = None) -> Quantity:
    """A million tokens of DeepSeek as LMSYS served it, by so many rented chips."""
    paid = chosen(RENT, "USD/h", label="rent of a chip") if rent is None else rent
    bill = chips * paid / (quoted("lmsys_ep.output") * quoted("lmsys_ep.writers"))
    return dollars(bill.to(UNIT), f"LMSYS, {chips.si:g} chips")


def lmsys_chips() -> tuple[Quantity, Quantity]:
    """Chips that write, and all of them."""
    each = quoted("lmsys_ep.gpus")
    return (quoted("lmsys_ep.writers") * each).named("chips that write"), (
        quoted("lmsys_ep.nodes") * each
    ).named("all chips")


def rents() -> Span:
    """What an hour of one of these chips is said to rent for."""
    found = rented(hardware.get(DEVICE))
    assert found is not None  # three rows of prices say so
    return found


# -- longer, cheaper, better -----------------------------------------------------------


@cache
def longer(context: int = LONG, on: str | None = None) -> Multiplier:
    """What a long context costs over one of 4,096 tokens, in FP8."""
    return context_multiplier(MODEL, context, dtype="e4m3fn", on=on, tp=TP)


@cache
def asked(price: float = ASKED) -> Region:
    """What must be true for a price to pay."""
    return explain_price(price, MODEL, DEVICE, tp=TP, context=CONTEXT)


def border(name: str) -> Quantity:
    """The border of one condition, the others at their best."""
    found = next(each for each in asked().borders if each.name == name)
    assert found.needed is not None  # the price is feasible
    return found.needed.named(f"{name}, at the border")


def told_fall() -> tuple[Quantity, Quantity]:
    """The whole factor of an essay, and its years."""
    return quoted("fall.factor", "in all"), quoted("fall.years", "years")


def fall() -> Quantity:
    """The factor a year of that."""
    return Quantity.named(yearly(*told_fall()), "a year")


def fallen() -> Quantity:
    """What the factor a year that it has, too, comes to in as many years."""
    return Quantity.named(over(claimed("inferencex-40-60x"), told_fall()[1]), "in all")


def measured_falls() -> dict[str, Quantity]:
    """Factors a year that others measured at equal quality."""
    return published()


def right_answer(tokens: int, right: float) -> Quantity:
    """A right answer at the price asked for, by its length and how often it comes."""
    price = chosen(ASKED, UNIT, label="price of a million tokens")
    long = chosen(tokens, "token", label="tokens of an answer")
    found = per_answer(price, long, chosen(right, label="share that is right"))
    return Quantity.named(found.to("USD"), "a right answer")
