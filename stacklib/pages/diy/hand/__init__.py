"""Section 9.5: What fits in a hand?"""

from __future__ import annotations

from functools import cache
from typing import Any

from stacklib import hardware, models
from stacklib.diy import hand, power
from stacklib.diy.hand import JETSON, MODES, Held, in_mode, kept, warmed
from stacklib.evidence import runs
from stacklib.pages.figures_of import foretold, measured, row
from stacklib.quantity import Quantity, counted, counting, quoted, recorded
from stacklib.roofline.bound.decode import decode_work
from stacklib.roofline.work.fit import Infeasible

MODEL, LARGE, FORMAT, CONTEXT = "llama-2-7b", "llama-3-70b", "q4_k_m", 1024
LOW, FULL = MODES
# What is carried, and what stands beside a keyboard.
OTHERS = (
    "jetson_agx_orin_64",
    "jetson_agx_thor",
    "m4",
    "m4_max",
    "m3_ultra",
    "strix_halo_395",
    "dgx_spark_gb10",
)
PUBLISHED = {  # rows that others measured, and the model of each
    "J-H001": "llama-3.1-8b",
    "J-H002": "llama-3.2-3b",
    "J-H003": "qwen2.5-7b",
    "J-H004": "gemma-2-2b",
    "J-H009": "qwen2.5-1.5b",
    "J-H006": MODEL,
}
# A small fanless case: kelvins a watt from die to fins and on to the air, joules a
# kelvin of both; hours, degrees of the air around it. With a fan the air takes more.
FINS, FAN, STORED, HOURS, AIR = (0.8, 3.0), (0.8, 1.5), (15.0, 120.0), 3, 25
EDGE = "benchmarks/results/edge.json"


@cache
def at(mode: str | None = FULL, model: str = MODEL) -> Held:
    """A model on the Orin Nano in one of its power modes."""
    return hand.held(model, JETSON, FORMAT, CONTEXT, mode)


def bandwidth(mode: str = FULL) -> Quantity:
    """Of the one memory, in a power mode."""
    return in_mode(JETSON, mode).memory_bandwidth


def memory() -> Quantity:
    """Of the Orin Nano, for everybody on it."""
    return hardware.get(JETSON).memory_capacity


def reading(mode: str = FULL, model: str = MODEL) -> Quantity:
    """Bytes of a token at the ceiling: what passes the bus meanwhile."""
    return (bandwidth(mode) / at(mode, model).ceiling).to("GB/token").named("a token")


def dense() -> Quantity:
    """Of INT8 on the chip, without 2:4 sparsity."""
    return hardware.get(JETSON).peak("int8")


def arithmetic() -> Quantity:
    """Seconds of a token's arithmetic at that rate."""
    work = decode_work(
        models.get(MODEL), dtype="bf16", batch=1, context=CONTEXT
    ).operations
    rate = hardware.get(JETSON).peak("fp16").across(1)
    return (work / rate).to("ms").named("arithmetic of a token")


def slower(measured_: bool = False) -> Quantity:
    """Speed in the low mode over the full one: as predicted, or as published."""
    if measured_:
        full = measured("J-H003")
        return (quoted("jetson.qwen7b_before") / full).named("published, low over full")
    return (at(LOW).rate / at(FULL).rate).named("low mode over full")


def by_limit() -> Quantity:
    """The same if only the clock of the chip went down, as under a limit of power."""
    watts = quoted("jetson.watts_15")
    label = "speed under a limit of those watts"
    return counted(power, JETSON, watts.si, take="speed", label=label)


@counting("watts left after some hours", unit="W")
def warm_watts(*case: float) -> float:
    """What the firmware leaves of the full mode, in a case."""
    return warmed(case, STORED, quoted("jetson.watts_25").si, HOURS, AIR)[0].watts[-1]


@counting("speed left after some hours")
def warm_speed(*case: float) -> float:
    """Tokens a second then, over those of a cold chip."""
    return warmed(case, STORED, quoted("jetson.watts_25").si, HOURS, AIR)[1]


def large(on: str = "jetson_agx_thor") -> Held:
    """The model of the running case in four bits, on the smallest that holds it."""
    return hand.held(LARGE, on, FORMAT, CONTEXT)


def rows() -> list[dict[str, Any]]:
    """A row a machine: what fits, and at which rate."""
    found = [line(JETSON, mode) for mode in MODES]
    return (
        found
        + [line(on) for on in OTHERS[:-1] if on != "m3_ultra"]
        + [line(OTHERS[-1])]
    )


def line(on: str, mode: str | None = None) -> dict[str, Any]:
    """One machine in one mode."""
    device = in_mode(on, mode)
    small = hand.held(MODEL, on, FORMAT, CONTEXT, mode)
    try:
        wide: Any = hand.held(LARGE, on, FORMAT, CONTEXT, mode).rate
    except Infeasible:
        wide = None
    return {
        "machine": f"{device.short}, {mode}" if mode else device.short,
        "memory": device.memory_capacity,
        "bandwidth": device.memory_bandwidth,
        "7B": small.rate,
        "least": small.low,
        "most": small.high,
        "70B": wide,
        "a token": small.joules,
    }


def beside() -> list[dict[str, Any]]:
    """Published rates of Jetsons, with what is predicted for each."""
    found = []
    for id, model in PUBLISHED.items():
        told = row(id)
        on = JETSON if "Nano" in told.system else OTHERS[0]
        held = hand.held(model, on, FORMAT, CONTEXT)
        found.append(
            {
                "device": on,
                "on": hardware.get(on).short,
                "model": models.get(model).name,
                "software": told.software,
                "predicted": held.rate,
                "least": held.low,
                "most": held.high,
                "measured": measured(id),
            }
        )
    return found


def step(kind: str, past: int) -> runs.Run:
    """A step of the tiny model in onnxruntime, predicted and measured."""
    return runs.get("edge", f"step-{kind}-{past}")


def text(kind: str, told: bool = False) -> Quantity:
    """Perplexity of prose that the model never read: by NumPy before, by onnxruntime."""
    if told:
        value = runs.results.prediction("edge")["texts"][kind][0]
        return foretold("edge", value, "", f"perplexity, {kind}, NumPy")
    return recorded(
        EDGE, "texts", f"{kind}/0", label=f"perplexity, {kind}, onnxruntime"
    )


def same(field: str) -> Quantity:
    """Counts of the comparison with NumPy, number by number."""
    return recorded(EDGE, "equal", field, label=field)


def gain(told: bool) -> Quantity:
    """Steps in INT8 over steps in floats: predicted, or measured."""
    both = [step(kind, 0) for kind in ("fp32", "int8")]
    times = [run.predicted if told else run.measured for run in both]
    return (times[0] / times[1]).named("INT8 over floats")


def copied() -> Quantity:
    """What a full cache adds to a step in INT8, measured."""
    return (step("int8", 511).measured - step("int8", 0).measured).named("a full cache")
