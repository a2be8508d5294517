"""Joules of a token as more readers share a machine."""

from __future__ import annotations

from stacklib.accelerators.machines.rows import MACHINES
from stacklib.pages.accelerators import journey as page
from stacklib.plots.marks import Spec, axis, chart, line

SHOWN = (page.OWN, "MI300X", page.WAFERS)


def energy_spec(*, title: str) -> Spec:
    """Printed power times the roof, a token, against readers; a line ends when full."""
    marks = []
    for index, name in enumerate(SHOWN):
        most = int(page.most(name).si)
        batches = [n for n in (1, 2, 4, 8, 16, 32, 64, 128, 256, 512) if n < most]
        sizes = [*batches, most]
        spent = [page.energy(name, n).si for n in sizes]
        on = MACHINES[name].on
        marks.append(line(sizes, spent, name, "predicted", series=index, device=on))
    return chart(
        title,
        x=axis("Readers at once", log=True, limits=[0.9, 1500]),
        y=axis("Joules of a token", log=True, limits=[0.1, 60]),
        marks=marks,
    )
