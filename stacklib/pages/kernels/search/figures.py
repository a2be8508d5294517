"""Figures of section 4.11: map and walks, best-so-far curves, engines of a kernel."""

from __future__ import annotations

from stacklib.kernels.plan.search import search
from stacklib.kernels.plan.tile_profile import MOVES
from stacklib.kernels.schedule import nki
from stacklib.pages.kernels import search as page
from stacklib.plots.marks import (
    Mark,
    Spec,
    axis,
    bar,
    cells,
    chart,
    dots,
    down,
    line,
    rows,
)
from stacklib.quantity import Quantity, maximum

SLAB = 128  # rows of the tiles on the map
AFTER = (4, 8, 16, 32, 64)
WALKS = {"hill-climb": 12, "guided": 16}  # and the seed of the walk that is shown
STEPS = 14
ASIDE = 0.4  # of a cell: walks go around the numbers


def walk(method: str, seed: int) -> list[tuple[int, int]]:
    """Columns and rows of the map where a search stood, one faster than the other."""
    space = {name: page.SPACE[name] for name in ("tile_n", "tile_k")}
    moves = {
        name: [(axis_, by) for axis_, by in steps if axis_ in space]
        for name, steps in MOVES.items()
    }
    found = search(
        space,
        lambda point: page.measure({"tile_m": SLAB, **point}),
        method=method,
        budget=STEPS,
        seed=seed,
        moves=moves,
    )
    stood, fastest = [], float("inf")
    for trial in found.trials:
        if trial.seconds < fastest:
            fastest = trial.seconds
            at = (space[name].index(trial.point[name]) for name in space)
            stood.append((next(at), next(at)))
    return stood


def map_spec(*, title: str) -> Spec:
    """Time of every tile of one slab over the fastest of all, and two walks on it."""
    wide, deep = page.SPACE["tile_n"], page.SPACE["tile_k"]
    places = [(x, y) for y in range(len(deep)) for x in range(len(wide))]
    over = [page.seconds(SLAB, wide[x], deep[y]) / page.least() for x, y in places]
    shown = cells(
        places,
        "time over the fastest",
        "measured",
        shade=[min(0.3, 0.3 * (one - 1)) for one in over],
        texts=[f"{one:.2f}" for one in over],
        series=1,
    )
    marks: list[Mark] = [shown]
    aside = zip((0, 4), (-1, 1), WALKS.items(), strict=True)
    for series, side, (method, seed) in aside:
        stood = walk(method, seed)
        x = [column + side * ASIDE for column, _ in stood]
        x[0], x[-1] = float(stood[0][0]), float(stood[-1][0])  # begins, ends in a cell
        y = [row + side * ASIDE for _, row in stood]
        marks.append(line(x, y, method, "simulated", at="key", series=series))
    return chart(
        title,
        x=_axis("Columns of the tile", wide, limits=[-0.6, len(wide) - 0.4]),
        y=_axis("Steps of the sum", deep, limits=down(len(deep))),
        marks=marks,
    )


def _axis(label: str, values: list[int], limits: list[float]) -> dict[str, object]:
    names = list(map(str, values))
    return axis(label, limits=limits, ticks=range(len(values)), names=names)


def _over(found: Quantity) -> Quantity:
    return maximum(found / page.best(), 1) - 1


def curves_spec(*, title: str) -> Spec:
    """Best so far over the fastest: median and tenths of the seeds, by method."""
    marks = []
    for at, method in enumerate(page.curves()):
        x = [after * 1.07 ** (at - 1.5) for after in AFTER]
        middle = rows((_over(page.found(method, n)) for n in AFTER), "%")
        ends = [rows(map(_over, page.ends(method, n)), "%") for n in AFTER]
        marks.append(
            dots(x, middle, method, "measured", spread=ends, at="key", series=at)
        )
    return chart(
        title,
        x=axis(
            "Trials", log=True, limits=[3, 85], ticks=AFTER, names=list(map(str, AFTER))
        ),
        y=axis("Best so far, above the fastest (%)", limits=[0, 40], unit="%"),
        marks=marks,
    )


ENGINES = ("TensorE", "VectorE", "ScalarE")
PAIR = ("v7", "v10")
SHOWN = 3  # tiles of queries


def engines_spec(*, title: str) -> Spec:
    """When three engines work for the first tiles, before and after interleaving."""
    marks: list[Mark] = []
    names: list[str] = []
    for version in PAIR:
        timeline = nki.schedule(version).timeline
        assert timeline is not None
        for unit in ENGINES:
            mine = [e for e in timeline.events if e.unit == unit and e.tile < SHOWN]
            for event in mine:
                start, end = 1e6 * event.start, 1e6 * event.end
                name = f"tile {event.tile + 1}"
                marks.append(
                    bar(
                        start,
                        end,
                        len(names),
                        name,
                        "simulated",
                        at="key",
                        series=event.tile,
                    )
                )
            names.append(f"{version} {unit}")
    return chart(
        title,
        x=axis("Time (us)", unit="us"),
        y=axis("Engine", limits=down(len(names)), ticks=range(len(names)), names=names),
        marks=marks,
    )
