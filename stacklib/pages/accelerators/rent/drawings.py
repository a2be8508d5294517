"""The drawing of section 5.1: eight machines, memory and bandwidth to scale."""

from __future__ import annotations

from stacklib.accelerators.machines.rows import MACHINES
from stacklib.pages.accelerators import rent as page
from stacklib.plots import drawing as d

__all__ = ["eight_machines"]
MEMORY, RATE = "layer-2", "layer-5"


def eight_machines() -> d.Drawing:
    """Each machine as two bars, all of one kind on one scale; weights are lit."""
    rows = [_machine(name) for name in MACHINES]
    title = "What has room for many readers is slow for one, and the other way round."
    devices = [row.on for row in MACHINES.values()]
    scene = d.grid(rows, (2, 1), gap=10)
    return d.draw(scene, name="eight-machines", title=title, devices=devices)


def _machine(name: str) -> d.Node:
    row, compared = MACHINES[name], page.eight()[name]
    account = compared.account
    assert account is not None
    have, rate = page.memory(name), page.rate(name)
    most = max((page.memory(n) for n in MACHINES), key=lambda q: q.si)
    top = max((page.rate(n) for n in MACHINES), key=lambda q: q.si)
    need = page.read(name).named(f"a token's bytes on {name}")
    told = [d.line(page.chips(name), " x ", d.Name(name), bold=True)]
    held = (("weights and a cache", need, MEMORY, True),)
    left = (("free", (have - need).named(f"free on {name}"), MEMORY, False),)
    room = d.Bar(
        f"memory of {name}",
        held + left,
        most,
        [("memory ", d.Shown(have, "GB", 4))],
        9.0,
    )
    wide = ((f"bandwidth, {name}", rate, RATE, True),)
    flow = d.Bar(
        f"bandwidth of {name}",
        wide,
        top,
        [("bandwidth ", d.Shown(rate, "TB/s", chips=row.chips or 1))],
        9.0,
    )
    return d.Box(name, told, d.below(room, flow, gap=4), role="muted")
