"""Section 9.1: What will your money run?"""

from __future__ import annotations

from functools import cache
from typing import Any

from stacklib import cost, diy, hardware, models
from stacklib.cost.spans import Span, span
from stacklib.diy.cards import Cards
from stacklib.diy.planned import Planned
from stacklib.diy.splits import Speed
from stacklib.pages.chain.posts import CONTEXT, MODEL
from stacklib.pages.figures_of import measured, row
from stacklib.quantity import Quantity, chosen, counting, maximum, minimum
from stacklib.roofline import decode_step
from stacklib.roofline.work.fit import Infeasible

FORMAT = "q4_k_m"
RUN = f"{MODEL}:{FORMAT}"
PAIR, SMALL, OLD = "rtx_5090", "rtx_5080", "rtx_3090"
BUDGETS = (5000, 10_000, 20_000)
# Cards with the kind of price that their gigabytes are paid at.
SOLD = (
    (OLD, "used"),
    ("rx_7900_xtx", "launch"),
    (PAIR, "launch"),
    ("rtx_a6000", "launch"),
    ("rtx_pro_6000_blackwell", "purchase"),
    ("a100_sxm_80gb", "used"),
    ("h100_sxm", "used"),
    ("h100_sxm", "purchase"),
)
RAN = ("J-0009", "J-0033", "J-0057", "J-0021")  # 2, 4, 6 RTX 3090 and 2 RTX 4090
WROTE = 1024  # tokens that those runs wrote, from none
RATE: Any = {"unit": "token/s", "family": "J/decode"}


@cache
def speed(card: str, many: int, split: str, context: int = CONTEXT) -> Speed:
    """What cards do in slots of their own width."""
    cards = Cards((hardware.get(card),) * many)
    return diy.speed(cards, RUN, split=split, context=context)


@counting("tokens a second, {many} x {card} by {split}", **RATE)
def rate(
    card: str = PAIR, many: int = 2, split: str = "tensors", context: int = CONTEXT
) -> float:
    """Decode of one conversation."""
    return speed(card, many, split, context).decode


@counting("{end} of nine in ten such runs, by {split}", **RATE)
def end(end: str, split: str = "tensors") -> float:
    """``low`` or ``high`` of the pair's band."""
    return float(getattr(speed(PAIR, 2, split), end))


def read() -> Quantity:
    """Bytes that one token reads: weights, and the cache of its conversation."""
    held = models.get(MODEL)
    both = held.read_bytes(1, FORMAT) + held.kv_bytes(CONTEXT, "bf16")
    return both.named("bytes of a token")


def ceiling(split: str = "tensors", card: str = PAIR, many: int = 2) -> Quantity:
    """Tokens a second if nothing but memory took time; by layers, cards take turns."""
    form: dict[str, Any] = {"dtype": FORMAT, "kv_dtype": "bf16"}
    # The step counts its own token's cache, too: of as many tokens in all.
    step = decode_step(MODEL, on=card, tp=many, context=CONTEXT - 1, **form)
    turns = chosen(1 if split == "tensors" else many, label="turns of a token")
    return (step.tokens_per_s / turns).named(f"ceiling by {split}")


@counting("tokens a second of two unlike cards, by layers", **RATE)
def mixed() -> float:
    """The pair's card beside an old one."""
    both = Cards((hardware.get(PAIR), hardware.get(OLD)))
    return diy.speed(both, RUN).decode


@counting("bytes on the fuller of two {card}", unit="B")
def need(card: str = PAIR) -> float:
    """Weights, cache and buffers of a card that holds its part."""
    return speed(card, 2, "tensors").need


def refused(card: str = SMALL) -> str:
    """The sum that keeps two of a card from holding the model."""
    try:
        return str(speed(card, 2, "tensors"))
    except Infeasible as sum_:
        return str(sum_)


@cache
def machine(budget: int) -> Planned:
    """The fastest machine that the budget buys, on a circuit of 120 V."""
    (found,) = diy.plan(budget, RUN, most=1)
    assert isinstance(found, Planned)
    return found


@counting("bill of the machine for {budget} USD", unit="USD")
def bill(budget: int) -> float:
    """All parts."""
    return machine(budget).total


@counting("watts from the wall, machine for {budget} USD", unit="W", family="wall")
def wall(budget: int) -> float:
    """While it writes tokens."""
    return machine(budget).watts


