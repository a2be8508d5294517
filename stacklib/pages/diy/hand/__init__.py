"""Section 9.5: What fits in a hand?"""

from __future__ import annotations

from contextlib import suppress
from functools import cache
from typing import Any

from stacklib import hardware, models
from stacklib.diy import hand, power
from stacklib.diy.hand import JETSON, MODES, Held, in_mode, warmed
from stacklib.evidence import runs
from stacklib.pages.figures_of import foretold, measured, row
from stacklib.quantity import Quantity, chosen, counted, counting, quoted, recorded
from stacklib.quantity.constants import case
from stacklib.roofline.bound.decode import decode_work
from stacklib.roofline.work.fit import Infeasible

MODEL, LARGE, FORMAT, CONTEXT = "llama-2-7b", "llama-3-70b", "q4_k_m", 1024
LOW, FULL = MODES
# What is carried, and what stands beside a keyboard.
OTHERS = tuple(
    "jetson_agx_orin_64 jetson_agx_thor m4 m4_max strix_halo_395 dgx_spark_gb10".split()
)
PUBLISHED = {  # rows that others measured, and the model of each
    "J-F901": "llama-3.1-8b",
    "J-F902": "llama-3.2-3b",
    "J-F903": "qwen2.5-7b",
    "J-F904": "gemma-2-2b",
    "J-F906": MODEL,
    "J-F907": "llama-2-13b",
    "J-F908": "llama-2-70b",
}
# A small fanless case: kelvins a watt from die to fins and on to the air, joules a
# kelvin of both; hours, degrees of the air around it. With a fan the air takes more.
FINS, FAN, STORED, HOURS, AIR = (0.8, 3.0), (0.8, 1.5), (15.0, 120.0), case("work"), 25
EDGE = "benchmarks/results/edge.json"


@cache
def at(mode: str = FULL) -> Held:
    """The 7B model on the Orin Nano in one of its power modes."""
    return hand.held(MODEL, JETSON, FORMAT, CONTEXT, mode)


def bandwidth(mode: str = FULL) -> Quantity:
    """Of the one memory, in a power mode."""
    return in_mode(JETSON, mode).memory_bandwidth


def arithmetic() -> Quantity:
    """Seconds of a token's arithmetic at that rate."""
    work = decode_work(models.get(MODEL), dtype="bf16", batch=1, context=CONTEXT)
    rate = hardware.get(JETSON).peak("fp16").across(1)
    return (work.operations / rate).to("ms").named("arithmetic of a token")


def slower(*, published: bool = False) -> Quantity:
    """Speed in the low mode over the full one: as predicted, or as published."""
    if published:
        full = measured("J-F903")
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


def each(held: Held) -> Quantity:
    """Milliseconds of a token."""
    return (chosen(1, "token", label="a token") / held.rate).to("ms").named("a token")


def large() -> Held:
    """The model of the running case, on the smallest of these that holds it."""
    return hand.held(LARGE, OTHERS[0], FORMAT, CONTEXT)


def rows() -> list[dict[str, Any]]:
    """A row a machine, in its modes: what fits, and at which rate."""
    found, modes = [], [(JETSON, mode) for mode in MODES]
    for on, mode in [*modes, *((on, None) for on in OTHERS)]:
        device, small = in_mode(on, mode), hand.held(MODEL, on, FORMAT, CONTEXT, mode)
        large: Any = None
        with suppress(Infeasible):
            large = hand.held(LARGE, on, FORMAT, CONTEXT, mode).rate
        found.append(
            {
                "machine": f"{device.short}, {mode}" if mode else device.short,
                "memory": device.memory_capacity,
                "bandwidth": device.memory_bandwidth,
                "7B": small.rate,
                "70B": large,
                "a token": small.joules,
            }
        )
    return found


def device_of(id: str) -> str:
    """The machine of a published row."""
    return JETSON if "Nano" in row(id).system else OTHERS[0]


def served() -> Quantity:
    """What is predicted where somebody asked a small model through a server."""
    return hand.held("qwen2.5-1.5b", JETSON, FORMAT, CONTEXT).rate


def beside() -> list[dict[str, Any]]:
    """Published rates of Jetsons, with what is predicted for each."""
    return [
        {
            "machine": hardware.get(device_of(id)).short,
            "model": models.get(model).name,
            "software": row(id).software,
            "predicted": held.rate,
            "least": held.low,
            "most": held.high,
            "measured": measured(id),
        }
        for id, model in PUBLISHED.items()
        for held in [hand.held(model, device_of(id), FORMAT, CONTEXT)]
    ]


def step(kind: str, past: int) -> runs.Run:
    """A step of the tiny model in onnxruntime, predicted and measured."""
    return runs.get("edge", f"step-{kind}-{past}")


def steps() -> list[dict[str, Any]]:
    """The model in floats and in INT8: steps, and what prose costs it."""
    return [
        {
            "weights": kind.upper(),
            "predicted": step(kind, 0).predicted,
            "empty cache": step(kind, 0).measured,
            "full cache": step(kind, 511).measured,
            "perplexity": text(kind),
            "by NumPy": text(kind, told=True),
        }
        for kind in ("fp32", "int8")
    ]


def nodes(kind: str) -> Quantity:
    """Nodes of the graph."""
    return runs.promised("edge", f"step-{kind}-0", "nodes", "", f"nodes, {kind}")


def text(kind: str, told: bool = False) -> Quantity:
    """Perplexity of prose it never read: told by NumPy, or found by onnxruntime."""
    label = f"perplexity, {kind}"
    if told:
        value = runs.results.prediction("edge")["texts"][kind][0]
        return foretold("edge", value, "", f"{label}, NumPy")
    return recorded(EDGE, "texts", f"{kind}/0", label=label)


def same(field: str) -> Quantity:
    """Counts of the comparison with NumPy, number by number."""
    return recorded(EDGE, "equal", field, label=field)


def same_codes() -> Quantity:
    """Share of the codes in a whole pass that are NumPy's."""
    return (same("codes_equal") / same("codes")).named("codes that are alike")


def gain(told: bool) -> Quantity:
    """Steps in INT8 over steps in floats: predicted, or measured."""
    both = [step(kind, 0) for kind in ("fp32", "int8")]
    times = [run.predicted if told else run.measured for run in both]
    return (times[0] / times[1]).named("INT8 over floats")


def late(kind: str, past: int = 0) -> Quantity:
    """What a step took above its prediction."""
    run = step(kind, past)
    return (run.measured - run.predicted).named(f"late, {kind}, {past} cached")
