"""The drawing of section 6.4: the board of algorithms and protocols, two sizes."""

from __future__ import annotations

from stacklib.interconnect.selection import constants as c
from stacklib.pages.interconnect import selection as page
from stacklib.plots.drawing import (
    Box,
    Drawing,
    Node,
    Shown,
    Words,
    below,
    draw,
    grid,
    line,
    right_of,
)
from stacklib.quantity import Quantity

__all__ = ["board"]

WAY, SWITCH, OUT = "layer-3", "layer-2", "muted"


def board() -> Drawing:
    """Every candidate with its time; what is taken is lit."""
    steps = [
        ("for a token", _frame(page.size())),
        ("for a prompt", _frame(page.size(page.TOKENS))),
    ]
    title = (
        "The selector times every pair of algorithm and protocol and takes the least."
    )
    return draw(steps, name="selection-board", title=title)


def _frame(of: Quantity) -> Node:
    """All candidates for one size."""
    taken = page.chosen_by(of.si)
    best = taken.algorithm, taken.protocol
    asked = Box(
        "the call",
        [line("all-reduce of ", Shown(of, "KiB" if of.si < 1e6 else "MiB"), bold=True)],
        role="muted",
    )
    groups = [
        _algorithm("ring", "ring", tuple(c.PROTOCOLS), of, best),
        _algorithm("tree", "tree", tuple(c.PROTOCOLS), of, best),
        _algorithm("nvls", "in the switches", ("simple",), of, best),
    ]
    refused = Box(
        "out of the question",
        [
            line("out of the question here", bold=True),
            line("PAT: not for sums to all"),
            line("CollNet, NVLS tree: more nodes"),
            line("switches: Simple only"),
        ],
        role=OUT,
    )
    told = Words([line("lit: the least time, taken", role="muted")])
    return below(asked, grid([*groups, refused], (2, 1)), told, gap=8)


def _algorithm(
    algorithm: str,
    words: str,
    protocols: tuple[str, ...],
    of: Quantity,
    best: tuple[str, str],
) -> Node:
    boxes = []
    for protocol in protocols:
        name = (algorithm, protocol)
        boxes.append(
            Box(
                f"{words}, {page.PROTOCOLS[protocol]}",
                [
                    line(page.PROTOCOLS[protocol], bold=True),
                    line(Shown(page.candidate("time", name, of), "µs")),
                ],
                role=SWITCH if algorithm == "nvls" else WAY,
                lit=name == best,
            )
        )
    role = SWITCH if algorithm == "nvls" else WAY
    inside = right_of(*boxes, gap=6, even=True)
    return Box(words, [line(words, bold=True)], inside, role=role)
