"""A GPU from the inside: a machine you program, warps that hide latency, lanes.

``launch`` runs a kernel written as ordinary Python on every thread of a grid and
reports what a profiler would; ``occupancy`` says how many blocks fit on a unit.
``schedule`` runs warps through a scheduler cycle by cycle and ``utilisation`` says in
closed form what it should find; ``pipelines`` runs one program on a core built for
latency and on one built for throughput. What computes on arrays
(``launch``, ``mma``, sparsity) needs NumPy, the rest nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from .chips import Chip, chip, chips_known, count_parts, floor_plan, part_total
from .compiled import Compiled, accepted, compiled
from .exact_dot import dot_exactly
from .hierarchy import (
    Filling,
    Place,
    Seat,
    check_launch,
    deal_blocks,
    fill,
    number_threads,
    place_of,
    seat_of,
)
from .instructions import (
    Arithmetic,
    Instruction,
    arithmetic,
    generations,
    instruction,
    part_count,
)
from .occupancy import Occupancy, occupancy
from .peaks import PeakBuilt, count_peak, matching_bases, peak_by_hand, peak_of, peaks
from .ptx import PtxError
from .sass import Sass
from .schedule import KERNELS, Schedule, schedule, utilisation, warps_needed
from .spec_sheet import SpecSheet, busy_share, device_of_reading, pcie_rate, spec_sheet
from .tile_feed import Feed, feed_of, feed_share, feed_time, run_feed
from .tile_waves import TileWaves, run_blocks, tile_waves

if TYPE_CHECKING:
    from .launcher import Launch, empty, launch
    from .ptx_run import PtxRun, run_ptx
    from .report import Report
    from .rewrite import KernelError
    from .sparsity import Sparse, compress, prune
    from .tensor_core import mma, promoted

_WITH_NUMPY = {
    "KernelError": "rewrite",
    "Launch": "launcher",
    "PtxRun": "ptx_run",
    "Report": "report",
    "Sparse": "sparsity",
    "compress": "sparsity",
    "empty": "launcher",
    "launch": "launcher",
    "mma": "tensor_core",
    "promoted": "tensor_core",
    "prune": "sparsity",
    "run_ptx": "ptx_run",
}


def __getattr__(name: str) -> Any:
    if name in _WITH_NUMPY:
        module = importlib.import_module(f"{__name__}.{_WITH_NUMPY[name]}")
        return getattr(module, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})  # also what is imported later


__all__ = [
    "Arithmetic",
    "Chip",
    "Compiled",
    "Feed",
    "Filling",
    "Instruction",
    "KERNELS",
    "KernelError",
    "Launch",
    "Occupancy",
    "PeakBuilt",
    "Place",
    "PtxError",
    "PtxRun",
    "Report",
    "Sass",
    "Schedule",
    "Seat",
    "Sparse",
    "SpecSheet",
    "TileWaves",
    "accepted",
    "arithmetic",
    "busy_share",
    "check_launch",
    "chip",
    "chips_known",
    "compiled",
    "compress",
    "count_parts",
    "count_peak",
    "deal_blocks",
    "device_of_reading",
    "dot_exactly",
    "empty",
    "feed_of",
    "feed_share",
    "feed_time",
    "fill",
    "floor_plan",
    "generations",
    "instruction",
    "launch",
    "matching_bases",
    "mma",
    "number_threads",
    "occupancy",
    "part_count",
    "part_total",
    "pcie_rate",
    "peak_by_hand",
    "peak_of",
    "peaks",
    "place_of",
    "promoted",
    "prune",
    "run_blocks",
    "run_feed",
    "run_ptx",
    "schedule",
    "seat_of",
    "spec_sheet",
    "tile_waves",
    "utilisation",
    "warps_needed",
]
