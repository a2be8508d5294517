"""The map of chapter 7: a number in its block and its file, and who reads them."""

from __future__ import annotations

from stacklib import hardware
from stacklib.plots import drawing as d
from stacklib.plots.drawing.marks import then
from stacklib.plots.drawing.parts import gpu, memory, model

from .sections import DEVICE, DOWN, cells, group, section


def quantizers_map() -> d.Drawing:
    """Chapter 7: a number in its block, its matrix and its file, and who reads them."""
    trained = section("7.8", "trained in few bits", "layer-6")
    asked = section("7.9", "does it still answer right?", "layer-7")
    chip = group(
        "the chip",
        "layer-3",
        section("7.6", "faster tokens", "layer-3", gpu.warp("a warp")),
        section("7.7", "the cache", "layer-2", memory.cache_ways(8)),
    )
    rate = hardware.get(DEVICE).memory_bandwidth
    file = section("7.5", "the file, byte by byte", "layer-5", _weights())
    scene = d.below(
        d.flow(
            d.below(
                trained, then("section 7.8", "section 7.5", down=DOWN), file, gap=2
            ),
            d.Pipe("section 7.5", "the chip", rate, rate * 2),
            d.below(chip, then("the chip", "section 7.9", down=DOWN), asked, gap=2),
            gap=2,
        ),
        d.Words([(d.Name("7.10"), ": what each byte is worth to the token")]),
    )
    title = "Chapter seven: from the bits of a number to the answers of a model."
    return d.draw(scene, name="map-quantizers", title=title, devices=[DEVICE])


def _weights() -> d.Node:
    """A matrix with the scales of its rows, a block of it, a number of the block."""
    fields = d.right_of(
        cells("sign", 1, set(), role="layer-6"),
        cells("exponent", 4, {0, 2}),
        cells("significand", 3, {1}, role="layer-4"),
        gap=5,
        grow=0,
    )
    shared = cells("shared", 1, {0}, role="layer-6")
    block = d.below(
        d.right_of(shared, cells("block", 16, {5}), gap=6),
        section("7.1", "a number in three fields", "layer-3", fields),
    )
    channel = frozenset({5, 21, 37, 53})
    matrix = model.tokens(16, 4, lit=channel, name="weights")
    inside = d.below(
        section("7.2", "scales of rows, of channels", "layer-6", matrix),
        section("7.3", "a block that shares an exponent", "layer-2", block),
    )
    return section("7.4", "a layer's weights, one repairing another", "layer-4", inside)
