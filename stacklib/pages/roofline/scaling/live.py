"""What workers buy, and how fast arithmetic left bandwidth behind, live.

`explore` is Amdahl's law. The serial share may itself be made faster: then it is one
part with a gain of its own, and the rest another, with the workers as its gain. In
`wall` every device of a family is two diamonds, one for each rate over what the fitted
line says of the first year. The outer lines hold the line itself in 95 % of cases.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from stacklib.hardware import Accelerator
from stacklib.plots.live import choices
from stacklib.plots.live.parts import chosen, here
from stacklib.plots.marks import Mark, Spec, axis, chart, dots, line, years
from stacklib.plots.spec import readout
from stacklib.quantity import Quantity, counted
from stacklib.quantity.times import in_times
from stacklib.roofline.bound import scaling, trend
from stacklib.roofline.bound.trend import FAMILIES, Trend

from .figures import band

FASTER = "times faster|no faster|times slower"

SHARES = (0, 1, 2, 5, 10, 15, 20, 25, 30, 40, 50, 60, 75, 100)  # percent
WORKERS = tuple(2**e for e in range(11))
GAINS = (1, 2, 3, 5, 10, 100)
YEARS = tuple(range(2016, 2026))
Y = axis("Times the trend's first year", log=True)


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
    gains = [faster, _many(workers)]
    found = scaling.speed_up_of_parts([share, 1 - share], gains).named("speed-up")
    many = "worker" if workers == 1 else "workers"
    return chart(
        f"{workers:,} {many} make it {in_times(found.si, FASTER, 3)}.",
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


def wall_controls() -> list[dict[str, Any]]:
    """Menus of ``wall``."""
    years = {str(year): str(year) for year in YEARS}
    kinds = {key: kin.words for key, kin in FAMILIES.items()}
    return [
        choices.select("kind", "Devices", kinds, "hbm"),
        choices.select("first", "From", years, str(YEARS[0])),
        choices.select("last", "To", years, str(YEARS[-1])),
    ]


def wall(*, kind: str, first: str, last: str) -> Spec:
    """Both trends of a family from year to year, with growth in two years.

    Where the devices of these years make no trend there is no line, and the message
    says why.
    """
    kin = FAMILIES[kind]
    found = trend.family(kind, int(first), int(last))
    count = readout("devices", "Devices", counted(len, found, label="devices"))
    x = years("Year of the device", int(first), max(int(last), int(first) + 1))
    try:
        walls = trend.memory_wall(found, dtype=kin.dtype)
    except ValueError as error:
        title, why = f"{kin.words}, {first} to {last}: no trend.", str(error)
        message = f"{why[:1].upper()}{why[1:]}."
        return chart(title, x=x, y=Y, marks=[], readouts=[count], message=message)
    peaks = [d.peak(kin.dtype).si for d in found]
    rates = [d.memory_bandwidth.si for d in found]
    up, wires = walls.compute, walls.bandwidth
    faster, wider = (in_times(t.growth, FASTER, 3) for t in (up, wires))
    grew = f"arithmetic became {faster}, bandwidth {wider}"
    return chart(
        f"{kin.words}: in two years {grew}.",
        x=x,
        y=Y,
        marks=[
            *_rates("arithmetic", up, peaks, found, 0),
            *_rates("bandwidth", wires, rates, found, 1),
        ],
        readouts=[
            _growth("compute", f"Arithmetic ({kin.dtype})", found, kin.dtype),
            _growth("bandwidth", "Bandwidth", found, kin.dtype),
            _growth("ridge", "Ridge", found, kin.dtype),
            count,
        ],
    )


def _growth(
    name: str, what: str, found: list[Accelerator], dtype: str
) -> dict[str, Any]:
    """Growth in two years with its interval."""
    label = f"{what}, in two years"
    grown = partial(counted, trend.memory_wall, found, dtype=dtype, family="trend")
    value = grown(take=f"{name}.growth", label=label.lower())
    text = str(getattr(trend.memory_wall(found, dtype=dtype), name))
    return {**readout(name, label, value), "text": text}


def _rates(
    name: str,
    told: Trend,
    rates: list[float],
    devices: list[Accelerator],
    series: int,
) -> list[Mark]:
    """Squares of the devices, the line, and the two ends of its band."""
    base = told.at(devices[0].year)[1]
    x, y = [d.year for d in devices], [rate / base for rate in rates]
    said = dots(x, y, f"{name}, as published", "data sheet", at="none", series=series)
    return [said, *band(name, told, devices, base, series)]
