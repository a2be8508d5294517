"""Grids of four bits beside each other: E2M1 of MXFP4 and NVFP4, and NF4."""

from __future__ import annotations

from stacklib.plots.marks import Spec, axis, chart, dots
from stacklib.quantizers import Format


def grids_spec(*, title: str) -> Spec:
    """Numbers above zero of three formats of four bits, each up to one."""
    rows = {"int4": "INT4", "e2m1": "E2M1", "nf4": "NF4", "e3m0": "E3M0"}
    marks = []
    for at, (name, words) in enumerate(rows.items()):
        values = [x for x in Format(name).values if x >= 0]
        top = max(values)
        places = [x / top for x in values]
        marks.append(
            dots(places, [at + 1.0] * len(places), words, "predicted", series=at)
        )
    return chart(
        title,
        x=axis("Magnitude over the largest", limits=[0, 1.2]),
        y=axis("Format", limits=[0.4, len(rows) + 0.6], ticks=[]),
        marks=marks,
    )
