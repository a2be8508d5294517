"""Which GPU, how many, and whose exchanges: a token's time, live."""

from __future__ import annotations

from typing import Any

from stacklib import hardware, roofline
from stacklib.interconnect.selection.machine import fabric
from stacklib.interconnect.selection.timed import collective_time
from stacklib.plots.live import choices
from stacklib.plots.live.parts import counted, here
from stacklib.plots.marks import Spec, axis, chart, line
from stacklib.plots.spec import readout

MODEL, CONTEXT, VECTOR, EXCHANGES = "llama-3-70b", 4096, 16_384, 160
SIZES = (1, 2, 4, 8, 16, 32, 64)
PAUSES = (0.0, 0.3, 0.5, 0.6, 1.0, 1.7, 5.0)  # ms
WAYS = (["library", "by NCCL"], ["own", "by the engine's own kernels"])


def controls() -> list[dict[str, Any]]:
    """Device, how many, what kernels add, and who exchanges."""
    return [
        choices.device("device", "Your GPU", "b200_sxm"),
        choices.slider("gpus", "How many", SIZES, 8),
        choices.select("way", "Exchanges", list(WAYS), "library"),
        choices.slider("pauses", "What starting kernels adds (ms)", PAUSES, 0.5),
    ]


def parts(device: str, gpus: int, way: str) -> tuple[float, float] | None:
    """Milliseconds of reading and of exchanges; None where the model does not fit."""
    step = roofline.decode_step(MODEL, on=device, tp=gpus, context=CONTEXT)
    if not step.fit.fits:
        return None
    read = 1e3 * float(step.time.si)
    if gpus == 1:
        return read, 0.0
    on = fabric(device, gpus)
    once = collective_time("all_reduce", VECTOR, on, direct=way == "own")
    return read, 1e3 * EXCHANGES * once.time


def explore(*, device: str, gpus: int, way: str, pauses: float) -> Spec:
    """A token by the number of GPUs that the model is split over."""
    found = {}
    for count in SIZES:
        try:
            one = parts(device, count, way)
        except (ValueError, LookupError):  # no links, or a format that it has not
            one = None
        if one is not None:
            found[count] = one
    short, mine = hardware.get(device).short, found.get(gpus)
    if not found:
        return chart(
            f"{short} does not run the model in bf16.",
            x=axis("GPUs", log=True),
            y=axis("A token (ms)"),
            marks=[],
            readouts=[],
            message="No number of them holds the model, or nothing is known of links.",
        )
    xs = list(found)
    whole = [read + pauses + sent for read, sent in found.values()]
    best = xs[whole.index(min(whole))]
    told = f"{best} x {short} make this token soonest."
    if mine is None:
        told = f"{gpus} x {short}: too small, or the exchange has no model."
    marks = [
        line(xs, whole, "a token", "predicted", at="key"),
        line(
            xs, [read for read, _ in found.values()], "reading", "predicted", at="key"
        ),
        line(
            xs, [sent for _, sent in found.values()], "exchanges", "predicted", at="key"
        ),
    ]
    readouts = []
    if mine is not None:
        total = sum(mine) + pauses
        marks.append(here(gpus, total, "yours"))
        readouts = [
            readout(
                "read", "Reading", counted(mine[0], "reading", "ms"), "part", unit="ms"
            ),
            readout(
                "sent",
                "Exchanges",
                counted(mine[1], "exchanges", "ms"),
                "part",
                unit="ms",
            ),
            readout(
                "token", "A token", counted(total, "a token", "ms"), "part", unit="ms"
            ),
            readout(
                "share",
                "Share of exchanges",
                counted(mine[1] / total, "share of exchanges"),
                "share",
                unit="%",
            ),
        ]
    return chart(
        told,
        x=axis("GPUs", log=True, ticks=SIZES, limits=(SIZES[0], SIZES[-1])),
        y=axis("A token (ms)"),
        marks=marks,
        readouts=readouts,
        about={"device": device},
    )
