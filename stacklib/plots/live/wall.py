"""Memory-wall explorer: growth of arithmetic and of bandwidth, by family and years.

Every device of the family is two diamonds, one for each rate over what the fitted
line says of the first year. The outer lines hold the line itself in 95 % of cases.
"""

from __future__ import annotations

from typing import Any

from stacklib.hardware import Accelerator
from stacklib.quantity import Quantity
from stacklib.roofline.bound import trend
from stacklib.roofline.bound.trend import FAMILIES, Trend

from ..spec import readout
from . import choices

YEARS = tuple(range(2016, 2026))
Y = {"label": "Times the trend's first year", "scale": "log"}


def controls() -> list[dict[str, Any]]:
    """Menus of ``explore``."""
    years = [(str(year), str(year)) for year in YEARS]
    kinds = [(key, kin.words) for key, kin in FAMILIES.items()]
    return [
        choices.select("kind", "Devices", kinds, "hbm"),
        choices.select("first", "From", years, str(YEARS[0])),
        choices.select("last", "To", years, str(YEARS[-1])),
    ]


def explore(*, kind: str, first: str, last: str) -> dict[str, Any]:
    """Spec of both trends, with growth in two years and its interval as readouts.

    Parameters
    ----------
    kind : str
        A key of ``roofline.trend.FAMILIES``.
    first, last : str
        Years, both included.

    Returns
    -------
    dict
        A figure spec; without a line, and with the reason as ``message``, where the
        devices of these years make no trend.
    """
    kin = FAMILIES[kind]
    found = trend.family(kind, int(first), int(last))
    count = readout("devices", "Devices", Quantity(len(found)))
    span = max(int(last) - int(first), 1)
    x = {"label": f"Years after {first}", "limits": [0, span]}
    try:
        wall = trend.memory_wall(found, dtype=kin.dtype)
    except ValueError as error:
        return {"title": f"{kin.words}, {first} to {last}: no trend.", "x": x, "y": Y,
                "marks": [], "readouts": [count],
                "message": f"{_first_up(str(error))}."}  # fmt: skip
    sides = (
        ("arithmetic", wall.compute, [d.peak(kin.dtype).si for d in found], 0),
        ("bandwidth", wall.bandwidth, [d.memory_bandwidth.si for d in found], 1),
    )
    marks = [
        mark
        for name, line, rates, series in sides
        for mark in _marks(name, line, rates, found, int(first), series)
    ]
    return {
        "title": f"{kin.words}: in two years arithmetic grew {wall.compute.growth:.2f} "
        f"times, bandwidth {wall.bandwidth.growth:.2f} times.",
        "x": x,
        "y": Y,
        "marks": marks,
        "readouts": [
            _growth("compute", f"Arithmetic ({kin.dtype}), in two years", wall.compute),
            _growth("bandwidth", "Bandwidth, in two years", wall.bandwidth),
            _growth("ridge", "Ridge, in two years", wall.ridge),
            count,
        ],
        "message": None,
    }


def _first_up(text: str) -> str:
    return text[:1].upper() + text[1:]


def _growth(name: str, label: str, line: Trend) -> dict[str, Any]:
    """Growth with its interval."""
    value = Quantity(line.growth, label=label.lower(), kind="computed")
    return {**readout(name, label, value), "text": str(line)}


def _marks(
    name: str, line: Trend, rates: list[float], devices: list[Accelerator],
    first: int, series: int,
) -> list[dict[str, Any]]:  # fmt: skip
    """Diamonds of the devices, the line, and the two ends of its band."""
    years = list(range(devices[0].year, devices[-1].year + 1))
    base = line.at(years[0])[1]
    common = {"series": series, "kind": "line", "evidence": "predicted"}
    ends = [
        {**common, "name": f"{name}: {words}", "label_at": label,
         "x": [year - first for year in years],
         "y": [line.at(year)[i] / base for year in years]}
        for i, words, label in ((1, "trend", "end"), (0, "low end", "none"),
                                (2, "high end", "none"))
    ]  # fmt: skip
    ends[0]["name"] = name
    dots = {"kind": "dots", "evidence": "claimed", "name": f"{name}, as published",
            "series": series, "label_at": "none",
            "x": [d.year - first for d in devices],
            "y": [rate / base for rate in rates]}  # fmt: skip
    return [dots, *ends]


NAMED = (
    "p100_sxm2", "v100_sxm2_32gb", "a100_sxm_80gb", "h100_sxm", "h20", "b200_sxm",
)  # fmt: skip


def ridge_spec(kind: str = "hbm", names: tuple[str, ...] = NAMED) -> dict[str, Any]:
    """Spec of every ridge of a family over the years, the trend and its band.

    Parameters
    ----------
    kind : str
        A key of ``roofline.trend.FAMILIES``.
    names : tuple of str
        Keys of devices that are named in the figure.

    Raises
    ------
    ValueError
        For an unknown family, or fewer than three devices.
    """
    kin = FAMILIES[kind]
    found = trend.family(kind)
    line = trend.memory_wall(found, dtype=kin.dtype).ridge
    first = found[0].year
    ridges = {d.key: d.peak(kin.dtype).si / d.memory_bandwidth.si for d in found}
    base = line.at(first)[1]
    rest = [d for d in found if d.key not in names]
    _, *lines = _marks("ridge", line, list(ridges.values()), found, first, 0)
    for mark in lines:
        mark["y"] = [y * base for y in mark["y"]]
    lines[0]["name"] = "trend"
    dots = [
        {"kind": "dots", "evidence": "claimed", "name": name, "series": series,
         "label_at": at, "x": [d.year - first for d in some],
         "y": [ridges[d.key] for d in some]}
        for name, some, series, at in (
            ("others", rest, 5, "none"),
            *((d.short, [d], 1, "end") for d in found if d.key in names),
        )
    ]  # fmt: skip
    return {
        "title": f"The ridge grew {line.growth:.2f} times in two years; "
        f"single GPUs lie a factor of {line.spread:.2f} off the line.",
        "x": {"label": f"Years after {first}",
              "limits": [0, found[-1].year - first]},
        "y": {"label": f"Ridge, {kin.dtype} (FLOP/B)", "scale": "log",
              "unit": "FLOP/B"},
        "marks": [*dots, *lines],
        "readouts": [],
        "message": None,
    }  # fmt: skip
