"""A GPU from the inside: a machine you program, warps that hide latency, lanes.

``launch`` runs a kernel written as ordinary Python on every thread of a grid and
reports what a profiler would; ``occupancy`` says how many blocks fit on a unit.
``schedule`` runs warps through a scheduler cycle by cycle and ``utilisation`` says in
closed form what it should find. What computes on arrays (``launch``, ``mma``,
sparsity) needs NumPy, the rest nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stacklib import offer

if TYPE_CHECKING:
    from .chip.chips import part_total
    from .chip.placement import fill, place_of
    from .chip.spec_sheet import spec_sheet
    from .code.compiled import accepted, compiled
    from .code.ptx_run import run_ptx
    from .issue.instructions import instruction, part_count
    from .issue.occupancy import occupancy
    from .issue.warp_programs import schedule, utilisation, warps_needed
    from .lang.builder import KernelError
    from .simt.arguments import constant, empty, to_device
    from .simt.launcher import launch
    from .simt.sampled import estimate
    from .tensor.peaks import peak_of, peaks
    from .tensor.tensor_core import mma
    from .tensor.tile_waves import tile_waves
    from .tiles.launcher import launch_tiles
else:
    __all__, __getattr__, __dir__ = offer(__name__)
