"""Drawings of the annex of 2.3: a cluster of blocks, and a chip cut into slices."""

from __future__ import annotations

from stacklib.gpu.chip import slices
from stacklib.hardware import get
from stacklib.plots.drawing import (
    Box,
    Cells,
    Drawing,
    Pipe,
    Shown,
    below,
    draw,
    flow,
    line,
    right_of,
)
from stacklib.quantity import assumed, bytes_per_element, chosen

__all__ = ["a_cluster", "seven_slices"]
DEVICE = "h100-sxm"


def a_cluster() -> Drawing:
    """Two blocks of a product that share a band: one has it from the other."""
    side, step = (
        chosen(128, label="side of a tile"),
        chosen(64, label="length of a step"),
    )
    band = (side * step * bytes_per_element("bf16")).to("B").named("band of a step")
    boxes = [
        Box(
            f"block {letter}",
            [line("block ", letter, bold=True), "its shared memory"],
            Cells(f"band {letter}", 16, 8, side=9.0, role="layer-2"),
            role="layer-3",
        )
        for letter in "AB"
    ]
    l2 = Box("L2", line("L2", bold=True), role="layer-2")
    down = Pipe("L2", "block A", band, band, [Shown(band, "KiB")], down=(True, True))
    link = Pipe(
        "block A", "block B", band, band, ["to the", "other SM"], role="layer-5"
    )
    scene = below(l2, down, flow(boxes[0], link, boxes[1], gap=0), gap=0)
    title = "In a cluster a band comes from the L2 once and goes on between the SMs."
    return draw(scene, name="sharing-cluster", title=title, devices=[DEVICE])


def seven_slices() -> Drawing:
    """A GPU cut into seven: SMs and memory for each, and memory left over."""
    device = get(DEVICE)
    why = "NVIDIA's MIG guide cuts the memory of every GPU into eight."
    eight = assumed(slices.MEMORY_SLICES, label="memory slices", why=why)
    seven = chosen(7, label="instances")
    rate = (device.memory_bandwidth / eight).named("bandwidth of a slice")
    held = (device.memory_capacity / eight).named("memory of a slice")
    sms = Cells("SM slices", 7, side=(30.0, 26.0), gap=5.0, lit=frozenset({0}))
    memory = Cells(
        "memory slices",
        slices.MEMORY_SLICES,
        side=(30.0, 26.0),
        gap=5.0,
        role="layer-2",
        lit=frozenset({0}),
        dark=frozenset({7}),
        words="the last belongs to nobody",
    )
    one = Box(
        "one instance",
        [line("one of ", seven, bold=True), (held, ", ", Shown(rate, "GB/s"))],
        role="layer-4",
    )
    scene = below(
        Box("SMs", [line(seven, " slices of SMs", bold=True)], sms),
        Box("HBM", [line(eight, " of memory", bold=True)], memory, role="layer-2"),
        right_of(one, Box("left over", "a slice of memory is nobody's", role="muted")),
        gap=8,
    )
    title = "Seven instances leave an eighth of the memory to nobody."
    return draw(scene, name="sharing-slices", title=title, devices=[DEVICE])
