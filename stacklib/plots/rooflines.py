"""Rooflines as a spec: attainable rate against intensity, ridges labelled."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from stacklib import hardware, roofline
from stacklib.quantity import DTYPES, Quantity

from .marks import About, Mark, Spec, axis, chart, dots, line, rows, rule

RATE = "TFLOP/s"
SPAN = (0.1, 10_000.0)  # FLOP/B
ABOUT = ("device", "dtype", "chips", "level")  # of a point
# The format a device is spoken of in: the first it has a rate for.
SPOKEN = ("bf16", "fp16", "fp8", "fp4", "fp32", "fp64")


def _rate(intensity: float, device: hardware.Accelerator, dtype: str) -> float:
    peak = device.peak(dtype).si
    return roofline.attainable(intensity, peak, device.memory_bandwidth.si) / 1e12


def _device_marks(
    device: hardware.Accelerator,
    dtype: str,
    span: tuple[float, float],
    series: int,
    name: str = "",
) -> list[Mark]:
    """Its roof, and a rule under the ridge."""
    ridge = roofline.ridge(device, dtype)
    lo, hi = span
    xs = [lo, *([ridge.si] if lo < ridge.si < hi else []), hi]
    rates = [_rate(x, device, dtype) for x in xs]
    foot, top = f"ridge {ridge.text().split()[0]}", _rate(ridge.si, device, dtype)
    own = device.key == hardware.THIS_MACHINE
    about = About(this_machine=own, device=device.key, dtype=dtype)
    return [
        line(xs, rates, name or device.short, "predicted", series=series, **about),
        rule(foot, "predicted", x=ridge.si, to=top, series=series, **about),
    ]


def _listed(value: Quantity | Iterable[Quantity]) -> list[Quantity]:
    return [value] if isinstance(value, Quantity) else list(value)


def _values(value: Quantity | Iterable[Quantity], unit: str) -> list[float]:
    return [q.to(unit).value for q in _listed(value)]


def _point_mark(point: Mapping[str, Any], series: Mapping[str, int]) -> Mark:
    """One row of dots from quantities: name, intensity, rate, evidence, device."""
    name, evidence = point["name"], point["evidence"]
    read = rows if evidence == "measured" else _values
    x, y = _values(point["intensity"], "FLOP/B"), read(_listed(point["rate"]), RATE)
    ends = [read(pair, RATE) for pair in point.get("spread", ())] or None
    key = point.get("device", "")
    about: Any = {name: point[name] for name in ABOUT if name in point}
    own = About(this_machine=key == hardware.THIS_MACHINE and "series" not in point)
    at = point.get("label_at", "end")
    colour = point.get("series", series.get(key, len(series)))
    return dots(x, y, name, evidence, spread=ends, at=at, series=colour, **own, **about)


def roofline_spec(
    devices: Sequence[str],
    dtype: str | Mapping[str, str] = "bf16",
    *,
    title: str,
    points: Sequence[Mapping[str, Any]] = (),
    span: tuple[float, float] = SPAN,
) -> Spec:
    """Spec of one or more rooflines, log-log, each ridge labelled.

    Parameters
    ----------
    devices : sequence of str
        Device names.
    dtype : str or mapping of str to str
        Number format of the peaks; by device name where they differ.
    title : str
        A sentence saying what the figure shows.
    points : sequence of dict
        Rows of dots: ``name``, ``intensity`` and ``rate`` (a Quantity or a list
        of them), ``evidence``; optional ``spread`` (pairs of rates), ``device``,
        ``dtype``, ``chips``, ``level``, ``label_at``, ``series``.
    span : pair of float
        Intensities drawn, FLOP/B.

    Raises
    ------
    UnknownName, UnknownSpec
        For an unknown device, or one without a rate for ``dtype``.
    """
    found = [hardware.get(name) for name in devices]
    series = {device.key: i for i, device in enumerate(found)}
    marks: list[Mark] = []
    for name, device in zip(devices, found, strict=True):
        own = dtype if isinstance(dtype, str) else dtype[name]
        marks += _device_marks(device, own, span, series[device.key])
    return chart(
        title,
        x=axis("Arithmetic intensity (FLOP/B)", log=True, unit="FLOP/B"),
        y=axis(f"Attainable rate ({RATE})", log=True, unit=RATE),
        marks=[*marks, *(_point_mark(point, series) for point in points)],
    )


def main_format(device: hardware.Accelerator) -> str | None:
    """The format a device is spoken of in; None where it has no floating-point rate."""
    return next((name for name in SPOKEN if name in device.formats), None)


def roofs(device: hardware.Accelerator) -> list[tuple[str, list[str]]]:
    """Floating-point formats of a device, widest first, those of one rate together."""
    found: dict[float, list[str]] = {}
    for dtype in DTYPES.values():
        if dtype.operation == "FLOP" and dtype.name in device.formats:
            found.setdefault(device.peak(dtype.name).si, []).append(dtype.name)
    return [(", ".join(names), names) for names in found.values()]


def device_roofline_spec(device: hardware.Accelerator) -> Spec:
    """Spec of one device's rooflines, a roof for each floating-point rate."""
    spoken = main_format(device)
    if spoken is None:
        raise hardware.UnknownSpec(f"{device.key}: no floating-point rate is known")
    ridge = roofline.ridge(device, spoken)
    title = f"{device.short}: memory is the limit below {ridge.text()} in {spoken}."
    marks = []
    for i, (name, (first, *_)) in enumerate(roofs(device)):
        marks += _device_marks(device, first, SPAN, i, name)
    return {**roofline_spec([], title=title), "marks": marks}
