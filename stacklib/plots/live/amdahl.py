"""Amdahl explorer: what workers buy when a share of the work cannot be spread.

The serial share may itself be made faster: then it is one part with a gain of its
own, and the rest another, with the workers as its gain.
"""

from __future__ import annotations

from typing import Any

from stacklib.plots.live import choices
from stacklib.plots.live.parts import chosen, here
from stacklib.plots.marks import Mark, Spec, axis, chart, line
from stacklib.plots.spec import readout
from stacklib.quantity import Quantity
from stacklib.roofline.bound import scaling

SHARES = (0, 1, 2, 5, 10, 15, 20, 25, 30, 40, 50, 60, 75, 100)  # percent
WORKERS = tuple(2**e for e in range(11))
GAINS = (1, 2, 3, 5, 10, 100)


def controls() -> list[dict[str, Any]]:
    """Sliders of ``explore``."""
    return [
        choices.slider("serial", "Serial share (%)", SHARES, 10),
        choices.slider("workers", "Workers", WORKERS, 8),
        choices.slider("gain", "Serial part made faster, times", GAINS, 1),
    ]


def explore(*, serial: int, workers: int, gain: int) -> Spec:
    """Speed-up against workers: percent serial, and how much faster that is made."""
    share = chosen(serial / 100, "", "serial share")
    faster = chosen(gain, "", "gain of the serial part")
    found = _speed_up(share, faster, workers).named("speed-up")
    many = "worker" if workers == 1 else "workers"
    return chart(
        f"{workers:,} {many} make it {found:.3} times faster.",
        x=axis("Workers", log=True, limits=[1, WORKERS[-1]]),
        y=axis("Speed-up", log=True, limits=[1, 2 * WORKERS[-1]]),
        marks=_curves(serial / 100, gain, workers),
        readouts=_readouts(found, share, faster, workers),
    )


def _readouts(
    found: Quantity, share: Quantity, gain: Quantity, workers: int
) -> list[dict[str, Any]]:
    scaled = scaling.gustafson(share, _many(workers)).named("scaled speed-up")
    idle = _idle(share, gain, workers)
    said = [
        readout("speed-up", "Speed-up", found),
        readout("scaled", "Work in the same time (Gustafson)", scaled),
        readout("idle", "Workers idle, on average", idle, "share", unit="%"),
    ]
    if share.si:
        limit = (scaling.amdahl_limit(share) * gain).named("limit of the speed-up")
        said.insert(1, readout("limit", "Limit for any number of workers", limit))
    return said


def _many(workers: int) -> Quantity:
    return chosen(workers, "", "workers")


def _speed_up(share: Any, gain: Any, workers: Any) -> Any:
    return scaling.speed_up_of_parts([share, 1 - share], [gain, _many(workers)])


def _idle(share: Quantity, gain: Quantity, workers: int) -> Quantity:
    """Share of all workers' time in which they wait for the serial part."""
    rest = (1 - share) / _many(workers)
    alone = share / gain
    waiting = (1 - 1 / _many(workers)) * alone / (alone + rest)
    return waiting.named("idle share")


def _curves(share: float, gain: float, workers: int) -> list[Mark]:
    """The law with and without the gain, the ideal, and the point chosen."""

    def law(gain: float, workers: int) -> float:
        return scaling.speed_up_of_parts([share, 1 - share], [gain, workers])

    ends = [1, WORKERS[-1]]
    ways = [(1.0, "this share serial")]
    if gain > 1 and share:
        ways.append((gain, "and made faster"))
    return [
        line(ends, ends, "all of it spread", "predicted", series=5),
        *(
            line(WORKERS, [law(g, n) for n in WORKERS], name, "predicted", series=i)
            for i, (g, name) in enumerate(ways)
        ),
        here(workers, law(gain, workers)),
    ]
