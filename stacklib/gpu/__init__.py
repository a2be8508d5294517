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

from .chip.chips import Chip, chips_known, count_parts, floor_plan, part_total
from .chip.placement import (
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
from .chip.spec_sheet import (
    SpecSheet,
    busy_share,
    device_of_reading,
    pcie_rate,
    spec_sheet,
)
from .code.compiled import Compiled, accepted, compiled
from .code.ptx import PtxError
from .code.sass import Sass
from .issue.instructions import (
    Arithmetic,
    Instruction,
    arithmetic,
    generations,
    instruction,
    part_count,
)
from .issue.occupancy import Occupancy, occupancy
from .issue.schedule import KERNELS, Schedule, schedule, utilisation, warps_needed
from .tensor.exact_dot import dot_exactly
from .tensor.peaks import (
    PeakBuilt,
    count_peak,
    matching_bases,
    peak_by_hand,
    peak_of,
    peaks,
)
from .tensor.tile_feed import Feed, feed_of, feed_share, feed_time, run_feed
from .tensor.tile_waves import TileWaves, run_blocks, tile_waves

if TYPE_CHECKING:
    from .code.ptx_run import PtxRun, run_ptx
    from .simt.launcher import Launch, empty, launch
    from .simt.report import Report
    from .simt.rewrite import KernelError
    from .tensor.sparsity import Sparse, compress, prune
    from .tensor.tensor_core import mma, promoted

_WITH_NUMPY = {
    "KernelError": "simt.rewrite",
    "Launch": "simt.launcher",
    "PtxRun": "code.ptx_run",
    "Report": "simt.report",
    "Sparse": "tensor.sparsity",
    "compress": "tensor.sparsity",
    "empty": "simt.launcher",
    "launch": "simt.launcher",
    "mma": "tensor.tensor_core",
    "promoted": "tensor.tensor_core",
    "prune": "tensor.sparsity",
    "run_ptx": "code.ptx_run",
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
