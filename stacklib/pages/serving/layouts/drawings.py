"""Drawings of section 8.10: eight chips divided, and what each division makes."""

from __future__ import annotations

from stacklib.pages.serving import layouts as page
from stacklib.plots import drawing as d
from stacklib.quantity import Quantity, chosen

__all__ = ["eight_chips"]
READS, WRITES, OUT = "layer-5", "layer-2", "muted"


def eight_chips() -> d.Drawing:
    """Ways to divide eight chips, the one that does not hold the weights dark."""
    alone = next(r for r in page.found().rows if r.pool and r.pool.tp == 1)
    assert alone.refused and not alone.prefill
    ways = [
        _way("a copy on every chip", [("copy", 1)] * page.GPUS, None),
        _way("four copies", [("copy", 2)] * 4, page.of(*_asked(page.ONE, 2))),
        _way("two copies", [("copy", 4)] * 2, page.of(*_asked(page.ONE, 4))),
        _way("one copy", [("copy", 8)], page.of(*_asked(page.ONE, 8))),
        _way(
            "two that read, one that writes",
            [("reads", 2)] * 2 + [("writes", 4)],
            page.of(*_asked(page.TWO, 4)),
        ),
    ]
    title = "Eight chips can be divided in many ways, and one of them is refused first."
    return d.draw(
        d.below(*ways, gap=6),
        name="serving-layouts",
        title=title,
        devices=[page.DEVICE],
    )


def _asked(kind: str, tp: int) -> tuple[str, str, int]:
    return "tokens_per_gpu", kind, tp


def _way(name: str, copies: list[tuple[str, int]], rate: Quantity | None) -> d.Node:
    """A division: boxes of chips, and what it makes on every chip."""
    boxes = []
    for number, (does, chips) in enumerate(copies):
        role = READS if does == "reads" else WRITES
        cells = d.Cells(
            f"chips of {does} {number + 1}, {name}",
            chips,
            side=(13.0, 11.0),
            gap=2,
            role=OUT if rate is None else role,
            dark=frozenset(range(chips)) if rate is None else frozenset(),
            words="chips",
        )
        inside = f"{does} {number + 1}, {name}"
        boxes.append(d.Box(inside, None, cells, role=OUT if rate is None else role))
    if rate is None:
        each = chosen(1, label="chips of a copy")
        told = ("refused: ", each, " chip does not hold the weights")
    else:
        told = (d.Shown(rate, "token/s", 3), " a GPU")
    words = [d.line(name, bold=True), told]
    return d.Box(name, words, d.right_of(*boxes, gap=4, grow=0), role="muted")
