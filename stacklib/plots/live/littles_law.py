"""Little's law, live: threads that wait, and the bandwidth their waiting buys.

Bandwidth grows with the bytes in flight until the memory has all it can deliver. The
latency, the bytes a thread asks for and the device say where that is.
"""

from __future__ import annotations

from typing import Any

from stacklib import hardware
from stacklib.quantity import Quantity
from stacklib.roofline.bound import littles_law
from stacklib.roofline.bound.littles_law import InFlight

from ..spec import readout
from . import choices

LATENCIES = (100, 200, 300, 400, 500, 600, 700, 800, 1000, 1200, 1500)
EACH = (1, 2, 4, 8, 16, 32, 64, 128)
THREADS = tuple(2**i for i in range(10, 23))
FIELDS = ("memory_bandwidth", "compute_units", "max_threads_per_unit")


def _devices() -> list[list[str]]:
    """GPUs whose threads are known, as ``[key, name]``."""
    keys = [key for key, _ in choices.devices()]
    found = [
        d for d in map(hardware.get, keys) if None not in map(d.fields.get, FIELDS)
    ]
    return [[d.key, d.name] for d in found]


def controls() -> list[dict[str, Any]]:
    """Menu and sliders of ``explore``."""
    return [
        choices.select("device", "Device", _devices(), "h100_sxm"),
        choices.slider("latency", "Latency of a load (ns)", LATENCIES, 600),
        choices.slider("each", "Bytes in flight a thread", EACH, 4),
    ]


def explore(*, device: str, latency: int, each: int) -> dict[str, Any]:
    """Spec of bandwidth against threads that wait.

    Parameters
    ----------
    device : str
        Key of the device.
    latency : int
        Nanoseconds from a load to its value.
    each : int
        Bytes a thread has in flight.

    Returns
    -------
    dict
        A figure spec.
    """
    time = Quantity(latency, "ns", label="latency chosen", kind="assumption")
    found = littles_law.in_flight(device, each, time)
    peak = found.bandwidth.si
    rates = [
        littles_law.throughput(n * each, latency * 1e-9, peak) / 1e9 for n in THREADS
    ]
    resident = found.resident.si
    mine = {"device": device}
    marks = [
        {"kind": "line", "evidence": "predicted", "name": "bandwidth drawn",
         "x": list(THREADS), "y": rates, "label_at": "none", **mine},
        {"kind": "vline", "evidence": "predicted", "name": "threads it can hold",
         "x": [resident], **mine},
        {"kind": "dots", "evidence": "predicted", "name": "all of them waiting",
         "x": [resident], "y": [found.reached.si * peak / 1e9], "series": 4,
         "this_machine": False, "label_at": "none", **mine},
    ]  # fmt: skip
    return {
        "title": _title(found),
        "x": {"label": "Threads with a load in flight", "scale": "log",
              "limits": [THREADS[0], THREADS[-1]]},
        "y": {"label": "Bandwidth (GB/s)", "scale": "log", "unit": "GB/s",
              "limits": [1, 20000]},
        "marks": marks,
        "readouts": [
            readout("needed", "In flight, wanted", found.needed),
            readout("threads", "Threads wanted", found.threads),
            readout("resident", "Threads it can hold", found.resident),
            readout("reached", "Share of the bandwidth", found.reached, "share",
                    unit="%"),
        ],
        "message": None,
        "about": mine,
    }  # fmt: skip


def _title(found: InFlight) -> str:
    name, share = found.device.short, found.occupancy.text("%")
    if found.reached.si < 1:
        return f"All threads of {name} draw {found.reached:.3 %} of its bandwidth."
    return f"{share} of the threads of {name} draw its whole bandwidth."
