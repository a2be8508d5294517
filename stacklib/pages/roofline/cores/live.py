"""Little's law, live: threads that wait, and the bandwidth their waiting buys.

Bandwidth grows with the bytes in flight until the memory has all it can deliver. The
latency, the bytes a thread asks for and the device say where that is.
"""

from __future__ import annotations

from typing import Any

from stacklib import hardware
from stacklib.plots.live import choices
from stacklib.plots.live.parts import chosen, here
from stacklib.plots.marks import About, Spec, axis, chart, line, rule
from stacklib.plots.spec import readout
from stacklib.roofline.bound import littles_law
from stacklib.roofline.bound.littles_law import InFlight

LATENCIES = (100, 200, 300, 400, 500, 600, 700, 800, 1000, 1200, 1500)
EACH = (1, 2, 4, 8, 16, 32, 64, 128)
THREADS = tuple(2**i for i in range(10, 23))


def _devices() -> list[list[str]]:
    """Devices whose threads are known, by their long names."""

    def needs(device: hardware.Accelerator) -> object:
        return device.compute_units, device.max_threads_per_unit

    return [[key, hardware.get(key).name] for key, _ in choices.knowing(needs)]


def controls() -> list[dict[str, Any]]:
    """Menu and sliders of ``explore``."""
    return [
        choices.select("device", "Device", _devices(), "h100_sxm"),
        choices.slider("latency", "Latency of a load (ns)", LATENCIES, 600),
        choices.slider("each", "Bytes in flight a thread", EACH, 4),
    ]


def explore(*, device: str, latency: int, each: int) -> Spec:
    """Bandwidth against threads that wait: ns of a load, bytes in flight a thread."""
    found = littles_law.in_flight(device, each, chosen(latency, "ns", "latency chosen"))
    peak, resident = found.bandwidth.si, found.resident.si
    seconds = latency * 1e-9
    drawn = [littles_law.throughput(n * each, seconds, peak) / 1e9 for n in THREADS]
    reached = found.reached.si * peak / 1e9
    mine = About(device=device)
    span = [THREADS[0], THREADS[-1]]
    return chart(
        _title(found),
        x=axis("Threads with a load in flight", log=True, limits=span),
        y=axis("Bandwidth (GB/s)", log=True, unit="GB/s", limits=[1, 20000]),
        marks=[
            line(THREADS, drawn, "Little's law", "predicted", **mine),
            rule("threads it can hold", "predicted", x=resident, **mine),
            here(resident, reached, "all of them waiting", **mine),
        ],
        readouts=[
            readout("needed", "In flight, wanted", found.needed),
            readout("threads", "Threads wanted", found.threads),
            readout("resident", "Threads it can hold", found.resident),
            readout(
                "reached", "Share of the bandwidth", found.reached, "share", unit="%"
            ),
        ],
        about=mine,
    )


def _title(found: InFlight) -> str:
    name, share = found.device.short, found.occupancy.text("%")
    if found.reached.si < 1:
        return f"All threads of {name} draw {found.reached:.3 %} of its bandwidth."
    return f"{share} of the threads of {name} draw its whole bandwidth."
