"""Drawings of the annex of 2.3: a cluster of blocks, and a chip cut into slices."""

from stacklib.gpu.chip import slices
from stacklib.hardware import get
from stacklib.plots import drawing as d
from stacklib.quantity import bytes_per_element, chosen, quoted

__all__ = ["a_cluster", "seven_slices"]
DEVICE = "h100-sxm"


def a_cluster() -> d.Drawing:
    """Two blocks of a product that share a band: one has it from the other."""
    side, step = (
        chosen(128, label="side of a tile"),
        chosen(64, label="length of a step"),
    )
    band = (side * step * bytes_per_element("bf16")).to("B").named("band of a step")
    boxes = [
        d.Box(
            f"block {letter}",
            [d.line("block ", letter, bold=True), "its shared memory"],
            d.Cells(f"band {letter}", 16, 8, side=9.0, role="layer-2"),
            role="layer-3",
        )
        for letter in "AB"
    ]
    l2 = d.Box("L2", d.line("L2", bold=True), role="layer-2")
    down = d.Pipe(
        "L2", "block A", band, band, [d.Shown(band, "KiB")], down=(True, True)
    )
    link = d.Pipe(
        "block A", "block B", band, band, ["to the", "other SM"], role="layer-5"
    )
    scene = d.below(l2, down, d.flow(boxes[0], link, boxes[1], gap=0), gap=0)
    title = "In a cluster a band comes from the L2 once and goes on between the SMs."
    return d.draw(scene, name="sharing-cluster", title=title, devices=[DEVICE])


def seven_slices() -> d.Drawing:
    """A GPU cut into seven: SMs and memory for each, and memory left over."""
    device = get(DEVICE)
    eight = quoted("mig.memory_slices", "memory slices")
    seven = quoted("mig.compute_slices", "instances")
    rate = (device.memory_bandwidth / eight).named("bandwidth of a slice")
    held = (device.memory_capacity / eight).named("memory of a slice")
    sms = d.Cells("SM slices", 7, side=(30.0, 26.0), gap=5.0, lit=frozenset({0}))
    memory = d.Cells(
        "memory slices",
        slices.MEMORY_SLICES,
        side=(30.0, 26.0),
        gap=5.0,
        role="layer-2",
        lit=frozenset({0}),
        dark=frozenset({7}),
        words="the last belongs to nobody",
    )
    one = d.Box(
        "one instance",
        [d.line("one of ", seven, bold=True), (held, ", ", d.Shown(rate, "GB/s"))],
        role="layer-4",
    )
    scene = d.below(
        d.Box("SMs", [d.line(seven, " slices of SMs", bold=True)], sms),
        d.Box("HBM", [d.line(eight, " of memory", bold=True)], memory, role="layer-2"),
        d.right_of(
            one, d.Box("left over", "a slice of memory is nobody's", role="muted")
        ),
        gap=8,
    )
    title = "Seven instances leave an eighth of the memory to nobody."
    return d.draw(scene, name="sharing-slices", title=title, devices=[DEVICE])
