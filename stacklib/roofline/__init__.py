"""What peak and bandwidth allow: work, ridge, bounds, times, fit, the decode step.

``decode_step`` answers the book's first question; ``measure_host`` draws the
roofline of the machine you sit at.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stacklib import offer

if TYPE_CHECKING:
    from .bound.decode import (
        DecodeStep,
        compare_devices,
        decode_step,
        decode_work,
        memory_bound_context,
    )
    from .bound.trend import memory_wall
    from .count.matrices import count_decode
    from .host.measure import HostRoofline, measure_host, predict_gemm
    from .work.bounds import attainable, bound_on, bound_time, ridge, ridge_point
    from .work.fit import Infeasible, fit_memory
    from .work.moving import link_time, memory_time, moving_time
    from .work.work import Work, attention, gemv, matmul
else:
    __all__, __getattr__, __dir__ = offer(__name__)
