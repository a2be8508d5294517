"""Drawings of section 3.1: the ladder to scale, the two sides of the L2, a chase."""

from stacklib import hardware
from stacklib.memory.cache.chase_model import half_of_l2
from stacklib.memory.ladder.rungs import Rung
from stacklib.pages.memory import ladder as page
from stacklib.plots import drawing as d
from stacklib.plots.drawing.parts import gpu, memory
from stacklib.quantity import Quantity, chosen

__all__ = ["chase_ring", "ladder_to_scale", "two_sides"]

NEAR = ("registers", "shared memory", "L2", "L2, far side", "HBM")
FAR = (*NEAR, "host", "drive")
RING = (3, 6, 1, 7, 2, 0, 4, 5)  # where each cell points: one cycle through all
ZERO = chosen(0, "s", "begin")


def ladder_to_scale() -> d.Drawing:
    """Every rung with what it holds, and how long a load from it takes, to scale."""
    steps = [("on the chip and its memory", _ladder(NEAR)), ("beyond", _ladder(FAR))]
    title = "Each rung down answers later: one load from each, on one scale of time."
    return d.draw(steps, name="ladder-to-scale", title=title, devices=[page.H100])


def _ladder(names: tuple[str, ...]) -> d.Node:
    rungs = [page.rungs()[name] for name in names]
    whole = page.of(names[-1], "latency")
    return d.below(*(_rung(rung, whole) for rung in rungs), gap=4)


def _rung(rung: Rung, whole: Quantity) -> d.Node:
    told: list[object] = [d.line(rung.name, bold=True)]
    if rung.unit_capacity is not None:
        told.append(("per SM ", d.Shown(rung.unit_capacity, "KiB")))
    if rung.chip_capacity is not None and rung.owner != "beyond":
        big = "GB" if rung.chip_capacity.si > 1e9 else "MB"
        told.append(("in all ", d.Shown(rung.chip_capacity, big)))
    if rung.chip_bandwidth is not None and rung.owner != "beyond":
        told.append(("at ", d.Shown(rung.chip_bandwidth, "TB/s", level=rung.name)))
    box = d.Box(rung.name, told, role=gpu.STORE, room=(150.0, 0.0), grow=0)
    takes = rung.latency
    assert takes is not None
    takes = takes.named(f"latency of a load from {rung.name}")
    long = d.Shown(takes, "µs" if takes.si > 1e-6 else "ns")
    role = "layer-4" if rung.name == "HBM" else gpu.STORE
    clip = d.Clip(f"load from {rung.name}", ZERO, takes, whole, [(long,)], role=role)
    return d.right_of(box, d.below(clip, gap=0), gap=10)


def two_sides() -> d.Drawing:
    """A load of one SM: to the near side of the L2, across to the far one, to HBM."""
    steps = [(words, _way(words)) for words in ("near side", "far side", "HBM")]
    title = "Half of the L2 lies across the chip, nearly as far away as HBM."
    return d.draw(steps, name="two-sides", title=title, devices=[page.H100])


def _way(to: str) -> d.Node:
    device = hardware.get(page.H100)
    half = half_of_l2(device)
    rungs = {"near side": "L2", "far side": "L2, far side", "HBM": "HBM"}
    takes = page.of(rungs[to], "latency").named(f"latency, {to}")
    whole = page.of("HBM", "latency")
    rate = device.memory_bandwidth
    sides = [
        d.Box(
            f"{name} of the L2",
            [d.line(f"L2, {name}", bold=True), half],
            role=gpu.STORE,
            lit=to == name,
        )
        for name in ("near side", "far side")
    ]
    home = d.Box("SM", [d.line("this SM", bold=True), "waits"], role=gpu.CHIP, lit=True)
    stack = d.Box(
        "HBM",
        d.line("HBM", bold=True),
        memory.stack(device, "stack", lit=to == "HBM"),
        role=gpu.STORE,
        lit=to == "HBM",
    )
    reached = ("near side", "far side", "HBM").index(to)

    def go(start: str, end: str, at: int) -> d.Pipe | d.Nothing:
        if at > reached:
            return d.Nothing((22.0, 22.0), grow=0)
        return d.Pipe(start, end, rate, rate, "", least=22.0, role="layer-5", grow=0)

    chip = d.flow(
        home,
        go("SM", "near side of the L2", 0),
        sides[0],
        go("near side of the L2", "far side of the L2", 1),
        sides[1],
        go("far side of the L2", "HBM", 2),
        stack,
        gap=3,
    )
    clip = d.Clip(
        "waits",
        ZERO,
        takes,
        whole,
        [(d.Shown(takes, "ns"), " until the number is here")],
        role="layer-4",
        grow=0,
    )
    return d.below(chip, clip, gap=10)


def chase_ring() -> d.Drawing:
    """Four loads of a chase: each cell says where the next one lies."""
    steps = []
    at = 0
    for number, words in enumerate(("first", "second", "third", "fourth")):
        steps.append((f"{words} load", _chase(at, number)))
        at = RING[at]
    title = "Each cell holds the place of the next, so no load can start early."
    return d.draw(steps, name="chase-ring", title=title, devices=[page.H100])


def _chase(at: int, number: int) -> d.Node:
    takes = page.of("HBM", "latency").named("latency of HBM")
    cells = [
        d.Box(
            f"cell {'abcdefgh'[place]}",
            [d.line("abcdefgh"[place], bold=True), ("to " + "abcdefgh"[to])],
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
    told = [("done after ", d.Shown(end, "ns"))]
    clip = d.Clip("this load", begin, end, whole, told, role="layer-4", grow=0)
    says = d.Edge(
        f"cell {'abcdefgh'[at]}",
        f"cell {'abcdefgh'[RING[at]]}",
        arrow="end",
        ports=("foot", "foot"),
        lane=9.0,
        role="layer-4",
        lit=True,
    )
    ring = d.Box(
        "working set",
        d.line("memory: the working set", bold=True),
        d.joined(d.right_of(*cells, gap=3, even=True), says, margin=(0.0, 11.0)),
        role="muted",
    )
    return d.below(ring, clip, gap=10)
