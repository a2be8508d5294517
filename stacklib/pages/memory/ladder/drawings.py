"""Drawings of section 3.1: the ladder to scale, the two sides of the L2, a chase."""

from __future__ import annotations

from stacklib import hardware
from stacklib.memory.cache.chase_model import half_of_l2
from stacklib.memory.ladder.rungs import Rung
from stacklib.pages.memory import ladder as page
from stacklib.plots.drawing import (
    Box,
    Clip,
    Drawing,
    Node,
    Nothing,
    Pipe,
    Shown,
    below,
    draw,
    flow,
    line,
    right_of,
)
from stacklib.plots.drawing.parts import gpu, memory
from stacklib.quantity import Quantity, chosen

__all__ = ["chase_ring", "ladder_to_scale", "two_sides"]

NEAR = ("registers", "shared memory", "L2", "L2, far side", "HBM")
FAR = (*NEAR, "host", "drive")
RING = (3, 6, 1, 7, 2, 0, 4, 5)  # where each cell points: one cycle through all
ZERO = chosen(0, "s", "begin")


def ladder_to_scale() -> Drawing:
    """Every rung with what it holds, and how long a load from it takes, to scale."""
    steps = [("on the chip and its memory", _ladder(NEAR)), ("beyond", _ladder(FAR))]
    title = "Each rung down answers later: one load from each, on one scale of time."
    return draw(steps, name="ladder-to-scale", title=title, devices=[page.H100])


def _ladder(names: tuple[str, ...]) -> Node:
    rungs = [page.rungs()[name] for name in names]
    whole = page.of(names[-1], "latency")
    return below(*(_rung(rung, whole) for rung in rungs), gap=4)


def _rung(rung: Rung, whole: Quantity) -> Node:
    told: list[object] = [line(rung.name, bold=True)]
    if rung.unit_capacity is not None:
        told.append(("per SM ", Shown(rung.unit_capacity, "KiB")))
    if rung.chip_capacity is not None and rung.owner != "beyond":
        big = "GB" if rung.chip_capacity.si > 1e9 else "MB"
        told.append(("in all ", Shown(rung.chip_capacity, big)))
    if rung.chip_bandwidth is not None and rung.owner != "beyond":
        told.append(("at ", Shown(rung.chip_bandwidth, "TB/s", level=rung.name)))
    box = Box(rung.name, told, role=gpu.STORE, room=(150.0, 0.0), grow=0)
    takes = rung.latency
    assert takes is not None
    takes = takes.named(f"latency of a load from {rung.name}")
    long = Shown(takes, "µs" if takes.si > 1e-6 else "ns")
    role = "layer-4" if rung.name == "HBM" else gpu.STORE
    clip = Clip(f"load from {rung.name}", ZERO, takes, whole, [(long,)], role=role)
    return right_of(box, below(clip, gap=0), gap=10)


def two_sides() -> Drawing:
    """A load of one SM: to the near side of the L2, across to the far one, to HBM."""
    steps = [(words, _way(words)) for words in ("near side", "far side", "HBM")]
    title = "Half of the L2 lies across the chip, nearly as far away as HBM."
    return draw(steps, name="two-sides", title=title, devices=[page.H100])


def _way(to: str) -> Node:
    device = hardware.get(page.H100)
    half = half_of_l2(device)
    rungs = {"near side": "L2", "far side": "L2, far side", "HBM": "HBM"}
    takes = page.of(rungs[to], "latency").named(f"latency, {to}")
    whole = page.of("HBM", "latency")
    rate = device.memory_bandwidth
    sides = [
        Box(
            f"{name} of the L2",
            [line(f"L2, {name}", bold=True), half],
            role=gpu.STORE,
            lit=to == name,
        )
        for name in ("near side", "far side")
    ]
    home = Box("SM", [line("this SM", bold=True), "waits"], role=gpu.CHIP, lit=True)
    stack = Box(
        "HBM",
        line("HBM", bold=True),
        memory.stack(device, "stack", lit=to == "HBM"),
        role=gpu.STORE,
        lit=to == "HBM",
    )
    reached = ("near side", "far side", "HBM").index(to)

    def go(start: str, end: str, at: int) -> Pipe | Nothing:
        if at > reached:
            return Nothing((22.0, 22.0), grow=0)
        return Pipe(start, end, rate, rate, "", least=22.0, role="layer-5", grow=0)

    chip = flow(
        home,
        go("SM", "near side of the L2", 0),
        sides[0],
        go("near side of the L2", "far side of the L2", 1),
        sides[1],
        go("far side of the L2", "HBM", 2),
        stack,
        gap=3,
    )
    clip = Clip(
        "waits",
        ZERO,
        takes,
        whole,
        [(Shown(takes, "ns"), " until the number is here")],
        role="layer-4",
        grow=0,
    )
    return below(chip, clip, gap=10)


def chase_ring() -> Drawing:
    """Four loads of a chase: each cell says where the next one lies."""
    steps = []
    at = 0
    for number, words in enumerate(("first", "second", "third", "fourth")):
        steps.append((f"{words} load", _chase(at, number)))
        at = RING[at]
    title = "Each cell holds the place of the next, so no load can start early."
    return draw(steps, name="chase-ring", title=title, devices=[page.H100])


def _chase(at: int, number: int) -> Node:
    takes = page.of("HBM", "latency").named("latency of HBM")
    cells = [
        Box(
            f"cell {'abcdefgh'[place]}",
            [line("abcdefgh"[place], bold=True), ("to " + "abcdefgh"[to])],
            role=gpu.STORE,
            lit=place == at,
        )
        for place, to in enumerate(RING)
    ]
    loads = chosen(4, label="loads drawn")
    begin = (takes * chosen(number, label=f"loads before, {number}")).named("begin")
    end = (takes * chosen(number + 1, label=f"loads, {number + 1}")).named(
        f"time of loads, {number + 1}"
    )
    whole = (takes * loads).named("time of all loads drawn")
    told = [("done after ", Shown(end, "ns"))]
    clip = Clip("this load", begin, end, whole, told, role="layer-4", grow=0)
    ring = Box(
        "working set",
        line("memory: the working set", bold=True),
        right_of(*cells, gap=3, even=True),
        role="muted",
    )
    return below(ring, clip, gap=10)
