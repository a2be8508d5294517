"""HBM builder, live: stacks, dies, generation and rate to capacity and bandwidth.

The line is the chosen stack, one to sixteen times. Diamonds are devices as published;
the nearest is named. What the generation does not have is not drawn, and said.
"""

from __future__ import annotations

import math
from typing import Any

from stacklib import hardware
from stacklib.hardware import Accelerator, StackGeneration
from stacklib.memory import HbmStack, hbm_stack
from stacklib.memory.stack.hbm import HEIGHTS
from stacklib.plots.live import choices
from stacklib.plots.spec import readout
from stacklib.quantity import Quantity

COUNTS = tuple(range(1, 17))
DIES = (2, 8, 16, 24, 32)  # Gbit
TEXTS = [[(str(n), str(n)) for n in row] for row in (HEIGHTS, DIES)]
RATES = (1, 1.4, 1.8, 2, 2.4, 2.8, 3.2, 3.6, 4.4, 5.2, 5.6, 6, 6.4, 7.2, 7.6, 8, 8.8,
         9.2, 9.6, 10.6, 11.7, 12.8)  # fmt: skip
# A few that everyone knows: a page should not read the whole database.
PUBLISHED = (
    "p100_sxm2", "v100_sxm2_32gb", "a100_sxm_40gb", "a100_sxm_80gb", "mi250x",
    "h100_sxm", "h200_sxm", "mi300x", "b200_sxm", "gb300", "mi355x", "tpu_v7",
    "trainium3", "rubin", "mi455x",
)  # fmt: skip
X = {"label": "Capacity (GB)", "scale": "log", "limits": [4, 1400]}
Y = {"label": "Bandwidth (TB/s)", "scale": "log", "limits": [0.1, 60]}


def controls() -> list[dict[str, Any]]:
    """Menus and sliders of ``explore``."""
    made = [hardware.stack_generation(key) for key in hardware.stack_generations()]
    rate = choices.slider("rate", "Rate of a pin (Gbit/s)", (), 8)
    return [
        choices.select("generation", "Generation", [(g.key, g.name) for g in made],
                       "hbm3e"),
        choices.slider("stacks", "Stacks", COUNTS, 8),
        choices.select("height", "Dies of a stack", TEXTS[0], "8"),
        choices.select("die", "Gbit of a die", TEXTS[1], "24"),
        {**rate, "values": list(RATES)},
    ]  # fmt: skip


def explore(
    *, generation: str, stacks: int, height: str, die: str, rate: float
) -> dict[str, Any]:
    """Spec of bandwidth over capacity for a package of such stacks.

    Parameters
    ----------
    generation : str
        Key of an HBM generation.
    stacks : int
        How many.
    height, die : str
        Dies of each, Gbit of a die: whole numbers, as menus give them.
    rate : float
        10^9 bits a second of a pin.

    Returns
    -------
    dict
        A figure spec; without the package, and with the reason as ``message``, where
        the generation has no such stack.
    """
    made = hardware.stack_generation(generation)
    dies, gbit = int(height), int(die)
    why = _impossible(made, dies, gbit, rate)
    if why:
        count = readout("pins", "Data pins", made.memory.pins * stacks)
        return {"title": "No such stack.", "x": X, "y": Y, "marks": [_diamonds()],
                "readouts": [count], "message": why}  # fmt: skip
    pins = int(made.memory.pins.si)
    one = hbm_stack(dies, die_gbit=gbit, pins=pins, gbit_per_pin=rate)
    return _drawn(made, one, stacks, rate)


def _impossible(made: StackGeneration, height: int, die: int, rate: float) -> str:
    """Why a generation has no such stack; empty where it has."""
    top = made.top_rate.to("Gbit/s").value
    if height not in made.memory.heights:
        known = ", ".join(map(str, made.memory.heights))
        return f"{made.name} has stacks of {known} dies, not of {height}."
    if die not in made.dies:
        known = " and ".join(map(str, made.dies))
        return f"{made.name} is made of dies of {known} Gbit, not of {die}."
    if rate > top:
        return f"No pin of {made.name} runs at {rate:g} Gbit/s; the top is {top:g}."
    return ""


def _drawn(
    made: StackGeneration, one: HbmStack, stacks: int, rate: float
) -> dict[str, Any]:
    count = Quantity(stacks, "1", label="stacks chosen", kind="assumption")
    size = (count * one.capacity).to("GiB").named("capacity of the dies")
    speed = (count * one.bandwidth).to("TB/s").named("bandwidth of all stacks")
    near = min(map(hardware.get, PUBLISHED), key=lambda d: _far(d, size, speed))
    line = {"x": [n * one.capacity.to("GiB").value for n in COUNTS],
            "y": [n * one.bandwidth.to("TB/s").value for n in COUNTS]}  # fmt: skip
    marks = [
        {"kind": "line", "evidence": "predicted", "name": "1 to 16 stacks",
         "label_at": "none", **line},
        _diamonds(),
        {"kind": "dots", "evidence": "claimed", "name": near.short, "series": 2,
         "x": [_gb(near)], "y": [near.memory_bandwidth.to("TB/s").value]},
        {"kind": "dots", "evidence": "predicted", "name": "yours", "series": 0,
         "x": [size.value], "y": [speed.value], "label_at": "none"},
    ]  # fmt: skip
    document = made.memory.pin_rate.to("Gbit/s").value
    beyond = f"Above the {document:g} Gbit/s of {made.document}; makers sell it anyway."
    return {
        "title": f"{stacks} stacks of {made.name}: {size.value:.4g} GB on the box, "
        f"{speed.text('TB/s')}.",
        "x": X,
        "y": Y,
        "marks": marks,
        "readouts": [
            readout("capacity", "Capacity of the dies", size),
            readout("bandwidth", "Bandwidth", speed),
            readout("stack", "Bandwidth of a stack", one.bandwidth),
            readout("share", "Of the document's rate",
                    Quantity(rate, "Gbit/s", label="rate chosen", kind="assumption")
                    / made.memory.pin_rate, "ratio", unit="%"),
            {"name": "nearest", "label": "Nearest device", "text": near.short},
        ],
        "message": beyond if rate > document else None,
    }  # fmt: skip


def _gb(device: Accelerator) -> float:
    """Capacity as it stands on the box."""
    return device.memory_capacity.value


def _far(device: Accelerator, size: Quantity, speed: Quantity) -> float:
    """Distance on the figure, where both axes are logarithmic."""
    return math.hypot(
        math.log(_gb(device) / size.value),
        math.log(device.memory_bandwidth.si / speed.si),
    )


def _diamonds() -> dict[str, Any]:
    devices = [hardware.get(key) for key in PUBLISHED]
    return {"kind": "dots", "evidence": "claimed", "name": "published",
            "label_at": "none", "series": 3, "x": [_gb(d) for d in devices],
            "y": [d.memory_bandwidth.to("TB/s").value for d in devices]}  # fmt: skip
