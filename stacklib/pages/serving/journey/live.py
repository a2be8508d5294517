"""A fleet, live: how many machines, how often asked, how long a token, for how much."""

from __future__ import annotations

from functools import cache
from math import isfinite
from typing import Any

from stacklib import hardware
from stacklib.pages.chain.posts import TP
from stacklib.pages.serving import journey as page
from stacklib.pages.serving import price
from stacklib.plots.live import choices
from stacklib.plots.live.parts import counted, here
from stacklib.plots.marks import Spec, axis, chart, line
from stacklib.plots.spec import readout
from stacklib.quantity import chosen
from stacklib.serving.prices.machine import machine

DEVICES = ("h100_sxm", "h200", "b200_sxm")
EACH = (0.25, 0.5, 1.0, 1.5, 2.0, 2.5, 2.75, 3.0, 3.5, 5.0)  # a second, a machine
RATES = (1, 2.5, 5, 7.5, 10, 15, 20, 30)
REPLICAS = (1, 2, 3, 4, 6, 8, 12)


def controls() -> list[dict[str, Any]]:
    """Which machine, how many, how often they are asked."""
    kinds = [[key, f"{TP} x {hardware.get(key).short}"] for key in DEVICES]
    return [
        choices.select("device", "A machine", kinds, DEVICES[0]),
        choices.slider("replicas", "Machines", REPLICAS, page.REPLICAS),
        choices.slider("rate", "Requests a second", RATES, 5),
    ]


@cache
def at(device: str, each: float) -> tuple[float, float, float] | None:
    """Of a machine asked so often: answers at once, ms a token, dollars a million."""
    held = page.held(each, device)
    if not isfinite(held):
        return None
    made = chosen(each * page.NEW, "token/s", label="tokens a second")
    paid = price.middle(machine(device, TP).bill(made).total, "a million tokens")
    return held, 1e3 * page.token_time(held, device), paid.si


def explore(*, device: str, replicas: int, rate: float) -> Spec:
    """A token's time against requests a second, for so many machines."""
    found = {e * replicas: at(device, e) for e in EACH}
    xs = [x for x, one in found.items() if one]
    times = [one[1] for one in found.values() if one]
    short, mine = hardware.get(device).short, at(device, rate / replicas)
    marks = [line(xs, times, "a token", "predicted", at="key")]
    told = (
        f"{replicas} machines of {TP} x {short} do not keep up with {rate:g} a second."
    )
    readouts = []
    if mine is not None:
        held, time, paid = mine
        told = f"A token takes {time:.1f} ms, and a million of them {paid:.2g} dollars."
        marks.append(here(rate, time, "yours"))
        readouts = [
            readout("held", "Answers at once", counted(held, "answers at once")),
            readout(
                "token", "A token", counted(time, "a token", "ms"), "part", unit="ms"
            ),
            readout("paid", "A million tokens", counted(paid, "price", "USD")),
        ]
    return chart(
        told,
        x=axis("Requests a second", log=True, limits=[0.2, 100]),
        y=axis("A token (ms)", limits=[0, 120]),
        marks=marks,
        readouts=readouts,
        about={"device": device},
    )
