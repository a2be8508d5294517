"""Amdahl explorer: what workers buy when a share of the work cannot be spread.

The serial share may itself be made faster: then it is one part with a gain of its
own, and the rest another, with the workers as its gain.
"""

from __future__ import annotations

from typing import Any

from stacklib.quantity import Quantity
from stacklib.roofline.bound import scaling

from ..spec import readout
from . import choices

SHARES = (0, 1, 2, 5, 10, 15, 20, 25, 30, 40, 50, 60, 75, 100)  # percent
WORKERS = tuple(2**e for e in range(11))
GAINS = (1, 2, 3, 5, 10, 100)
X = {"label": "Workers", "scale": "log", "limits": [1, WORKERS[-1]]}
Y = {"label": "Speed-up", "scale": "log", "limits": [1, 2 * WORKERS[-1]]}


def controls() -> list[dict[str, Any]]:
    """Sliders of ``explore``."""
    return [
        choices.slider("serial", "Serial share (%)", SHARES, 10),
        choices.slider("workers", "Workers", WORKERS, 8),
        choices.slider("gain", "Serial part made faster, times", GAINS, 1),
    ]


def explore(*, serial: int, workers: int, gain: int) -> dict[str, Any]:
    """Spec of speed-up against workers, with the chosen number marked.

    Parameters
    ----------
    serial : int
        Percent of one worker's time that cannot be spread.
    workers : int
        How many share the rest.
    gain : int
        How many times faster the serial part is made.

    Returns
    -------
    dict
        A figure spec with the speed-up, its limit and the idle share as readouts.
    """
    share = Quantity(serial / 100, label="serial share", kind="assumption")
    faster = Quantity(gain, label="gain of the serial part", kind="assumption")
    found = _speed_up(share, faster, workers).named("speed-up")
    readouts = [
        readout("speed-up", "Speed-up", found),
        readout("scaled", "Work in the same time (Gustafson)",
                scaling.gustafson(share, _many(workers)).named("scaled speed-up")),
        readout("idle", "Workers idle, on average", _idle(share, faster, workers),
                "share", unit="%"),
    ]  # fmt: skip
    if serial:
        limit = (scaling.amdahl_limit(share) * faster).named("limit of the speed-up")
        readouts.insert(1, readout("limit", "Limit for any number of workers", limit))
    many = "worker" if workers == 1 else "workers"
    return {
        "title": f"{workers:,} {many} make it {found:.3} times faster.",
        "x": X,
        "y": Y,
        "marks": _marks(serial / 100, gain, workers),
        "readouts": readouts,
        "message": None,
    }


def _many(workers: int) -> Quantity:
    return Quantity(workers, label="workers", kind="assumption")


def _speed_up(share: Any, gain: Any, workers: int) -> Any:
    return scaling.speed_up_of_parts([share, 1 - share], [gain, _many(workers)])


def _idle(share: Quantity, gain: Quantity, workers: int) -> Quantity:
    """Share of all workers' time in which they wait for the serial part."""
    rest = (1 - share) / _many(workers)
    alone = share / gain
    waiting = (1 - 1 / _many(workers)) * alone / (alone + rest)
    return waiting.named("idle share")


def _marks(share: float, gain: float, workers: int) -> list[dict[str, Any]]:
    """The law with and without the gain, the ideal, and the point chosen."""
    ideal = {"kind": "line", "evidence": "predicted", "name": "all of it spread",
             "x": [1, WORKERS[-1]], "y": [1, WORKERS[-1]], "series": 5}  # fmt: skip
    ways = [(1.0, "this share serial", 0)]
    if gain > 1 and share:
        ways.append((gain, "and made faster", 1))
    lines = [
        {"kind": "line", "evidence": "predicted", "name": name, "series": series,
         "x": list(WORKERS),
         "y": [scaling.speed_up_of_parts([share, 1 - share], [g, n]) for n in WORKERS]}
        for g, name, series in ways
    ]  # fmt: skip
    here = scaling.speed_up_of_parts([share, 1 - share], [gain, workers])
    dot = {"kind": "dots", "evidence": "predicted", "name": "chosen", "series": 4,
           "x": [workers], "y": [here], "label_at": "none"}  # fmt: skip
    return [ideal, *lines, dot]
