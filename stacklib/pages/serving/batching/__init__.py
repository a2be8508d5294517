"""Section 8.5: Who is in the next step?"""

from __future__ import annotations

from typing import Any

from stacklib import models
from stacklib.pages.chain.posts import CONTEXT, DEVICE, MODEL, TP
from stacklib.pages.serving.batching.scene import Run, run
from stacklib.pages.serving.estimate import BENCH, among_others
from stacklib.quantity import Quantity, chosen, counted, counting, recorded
from stacklib.serving import estimate
from stacklib.serving.engine.delay import PARTS
from stacklib.serving.engine.latency import DEFINITIONS
from stacklib.serving.estimates.estimate import Estimate
from stacklib.serving.slots.batches import (
    continuous,
    drawn_lengths,
    harmonic,
    static,
    steps,
)

FILE = "benchmarks/results/engine.json"
SLOTS, REQUESTS, MEAN = 8, 200, 40.0  # as benchmarks/engine.py runs them
WAYS = {"static": static, "fcfs": continuous}
ME = "C"  # the request of the scene that the page asks about
ENGLISH = {
    "ttft": "TTFT",
    "tpot": "TPOT",
    "tpot_all": "TPOT, the first token counted",
    "itl": "ITL, the longest",
    "e2e": "E2E",
}


def inverse(number: int) -> Quantity:
    """One of the terms of the gain."""
    return (1 / chosen(number, label="sequences that still run")).named("its inverse")


def slots(count: int = SLOTS) -> Quantity:
    """Sequences in a batch."""
    return chosen(count, label="slots")


def gain(count: int = SLOTS) -> Quantity:
    """H_B: tokens a step of a refilled batch over one that waits for its longest."""
    return counted(harmonic, slots(count), label=f"H of {count}")


@counting("steps of {way} batches, {count} slots")
def slot_steps(way: str, count: int = SLOTS, requests: int = REQUESTS) -> int:
    """Steps that slots take for lengths drawn from an exponential."""
    return steps(WAYS[way](drawn_lengths(requests, MEAN), count))


@counting("steps of the drawing, {way}")
def drawn_steps(way: str, requests: int, mean: float, seed: int) -> int:
    """Steps that the slots take for a few requests."""
    return steps(WAYS[way](drawn_lengths(requests, mean, seed), SLOTS))


def slots_gain(count: int = SLOTS, requests: int = REQUESTS) -> Quantity:
    """The same gain, counted with slots."""
    still, moving = (slot_steps(way, count, requests) for way in WAYS)
    return (still / moving).named("gain of the slots")


def engine_steps(way: str) -> Quantity:
    """Steps that the engine took for them."""
    return recorded(FILE, way, "steps", label=f"steps of the engine, {way}")


def rate(way: str) -> Quantity:
    """Tokens a second of the engine on the tiny model."""
    time = recorded(FILE, way, "times_s/median", unit="s", label=f"time, {way}")
    made = recorded(FILE, way, "tokens", label="tokens made")
    return (made / time).named(f"tokens a second, {way}")


def engine_gain() -> Quantity:
    """Tokens a second of the engine, continuous over static."""
    return (rate("fcfs") / rate("static")).named("gain of the engine")


# -- the running case ------------------------------------------------------------------


def step(batch: int = 1) -> Estimate:
    """The running case with so many sequences in its steps."""
    return estimate(MODEL, DEVICE, "bf16", TP, batch, CONTEXT)


def tpot(batch: int = 1) -> Quantity:
    """What each token waits."""
    return step(batch).tpot.named(f"a step of {batch}")


def machine_rate(batch: int = 1) -> Quantity:
    """Tokens a second of all of them together."""
    return step(batch).tokens_per_s.named(f"tokens a second of {batch}")


def tpot_with_prompts(batch: int = SLOTS) -> Quantity:
    """The same where each of them brought a prompt that others' steps read."""
    return among_others(batch, CONTEXT, BENCH).named("a token among others' prompts")


def read_for_a_token(batch: int = 1) -> Quantity:
    """Bytes of weights that are read for one token."""
    found = models.get(MODEL).read_bytes(batch, "bf16")
    return (found / chosen(batch, label="sequences")).named("weights read for a token")


# -- the scene -------------------------------------------------------------------------


@counting("{name} of {who}")
def waited(name: str, who: str = ME, alone: bool = False) -> float:
    """One of the five latencies of a request of the scene, in units of work."""
    found = getattr(_of(who, alone).latency[who], name)
    return float(max(found) if name == "itl" else found)


@counting("{cause} of {who}")
def part(cause: str, who: str = ME, alone: bool = False) -> float:
    """A part of a request's time, by cause."""
    return _of(who, alone).delays[who].parts[cause]


@counting("tokens of {who} computed again")
def again(who: str = ME) -> int:
    """Tokens that a request of the scene had to compute a second time."""
    return sum(each.recomputed for each in run().delays[who].evictions)


def _of(who: str, alone: bool) -> Run:
    return run(only=who) if alone else run()


@counting("tokens of {who} found")
def found(who: str) -> int:
    """Tokens of its prompt that a request of the scene found computed."""
    return run().delays[who].cached


def parts(who: str = ME) -> list[dict[str, Any]]:
    """A row for each cause that took time."""
    told = run().delays[who].parts
    return [
        {
            "cause": PARTS[cause],
            "time": part(cause, who),
            "alone": part(cause, who, True),
        }
        for cause, time in told.items()
        if time
    ]


def latencies(who: str = ME) -> list[dict[str, Any]]:
    """A row for each of the five numbers, with its definition."""
    return [
        {
            "number": words,
            "from when to when": DEFINITIONS[name],
            "alone": waited(name, who, True),
            "among others": waited(name, who),
        }
        for name, words in ENGLISH.items()
    ]


@counting("tokens compared")
def compared(what: str) -> int:
    """Tokens of the engine's answers against the model alone; or equal, ties, wrong."""
    from stacklib.pages.serving.batching.scene import replayed

    return sum(getattr(each, what) for each in replayed())
