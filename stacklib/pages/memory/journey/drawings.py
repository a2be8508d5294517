"""Drawings of section 3.11: four levels and how long each is busy, and strips."""

from stacklib import hardware, models
from stacklib.memory.ladder.descent import Passage, descent
from stacklib.plots import drawing as d
from stacklib.quantity import (
    Quantity,
    bytes_per_element,
    ceil,
    chosen,
    maximum,
    minimum,
)

__all__ = ["four_levels", "strips_and_vectors"]
MODEL, DEVICE, CHIPS = "llama-3-70b", "h100-sxm", 8
BATCH, CONTEXT = 128, 1024
SHORT, TALL = 16, 64


def four_levels() -> d.Drawing:
    """Each level with its bandwidth, and the time it is busy; for three cases."""
    cases = [
        ("one reader", descent(MODEL, on=DEVICE, tp=CHIPS)),
        ("many, short strips", _many(SHORT)),
        ("many, tall strips", _many(TALL)),
    ]
    steps = [(words, _levels(passed)) for words, passed in cases]
    title = (
        "Every weight passes four levels; the one that is busy longest sets the pace."
    )
    return d.draw(steps, name="descent-levels", title=title, devices=[DEVICE])


def _many(rows: int) -> tuple[Passage, ...]:
    return descent(MODEL, on=DEVICE, batch=BATCH, context=CONTEXT, rows=rows)


def _levels(passed: tuple[Passage, ...]) -> d.Node:
    full = passed[0].rate
    whole = passed[0].time
    for one in passed:
        whole = maximum(whole, one.time)
    for one in passed[:-1]:  # registers have no arrow
        full = maximum(full, one.rate)
    nodes: list[d.Node] = []
    for one in passed:
        nodes.append(_level(one, whole))
        if one is not passed[-1]:
            after = passed[passed.index(one) + 1]
            rate = one.rate.named(f"bandwidth of the {one.level}")
            label = d.Shown(rate, level=None if one.level == "HBM" else one.level)
            pipe = d.Pipe(
                one.level,
                after.level,
                rate,
                full,
                [(label,)],
                down=(True, True),
                least=30.0,
            )
            nodes.append(pipe)
    return d.below(*nodes, gap=0)


def _level(one: Passage, whole: Quantity) -> d.Box:
    told = [(d.Shown(one.bytes, "GB"), " pass, busy for ", d.Shown(one.time, "ms"))]
    zero = chosen(0, "s", "begin")
    busiest = one.time.si == whole.si
    role = "layer-4" if busiest else "layer-2"
    name = f"{one.level} busy"
    clip = d.Clip(name, zero, one.time, whole, told, role=role, grow=0)
    head = d.line(one.level, bold=True)
    return d.Box(one.level, head, clip, role="layer-2", lit=busiest)


def strips_and_vectors() -> d.Drawing:
    """The up projection on one chip: strips, and the vector that each SM draws."""
    model, device = models.get(MODEL), hardware.get(DEVICE)
    sms, width = device.compute_units, bytes_per_element("bf16")
    outputs = model.size("intermediate", "MLP size") / chosen(CHIPS, label="chips")
    strips = ceil(outputs / SHORT).named("strips of the up projection")
    drawers = minimum(sms, strips).named("SMs that draw the vector")
    hidden = model.size("hidden", "hidden size")
    weights = (outputs * hidden * width).to("B").named("up projection on one chip")
    vector = (hidden * width).to("B").named("input vector of the layer")
    every = (vector * drawers).named("input vectors that the L2 delivers")
    many = round(strips.si)
    cells = d.Cells(
        "strips",
        many,
        (56, 28),
        side=(8.0, 14.0),
        gap=2.0,
        role="layer-2",
        lit=frozenset(range(round(drawers.si))),
        words="those that run now are lit",
    )
    told = [
        d.line("one matrix on one chip: ", d.Shown(weights, "MB"), bold=True),
        (strips, " strips, ", drawers, " run at once"),
    ]
    one = d.Cells("vector", 1, 1, side=(120.0, 12.0), role="layer-4")
    head = [d.line("the input vector: ", d.Shown(vector, "kB"), bold=True)]
    pipe = d.Pipe(
        "vector",
        "strips",
        every,
        weights,
        [(d.Shown(every, "MB"), ": once for each SM")],
        down=(True, True),
        role="layer-4",
        least=30.0,
    )
    scene = d.below(
        d.Box("L2", head, one, role="layer-4"),
        pipe,
        d.Box("matrix", told, cells, role="layer-2"),
        d.Words([("weights come once, the vector ", drawers, " times")]),
        gap=0,
    )
    title = "A weight crosses the L2 once; the vector crosses it once for every SM."
    return d.draw(scene, name="descent-strips", title=title, devices=[DEVICE])
