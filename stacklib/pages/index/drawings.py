"""Maps: the machine, and in each part the section of the chapter that opens it."""

from __future__ import annotations

from stacklib import hardware
from stacklib.plots.drawing import (
    Box,
    Cells,
    Drawing,
    Name,
    Node,
    Words,
    below,
    chain,
    draw,
    flow,
    grid,
    line,
    right_of,
)
from stacklib.plots.drawing.parts import gpu, memory

__all__ = [
    "gpu_map",
    "interconnect_map",
    "kernels_map",
    "memory_map",
    "quantizers_map",
    "roofline_map",
]
DEVICE = "h100-sxm"


def section(number: str, words: str, role: str, inside: Node | None = None) -> Box:
    """A section: its number, and what of the machine it opens."""
    told = [line(Name(number), bold=True), words]
    return Box(f"section {number}", told, inside, role=role)


def roofline_map() -> Drawing:
    """Chapter 1: what is counted, what limits it, and how a clock is asked."""
    chip = Box(
        "chip",
        line("a chip", bold=True),
        flow(
            section("1.1", "reads the model", "layer-2"),
            section("1.3", "memory or lanes", "layer-3"),
            section("1.5", "loads in flight", "layer-6"),
        ),
        role="layer-3",
    )
    machine = below(
        flow(
            section("1.2", "the work of a layer", "layer-4"),
            section("1.7", "a host and its clock", "layer-6"),
        ),
        chip,
        flow(
            section("1.6", "more chips", "layer-5"),
            section("1.4", "your own machine", "layer-1"),
        ),
    )
    told = [line(Name("1.8"), bold=True), "one token, from the key to the screen"]
    scene = Box("section 1.8", told, machine, role="muted")
    title = "Chapter one: what a token costs, what limits it, and where the time goes."
    return draw(scene, name="map-roofline", title=title, devices=[DEVICE])


def gpu_map() -> Drawing:
    """Chapter 2: the SM opened, in its die, in its package."""
    device = hardware.get(DEVICE)
    inside = grid(
        [
            section("2.1", "threads and lanes", "layer-3", gpu.warp("a warp")),
            section("2.3", "warps that wait", "layer-6", gpu.warp("warps")),
            section("2.4", "machine code", "layer-4"),
            section("2.5", "tensor cores", "layer-3"),
        ],
        (2, 1),
    )
    told = [line("an SM", bold=True), (Name("2.2"), ": a kernel runs on it")]
    sm = Box("section 2.2", told, inside, role="layer-3")
    die = Box(
        "section 2.6",
        [line(Name("2.6"), bold=True), ("a die of ", device.compute_units, " SMs")],
        sm,
        role="layer-1",
    )
    stacks = [memory.stack(device, f"stack {n}") for n in "ABCDE"]
    package = Box(
        "section 2.7",
        [line(Name("2.7"), bold=True), "a package: dies, stacks, and what joins them"],
        below(die, right_of(*stacks, grow=0)),
        role="layer-1",
    )
    scene = below(package, Words([(Name("2.8"), ": the token, in slots and silicon")]))
    title = "Chapter two: from a lane to a package."
    return draw(scene, name="map-gpu", title=title, devices=[DEVICE])


