"""HBM builder, live: stacks, dies, generation and rate to capacity and bandwidth.

The line is the chosen stack, one to sixteen times. Diamonds are devices as published;
the nearest is named. What the generation does not have is not drawn, and said.
"""

from __future__ import annotations

import math
from typing import Any

from stacklib import hardware
from stacklib.hardware import Accelerator
from stacklib.hardware.stacks import StackGeneration
from stacklib.memory import hbm_stack
from stacklib.memory.stack.hbm import HEIGHTS, HbmStack
from stacklib.plots.live import choices
from stacklib.plots.live.parts import chosen, here
from stacklib.plots.marks import Mark, Spec, axis, chart, dots, line
from stacklib.plots.spec import readout
from stacklib.quantity import Quantity

COUNTS = tuple(range(1, 17))
DIES = (2, 8, 16, 24, 32)  # Gbit
RATES = (
    *(1, 1.4, 1.8, 2, 2.4, 2.8, 3.2, 3.6, 4.4, 5.2, 5.6, 6, 6.4, 7.2, 7.6),
    *(8, 8.8, 9.2, 9.6, 10.6, 11.7, 12.8),
)
# A few that everyone knows: a page should not read the whole database.
PUBLISHED = (
    *("p100_sxm2", "v100_sxm2_32gb", "a100_sxm_40gb", "a100_sxm_80gb", "mi250x"),
    *("h100_sxm", "h200_sxm", "mi300x", "b200_sxm", "gb300", "mi355x", "tpu_v7"),
    *("trainium3", "rubin", "mi455x"),
)
X = axis("Capacity (GB)", log=True, limits=[4, 1400])
Y = axis("Bandwidth (TB/s)", log=True, limits=[0.1, 60])


def controls() -> list[dict[str, Any]]:
    """Menus and sliders of ``explore``."""
    made = map(hardware.stack_generation, hardware.stack_generations())
    names = {one.key: one.name for one in made}
    heights, dies = ({str(n): str(n) for n in some} for some in (HEIGHTS, DIES))
    return [
        choices.select("generation", "Generation", names, "hbm3e"),
        choices.slider("stacks", "Stacks", COUNTS, 8),
        choices.select("height", "Dies of a stack", heights, "8"),
        choices.select("die", "Gbit of a die", dies, "24"),
        choices.slider("rate", "Rate of a pin (Gbit/s)", RATES, 8),
    ]


def explore(
    *, generation: str, stacks: int, height: str, die: str, rate: float
) -> Spec:
    """Bandwidth over capacity for a package of stacks of ``height`` dies.

    Where the generation has no such stack, the package is left out and the message says
    why. Menus give whole numbers as text.
    """
    made = hardware.stack_generation(generation)
    dies, gbit = int(height), int(die)
    why = _impossible(made, dies, gbit, rate)
    if why:
        counted = [readout("pins", "Data pins", made.memory.pins * stacks)]
        marks = [_squares()]
        return chart(
            "No such stack.", x=X, y=Y, marks=marks, readouts=counted, message=why
        )
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


def _drawn(made: StackGeneration, one: HbmStack, stacks: int, rate: float) -> Spec:
    count = chosen(stacks, "1", "stacks chosen")
    size = (count * one.capacity).to("GiB").named("capacity of the dies")
    speed = (count * one.bandwidth).to("TB/s").named("bandwidth of all stacks")
    near = min(map(hardware.get, PUBLISHED), key=lambda d: _far(d, size, speed))
    each = one.capacity.to("GiB").value, one.bandwidth.to("TB/s").value
    x, y = ([n * part for n in COUNTS] for part in each)
    document = made.memory.pin_rate.to("Gbit/s").value
    beyond = f"Above the {document:g} Gbit/s of {made.document}; makers sell it anyway."
    package = f"{stacks} stacks of {made.name}: {size.value:.4g} GB on the box"
    share = chosen(rate, "Gbit/s", "rate chosen") / made.memory.pin_rate
    return chart(
        f"{package}, {speed.text('TB/s')}.",
        x=X,
        y=Y,
        marks=[
            line(x, y, "1 to 16 stacks", "predicted", at="none"),
            _squares(),
            dots(*_place(near), near.short, "data sheet", series=2),
            here(size.value, speed.value, "yours"),
        ],
        readouts=[
            readout("capacity", "Capacity of the dies", size),
            readout("bandwidth", "Bandwidth", speed),
            readout("stack", "Bandwidth of a stack", one.bandwidth),
            readout("share", "Of the document's rate", share, "ratio", unit="%"),
            readout("nearest", "Nearest device", near.short),
        ],
        message=beyond if rate > document else None,
    )


def _place(device: Accelerator) -> tuple[float, float]:
    """Capacity as it stands on the box, and TB/s."""
    return device.memory_capacity.value, device.memory_bandwidth.to("TB/s").value


def _far(device: Accelerator, size: Quantity, speed: Quantity) -> float:
    """Distance on the figure, where both axes are logarithmic."""
    return math.hypot(
        math.log(_place(device)[0] / size.value),
        math.log(device.memory_bandwidth.si / speed.si),
    )


def _squares() -> Mark:
    x, y = zip(*(_place(hardware.get(key)) for key in PUBLISHED), strict=True)
    return dots(x, y, "published", "data sheet", at="none", series=3)
