"""Rooflines as a spec: attainable rate against intensity, ridges labelled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stacklib import hardware, roofline
from stacklib.quantity import DTYPES, Quantity

RATE = "TFLOP/s"
SPAN = (0.1, 10_000.0)  # FLOP/B
# The format a device is spoken of in: the first it has a rate for.
SPOKEN = ("bf16", "fp16", "fp8", "fp4", "fp32", "fp64")


def _points(lo: float, ridge: float, hi: float) -> list[float]:
    return [lo, *([ridge] if lo < ridge < hi else []), hi]


def _rate(intensity: float, device: hardware.Accelerator, dtype: str) -> float:
    peak = device.peak(dtype).si
    return roofline.attainable(intensity, peak, device.memory_bandwidth.si) / 1e12


def _device_marks(
    device: hardware.Accelerator,
    dtype: str,
    span: tuple[float, float],
    series: int,
    name: str = "",
) -> list[dict[str, Any]]:
    ridge = roofline.ridge(device, dtype)
    xs = _points(span[0], ridge.si, span[1])
    own = device.key == hardware.THIS_MACHINE
    common = {"evidence": "predicted", "series": series, "this_machine": own,
              "device": device.key, "dtype": dtype}  # fmt: skip
    roof = {"kind": "line", "name": name or device.short, "x": xs,
            "y": [_rate(x, device, dtype) for x in xs]}  # fmt: skip
    foot = {"kind": "vline", "name": f"ridge {ridge.text().split()[0]}",
            "x": [ridge.si], "y": [_rate(ridge.si, device, dtype)]}  # fmt: skip
    return [{**common, **roof}, {**common, **foot}]


def _as_list(value: Any) -> list[Quantity]:
    return [value] if isinstance(value, Quantity) else list(value)


def _point_mark(point: Mapping[str, Any], series: Mapping[str, int]) -> dict[str, Any]:
    """One row of dots from quantities: name, intensity, rate, evidence, device."""
    xs, ys = _as_list(point["intensity"]), _as_list(point["rate"])
    mark = {
        "kind": "dots",
        "evidence": point["evidence"],
        "name": point["name"],
        "x": [x.to("FLOP/B").value for x in xs],
        "y": [y.to(RATE).value for y in ys],
        "series": series.get(point.get("device", ""), len(series)),
        "this_machine": point.get("device") == hardware.THIS_MACHINE,
    }
    if point.get("spread"):
        mark["spread"] = [[q.to(RATE).value for q in pair] for pair in point["spread"]]
    for name in ("device", "dtype", "chips", "level", "label_at"):
        if name in point:
            mark[name] = point[name]
    return mark


def roofline_spec(
    devices: Sequence[str],
    dtype: str | Mapping[str, str] = "bf16",
    *,
    title: str,
    points: Sequence[Mapping[str, Any]] = (),
    span: tuple[float, float] = SPAN,
) -> dict[str, Any]:
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
        ``dtype``, ``chips``, ``level``, ``label_at``.
    span : pair of float
        Intensities drawn, FLOP/B.

    Raises
    ------
    UnknownName, UnknownSpec
        For an unknown device, or one without a rate for ``dtype``.
    """
    found = [hardware.get(name) for name in devices]
    series = {device.key: i for i, device in enumerate(found)}
    marks = []
    for name, device in zip(devices, found, strict=True):
        own = dtype if isinstance(dtype, str) else dtype[name]
        marks += _device_marks(device, own, span, series[device.key])
    marks += [_point_mark(point, series) for point in points]
    return {
        "title": title,
        "x": {"label": "Arithmetic intensity (FLOP/B)", "scale": "log",
              "unit": "FLOP/B"},
        "y": {"label": f"Attainable rate ({RATE})", "scale": "log", "unit": RATE},
        "marks": marks,
        "readouts": [],
        "message": None,
    }  # fmt: skip


def main_format(device: hardware.Accelerator) -> str | None:
    """The format a device is spoken of in; None where it has no floating-point rate.

    Parameters
    ----------
    device : Accelerator
        Any device of the database.
    """
    return next((name for name in SPOKEN if name in device.formats), None)


def roofs(device: hardware.Accelerator) -> list[tuple[str, list[str]]]:
    """Floating-point formats of a device, widest first, those of one rate together.

    Parameters
    ----------
    device : Accelerator
        Any device of the database.

    Returns
    -------
    list of tuple
        What the roof is called, such as ``"bf16, fp16"``, and its formats.
    """
    found: dict[float, list[str]] = {}
    for dtype in DTYPES.values():
        if dtype.operation == "FLOP" and dtype.name in device.formats:
            found.setdefault(device.peak(dtype.name).si, []).append(dtype.name)
    return [(", ".join(names), names) for names in found.values()]


def device_roofline_spec(device: hardware.Accelerator) -> dict[str, Any]:
    """Spec of one device's rooflines, a roof for each floating-point rate.

    Parameters
    ----------
    device : Accelerator
        One whose bandwidth and at least one rate are known.

    Raises
    ------
    UnknownSpec
        Where the bandwidth or every rate is unknown.
    """
    spoken = main_format(device)
    if spoken is None:
        raise hardware.UnknownSpec(f"{device.key}: no floating-point rate is known")
    ridge = roofline.ridge(device, spoken)
    title = f"{device.short}: memory is the limit below {ridge.text()} in {spoken}."
    marks = []
    for i, (name, (first, *_)) in enumerate(roofs(device)):
        marks += _device_marks(device, first, SPAN, i, name)
    return {**roofline_spec([], title=title), "marks": marks}
