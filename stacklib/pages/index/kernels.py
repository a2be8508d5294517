"""The map of chapter 4: the kernels of a layer between a host and a memory."""

from __future__ import annotations

from stacklib import hardware
from stacklib.plots import drawing as d
from stacklib.plots.drawing.marks import then
from stacklib.plots.drawing.parts import memory

from .sections import DEVICE, DOWN, cells, group, section


def kernels_map() -> d.Drawing:
    """Chapter 4: the kernels of a layer between a host and a memory."""
    device = hardware.get(DEVICE)
    norm = section("4.3", "a norm", "layer-2", cells("row", 9, set(range(9)), 3))
    products = group(
        "products",
        "layer-3",
        section("4.4", "tiles on their way", "layer-3", cells("buffers", 4, {0, 2})),
        section("4.8", "scales beside them", "layer-4", cells("scales", 8, {0, 4})),
    )
    turns = cells("turns", 8, {0, 2, 5, 7}, 4)
    attention = group(
        "attention",
        "layer-2",
        section("4.5", "in tiles", "layer-3", cells("scores", 8, {5}, 4)),
        section("4.6", "two warp groups", "layer-6", turns),
        section("4.7", "one query, split", "layer-6", cells("splits", 8, {7})),
    )
    rows = cells("rows", 8, set(range(6)), 4)
    end = group(
        "from layer to token",
        "layer-4",
        section("4.9", "experts' last tiles", "layer-4", rows),
        section("4.10", "a token is drawn", "layer-6", cells("vocabulary", 9, {6})),
    )
    first = section("4.12", "which to write first", "layer-7")
    search = section("4.11", "a search for its tile", "layer-7")
    host = section("4.1", "a host launches", "layer-5", cells("queue", 8, {0, 1, 2}))
    stacks = d.right_of(*[memory.stack(device, f"stack {n}") for n in "ABCDE"], grow=0)
    rate, layer = device.memory_bandwidth, "kernels of a layer, on the SMs"
    scene = d.below(
        d.Either(
            d.right_of(first, host, search, even=True), d.below(first, search, host)
        ),
        then("section 4.1", layer, down=DOWN),
        group(layer, "muted", d.chain(norm, products, attention, end)),
        d.Pipe(layer, "section 4.2", rate, rate * 3, both=True, down=DOWN),
        section("4.2", "memory: what fusing keeps out of it", "layer-2", stacks),
        d.Words([(d.Name("4.13"), ": the token, kernel by kernel")]),
        gap=3,
    )
    title = "Chapter four: kernels between the host that starts them and the memory."
    return d.draw(scene, name="map-kernels", title=title, devices=[DEVICE])
