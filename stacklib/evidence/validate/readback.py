"""Rows that are no test: the model's constant was measured by the row's own source.

Latencies and cache rates of an architecture are constants that somebody measured.
A row of the same measurement is predicted by reading it back, and its small error
says nothing. Such rows are predicted and shown, and left out of the errors that are
printed as those of unseen rows.
"""

from __future__ import annotations

from stacklib import hardware
from stacklib.hardware.factors import efficiency_table

from ..measurements import Measurement
from ..systems import DeviceRefusal, device_of
from .sources import project

# What limits a row -> the constants of ``efficiency.toml`` that decide it then.
_MEASURED = {
    "launch": ("launch_host", "launch_softmax", "launch_elementwise"),
    "concurrency": ("loaded_latency",),
}


def read_back(row: Measurement, bound: str | None) -> bool:
    """Whether a row is predicted from a constant of its own source."""
    fixed = (efficiency_table()[n] for n in _MEASURED.get(bound or "", ()))
    if any(found["source"] == project(row.source) for found in fixed):
        return True
    name = f"{bound}_bytes_per_cycle"
    if bound and bound.endswith(" latency"):
        name = bound.replace(" ", "_")
    try:
        device = hardware.get(device_of(row.system)[0])
        constant = hardware.microarchitecture(device).constants.get(name)
    except (DeviceRefusal, LookupError):
        return False
    if constant is None or constant.source is None:
        return False
    own = project(row.source).rpartition("/")[2].removeprefix("arXiv_").lower()
    return own in f"{constant.source.title} {constant.source.where}".lower()