@counting("tokens a second, machine for {budget} USD", **RATE)
def pace(budget: int, end: str = "decode") -> float:
    """Its estimate, or ``low`` and ``high`` of its band."""
    return float(getattr(machine(budget).runs[0], end))


def token(budget: int = BUDGETS[1]) -> Quantity:
    """Seconds of a token on its machine."""
    one = chosen(1, "token", label="a token")
    return (one / pace(budget)).to("s").named("a token on it")


def between() -> Quantity:
    """The largest bill over the one before it."""
    return (bill(BUDGETS[2]) / bill(BUDGETS[1])).named("bill over bill")


def memory(budget: int) -> Quantity:
    """Of all cards of the machine."""
    cards = machine(budget).gpus
    each = hardware.get(cards[0].device).memory_capacity
    return each.across(len(cards)).named(f"memory for {budget} USD")


def bandwidth(budget: int) -> Quantity:
    """Of all their memories."""
    cards = machine(budget).gpus
    each = hardware.get(cards[0].device).memory_bandwidth
    return each.across(len(cards)).named(f"bandwidth for {budget} USD")


def name(build: Planned) -> str:
    """Cards, and their limit."""
    card = hardware.get(build.gpus[0].device).short
    limit = f" at {build.limit:.0f} W" if build.limit else ""
    return f"{len(build.gpus)} x {card}{limit}"


def builds() -> list[dict[str, Any]]:
    """The machine of each budget, and what excluded the next cheaper part."""
    return [
        {
            "budget": chosen(budget, "USD", label="budget"),
            "machine": name(machine(budget)),
            "bill": bill(budget),
            "tokens": pace(budget),
            "least": pace(budget, "low"),
            "most": pace(budget, "high"),
            "next cheaper part breaks": no and f"{no.part}: {no.rule}",
        }
        for budget in BUDGETS
        for no in [machine(budget).excluded]
    ]


def price(card: str, what: str) -> Span:
    """What a card is sold for, from the lowest quote to the highest."""
    quotes = [quote.value for quote in cost.prices(card, what)]
    return span(minimum(*quotes), maximum(*quotes))


def a_gigabyte(card: str, what: str) -> Span:
    """Dollars for each gigabyte of its memory."""
    capacity = hardware.get(card).memory_capacity
    return (price(card, what) / capacity).to("USD/GB").named(f"a GB of {card}, {what}")


def a_dollar(card: str, what: str) -> Quantity:
    """Bytes a second that a dollar buys, at the lowest quote."""
    full = hardware.get(card).memory_bandwidth
    found = (full / price(card, what).low).to("GB/s/USD")
    return found.named(f"bandwidth of a dollar, {card}, {what}")


def gigabytes() -> list[dict[str, Any]]:
    """Cards by what a gigabyte costs, and a gigabyte a second."""
    return [
        {
            "card": hardware.get(card).short,
            "sold": {"purchase": "new", "launch": "list"}.get(what, what),
            "a GB, least": a_gigabyte(card, what).low,
            "a GB, most": a_gigabyte(card, what).high,
            "bandwidth of a dollar, most": a_dollar(card, what),
        }
        for card, what in SOLD
    ]


def flops(card: str, what: str) -> Quantity:
    """Operations a second for a dollar, at the highest quote."""
    peak = hardware.get(card).peak("fp16")
    return (peak / price(card, what).high).to("GFLOP/s/USD").named(f"rate of {card}")


def card_of(id: str) -> str:
    """The card of a published row."""
    return "rtx_" + row(id).system.split()[0]


def count_of(id: str) -> int:
    """How many of them."""
    return int(row(id).text("ngpus"))


def ran() -> list[dict[str, Any]]:
    """Published runs by layers, beside the prediction."""
    told = [(count_of(id), card_of(id), measured(id)) for id in RAN]
    return [
        {
            "cards": f"{many} x {hardware.get(card).short}",
            "predicted": (guess := rate(card, many, "layers", WROTE // 2)),
            "measured": took,
            "over": (guess / took).named("predicted over measured"),
        }
        for many, card, took in told
    ]


def projects() -> list[dict[str, Any]]:
    """Seven kinds of project, as ``diy.realism`` has them."""
    return [
        {
            "project": one.name,
            "dollars, least": one.money.low.across(1),
            "dollars, most": one.money.high.across(1),
            "weeks, least": one.weeks.low,
            "weeks, most": one.weeks.high,
            "hardness": "*" * one.stars,
            "teaches": one.teaches,
        }
        for one in diy.realism()
    ]
