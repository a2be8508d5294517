"""Which GPU, and how it is told what to do: a token's time, live."""

from __future__ import annotations

from typing import Any

from stacklib import hardware, roofline
from stacklib.kernels.launch.launches import cost, launch_time, replay_time
from stacklib.pages.kernels import fusion
from stacklib.plots.live import choices
from stacklib.plots.live.parts import counted
from stacklib.plots.marks import Mark, Spec, across, axis, bar, chart
from stacklib.plots.spec import readout
from stacklib.quantity import Quantity

MODEL, CHIPS, CONTEXT = "llama-3-70b", 8, 4096
BESIDE = ("a100_sxm_80gb", "h100_sxm", "h200_sxm", "mi300x", "b200_sxm")
REPLAY = cost("replay").si  # s, to submit a graph
SUBMITS = (2, 4, 6, 10, 20, 40)  # us
NODES = (0.25, 0.5, 1.0, 1.5, 2.0)  # us


def controls() -> list[dict[str, Any]]:
    """Device, how kernels are made and handed over, and what that costs."""
    yes = [["yes", "fused"], ["no", "one an operator"]]
    return [
        choices.device("device", "Your device, eight of them", "b200_sxm"),
        choices.select("fused", "Kernels", yes, "no"),
        choices.select("graph", "As a graph", [["yes", "yes"], ["no", "no"]], "no"),
        choices.slider("submit", "Submission (us)", SUBMITS, 20),
        choices.slider("node", "Node of a graph (us)", NODES, 0.5),
    ]


def seconds(reading: float, count: int, graph: bool, submit: float, node: float) -> Any:
    """A step: kernels of equal length, started in either way."""
    each = reading / count
    if graph:
        return replay_time(count, each, replay_s=REPLAY, node_s=node)
    return launch_time(count, each, submit_s=submit)


def _time(value: float, label: str) -> Quantity:
    return counted(value, label, "s")


def explore(*, device: str, fused: str, graph: str, submit: float, node: float) -> Spec:
    """A token of the model on eight of your devices, and of five others."""
    count = int(fusion.kernels(fused=fused == "yes").si)
    found: dict[str, tuple[float, float]] = {}
    for key in (device, *(k for k in BESIDE if k != device)):
        chip = hardware.get(key)
        if "bf16" not in chip.formats:
            continue
        step = roofline.decode_step(MODEL, on=chip, tp=CHIPS, context=CONTEXT)
        if step.fit.fits:
            read = float(step.time.si)
            args = (count, graph == "yes", submit * 1e-6, node * 1e-6)
            found[key] = read, float(seconds(read, *args))
    mine, short = found.get(device), hardware.get(device).short
    how = "as a graph" if graph == "yes" else "one by one"
    told = f"{short} does not hold the model in bf16."
    if mine:
        told = f"{count:,} kernels {how} on 8 x {short}: {1e3 * mine[1]:.3g} ms."
    longest = max((whole for _, whole in found.values()), default=1e-3)
    return chart(
        told,
        x=axis("Time per token (ms)", unit="ms", limits=(0, 1.5e3 * longest)),
        y=axis("Devices, yours on top", ticks=(), limits=across(max(len(found), 1))),
        marks=[m for row, key in enumerate(found) for m in _bars(found, key, row)],
        readouts=_readouts(mine, count),
        message=None if mine else "Eight of them are too small, or have no bf16.",
        about={"device": device, "chips": CHIPS},
    )


def _bars(found: dict[str, tuple[float, float]], key: str, row: int) -> list[Mark]:
    read, whole = found[key]
    place = len(found) - 1 - row
    name = f"8 x {hardware.get(key).short}"
    spans = ((0.0, 1e3 * read, "", 2), (1e3 * read, 1e3 * whole, name, 4))
    return [
        bar(
            *(begin, end, place, words, "predicted"),
            layer=layer,
            device=key,
            dtype="bf16",
            chips=CHIPS,
            role="part",
        )
        for begin, end, words, layer in spans
    ]


def _readouts(mine: tuple[float, float] | None, count: int) -> list[dict[str, Any]]:
    if mine is None:
        return []
    read, whole = mine
    return [
        readout("kernels", "Kernels of a step", counted(count, "kernels")),
        readout("read", "Reading", _time(read, "reading"), unit="ms"),
        readout("step", "Per token", _time(whole, "step"), unit="ms"),
        readout(
            "idle",
            "Nothing is read in",
            counted(1 - read / whole, "share not read"),
            "share",
            unit="%",
        ),
    ]
