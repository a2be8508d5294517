"""Strides as figures: what a warp moves, and how long this machine walks."""

from __future__ import annotations

from typing import Any

from stacklib.evidence import addresses
from stacklib.memory.warp.coalescing import pieces, strided_pieces
from stacklib.memory.warp.lanes import WARP, strided

__all__ = ["stride_spec", "walk_spec"]

STRIDES = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
SIZES, WIDTH = (32, 64, 128), 4  # bytes of a piece, of a number


def stride_spec(*, title: str) -> dict[str, Any]:
    """Spec of a warp's traffic against its stride, for pieces of three sizes.

    Parameters
    ----------
    title : str
        Sentence that says what is seen.
    """
    marks: list[dict[str, Any]] = []
    for series, size in enumerate(SIZES):
        over = size / (WIDTH * WARP)  # of what was asked for, a piece
        closed = [strided_pieces(WIDTH * s, size=size) * over for s in STRIDES]
        counted = [pieces(strided(s), WIDTH, size) * over for s in STRIDES]
        about = {"series": series, "x": list(STRIDES)}
        marks += [
            {"kind": "line", "evidence": "predicted", "name": f"{size} bytes",
             "y": closed, **about},
            {"kind": "dots", "evidence": "simulated", "name": f"{size}, counted",
             "y": counted, "label_at": "none", **about},
        ]  # fmt: skip
    return {
        "title": title,
        "x": {"label": "Stride (fp32 numbers)", "scale": "log"},
        "y": {"label": "Bytes moved over asked for", "scale": "log"},
        "marks": marks,
    }


def walk_spec(*, title: str) -> dict[str, Any]:
    """Spec of the time of a walk against its stride.

    Parameters
    ----------
    title : str
        Sentence that says what is seen.
    """
    runs = addresses.walks()
    strides = [float(run.case["stride"]) for run in runs]
    alone = [addresses.alone(run.case["stride"]).si * 1e3 for run in runs]
    spread = [[run.low.si * 1e3, run.high.si * 1e3] for run in runs]

    def mark(kind: str, evidence: str, name: str, y: list[float]) -> dict[str, Any]:
        return {"kind": kind, "evidence": evidence, "name": name, "x": strides, "y": y,
                "level": "memory, one core"}  # fmt: skip

    lines = [run.predicted.si * 1e3 for run in runs]
    measured = [run.measured.si * 1e3 for run in runs]
    marks = [
        mark("line", "predicted", "lines moved", lines),
        mark("line", "predicted", "lines alone", alone),
        mark("dots", "measured", "measured", measured)
        | {"spread": spread, "this_machine": True, "label_at": "none"},
    ]
    return {
        "title": title,
        "x": {"label": "Stride (numbers of four bytes)", "scale": "log"},
        "y": {"label": "Time of a walk (ms)", "scale": "log", "unit": "ms",
              "limits": [4, 120]},
        "marks": marks,
    }  # fmt: skip
