"""Drawings of section 8.10: eight chips divided, and what a token takes in each."""

from __future__ import annotations

from typing import Any

from stacklib.pages.serving import layouts as page
from stacklib.plots import drawing as d
from stacklib.quantity import one_of

__all__ = ["eight_chips"]
READS, WRITES, OUT = "layer-5", "layer-2", "muted"


def eight_chips() -> d.Drawing:
    """Ways to divide eight chips, the one that does not hold the weights dark."""
    alone = next(r for r in page.found().rows if r.pool and r.pool.tp == 1)
    assert alone.refused and not alone.prefill
    ways = [
        _way("a copy on every chip", [("copy", 1)] * page.GPUS, None),
        _way("four copies", [("copy", 2)] * 4, (page.ONE, 2)),
        _way("two copies", [("copy", 4)] * 2, (page.ONE, 4)),
        _way("one copy", [("copy", 8)], (page.ONE, 8)),
        _way(
            "two that read, one that writes",
            [("reads", 2)] * 2 + [("writes", 4)],
            (page.TWO, 4),
        ),
    ]
    title = "Eight chips can be divided in many ways, and one of them is refused first."
    return d.draw(
        d.below(*ways, gap=6),
        name="serving-layouts",
        title=title,
        devices=[page.DEVICE],
    )


def _way(
    name: str, copies: list[tuple[str, int]], of: tuple[str, int] | None
) -> d.Node:
    """A division: boxes of chips, and what it takes."""
    boxes = []
    for number, (does, chips) in enumerate(copies):
        role = READS if does == "reads" else WRITES
        cells = d.Cells(
            f"chips of {does} {number + 1}, {name}",
            chips,
            side=(13.0, 11.0),
            gap=2,
            role=OUT if of is None else role,
            dark=frozenset(range(chips)) if of is None else frozenset(),
            words="chips",
        )
        inside = f"{does} {number + 1}, {name}"
        boxes.append(d.Box(inside, None, cells, role=OUT if of is None else role))
    told: tuple[Any, ...]
    if of is None:
        each = one_of("", "chips of a copy")
        told = ("refused: ", each, " chip does not hold the weights")
    else:
        batch, time = (page.of(what, *of) for what in ("batch", "tpot"))
        told = (batch, " requests a copy, a token in ", d.Shown(time, "ms", 3))
    words = [d.line(name, bold=True), told]
    return d.Box(name, words, d.right_of(*boxes, gap=4, grow=0), role="muted")
