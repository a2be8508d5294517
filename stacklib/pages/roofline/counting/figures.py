"""Operations by intensity and bytes, with the ridges of devices between them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from stacklib import hardware, roofline
from stacklib.plots.marks import Mark, Spec, axis, chart, dots, rule
from stacklib.roofline.count.operations import Operation, total
from stacklib.roofline.work.work import Work

_GROUPS = {"products": ("product", "attention"), "elementwise": ("elementwise",)}


def _points(
    listed: Sequence[Operation], kinds: Sequence[str]
) -> list[tuple[float, float]]:
    """Intensity and megabytes of each operation of some kinds; attention is one."""
    chosen: list[Work] = [op for op in listed if op.kind in kinds]
    if "attention" in kinds:
        chosen = [op for op in listed if op.kind == "product"]
        chosen.append(total(list(listed), "attention"))
    return sorted((op.intensity.si, op.bytes.si / 1e6) for op in chosen)


def _ridge(key: str, dtype: str, series: int) -> Mark:
    device, point = hardware.get(key), roofline.ridge(key, dtype)
    own = device.key == hardware.THIS_MACHINE
    name = f"{device.short} {point.text().split()[0]}"
    return rule(name, "predicted", x=point.si, series=series, this_machine=own)


def _phases(phases: Mapping[str, Sequence[Operation]]) -> Iterator[Mark]:
    for series, (phase, listed) in enumerate(phases.items()):
        for group, kinds in _GROUPS.items():
            x, y = zip(*_points(listed, kinds), strict=True)
            yield dots(x, y, f"{phase}, {group}", "predicted", series=series)


def operations_spec(
    phases: Mapping[str, Sequence[Operation]],
    devices: Mapping[str, str],
    *,
    title: str,
) -> Spec:
    """Operations as dots, FLOP a byte across and bytes up; devices' ridges as rules.

    What stands left of a device's rule waits for its memory. ``phases`` are lists from
    ``block_operations``, ``devices`` name the number format of each ridge.
    """
    ridges = [_ridge(*of, len(phases) + i) for i, of in enumerate(devices.items())]
    span, unit = [0.1, 5_000], "FLOP/B"
    return chart(
        title,
        x=axis("Arithmetic intensity (FLOP/B)", log=True, unit=unit, limits=span),
        y=axis("Bytes moved (MB)", log=True, unit="MB", limits=[0.001, 1000]),
        marks=[*_phases(phases), *ridges],
    )
