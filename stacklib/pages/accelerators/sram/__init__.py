"""Section 5.4: How many chips until you need no HBM?"""

from __future__ import annotations

from functools import cache, partial
from statistics import mean, pvariance
from typing import Any

from stacklib import hardware, models
from stacklib.accelerators import sram_machine, stream, timetable
from stacklib.accelerators.sram.plan import SramPlan, fewest
from stacklib.accelerators.sram.static import latencies, run_line
from stacklib.accelerators.sram.turn import held_price, token_price, turning_capacity
from stacklib.interconnect.switches.closed import mean_wait
from stacklib.pages.chain.posts import CONTEXT, MODEL
from stacklib.pages.figures_of import measured
from stacklib.quantity import Quantity, chosen, counted, counting, one_of, quoted

# Each chip with the format in which it holds the model.
HELD = {"groq_lpu_v1": "int8", "groq3_lp30": "e4m3fn", "wse3": "fp16"}
FIRST, NEW, WAFER = HELD
HBM, GPU = "h100_sxm", "b200_sxm"
ANSWER, SESSIONS = 2000, 50  # tokens of an answer, and answers that one reads a day
WILD = ("llama-3-8b", MODEL, "qwen3-30b-a3b", "gpt-oss-120b", "deepseek-v3")
LOAD, TOKENS, SEED = 0.8, 100_000, 5  # of a stage behind a queue
BUSY, HOP = 20, 1  # cycles in a stage, and to the next, of the timetable shown
YEARS = 5


@cache
def plan(on: str = FIRST, context: int = CONTEXT, batch: int = 1) -> SramPlan:
    """The running case on the fewest chips of a kind."""
    asked: dict[str, Any] = {"dtype": HELD[on], "batch": batch, "context": context}
    return sram_machine(MODEL, on=on, **asked)


def chips(on: str, context: int = CONTEXT) -> Quantity:
    """Chips that hold weights and one cache."""
    found = plan(on, context)
    need = (found.weights + found.cache).si
    have = hardware.get(on).memory_capacity.si
    return counted(fewest, need, have, label=f"chips, {found.device.short}")


def bandwidth(on: str) -> Quantity:
    """Bytes a second of all those chips together."""
    found = plan(on)
    rate = found.device.memory_bandwidth.across(found.chips)
    return rate.named(f"bandwidth of {found.device.short}s")


def over_h100(on: str) -> Quantity:
    """A chip's bandwidth over that of an H100."""
    both = [hardware.get(name).memory_bandwidth for name in (on, HBM)]
    return (both[0] / both[1]).named(f"{plan(on).device.short} over H100")


def rate(on: str) -> Quantity:
    """Tokens a second of one reader at the roof."""
    return plan(on).tokens_per_s


def published(on: str) -> Quantity:
    """What was served: Llama 2 70B on LPUs, a 70B model on four wafers."""
    return quoted({FIRST: "groq.rate70", WAFER: "cerebras.rate70"}[on])


def one_gpu() -> Quantity:
    """Tokens a second of a B200 that reads a model of eight bits for each."""
    weights = models.get(MODEL).read_bytes(1, "e4m3fn")
    full = hardware.get(GPU).memory_bandwidth.across(1)
    token = chosen(1, "token", label="a token")
    return (token * full / weights).to("token/s").named("roof of a B200")


def answer(tokens_per_s: Quantity) -> Quantity:
    """Seconds of an answer at a rate."""
    tokens = chosen(ANSWER, "token", label="tokens of an answer")
    return (tokens / tokens_per_s).to("s").named("an answer")


def a_day(tokens_per_s: Quantity) -> Quantity:
    """Minutes that somebody waits for a day's answers."""
    many = chosen(SESSIONS, label="answers of a day")
    return (many * answer(tokens_per_s)).to("min").named("minutes waited a day")


def document(on: str) -> str:
    """Where that was read."""
    source = published(on).source
    assert source is not None
    return source.title


def launched() -> Quantity:
    """The wafers' rate when the service began, without a draft model."""
    return measured("E-0901")


