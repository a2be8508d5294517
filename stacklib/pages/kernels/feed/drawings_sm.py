"""The SM of section 4.4: who asks, who copies, who multiplies, and two barriers."""

from typing import Any

from stacklib.pages.kernels import feed as page
from stacklib.plots import drawing as d
from stacklib.plots.drawing.parts import gpu
from stacklib.quantity import chosen

__all__ = ["fed_sm"]
BARRIER = "layer-6"
# A turn of the loop: which lines and which buffer it lights.
TURNS = {
    "a copy is asked for": ({"free producer", "producer TMA"}, ""),
    "it is made": ({"L2 TMA", "TMA shared memory", "TMA full"}, "C"),
    "it is multiplied": ({"full consumers", "shared memory consumers"}, "A"),
    "the buffer is free": ({"consumers free"}, ""),
}


def fed_sm() -> d.Drawing:
    """The parts of an SM that feed its tensor cores, one turn of their loop a step."""
    steps = [(words, _turn(lit, buffer)) for words, (lit, buffer) in TURNS.items()]
    title = (
        "One warp asks, the TMA copies, two warp groups multiply; two barriers of each "
        "buffer say who may go on."
    )
    return d.draw(steps, name="fed-sm", title=title, devices=["h100-sxm"])


def _turn(lit: set[str], buffer: str) -> d.Node:
    def edges(*ports: tuple[str, str, tuple[Any, Any]]) -> list[d.Edge]:
        return [
            d.Edge(
                start,
                end,
                arrow="end",
                ports=sides,
                role=BARRIER if {"full", "free"} & {start, end} else gpu.STORE,
                lit=f"{start} {end}" in lit,
            )
            for start, end, sides in ports
        ]

    straight = ("", "")
    always = (
        ("L2", "TMA", straight),
        ("producer", "TMA", straight),
        ("TMA", "shared memory", straight),
        ("shared memory", "consumers", straight),
        ("free", "producer", straight),
    )
    wide = edges(
        *always,
        ("TMA", "full", (("foot", 0.9), "left")),
        ("full", "consumers", ("right", ("foot", 0.3))),
        ("consumers", "free", (("foot", 0.7), "right")),
    )
    phone = edges(
        *always,
        ("TMA", "full", (("right", 0.85), "top")),
        ("full", "consumers", ("foot", ("right", 0.3))),
        ("consumers", "free", (("right", 0.7), "foot")),
    )
    parts = _parts(buffer)
    spots = {
        "wide": [
            (0, 0),
            (0.3, 0),
            (0.62, 0),
            (1, 0),
            (0.3, 1),
            (0.62, 0.55),
            (0.62, 1),
        ],
        "phone": [
            (0, 0),
            (0, 0.3),
            (0, 0.6),
            (0, 1),
            (1, 0.3),
            (0.52, 0.62),
            (1, 0.62),
        ],
    }
    made = [
        d.joined(d.board(*zip(parts, spots[kind], strict=True), gap=30), *lines)
        for kind, lines in (("wide", wide), ("phone", phone))
    ]
    return d.Either(made[0], made[1])


def _parts(buffer: str) -> list[d.Node]:
    """L2, TMA, shared memory, consumers, producer, the barriers full and free."""
    numbers = chosen(page.ROWS, label="rows") * chosen(page.COLUMNS, label="columns")
    sums = (numbers * chosen(4, "B", label="FP32")).named("sums of a block").to("KiB")
    buffers = [
        d.Box(
            name,
            d.line(name, bold=True),
            role=gpu.STORE,
            lit=name == buffer,
            room=(36.0, 0.0),
        )
        for name in "ABC"
    ]
    told: list[tuple[str, list[Any], str]] = [
        ("L2", ["L2"], gpu.STORE),
        ("TMA", ["TMA", "copies"], gpu.STORE),
        ("consumers", ["warp groups", "tensor cores,", d.line(sums, " of sums")], ""),
        ("producer", ["producer warp", "one thread asks"], ""),
        ("full", ["full", "bytes are there"], BARRIER),
        ("free", ["free", "all have read"], BARRIER),
    ]
    l2, tma, *rest = (
        d.Box(name, [d.line(head, bold=True), *lines], role=role or gpu.CHIP, grow=0)
        for name, (head, *lines), role in told
    )
    inside = d.Either(d.right_of(*buffers, gap=6), d.below(*buffers, gap=4))
    label = [d.line("shared memory", bold=True), (d.Shown(page.room(), "KiB"), " each")]
    shared = d.Box("shared memory", label, inside, role=gpu.STORE, grow=0)
    return [l2, tma, shared, *rest]
