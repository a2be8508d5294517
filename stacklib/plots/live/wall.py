"""Memory-wall explorer: growth of arithmetic and of bandwidth, by family and years.

Every device of the family is two diamonds, one for each rate over what the fitted
line says of the first year. The outer lines hold the line itself in 95 % of cases.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from stacklib.hardware import Accelerator
from stacklib.plots.live import choices
from stacklib.plots.marks import Mark, Spec, axis, chart, diamonds, line
from stacklib.plots.spec import readout
from stacklib.quantity import counted
from stacklib.roofline.bound import trend
from stacklib.roofline.bound.trend import FAMILIES, Trend

YEARS = tuple(range(2016, 2026))
Y = axis("Times the trend's first year", log=True)
NAMED = (
    *("p100_sxm2", "v100_sxm2_32gb", "a100_sxm_80gb", "h100_sxm"),
    *("h20", "b200_sxm"),
)


def controls() -> list[dict[str, Any]]:
    """Menus of ``explore``."""
    years = {str(year): str(year) for year in YEARS}
    kinds = {key: kin.words for key, kin in FAMILIES.items()}
    return [
        choices.select("kind", "Devices", kinds, "hbm"),
        choices.select("first", "From", years, str(YEARS[0])),
        choices.select("last", "To", years, str(YEARS[-1])),
    ]


def explore(*, kind: str, first: str, last: str) -> Spec:
    """Both trends of a family from year to year, with growth in two years.

    Where the devices of these years make no trend there is no line, and the message
    says why.
    """
    kin = FAMILIES[kind]
    found = trend.family(kind, int(first), int(last))
    count = readout("devices", "Devices", counted(len, found, label="devices"))
    x = axis(f"Years after {first}", limits=[0, max(int(last) - int(first), 1)])
    try:
        wall = trend.memory_wall(found, dtype=kin.dtype)
    except ValueError as error:
        title, why = f"{kin.words}, {first} to {last}: no trend.", _first_up(str(error))
        return chart(title, x=x, y=Y, marks=[], readouts=[count], message=f"{why}.")
    peaks = [d.peak(kin.dtype).si for d in found]
    rates = [d.memory_bandwidth.si for d in found]
    start, (up, wires) = int(first), (wall.compute, wall.bandwidth)
    grew = f"arithmetic grew {up.growth:.2f} times, bandwidth {wires.growth:.2f} times"
    return chart(
        f"{kin.words}: in two years {grew}.",
        x=x,
        y=Y,
        marks=[
            *_marks("arithmetic", up, peaks, found, start, 0),
            *_marks("bandwidth", wires, rates, found, start, 1),
        ],
        readouts=[
            _growth("compute", f"Arithmetic ({kin.dtype}), in two years", up),
            _growth("bandwidth", "Bandwidth, in two years", wires),
            _growth("ridge", "Ridge, in two years", wall.ridge),
            count,
        ],
    )


def _first_up(text: str) -> str:
    return text[:1].upper() + text[1:]


def _growth(name: str, label: str, line: Trend) -> dict[str, Any]:
    """Growth with its interval."""
    value = counted(float, line.growth, label=label.lower())
    return {**readout(name, label, value), "text": str(line)}


def _marks(
    name: str,
    told: Trend,
    rates: list[float],
    devices: list[Accelerator],
    first: int,
    series: int,
) -> list[Mark]:
    """Diamonds of the devices, the line, and the two ends of its band."""
    base = told.at(devices[0].year)[1]
    x, y = [d.year - first for d in devices], [rate / base for rate in rates]
    said = diamonds(x, y, f"{name}, as published", at="none", series=series)
    return [said, *_lines(name, told, devices, first, base, series)]


def _lines(
    name: str,
    told: Trend,
    devices: list[Accelerator],
    first: int,
    base: float,
    series: int,
) -> Iterator[Mark]:
    """The line over ``base``, and the two ends of its band."""
    years = range(devices[0].year, devices[-1].year + 1)
    x = [year - first for year in years]
    ends = (
        (1, name, "end"),
        (0, f"{name}: low end", "none"),
        (2, f"{name}: high end", "none"),
    )
    for i, words, at in ends:
        y = [told.at(year)[i] / base for year in years]
        yield line(x, y, words, "predicted", at=at, series=series)


def ridge_spec(kind: str = "hbm", names: tuple[str, ...] = NAMED) -> Spec:
    """Every ridge of a family over the years, some named, the trend and its band."""
    kin = FAMILIES[kind]
    found = trend.family(kind)
    told = trend.memory_wall(found, dtype=kin.dtype).ridge
    first = found[0].year

    def points(name: str, some: list[Accelerator], series: int, at: str) -> Mark:
        x = [d.year - first for d in some]
        y = [d.peak(kin.dtype).si / d.memory_bandwidth.si for d in some]
        return diamonds(x, y, name, at=at, series=series)

    rest = [d for d in found if d.key not in names]
    some = [points(d.short, [d], 1, "end") for d in found if d.key in names]
    middle, *ends = _lines("ridge", told, found, first, 1.0, 0)
    off = f"single GPUs lie a factor of {told.spread:.2f} off the line"
    return chart(
        f"The ridge grew {told.growth:.2f} times in two years; {off}.",
        x=axis(f"Years after {first}", limits=[0, found[-1].year - first]),
        y=axis(f"Ridge, {kin.dtype} (FLOP/B)", log=True, unit="FLOP/B"),
        marks=[
            points("others", rest, 5, "none"),
            *some,
            {**middle, "name": "trend"},
            *ends,
        ],
    )
