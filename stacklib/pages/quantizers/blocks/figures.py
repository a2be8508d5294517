"""Grids of four bits beside each other: E2M1 of MXFP4 and NVFP4, and NF4."""

from __future__ import annotations

from stacklib.plots.marks import Spec, axis, chart, places
from stacklib.quantizers import Format

ROWS = {"int4": "INT4", "e2m1": "E2M1", "nf4": "NF4", "e3m0": "E3M0"}
HIGH = 0.5  # of a tooth, of the room of its row


def grids_spec(*, title: str) -> Spec:
    """Numbers from zero up of four formats of four bits, each up to one."""
    marks = []
    for at, (name, words) in enumerate(ROWS.items()):
        values = [x for x in Format(name).values if x >= 0]
        top = max(values)
        scaled = [x / top for x in values]
        marks.append(places(scaled, at, words, to=at + HIGH, at="none", series=at))
    rows = list(range(len(ROWS)))
    return chart(
        title,
        x=axis("Magnitude over the largest", limits=[0, 1]),
        y=axis("Format", limits=[-0.2, len(ROWS)], ticks=rows, names=[*ROWS.values()]),
        marks=marks,
    )
