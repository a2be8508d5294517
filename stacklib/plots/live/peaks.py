"""A peak and its factors, live: units, multiply-adds, two, a clock.

The line is what the chip does at each clock. Sparse doubles it, on paper.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from stacklib import gpu, hardware
from stacklib.hardware import UnknownSpec
from stacklib.quantity import Quantity

from ..spec import readout
from . import choices

CLOCKS = (20, 30, 40, 50, 60, 70, 80, 90, 100)  # of the printed clock, in percent
KINDS = [["dense", "dense"], ["sparse", "2:4 sparse"]]


@cache
def _devices() -> list[list[str]]:
    """GPUs with a rate of 16 bits that can be built."""
    found = []
    for key, name in choices.devices():
        try:
            if hardware.get(key).kind == "gpu":
                gpu.peak_of(key, "fp16")
                found.append([key, name])
        except LookupError:
            continue
    return found


def controls() -> list[dict[str, Any]]:
    """Menus and slider of ``explore``."""
    return [
        choices.select("device", "Device", _devices(), "h100_sxm"),
        choices.select("dtype", "Format", choices.formats(), "bf16"),
        choices.select("kind", "Weights", KINDS, "dense"),
        choices.slider("clock", "Clock (% of the printed one)", CLOCKS, 100),
    ]


def explore(*, device: str, dtype: str, kind: str, clock: int) -> dict[str, Any]:
    """Spec of the rate against the clock.

    Parameters
    ----------
    device, dtype : str
        Key of the device; a number format.
    kind : str
        ``dense`` or ``sparse``.
    clock : int
        Percent of the printed clock.

    Returns
    -------
    dict
        A figure spec; a device without the format gets a message and no rate.
    """
    chip = hardware.get(device)
    axes = {
        "x": {"label": "Clock (GHz)", "limits": [0, 3]},
        "y": {"label": "Rate (TFLOP/s)", "limits": [0, 1000]},
    }
    try:
        row = gpu.peak_of(chip, dtype)
        if kind == "sparse":
            chip.peak(dtype, sparse=True)
    except UnknownSpec as unknown:
        return {"title": f"{chip.short} has no such rate.", **axes, "marks": [],
                "readouts": [], "message": f"{unknown}.", "about": {}}  # fmt: skip
    gain = chip.peaks[row.name].sparse_factor if kind == "sparse" else None
    share = Quantity(clock, "%", label="share of the clock", kind="assumption")
    built = (row.built * share).named(f"{chip.short} {dtype}, dense")
    if gain is not None:
        built = built.retag("sparse", gain)
    full = row.built.si * (gain or 1) / 1e12
    # room for the sparse rate too, so that a change of the weights is seen
    top = 1.1 * row.built.si * chip.peaks[row.name].sparse_factor / 1e12
    axes["y"]["limits"] = [0, top]
    ghz = row.clock.si / 1e9
    x = [ghz * part / 100 for part in CLOCKS]
    marks = [
        {"kind": "line", "evidence": "predicted", "name": f"{chip.short} {dtype}",
         "x": x, "y": [full * part / 100 for part in CLOCKS], "label_at": "none"},
        {"kind": "dots", "evidence": "predicted", "name": "at this clock",
         "x": [ghz * clock / 100], "y": [full * clock / 100], "series": 4,
         "this_machine": False, "label_at": "none"},
    ]  # fmt: skip
    words = "Clock, implied by a printed peak" if row.implied else "Clock"
    return {
        "title": f"{chip.short}, {dtype}, {kind}: {built.text('TFLOP/s', 4)}.",
        **axes,
        "marks": marks,
        "readouts": [
            readout("units", "Compute units", row.units),
            readout("macs", "Multiply-adds a unit", row.macs, digits=4),
            readout("clock", words, row.clock * share),
            readout("rate", "Rate", built, "spec", unit="TFLOP/s", digits=4),
        ],
        "message": None,
        "about": {},
    }  # fmt: skip
