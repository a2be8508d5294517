"""Advice, live: a profile that the reader sets, and what each route is worth."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from stacklib import hardware
from stacklib.kernels.plan.advise import ROUTES, Option, Profile, advise
from stacklib.plots.live import choices
from stacklib.plots.live.parts import counted
from stacklib.plots.marks import Mark, Spec, axis, chart, line, rule
from stacklib.plots.spec import readout
from stacklib.roofline.work.moving import memory_time

DEVICES = ("h100-sxm", "a100-sxm-80gb", "b200", "mi300x")
SHARES = (1, 2, 5, 10, 15, 20, 30, 40, 50, 60, 80)  # per cent of the GPU's time
ABOVE = (1.1, 1.25, 1.5, 2, 3, 4, 6, 8, 12)  # times the roofline's time
INTENSITIES = (0.25, 1, 4, 16, 64, 256, 1024)  # operations a byte that must cross
HOURS = tuple(round(10 ** (k / 2)) for k in range(4, 15))  # GPU-hours of the fleet
NEEDS = {
    "nothing special": "",
    "a product that no library has": "tensor",
    "control that depends on data": "data-dependent",
    "units that have just come out": "new-unit",
}
TOP = 400.0  # thousand USD, where the figure ends
MOVED = 1e9  # bytes that must cross in a call: it cancels out


def controls() -> list[dict[str, Any]]:
    """Share, slowness, intensity, fleet, device, and what some routes cannot do."""
    return [
        choices.select("device", "Device", choices.short(DEVICES), "h100-sxm"),
        choices.slider("share", "Share of the time (%)", SHARES, 15),
        choices.slider("above", "Time over the roofline's", ABOVE, 4),
        choices.slider("intensity", "Operations per byte", INTENSITIES, 1),
        choices.slider("hours", "GPU-hours of the fleet", HOURS, HOURS[6]),
        choices.select("needs", "It needs", {v: k for k, v in NEEDS.items()}, ""),
    ]


def explore(
    *,
    device: str,
    share: float,
    above: float,
    intensity: float,
    hours: float,
    needs: str,
) -> Spec:
    """What each route is worth, against the GPU-hours for which the kernel is used."""
    chip = hardware.get(device)
    operations = intensity * MOVED
    floor = max(operations / chip.peak("bf16").si, memory_time(MOVED, chip))

    def asked(fleet: float) -> Profile:
        return Profile(
            "yours",
            seconds=above * floor,
            share=share / 100,
            operations=operations,
            bytes=MOVED,
            moved=MOVED,
            gpu_hours=fleet,
            device=device,
            needs=frozenset({needs} - {""}),
            library=not needs,
        )

    found = advise(asked(hours))
    open_to = [o for o in found.options if not o.refused]
    soon = min(open_to, key=lambda o: o.enough)
    best = max(open_to, key=lambda o: o.saved)
    fleets = [10 ** (2 + k / 8) for k in range(41)]
    marks = list(_lines(fleets, [advise(asked(fleet)).options for fleet in fleets]))
    marks.append(rule("your fleet", "predicted", x=hours))
    said = [
        readout(
            "saved", "Most that a route saves", counted(best.saved, "saved"), unit="%"
        )
    ]
    if soon.saved:
        enough = counted(soon.enough, "enough", "h")
        said.append(
            readout("enough", f"{soon.route} pays from GPU-hours", enough, unit="h")
        )
    return chart(
        f"{chip.short}, {found.bound}-bound: {found.do}; {found.why}.",
        x=axis("GPU-hours of the fleet", log=True, limits=[HOURS[0], HOURS[-1]]),
        y=axis("Worth (thousand USD)", limits=[0, TOP]),
        marks=marks,
        readouts=said,
        about={"device": chip.key},
    )


def _lines(fleets: list[float], options: list[tuple[Option, ...]]) -> Iterator[Mark]:
    """A line for each open route, from where it pays to the figure's top."""
    for at, route in enumerate(ROUTES):
        mine = [found[at] for found in options]
        if mine[0].refused:
            continue
        worth = [option.worth / 1e3 for option in mine]
        pairs = zip(fleets, worth, strict=True)
        if shown := [(x, y) for x, y in pairs if 0 <= y <= TOP]:
            x, y = zip(*shown, strict=True)
            yield line(x, y, route.name, "predicted", series=at, at="key")
