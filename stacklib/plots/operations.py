"""Operations by intensity and bytes, with the ridges of devices between them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stacklib import hardware, roofline
from stacklib.roofline.count.operations import Operation, total
from stacklib.roofline.work.work import Work

_GROUPS = {"products": ("product", "attention"), "elementwise": ("elementwise",)}


def _dots(listed: Sequence[Operation], kinds: Sequence[str]) -> dict[str, list[float]]:
    """Intensity and megabytes of each operation of some kinds; attention is one."""
    chosen: list[Work] = [op for op in listed if op.kind in kinds]
    if "attention" in kinds:
        chosen = [op for op in listed if op.kind == "product"]
        chosen.append(total(list(listed), "attention"))
    points = sorted((op.intensity.si, op.bytes.si / 1e6) for op in chosen)
    return {"x": [x for x, _ in points], "y": [y for _, y in points]}


def operations_spec(
    phases: Mapping[str, Sequence[Operation]],
    devices: Mapping[str, str],
    *,
    title: str,
) -> dict[str, Any]:
    """Spec of operations as dots: FLOP a byte across, bytes up, ridges as rules.

    What stands left of a device's rule waits for its memory.

    Parameters
    ----------
    phases : mapping of str to list
        From ``block_operations``, by the name of the phase.
    devices : mapping of str to str
        Device to number format of its ridge.
    title : str
        A sentence saying what the figure shows.

    Raises
    ------
    UnknownName, UnknownSpec
        For an unknown device, or one without a rate for its format.
    """
    marks: list[dict[str, Any]] = []
    for series, (phase, listed) in enumerate(phases.items()):
        for group, kinds in _GROUPS.items():
            marks.append({"kind": "dots", "evidence": "predicted", "series": series,
                          "name": f"{phase}, {group}",
                          **_dots(listed, kinds)})  # fmt: skip
    for place, (key, dtype) in enumerate(devices.items()):
        device, point = hardware.get(key), roofline.ridge(key, dtype)
        own = device.key == hardware.THIS_MACHINE
        marks.append({"kind": "vline", "evidence": "predicted", "x": [point.si],
                      "name": f"{device.short} {point.text().split()[0]}",
                      "series": len(phases) + place, "this_machine": own})  # fmt: skip
    return {
        "title": title,
        "x": {"label": "Arithmetic intensity (FLOP/B)", "scale": "log",
              "unit": "FLOP/B", "limits": [0.1, 5_000]},
        "y": {"label": "Bytes moved (MB)", "scale": "log", "unit": "MB",
              "limits": [0.001, 1000]},
        "marks": marks,
        "readouts": [],
        "message": None,
    }  # fmt: skip
