"""A tile of attention on an SM, live: cycles by unit, and what overlap makes of it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from stacklib import hardware
from stacklib.hardware import UnknownSpec
from stacklib.kernels.schedule.generations import run
from stacklib.kernels.schedule.rates import newest, rates_of
from stacklib.kernels.schedule.rules import RULES
from stacklib.plots.live import choices
from stacklib.plots.live.parts import counted
from stacklib.plots.marks import Spec, axis, bar, chart, rule
from stacklib.plots.spec import readout
from stacklib.quantity import UnknownName

DEVICES = ("a100_sxm_80gb", "h100_sxm", "b200_sxm", "b300_sxm", "rubin")
FORMATS = ("bf16", "fp8")
HEADS = (64, 128, 192, 256)
EXP = (8, 16, 32, 64)
SHARES = (0.0, 0.1, 0.2, 0.25, 0.3, 0.4, 0.5)
WAYS = {"turns": "one group, in turns", "pingpong": "two groups, ping-pong"}
WIDEST = 2400.0  # cycles shown, where no more are needed
SUMS = {"each": "for each tile", "needed": "only where needed"}
ROWS = {"tensor": "products", "exp": "exponentials", "FP32": "FP32 lanes"}


def controls() -> list[dict[str, Any]]:
    """The chip, the head, and the tricks."""
    return [
        choices.select("device", "Device", choices.short(DEVICES), "b200_sxm"),
        choices.select("dtype", "Format", [[f, f] for f in FORMATS], "bf16"),
        choices.slider("head_dim", "Head size", HEADS, 128),
        choices.slider("exp", "Exponentials per cycle and SM", EXP, 16),
        choices.select("way", "Warp groups", WAYS, "turns"),
        choices.slider("software", "Share of exponentials in software", SHARES, 0.0),
        choices.select("rescale", "Rescale", SUMS, "each"),
    ]


def explore(
    *,
    device: str,
    dtype: str,
    head_dim: int,
    exp: int,
    way: str,
    software: float,
    rescale: str,
) -> Spec:
    """Cycles of a tile of each group by unit, beside the pace of the schedule."""
    short = hardware.get(device).short
    y = axis("Unit", ticks=[0, 1, 2], names=list(ROWS.values()), limits=[2.6, -0.6])
    x = axis("Cycles for a tile", limits=[0, WIDEST])
    try:
        rates = replace(rates_of(device, dtype), exp=float(exp))
    except (UnknownName, UnknownSpec):
        told = f"{short} has no {dtype}."
        return chart(told, x=x, y=y, marks=[rule("", "predicted", x=1)], message=told)
    own = "fa4" if newest(hardware.get(device)) == "tcgen05.mma" else "fa3"
    plan = replace(
        RULES[own],
        name="yours",
        dtype=dtype,
        head_dim=head_dim,
        groups=2 if way == "pingpong" else 1,
        ahead=way == "pingpong",
        software_exp=software,
        rescale=rescale == "each",
        pair=True,
    )
    found = run(plan, device, rates)
    units = dict.fromkeys(ROWS, 0.0)
    for stage in found.timeline.stages:
        units[stage.unit] += stage.time / plan.groups
    pace = found.pace / plan.groups
    binds = ROWS.get(found.binds, "taking turns")
    marks = [
        bar(0, units[unit], row, name, "predicted", at="none", series=row)
        for row, (unit, name) in enumerate(ROWS.items())
    ]
    share = found.utilisation
    x = axis("Cycles for a tile", limits=[0, max(WIDEST, 1.1 * pace)])
    return chart(
        f"{short} reaches {100 * share:.0f} % of its peak; what binds: {binds}.",
        x=x,
        y=y,
        marks=[*marks, rule("a tile done", "predicted", x=pace)],
        readouts=[
            readout("pace", "Cycles for a tile", counted(pace, "pace")),
            readout(
                "busy",
                "Tensor cores busy",
                counted(found.overlapped, "busy"),
                "share",
                unit="%",
            ),
            readout(
                "share", "Of the peak", counted(share, "utilisation"), "share", unit="%"
            ),
            readout(
                "rate",
                "Rate",
                counted(share * rates.peak, "rate", "FLOP/s"),
                unit="TFLOP/s",
            ),
        ],
    )
