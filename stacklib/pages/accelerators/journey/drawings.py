"""The drawing of section 5.10: what a token waits for on each of eight machines."""

from __future__ import annotations

from stacklib.accelerators.machines.rows import MACHINES
from stacklib.pages.accelerators import journey as page
from stacklib.plots import drawing as d

__all__ = ["what_it_waits_for"]


def what_it_waits_for() -> d.Drawing:
    """Reading, arithmetic and links of one token, each machine on its own scale."""
    rows = [_machine(name) for name in MACHINES]
    title = "Each bet shortens what its maker thinks is longest, until another is."
    devices = [row.on for row in MACHINES.values()]
    scene = d.grid(rows, (2, 1), gap=8)
    return d.draw(scene, name="what-it-waits-for", title=title, devices=devices)


def _machine(name: str) -> d.Node:
    waits = page.waits(name)
    longest = max(waits.values(), key=lambda q: q.si)
    bars = [
        d.Bar(
            f"{words}, {name}",
            ((words, time, page.LIMITS[words], time.si == longest.si),),
            longest,
            [(f"{words} ", d.Shown(time, "ms"))],
            7.0,
        )
        for words, time in waits.items()
    ]
    told = d.line(d.Name(name), bold=True)
    return d.Box(f"a token on {name}", told, d.below(*bars, gap=2), role="muted")
