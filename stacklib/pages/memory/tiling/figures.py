"""Figures of tiled products: bytes by store, and a tile sweep beside its prediction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stacklib.evidence.tile_sweep import TilePoint
from stacklib.memory import TiledMatmul, hong_kung

__all__ = ["bound_spec", "sweep_spec"]

SIDES = (32, 64, 128, 256, 512, 1024)


def bound_spec(
    n: int, *, title: str, width: int = 2, stores: Mapping[str, float] | None = None
) -> dict[str, Any]:
    """Bytes moved by square tiles, as the store grows, over the least there can be.

    Parameters
    ----------
    n : int
        Rows and columns of the matrices.
    title : str
        A sentence saying what is seen.
    width : int
        Bytes of a number.
    stores : mapping of str to float, optional
        Name and bytes of stores to mark.
    """
    held = [t * t + 2 * t for t in SIDES]
    # How many steps are held at once changes nothing of what is read.
    tiled = [TiledMatmul(n, n, n, t, t, n, width) for t in SIDES]
    fine = [2 ** (i / 4) for i in range(36, 84)]
    least = [hong_kung(n, n, n, int(s)) * width / 1e9 for s in fine]
    marks: list[dict[str, Any]] = [
        {"kind": "line", "evidence": "impossible", "name": "no order moves less",
         "x": [s * width / 1024 for s in fine], "y": least},
        {"kind": "dots", "evidence": "simulated", "name": "square tiles, counted",
         "x": [s * width / 1024 for s in held], "series": 1,
         "y": [sum(t.count()) * width / 1e9 for t in tiled]},
        *({"kind": "vline", "evidence": "predicted", "name": name, "x": [size / 1024]}
          for name, size in (stores or {}).items()),
    ]  # fmt: skip
    return {
        "title": title,
        "x": {"label": "Store (KiB)", "scale": "log"},
        "y": {"label": "Bytes moved (GB)", "scale": "log", "unit": "GB"},
        "marks": marks,
    }


def sweep_spec(
    sizes: Mapping[str, Sequence[TilePoint]], *, title: str, peak: float
) -> dict[str, Any]:
    """Rate by side of a cubic tile: predicted lines, measured dots with their spread.

    Parameters
    ----------
    sizes : mapping of str to sequence of TilePoint
        What each matrix size is called, and its tiles.
    title : str
        A sentence saying what is seen.
    peak : float
        FLOP/s of the innermost loop at its best.
    """
    marks: list[dict[str, Any]] = []
    for at, (name, points) in enumerate(sizes.items()):
        cubes = sorted((p for p in points if 0 < p.side <= 512), key=lambda p: p.side)
        work = [p.run.operations.si / 1e9 for p in cubes]
        about = {"series": at, "device": "this_machine", "dtype": "fp32"}
        both = [[r.si / 1e9 for r in p.run.spread] for p in cubes]
        told = [w / p.run.predicted.si for w, p in zip(work, cubes, strict=True)]
        marks += [
            {"kind": "line", "evidence": "predicted", "name": name, "y": told,
             "x": [p.side for p in cubes], **about},
            {"kind": "dots", "evidence": "measured", "name": f"{name}, measured",
             "x": [p.side for p in cubes], "spread": both, "label_at": "none",
             "y": [p.run.rate.si / 1e9 for p in cubes], **about},
        ]  # fmt: skip
    marks.append({"kind": "hline", "evidence": "measured", "y": [peak / 1e9],
                  "name": "innermost loop alone", "device": "this_machine",
                  "dtype": "fp32"})  # fmt: skip
    return {
        "title": title,
        "x": {"label": "Side of the tile", "scale": "log"},
        "y": {"label": "Rate (GFLOP/s)", "scale": "log", "unit": "GFLOP/s"},
        "marks": marks,
    }
