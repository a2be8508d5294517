"""The ridges of a family of devices over the years, and the line through them."""

from __future__ import annotations

from collections.abc import Iterator

from stacklib.hardware import Accelerator
from stacklib.plots.marks import Mark, Spec, axis, chart, dots, line, years
from stacklib.quantity.times import in_times
from stacklib.roofline.bound import trend
from stacklib.roofline.bound.trend import FAMILIES, Trend

NAMED = (
    *("p100_sxm2", "v100_sxm2_32gb", "a100_sxm_80gb", "h100_sxm"),
    *("h20", "b200_sxm"),
)


def band(
    name: str,
    told: Trend,
    devices: list[Accelerator],
    base: float,
    series: int,
) -> Iterator[Mark]:
    """The line over ``base``, and the two ends of its band of 95 per cent."""
    x = range(devices[0].year, devices[-1].year + 1)
    ends = ((1, name, "end"), (0, "95 %", "none"), (2, "95 %", "end"))
    for i, words, at in ends:
        y = [told.at(year)[i] / base for year in x]
        yield line(x, y, words, "predicted", at=at, series=series)


def ridge_spec(kind: str = "hbm", names: tuple[str, ...] = NAMED) -> Spec:
    """Every ridge of a family over the years, some named, the trend and its band."""
    kin = FAMILIES[kind]
    found = trend.family(kind)
    told = trend.memory_wall(found, dtype=kin.dtype).ridge
    first = found[0].year

    def points(name: str, some: list[Accelerator], series: int, at: str) -> Mark:
        x = [d.year for d in some]
        y = [d.peak(kin.dtype).si / d.memory_bandwidth.si for d in some]
        return dots(x, y, name, "data sheet", at=at, series=series)

    rest = [d for d in found if d.key not in names]
    some = [points(d.short, [d], 1, "end") for d in found if d.key in names]
    middle, *ends = band("ridge", told, found, 1.0, 0)
    off = f"single GPUs lie a factor of {told.spread:.2f} off the line"
    higher = in_times(told.growth, "times as high|no higher|times lower", 3)
    return chart(
        f"In two years the ridge became {higher}; {off}.",
        x=years("Year of the device", first, found[-1].year),
        y=axis(f"Ridge, {kin.dtype} (FLOP/B)", log=True, unit="FLOP/B"),
        marks=[
            points("others", rest, 5, "none"),
            *some,
            {**middle, "name": "trend"},
            *ends,
        ],
    )
