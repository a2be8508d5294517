"""The drawing of section 9.5: one memory, who reads it, what is left for a model."""

from __future__ import annotations

from typing import Any

from stacklib.diy import hand
from stacklib.pages.diy import hand as page
from stacklib.plots import drawing as d

__all__ = ["one_memory"]
WEIGHTS, CACHE = "layer-4", "layer-2"
READERS = (("CPU", "muted"), ("GPU", WEIGHTS), ("display", "muted"))
WORDS = {page.FULL: "full mode", page.LOW: "low mode"}


def one_memory() -> d.Drawing:
    """The memory in two power modes: the same bytes, over a bus that is slower."""
    scene = d.flow(*(_machine(mode) for mode in WORDS), gap=18, even=True)
    title = "One memory for all: a power mode narrows the way to it, and frees no byte."
    return d.draw(scene, name="one-memory", title=title, devices=[page.JETSON])


def _machine(mode: str) -> d.Node:
    """Memory, bus and chip in a mode."""
    held, words, device = page.at(mode), WORDS[mode], page.in_mode(page.JETSON, mode)
    whole = device.memory_capacity.across(1).named(f"memory, {words}")
    kept, weights, cache, left = (
        each.named(f"{name}, {words}")
        for name, each in (
            ("system", hand.kept()),
            ("weights", held.weights),
            ("cache", held.cache),
            ("free", held.left),
        )
    )
    parts = (
        ("system", kept, "muted", False),
        ("weights", weights, WEIGHTS, True),
        ("cache", cache, CACHE, True),
    )
    told = [
        ("system ", d.Shown(kept, "GB"), ", weights ", d.Shown(weights, "GB")),
        ("cache ", d.Shown(cache, "GB"), ", free ", d.Shown(left, "GB")),
    ]
    bar = d.Bar(f"bytes, {words}", parts, whole, told)
    watts = d.Shown(device.tdp.named(f"power, {words}"), "W")
    title = d.line("mode of ", watts, ": ", d.Shown(whole, "GB"), bold=True)
    memory = d.Box(f"memory, {words}", [title], bar, role="layer-1")
    rate = device.memory_bandwidth.named(f"bus, {words}")
    chip = f"chip, {words}"
    way: dict[str, Any] = {"down": (True, True), "both": True, "least": 64.0}
    shown = [(d.Shown(rate, "GB/s"),)]
    bus = d.Pipe(memory.name, chip, rate, page.bandwidth(), shown, **way)
    readers = [
        d.Box(f"{name}, {words}", [name], role=role, lit=name == "GPU")
        for name, role in READERS
    ]
    label = "none has memory of its own"
    box = d.Box(chip, [label], d.flow(*readers, gap=6), role="muted")
    return d.below(memory, bus, box, gap=0)
