"""A norm live: time against rows, as calls and as one kernel, on a device."""

from __future__ import annotations

from typing import Any

from stacklib import hardware
from stacklib.kernels.rows.norms import lane_waste, next_power, unmasked_variance
from stacklib.pages.kernels.norms.calls import NODE_S, cut, seconds
from stacklib.plots.live import choices
from stacklib.plots.live.parts import counted, here
from stacklib.plots.marks import Spec, axis, chart, line
from stacklib.plots.spec import readout
from stacklib.roofline.work.moving import moving_time

WIDTHS = (128, 768, 1024, 2048, 3072, 4096, 5120, 7168, 8192, 12288, 16384, 18432)
ROWS = tuple(2**k for k in range(17))


def controls() -> list[dict[str, Any]]:
    """Device, width of the model, rows, and the mean of a row."""
    some = choices.knowing(lambda device: device.memory_bandwidth, "gpu")
    return [
        choices.select("device", "Device", some, "h100_sxm"),
        choices.slider("columns", "Numbers in a row", WIDTHS, 8192),
        choices.slider("rows", "Rows", ROWS, 4096),
        choices.slider("mean", "Mean of a row", (0, 0.25, 0.5, 1, 2, 4), 1),
    ]


def explore(*, device: str, columns: int, rows: int, mean: float) -> Spec:
    """Microseconds of a norm against its rows, both ways."""
    chip = hardware.get(device)
    rate = chip.memory_bandwidth.across(1).si

    def took(count: int, fused: bool) -> float:
        return 1e6 * seconds(count, columns, rate, fused=fused)

    apart, one = took(rows, False), took(rows, True)
    idle = lane_waste(columns)
    found = unmasked_variance(1.0, mean, columns, next_power(columns))
    few = moving_time(cut(rows, columns, fused=True).fused_bytes, rate) < NODE_S
    why = "its start" if few else "its bytes"
    return chart(
        f"{rows:,} rows of {columns:,} on {chip.short}: the one kernel pays for {why}.",
        x=axis("Rows", log=True, limits=[1, ROWS[-1]]),
        y=axis("Time (µs)", log=True, unit="µs"),
        marks=[
            line(ROWS, [took(n, False) for n in ROWS], "eight calls", "predicted"),
            line(ROWS, [took(n, True) for n in ROWS], "one kernel", "predicted"),
            here(rows, one, "your norm"),
        ],
        readouts=[
            readout("apart", "Eight calls", counted(apart, "calls", "µs"), unit="µs"),
            readout("one", "One kernel", counted(one, "kernel", "µs"), unit="µs"),
            readout("idle", "Idle lanes", counted(idle, "idle"), "share", unit="%"),
            readout(
                "variance",
                "Variance without the mask, where it is one",
                counted(found, "variance"),
                digits=4,
            ),
        ],
        about={"device": device},
    )
