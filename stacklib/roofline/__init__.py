"""What peak and bandwidth allow: work, ridge, bounds, fit, the decode step.

``decode_step`` answers the book's first question; ``measure_host`` draws the
roofline of the machine you sit at.
"""

from __future__ import annotations

from typing import Any

from .bounds import Bound, attainable, bound, bound_on, bound_time, ridge, ridge_point
from .count import count_decode
from .decode import (
    DecodeStep,
    DeviceRow,
    compare_devices,
    decode_bytes,
    decode_operations,
    decode_step,
    decode_work,
    memory_bound_context,
)
from .fit import Fit, Infeasible, fit_memory
from .journey_events import Event, exchange_time
from .stack import LAYERS
from .token_journey import Journey, Span, closed_form, journey, walk
from .trend import MemoryWall, Trend, memory_wall
from .work import Work, attention, gemv, matmul

_HOST = ("HostRoofline", "measure_host", "predict_gemm", "predict_gemv")


def __getattr__(name: str) -> Any:
    # host.py is only needed by those who measure
    if name in _HOST:
        from . import host

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
    "bound",
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
    "journey",
    "matmul",
    "memory_bound_context",
    "memory_wall",
    "ridge",
    "ridge_point",
    "walk",
    *_HOST,
]
