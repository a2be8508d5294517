"""Maps: the machine, and in each part the section of the chapter that opens it."""

from stacklib import hardware
from stacklib.plots import drawing as d
from stacklib.plots.drawing.parts import gpu, memory

from .accelerators import accelerators_map
from .diy import diy_map
from .frontier import frontier_map
from .interconnect import interconnect_map
from .kernels import kernels_map
from .quantizers import quantizers_map
from .sections import DEVICE, section
from .serving import serving_map

__all__ = [
    "accelerators_map",
    "diy_map",
    "frontier_map",
    "gpu_map",
    "interconnect_map",
    "kernels_map",
    "memory_map",
    "quantizers_map",
    "roofline_map",
    "serving_map",
]


def roofline_map() -> d.Drawing:
    """Chapter 1: what is counted, what limits it, and how a clock is asked."""
    chip = d.Box(
        "chip",
        d.line("a chip", bold=True),
        d.flow(
            section("1.1", "reads the model", "layer-2"),
            section("1.3", "memory or lanes", "layer-3"),
            section("1.5", "loads in flight", "layer-6"),
        ),
        role="layer-3",
    )
    machine = d.below(
        d.flow(
            section("1.2", "the work of a layer", "layer-4"),
            section("1.7", "a host and its clock", "layer-6"),
        ),
        chip,
        d.flow(
            section("1.6", "more chips", "layer-5"),
            section("1.4", "your own machine", "layer-1"),
        ),
    )
    told = [d.line(d.Name("1.8"), bold=True), "one token, from the key to the screen"]
    scene = d.Box("section 1.8", told, machine, role="muted")
    title = "Chapter one: what a token costs, what limits it, and where the time goes."
    return d.draw(scene, name="map-roofline", title=title, devices=[DEVICE])


def gpu_map() -> d.Drawing:
    """Chapter 2: the SM opened, in its die, in its package."""
    device = hardware.get(DEVICE)
    inside = d.grid(
        [
            section("2.1", "threads and lanes", "layer-3", gpu.warp("a warp")),
            section("2.3", "warps that wait", "layer-6", gpu.warp("warps")),
            section("2.4", "machine code", "layer-4"),
            section("2.5", "tensor cores", "layer-3"),
        ],
        (2, 1),
    )
    told = [d.line("an SM", bold=True), (d.Name("2.2"), ": a kernel runs on it")]
    sm = d.Box("section 2.2", told, inside, role="layer-3")
    die = d.Box(
        "section 2.6",
        [d.line(d.Name("2.6"), bold=True), ("a die of ", device.compute_units, " SMs")],
        sm,
        role="layer-1",
    )
    stacks = [memory.stack(device, f"stack {n}") for n in "ABCDE"]
    package = d.Box(
        "section 2.7",
        [
            d.line(d.Name("2.7"), bold=True),
            "a package: dies, stacks, and what joins them",
        ],
        d.below(die, d.right_of(*stacks, grow=0)),
        role="layer-1",
    )
    scene = d.below(
        package, d.Words([(d.Name("2.8"), ": the token, in slots and silicon")])
    )
    title = "Chapter two: from a lane to a package."
    return d.draw(scene, name="map-gpu", title=title, devices=[DEVICE])


def memory_map() -> d.Drawing:
    """Chapter 3: from a lane outward, level by level."""
    device = hardware.get(DEVICE)
    near = d.Box(
        "SM",
        d.line("in an SM", bold=True),
        d.grid(
            [
                section("3.2", "lanes to sectors", "layer-3", gpu.warp("a warp")),
                section("3.3", "banks", "layer-2", gpu.banks()),
                section("3.5", "tiles", "layer-4"),
                section("3.6", "buffers", "layer-2"),
            ],
            (2, 1),
        ),
        role="layer-3",
    )
    cache = section("3.4", "caches: what stays", "layer-2", memory.cache_ways(8))
    stacks = [memory.stack(device, f"stack {n}") for n in "ABCDE"]
    outer = d.flow(
        section("3.7", "a stack", "layer-2", d.right_of(*stacks[:2], grow=0)),
        section("3.8", "rows and banks", "layer-2", memory.bank_array(1, 12, 3)),
    )
    far = d.flow(
        section("3.9", "host, drive, network", "layer-5"),
        section("3.10", "what it costs", "layer-7"),
    )
    told = [d.line(d.Name("3.1"), bold=True), "the ladder: how far away a byte is"]
    ladder = d.Box("section 3.1", told, d.below(near, cache, outer, far), role="muted")
    scene = d.below(ladder, d.Words([(d.Name("3.11"), ": the token, level by level")]))
    title = "Chapter three: outward from a lane, each step larger and slower."
    return d.draw(scene, name="map-memory", title=title, devices=[DEVICE])
