"""Section 8.8: How long is the line at ten requests a second?"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

from stacklib.hardware.errors import error_band
from stacklib.interconnect.switches.closed import mean_wait
from stacklib.pages.chain.posts import DEVICE, MODEL, SLOTS, STEP, TP, WRITTEN
from stacklib.quantity import Quantity, chosen, counted, counting
from stacklib.serving import poisson, simulate
from stacklib.serving.simulation.results import OverCapacity, Percentiles, Simulation
from stacklib.serving.simulation.setup import SERVED, served
from stacklib.serving.simulation.steps import SECOND, Work
from stacklib.serving.simulation.traffic import Row

PROMPT, NEW, CHUNK = 1024, WRITTEN, STEP
RATE = 10.0  # requests a second that the page asks about
REQUESTS = 2_000
MANY = 4_500  # all at once: so many that filling the slots hardly counts
LOADS = (0.35, 0.8, 0.95)
FIFTH = 0.2
WORDS = {"ttft": "TTFT", "itl": "ITL"}
# What could be done otherwise at the same rate; how it is asked.
OTHERWISE: dict[str, dict[str, Any]] = {
    "prompts in pieces of 512 tokens": {"chunk": CHUNK},
    "pieces of 2,048 tokens": {"chunk": 2048},
    "whole prompts": {"scheduler": "continuous"},
    "static batches": {"scheduler": "static"},
    "two machines": {"replicas": 2, "router": "least-loaded"},
}


# -- traffic, and what becomes of it -----------------------------------------------


def traffic(
    rate: float, requests: int, seed: int = 0, prompt: int = PROMPT
) -> list[Row]:
    """Poisson requests, stretched until their mean rate is the one asked for."""
    rows = poisson(rate, requests, prompt=prompt, new=NEW, seed=seed)
    first, last = rows[0].arrival, rows[-1].arrival
    stretch = (requests - 1) * SECOND / rate / (last - first)
    return [
        row._replace(arrival=round((row.arrival - first) * stretch)) for row in rows
    ]


@cache
def run(rate: float, seed: int, way: str) -> Simulation:
    """The traffic, served on the machine or otherwise."""
    asked: dict[str, Any] = {"tp": TP, "max_batch": SLOTS, "chunk": CHUNK}
    asked |= {"scheduler": "chunked"} | OTHERWISE.get(way, {})
    return simulate(MODEL, DEVICE, traffic(rate, REQUESTS, seed), **asked)


@cache
def capacity() -> Quantity:
    """Requests a second that the machine can do."""
    return most_served(MANY)


@counting("requests a second that it can do", unit="1/s")
def most_served(requests: int) -> float:
    """The same of so many requests that come all at once."""
    rows = poisson(RATE, requests, prompt=PROMPT, new=NEW)
    asked: dict[str, Any] = {"tp": TP, "max_batch": SLOTS, "chunk": CHUNK}
    return simulate(MODEL, DEVICE, rows, scheduler="chunked", **asked).capacity


@cache
def rate_at(load: float) -> float:
    """Requests a second at a load, with as many digits as the page shows."""
    return float(f"{load * capacity().si:.4g}")


def load() -> Quantity:
    """Ten a second over what can be done."""
    return (rate() / capacity()).named("load")


def rate() -> Quantity:
    """Requests a second that the page asks about."""
    return chosen(RATE, "1/s", label="requests a second")


@counting("{percent} % of {of} are no longer, at {rate:g} a second", unit="s")
def percentile(
    percent: int, of: str = "ttft", rate: float = RATE, seed: int = 0
) -> float:
    """Seconds that so many in a hundred do not exceed."""
    return run(rate, seed, "").percentiles(of)[percent]


@cache
def interval(rate: float) -> Percentiles:
    """TTFT with steps at both ends of the estimate's band."""
    return run(rate, 0, "").percentiles("ttft", band=True)


@counting("the same with the shortest steps of the band", unit="s")
def shortest(percent: int, rate: float = RATE) -> float:
    """With steps at the low end."""
    low = interval(rate).low
    assert low is not None
    return low[percent]


def longest(percent: int, rate: float = RATE) -> float:
    """With steps at the high end; infinite where the line then grows without end."""
    high = interval(rate).high
    assert high is not None
    return high[percent]


def times(seed: int = 0) -> Quantity:
    """The 99th percentile of TTFT at the highest load over that at eight tenths."""
    high, low = (percentile(99, rate=rate_at(x), seed=seed) for x in (0.95, 0.8))
    return (high / low).named("p99 of TTFT, over the one at eight tenths")


def end(take: str) -> Quantity:
    """An end of the estimate's band, as a factor of a step."""
    return counted(error_band, SERVED, take=take, label=f"{take} end of the band")


def safe() -> Quantity:
    """The load below which the line has an end even with the longest steps."""
    return (1 / end("high")).named("load that the band allows")