def row(model: str, on: str) -> dict[str, Any]:
    """A model from the wild on the chips of a kind, or the sum that forbids it."""
    held = models.get(model)
    asked: dict[str, Any] = {"dtype": HELD[on], "context": CONTEXT}
    found = sram_machine(held, on=on, **asked)
    sized = partial(counted, sram_machine, held, on=on, **asked)
    return {
        "model": held.name,
        "chips": sized(take="chips", label="chips"),
        "a token": found.time.named(f"a token of {held.key}"),
        "left": found.free,
        "longest": found.longest and sized(take="longest", label="tokens"),
    }


# -- the timetable, and a line ---------------------------------------------------------


@counting("variance of a token's cycles on the timetable")
def spread(stages: int = 80) -> float:
    """Of tokens that enter as fast as the first stage allows."""
    return pvariance(latencies(timetable(stages, BUSY, HOP, 200)))


@counting("cycles of a token on the timetable")
def cycles(stages: int = 80) -> int:
    """From the first stage to the end of the last, of every token."""
    return latencies(timetable(stages, BUSY, HOP, 3))[0]


@counting("time in line and in a stage, {spread} durations, over one duration")
def stayed(spread: str) -> float:
    """Mean of tokens that come when they like."""
    return mean(run_line(LOAD, TOKENS, spread, SEED))


@counting("standard deviation of it, {spread} durations")
def scatter(spread: str) -> float:
    """Of the same tokens."""
    return pvariance(run_line(LOAD, TOKENS, spread, SEED)) ** 0.5


@counting("the same by Pollaczek and Khinchine")
def by_hand(c2: float) -> float:
    """One duration, and the mean wait before it; ``c2``: spread of durations."""
    return 1 + mean_wait(LOAD, 1.0, c2)


# -- weights that pass by --------------------------------------------------------------


def streamed() -> Quantity:
    """Seconds in which all weights reach a wafer."""
    return stream(MODEL, WAFER, HELD[WAFER]).sending


def hidden_from() -> Quantity:
    """Tokens of a pass from which on the wafer computes all the time."""
    return stream(MODEL, WAFER, HELD[WAFER]).hidden_from


# -- what it costs ---------------------------------------------------------------------


def price(of: str) -> Quantity:
    """Of a chip: ``"card"`` and ``"board"`` of a Groq, or of an H100."""
    return quoted("taalas.gpu_price" if of == HBM else f"groq.{of}")


def token_time() -> Quantity:
    """Seconds of a token as LPUs served it."""
    return (chosen(1, "token", label="a token") / published(FIRST)).named("as served")


def turn(of: str) -> Quantity:
    """Bytes that an LPU of that price must hold to be as cheap as full HBM."""
    full = hardware.get(HBM).memory_bandwidth.across(1)
    found = turning_capacity(price(of), token_time(), price(HBM), full)
    return found.named(f"capacity at which cost turns, {of}")


def dollars(of: str, batch: int) -> Quantity:
    """A million tokens in chips alone: LPUs of a price, or H100s that are full."""
    model, life = models.get(MODEL), YEARS * one_of("year")
    cache_ = model.kv_bytes(CONTEXT, "int8")
    weights = model.weight_bytes("int8")
    if of == HBM:
        full = hardware.get(HBM).memory_bandwidth.across(1)
        held = price(HBM) / full
    else:
        memory = hardware.get(FIRST).memory_capacity.across(1)
        held = held_price(price(of), memory, token_time())
    many = chosen(batch, label="conversations")
    found = token_price(held, weights, cache_, many, life)
    return (found / chosen(1, "token", label="a token")).to("USD/Mtoken").named(of)


def racks(on: str = NEW) -> Quantity:
    """Bandwidth of a rack of them, which is what the headline has."""
    device = hardware.get(on)
    return device.memory_bandwidth.across(device.link_domain).named("a rack")


def reading(on: str = FIRST) -> Quantity:
    """Seconds in which one reader's bytes are read, layer by layer."""
    return plan(on).reading
