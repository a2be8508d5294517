"""Nine bets as points: the bandwidth of a chip, and the peak of its arithmetic."""

from __future__ import annotations

from stacklib import hardware
from stacklib.accelerators.machines.rows import BETS
from stacklib.plots.marks import Mark, Spec, axis, chart, dots, line

RIDGES = (1, 10, 100, 1000)  # operations a byte
LOW, HIGH, TOP = 0.05, 3e4, 5e4  # TB/s, and T operations/s


def bets_spec(*, title: str) -> Spec:
    """Bandwidth against peak, with lines of equal operations a byte; H100 beside."""
    marks: list[Mark] = [
        line(
            [LOW, min(HIGH, TOP / ridge)],
            [ridge * LOW, min(ridge * HIGH, TOP)],
            f"{ridge:,} FLOP/B",
            "predicted",
            series=index,
        )
        for index, ridge in enumerate(RIDGES)
    ]
    points = [(row.on, row.dtype) for row in BETS] + [("h100_sxm", "bf16")]
    for on, dtype in points:
        device = hardware.get(on)
        rate = device.fields.get("memory_bandwidth")
        if rate is None or dtype not in device.formats:
            continue
        marks.append(
            dots(
                rate.to("TB/s").value,
                device.peak(dtype).si / 1e12,
                device.short,
                "data sheet",
                series=5,
                device=on,
                dtype=dtype,
            )
        )
    return chart(
        title,
        x=axis("Memory bandwidth (TB/s)", log=True, unit="TB/s", limits=[LOW, HIGH]),
        y=axis("Dense peak (T operations per second)", log=True, limits=[5, TOP]),
        marks=marks,
    )