def per_second(found: Quantity) -> Quantity:
    """So many in one second, as a count."""
    second = chosen(1, "s", label="one second")
    return (found * second).named(f"{found.label}, in one second")


def standing() -> Quantity:
    """Requests in line on average, by Little's law."""
    return (rate() * waited()).named("requests in line")


def left() -> Quantity:
    """Tokens of a full step that those who write leave for prompts."""
    return (given(CHUNK, "tokens of a step") - writing()).named("left for prompts")


def margin() -> Quantity:
    """How much longer steps may be until ten a second are too many."""
    return (capacity() / rate() - 1).named("steps may be longer by")


@counting("p99 of TTFT, steps a fifth shorter", unit="s")
def fifth_shorter(rate: float = RATE) -> float:
    """By the law of scale: so many times as long at so many times the rate."""
    factor = 1 - FIFTH
    return factor * run(factor * rate, 0, "").percentiles("ttft")[99]


def fifth_longer() -> Quantity:
    """The load where steps are a fifth longer."""
    return (load() * chosen(1 + FIFTH, label="longer steps")).named("load then")


# -- by hand -----------------------------------------------------------------------


@counting("a full step", unit="s")
def full_step(decodes: int = 80) -> float:
    """Seconds of a step with as many tokens as it may have, some of them decoded."""
    law = served(MODEL, DEVICE, TP, 1, "bf16", None, "engine").law(None, 1.0)
    context = decodes * (PROMPT + NEW // 2)
    work = Work(decodes, context, ((0, CHUNK - decodes),))
    return law.mixed(work) / SECOND


@counting("requests")
def sent() -> int:
    """Of a run."""
    return len(traffic(RATE, REQUESTS))


def given(number: float, label: str) -> Quantity:
    """A count, or a load, of the reader's choice."""
    return chosen(number, label=label)


def by_hand() -> Quantity:
    """Requests a second if every step is full: its tokens over those of a request."""
    rows = given(PROMPT, "tokens that are read") + given(NEW, "that are written") - 1
    most = given(CHUNK, "tokens of a step") / (rows * full_step())
    return most.named("requests a second, by hand")


def writing(each: Quantity | None = None) -> Quantity:
    """Requests that write, by Little's law: rate times how long one writes."""
    answer = given(NEW, "tokens that are written") - 1
    found = (each or rate()) * answer * full_step()
    return found.named("requests that write")


def reading(each: Quantity | None = None) -> Quantity:
    """How long a prompt is read: in what the others leave of each step."""
    left = given(CHUNK, "tokens of a step") - writing(each)
    pieces = given(PROMPT, "tokens that are read") / left
    return (pieces * full_step()).named("a prompt is read in")


def reads(each: Quantity | None = None) -> Quantity:
    """Share of the time in which a prompt is read."""
    return ((each or rate()) * reading(each)).named("share of time with a prompt")


def wait(each: Quantity | None = None) -> Quantity:
    """Mean time in line for that, by Pollaczek and Khinchine."""
    found: Quantity = mean_wait(reads(each), reading(each))
    return found.named("mean wait, by hand")


@counting("mean wait, simulated, at {rate:g} a second", unit="s")
def waited(rate: float = RATE) -> float:
    """Mean time until a request is let in."""
    done = run(rate, 0, "").requests
    return sum(each.admitted - each.arrival for each in done) / len(done) / SECOND


@counting("requests in slots, at {rate:g} a second")
def inside(rate: float = RATE) -> float:
    """Mean of those who read or write between the first arrival and the end."""
    found = run(rate, 0, "").outcome
    served = sum(each.finished - each.admitted for each in found.requests)
    return served / (found.end - found.requests[0].arrival)


# -- tables ------------------------------------------------------------------------


def said(seconds: float) -> str:
    """A time in milliseconds, or that it has no end."""
    return "without end" if math.isinf(seconds) else f"{1e3 * seconds:,.0f}"


def loads() -> list[dict[str, Any]]:
    """A row a load: percentiles of TTFT, and the interval of the last of them."""
    rates = sorted((RATE, *map(rate_at, LOADS)))
    return [
        {
            "requests per second": chosen(each, "1/s", label="rate"),
            "load": (chosen(each, "1/s", label="rate") / capacity()).named("load"),
            "TTFT p50": percentile(50, rate=each),
            "TTFT p99": percentile(99, rate=each),
            "p99, shortest steps": shortest(99, rate=each),
            "p99, longest steps (ms)": said(longest(99, rate=each)),
        }
        for each in rates
    ]


def otherwise() -> list[dict[str, Any]]:
    """A row for each way to run the machine at the same rate."""
    return [{"way": way, **_served(way)} for way in OTHERWISE]


def _served(way: str) -> dict[str, str]:
    found = run(RATE, 0, way)
    try:
        told = {of: said(found.percentiles(of)[99]) for of in WORDS}
    except OverCapacity:
        told = dict.fromkeys(WORDS, said(math.inf))
    return {f"{WORDS[of]} p99 (ms)": text for of, text in told.items()}
