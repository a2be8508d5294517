"""What peak and bandwidth allow: work, ridge, bounds, fit, the decode step.

``decode_step`` answers the book's first question; ``measure_host`` draws the
roofline of the machine you sit at.
"""

from __future__ import annotations

from typing import Any

from .bound.decode import (
    DecodeStep,
    DeviceRow,
    compare_devices,
    decode_bytes,
    decode_operations,
    decode_step,
    decode_work,
    memory_bound_context,
)
from .bound.trend import MemoryWall, Trend, memory_wall
from .count.matrices import count_decode
from .journey.events import Event, exchange_time
from .journey.layers import LAYERS
from .journey.token_journey import Journey, Span, closed_form, walk
from .work.bounds import Bound, attainable, bound_on, bound_time, ridge, ridge_point
from .work.fit import Fit, Infeasible, fit_memory
from .work.work import Work, attention, gemv, matmul

_HOST = ("HostRoofline", "measure_host", "predict_gemm", "predict_gemv")


def __getattr__(name: str) -> Any:
    # host.py is only needed by those who measure
    if name in _HOST:
        from .host import measure as host

        return getattr(host, name)
    raise AttributeError(f"module 'stacklib.roofline' has no attribute {name!r}")


__all__ = [
    "Bound",
    "DecodeStep",
    "DeviceRow",
    "Event",
    "Fit",
    "Infeasible",
    "Journey",
    "LAYERS",
    "MemoryWall",
    "Span",
    "Trend",
    "Work",
    "attainable",
    "attention",
    "bound_on",
    "bound_time",
    "closed_form",
    "compare_devices",
    "count_decode",
    "decode_bytes",
    "decode_operations",
    "decode_step",
    "decode_work",
    "exchange_time",
    "fit_memory",
    "gemv",
    "matmul",
    "memory_bound_context",
    "memory_wall",
    "ridge",
    "ridge_point",
    "walk",
    *_HOST,
]
