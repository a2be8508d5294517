"""Figures of tiled products: bytes by store, and a tile sweep beside its prediction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from stacklib.memory import TiledMatmul
from stacklib.memory.tile.tiling import hong_kung
from stacklib.plots.marks import About, Mark, Spec, axis, chart, dots, line, rows, rule
from stacklib.quantity import Quantity

from .sweep import TilePoint

SQUARES = (32, 64, 128, 256, 512, 1024)
ABOUT = About(device="this_machine", dtype="fp32")


def bound_spec(
    n: int, *, title: str, width: int = 2, stores: Mapping[str, float] | None = None
) -> Spec:
    """Bytes moved by square tiles, as the store grows, over the least there can be.

    Matrices have ``n`` rows and columns of numbers of ``width`` bytes; ``stores``,
    bytes by name, are marked.
    """
    # How many steps are held at once changes nothing of what is read.
    tiled = [TiledMatmul(n, n, n, t, t, n, width) for t in SQUARES]
    fine = [2 ** (i / 4) for i in range(36, 84)]
    least = [hong_kung(n, n, n, int(s)) * width / 1e9 for s in fine]
    moved = [sum(t.count()) * width / 1e9 for t in tiled]
    held = [(t * t + 2 * t) * width / 1024 for t in SQUARES]
    kib = [s * width / 1024 for s in fine]
    rules = [rule(k, "predicted", x=v / 1024) for k, v in (stores or {}).items()]
    return chart(
        title,
        x=axis("Store (KiB)", log=True),
        y=axis("Bytes moved (GB)", log=True, unit="GB"),
        marks=[
            line(kib, least, "no order moves less", "predicted", series=4),
            dots(held, moved, "square tiles, counted", "simulated", series=1),
            *rules,
        ],
    )


def sweep_spec(
    sizes: Mapping[str, Sequence[TilePoint]], *, title: str, peak: Quantity
) -> Spec:
    """Rate by side of a cubic tile: predicted lines, measured dots with their spread.

    ``peak`` is the predicted rate of the innermost loop.
    """
    marks = [m for i, of in enumerate(sizes.items()) for m in _sweep(*of, i)]
    alone = rule(
        "innermost loop alone", "predicted", y=peak.to("GFLOP/s").value, **ABOUT
    )
    return chart(
        title,
        x=axis("Side of the tile", log=True),
        y=axis("Rate (GFLOP/s)", log=True, unit="GFLOP/s"),
        marks=[*marks, alone],
    )


def _sweep(name: str, points: Sequence[TilePoint], series: int) -> list[Mark]:
    cubes = sorted((p for p in points if 0 < p.side <= 512), key=lambda p: p.side)
    x, runs = [p.side for p in cubes], [p.run for p in cubes]
    told = [r.operations.si / 1e9 / r.predicted.si for r in runs]
    seen = rows((r.rate for r in runs), "GFLOP/s")
    ends = [rows(r.spread, "GFLOP/s") for r in runs]
    words = f"{name}, measured"
    return [
        line(x, told, name, "predicted", series=series, **ABOUT),
        dots(
            x, seen, words, "measured", spread=ends, at="none", series=series, **ABOUT
        ),
    ]
