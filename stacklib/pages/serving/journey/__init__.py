"""Section 8.13: What did the wait and the price do to the token?"""

from __future__ import annotations

from functools import cache
from itertools import count
from math import ceil, inf
from typing import Any

from stacklib import serving
from stacklib.cost.tokens import TokenBill
from stacklib.pages.chain import posts
from stacklib.pages.chain.posts import CONTEXT, DEVICE, FIRST, MODEL, TP
from stacklib.pages.serving import price
from stacklib.quantity import Quantity, chosen, counted, counting
from stacklib.quantity.keys import keys_of
from stacklib.serving.estimates import losses, steady
from stacklib.serving.estimates.step import step_of
from stacklib.serving.simulation.results import Simulation
from stacklib.serving.token.work import HOST

HERE = "08-serving/journey"
FAMILY = "E_decode/served"
RATE, REQUESTS = 10.0, 1000  # requests a second, and in all
REPLICAS, NEW, CHUNK = posts.MACHINES, posts.WRITTEN, posts.STEP
PROMPT = CONTEXT - NEW // 2  # so that the account's tokens are cached on average
LIMIT, TURNS = FIRST, 60  # seconds to a first token; turns of a fixed point
RATES = (1.0, 2.5, 5.0, 7.5, 10.0, 11.0)  # requests a second of the table


@cache
def fleet(rate: float = RATE, replicas: int = REPLICAS) -> Simulation:
    """Requests that know nothing of one another, on machines alike."""
    traffic = serving.poisson(rate, REQUESTS, prompt=PROMPT, new=NEW)
    return _serve(traffic, replicas)


@cache
def one() -> Simulation:
    """A single request on a machine of its own."""
    return _serve([(0, 0, PROMPT, NEW)], 1)


def _serve(traffic: Any, replicas: int) -> Simulation:
    asked: dict[str, Any] = {"tp": TP, "scheduler": "chunked", "chunk": CHUNK}
    asked |= {"replicas": replicas, "router": "least-loaded"}
    return serving.simulate(MODEL, DEVICE, traffic, **asked)


def _times(rate: float) -> Simulation:
    return fleet(rate) if rate else one()


@counting("{of}, {percent:g} in a hundred", unit="s", family=FAMILY)
def seen(of: str, percent: float = 50, rate: float = RATE) -> float:
    """Seconds that so many in a hundred do not exceed; a rate of 0 is one alone."""
    return float(_times(rate).percentiles(of, (percent,))[percent])


@counting("time of a token in the fleet", unit="s", family=FAMILY)
def tpot(rate: float = RATE) -> float:
    """Seconds between tokens, on average over requests; at a rate of 0 alone."""
    done = _times(rate).requests
    return sum((r.finished - r.first) / (r.new - 1) for r in done) / len(done) / 1e9


@counting("line in front of a machine", unit="s", family=FAMILY)
def in_line(rate: float = RATE) -> float:
    """Seconds until a first token beyond those of one alone, on average."""
    done, alone = fleet(rate).requests, one().requests[0]
    return sum(r.ttft for r in done) / len(done) / 1e9 - alone.ttft / 1e9


@counting("share of what the machines can do")
def load(rate: float = RATE) -> float:
    """Requests that come, over those that can be done."""
    return fleet(rate).utilisation


@counting("tokens a second of a machine", unit="token/s")
def rate_of(rate: float = RATE) -> float:
    """Tokens that each machine writes in a second."""
    return fleet(rate).tokens_per_s / REPLICAS


def _end_of(end: str, replicas: int) -> float:
    """The 99th percentile of first tokens at an end of the estimate's band."""
    found = fleet(RATE, replicas).percentiles("ttft", (99,), band=True)
    ends = {"low": found.low, "high": found.high}[end]
    assert ends is not None
    return ends[99]


@counting("99 in a hundred first tokens, {end} end", unit="s")
def end_of(end: str, replicas: int = REPLICAS) -> float:
    """The same as a quantity; refused where the line grows without end."""
    return _end_of(end, replicas)


@counting("requests that come over those done at the slow end")
def slow_load(replicas: int = REPLICAS) -> float:
    """The load where all steps are the longest of the band."""
    found = fleet(RATE, replicas)
    assert found.ends is not None
    return found.utilisation_at(found.ends[1])


@counting("machines that are enough at the slow end")
def sure() -> int:
    """The fewest that keep the limit even with the band's longest steps."""
    enough = ceil(REPLICAS * slow_load().si)  # of fewer the line grows without end
    return next(n for n in count(max(REPLICAS, enough)) if _end_of("high", n) <= LIMIT)


