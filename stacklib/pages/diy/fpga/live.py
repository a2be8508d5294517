"""A network on an FPGA, live: cycles per digit against the places that a chip holds."""

from __future__ import annotations

from functools import cache
from typing import Any

from stacklib import diy
from stacklib.diy.silicon.devices import KEYS, device
from stacklib.diy.silicon.pipeline import fastest, room
from stacklib.pages.diy import fpga as page
from stacklib.plots.live import choices
from stacklib.plots.live.parts import counted, here
from stacklib.plots.marks import Spec, axis, chart, line
from stacklib.plots.spec import readout

CLOCKS = (25, 50, 75, 100, 125, 150, 200, 250, 300, 400)  # megahertz
PLACES = (3, 4, 5, 6, 8, 10, 15, 20, 30, 50, 80, 120, 200, 350, 600, 1000, 2000, 12000)


def controls() -> list[dict[str, Any]]:
    """A device, and the clock at which its arrays run."""
    names = [[key, device(key).name] for key in KEYS]
    return [
        choices.select("on", "Device", names, page.FIRST),
        choices.slider("clock", "Clock (MHz)", CLOCKS, 50),
    ]


@cache
def interval(places: int) -> int:
    """Cycles per digit with so many places for all layers."""
    return max(e.cycles for e in fastest(diy.small_cnn().sizes(), places))


def explore(*, on: str, clock: int) -> Spec:
    """Cycles per digit against places, and where the device stands."""
    made = diy.fpga(diy.small_cnn(), on, clock=clock * 1e6)
    places, told = room(made.device), made.quantities()
    slowest = max(made.engines, key=lambda engine: engine.cycles)
    layer = made.engines.index(slowest) + 1
    work = sum(diy.small_cnn().products())
    return chart(
        f"{made.device.name}: {made.interval} cycles per digit, layer {layer} is last.",
        x=axis("Multiply-adders on the chip", log=True, limits=[2.5, 15_000]),
        y=axis("Cycles per digit", log=True, limits=[0.5, 4000]),
        marks=[
            line(PLACES, [interval(n) for n in PLACES], "arrays", "simulated"),
            line(PLACES, [work / n for n in PLACES], "all at work", "predicted"),
            here(places, made.interval, "yours"),
        ],
        readouts=[
            readout("cycles", "Cycles per digit", told["interval"]),
            readout(
                "digits", "Digits a second", counted(made.frames, "digits a second")
            ),
            readout("time", "One digit, first to last layer", told["time"], unit="µs"),
            readout(
                "used", "Places in use", counted(made.used, "in use"), "share", unit="%"
            ),
            readout("board", "A board, about", made.device.price.middle),
        ],
    )