def memory_map() -> Drawing:
    """Chapter 3: from a lane outward, level by level."""
    device = hardware.get(DEVICE)
    near = Box(
        "SM",
        line("in an SM", bold=True),
        grid(
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
    outer = flow(
        section("3.7", "a stack", "layer-2", right_of(*stacks[:2], grow=0)),
        section("3.8", "rows and banks", "layer-2", memory.bank_array(1, 12, 3)),
    )
    far = flow(
        section("3.9", "host, drive, network", "layer-5"),
        section("3.10", "what it costs", "layer-7"),
    )
    told = [line(Name("3.1"), bold=True), "the ladder: how far away a byte is"]
    ladder = Box("section 3.1", told, below(near, cache, outer, far), role="muted")
    scene = below(ladder, Words([(Name("3.11"), ": the token, level by level")]))
    title = "Chapter three: outward from a lane, each step larger and slower."
    return draw(scene, name="map-memory", title=title, devices=[DEVICE])


Bars = tuple[range | set[int], ...]
# Stages of a chapter: sections, words, layer, and a sign: cells across, those lit.
Stages = dict[str, list[tuple[str, str, int, int, Bars]]]
KERNELS: Stages = {
    "how kernels start and meet": [
        ("4.1", "a launch, a graph", 4, 4, ({0, 2}, range(4))),
        ("4.2", "kernels fused", 4, 6, ({0, 1, 3, 5},)),
        ("4.3", "rows and norms", 2, 8, (range(6),)),
    ],
    "products and attention": [
        ("4.4", "a tensor core fed", 3, 4, (range(3), range(1, 4))),
        ("4.5", "attention in tiles", 2, 4, (range(2),) * 2),
        ("4.6", "two warp groups", 3, 4, ({0, 2}, {1, 3})),
        ("4.7", "one query", 6, 8, ({4},)),
    ],
    "scales, experts, and the token": [
        ("4.8", "scales on the way", 3, 6, ({0, 3},)),
        ("4.9", "experts' last tiles", 6, 6, (range(4),)),
        ("4.10", "the next token", 6, 8, ({5},)),
    ],
    "who writes them": [
        ("4.11", "a search", 4, 8, ({1, 4, 6},)),
        ("4.12", "which one first", 7, 6, (range(4),)),
        ("4.13", "the token's kernels", 7, 8, (range(7),)),
    ],
}
INTERCONNECT: Stages = {
    "a link, and sums over it": [
        ("6.1", "lanes of a link", 4, 4, (range(4),)),
        ("6.2", "a sum over chips", 4, 4, ({0, 2},)),
        ("6.3", "fewest steps", 3, 4, ({0},)),
        ("6.4", "the right algorithm", 4, 4, ({1},)),
    ],
    "machines joined": [
        ("6.5", "your own wires", 1, 4, ({0, 3},)),
        ("6.6", "a rack", 6, 4, (range(4),)),
        ("6.7", "racks joined", 6, 4, ({0, 2},)),
        ("6.8", "a torus, turned", 5, 4, ({0, 3},)),
    ],
    "on the way": [
        ("6.9", "a queue at a port", 2, 4, ({2, 3},)),
        ("6.10", "who rings", 4, 4, ({1},)),
        ("6.11", "light", 2, 4, ({0, 2},)),
    ],
    "what a model sends": [
        ("6.12", "tokens to experts", 6, 4, ({1, 3},)),
        ("6.13", "shares of a model", 6, 4, (range(2),)),
        ("6.14", "a pipeline waits", 3, 4, (range(1, 4),)),
    ],
    "a cluster at work": [
        ("6.15", "the best layout", 7, 4, (range(3),)),
        ("6.16", "failures", 7, 4, ({2},)),
        ("6.17", "the token crosses", 7, 4, (range(4),)),
    ],
}
QUANTIZERS: Stages = {
    "how numbers are stored": [
        ("7.1", "one number", 1, 8, ({1, 3, 5},)),
        ("7.2", "a scale for many", 3, 9, ({0},)),
        ("7.3", "a shared exponent", 3, 18, ({0, 9},)),
    ],
    "a model that serves": [
        ("7.4", "a layer, repaired", 4, 9, ({3},) * 3),
        ("7.5", "a file, byte by byte", 5, 14, ({0, 1},)),
        ("7.6", "faster tokens", 6, 12, (range(12), range(3))),
        ("7.7", "the cache", 2, 9, (range(0), range(9))),
    ],
    "trained, checked, summed up": [
        ("7.8", "training in few bits", 3, 14, (range(6, 14), range(3, 9))),
        ("7.9", "the same answers", 6, 12, (range(11), range(9))),
        ("7.10", "what each byte is worth", 7, 14, (range(14), range(7), range(4))),
    ],
}


def kernels_map() -> Drawing:
    """Chapter 4: from a launch to the kernels that make a token."""
    title = "Chapter four: the kernels of a token, and who writes them."
    return draw(_staged(KERNELS), name="map-kernels", title=title, devices=[DEVICE])


def interconnect_map() -> Drawing:
    """Chapter 6: from a lane to a cluster at work."""
    title = "Chapter six: from a lane to a cluster that works as one machine."
    scene = _staged(INTERCONNECT)
    return draw(scene, name="map-interconnect", title=title, devices=[DEVICE])


def quantizers_map() -> Drawing:
    """Chapter 7: the path from one number to what each byte is worth."""
    title = "Chapter seven: from the bits of one number to a model that serves."
    scene = _staged(QUANTIZERS)
    return draw(scene, name="map-quantizers", title=title, devices=[DEVICE])


def _staged(stages: Stages) -> Node:
    """Stages one after the other, each a path of sections."""
    rows = []
    for stage, sections in stages.items():
        path = [
            section(number, words, f"layer-{layer}", _sign(number, layer, across, lit))
            for number, words, layer, across, lit in sections
        ]
        rows.append(Box(stage, line(stage, bold=True), chain(*path), role="muted"))
    return chain(*rows, down=(True, True))


def _sign(number: str, layer: int, across: int, rows: Bars) -> Node:
    """Rows of cells, some lit."""
    return Cells(
        f"sign of {number}",
        across * len(rows),
        across,
        side=6.0,
        gap=1.5,
        role=f"layer-{layer}",
        lit=frozenset(at * across + i for at, row in enumerate(rows) for i in row),
    )