# -- the same in closed form -----------------------------------------------------------


@cache
def held(each: float = RATE / REPLICAS, on: str = DEVICE) -> float:
    """Requests that write on one machine: as many as come while one writes.

    Infinite where more prompts come than steps that could read a part of one.
    """
    found = 1.0
    for _ in range(TURNS):
        found = max(1.0, each * NEW * token_time(found, on))
        if found > CHUNK / 2 or (found - 1) / NEW * passes(found) > 1:
            return inf
    return found


def token_time(batch: float, on: str = DEVICE) -> float:
    """Seconds of a token of one of so many answers on a machine."""
    return steady.token_time(_step(on), _load(batch))


def batch() -> Quantity:
    """The same, as a number of the page."""
    return counted(held, label="answers at once")


def _step(on: str) -> Any:
    return step_of((*keys_of(MODEL, on, "bf16", None), TP, 1), "engine", "calibrated")


def passes(batch: float) -> int:
    """Steps over which a prompt is read, where those that write go first."""
    return ceil(PROMPT / (CHUNK - round(batch)))


def _load(batch: float) -> steady.Load:
    each = ceil(PROMPT / passes(batch))
    return steady.Load(batch, float(PROMPT), float(NEW), each)


@counting("prompts of others for each token")
def shared() -> float:
    """Prompts of others that pass while one token is written."""
    return (held() - 1) / NEW


@counting("{name}, of a token among others", unit="s")
def line(name: str, on: str = DEVICE) -> float:
    """Seconds of a line of the account: its step, and its part of others' prompts."""
    step, load = _step(on), _load(held())
    rows = float(round(load.batch))
    lines = step.lines(rows, load.context) | {HOST: losses.seconds(step, rows)}
    read = steady.added_by_line(step, load).get(name, 0.0)
    return float(lines[name] + shared().si * read)


@counting("a step of those that write", unit="s", family=FAMILY)
def step() -> float:
    """Seconds of a step without a prompt in it."""
    return steady.step_time(_step(DEVICE), _load(held()))


@counting("what a prompt adds", unit="s", family=FAMILY)
def added() -> float:
    """Seconds that one prompt adds to the steps that it rides on."""
    return steady.added(_step(DEVICE), _load(held()))


def closed() -> Quantity:
    """A token among others: its step, and what prompts add to it."""
    return (step() + shared() * added()).named("a token among others")


def more(what: str) -> Quantity:
    """Seconds of an answer beyond those of one alone, by what they go into."""
    tokens = chosen(NEW - 1, label="tokens after the first")
    if what == "line":
        return in_line()
    each = {"step": step() - tpot(rate=0), "prompts": shared() * added()}[what]
    return (tokens * each).named(f"more for an answer, {what}")


# -- the invoice -----------------------------------------------------------------------


def hour() -> Quantity:
    """Dollars of an hour of a machine, between the ends, busy or not."""
    return price.bill().hour.middle.to("USD/h").named("an hour of the machine")


@cache
def bill(rate: float = RATE) -> TokenBill:
    """A million tokens on a machine that is asked so often; a rate of 0 is 8.12's."""
    if not rate:
        return price.bill()
    return price.owned().bill(rate_of(rate))


def cost(rate: float = RATE) -> Quantity:
    """Dollars of a million tokens, between the ends."""
    return price.middle(bill(rate).total, "a million tokens")


def share(row: str) -> Quantity:
    """A row's part of the invoice, all rows between their ends."""
    middles = {name: one.middle for name, one in bill().rows.items()}
    first, *rest = middles.values()
    return (middles[row] / sum(rest, first)).named(f"share of {row}")


def answer(row: str = "") -> Quantity:
    """Dollars of one answer, or of one row of it."""
    paid = cost() * (chosen(NEW, label="tokens of an answer") / 10**6)
    return (paid * share(row) if row else paid).named(f"an answer, {row or 'all rows'}")


def rows() -> list[dict[str, Any]]:
    """How often is asked, how long everybody waits, what a million tokens cost."""
    return [
        {
            "requests a second": f"{rate:g}",
            "used": load(rate),
            "first token, half of them": seen("ttft", 50, rate),
            "99 in 100": seen("ttft", 99, rate),
            "a token": tpot(rate),
            "a million tokens": cost(rate),
        }
        for rate in RATES
    ]
