"""What a kernel sees: who it is, shared memory, barriers, shuffles, atomics.

The first parameter of every kernel is a ``KernelThread``. Its names are CUDA's in small
letters: ``thread.x`` is ``threadIdx.x``, ``sync()`` is ``__syncthreads()``.
"""

from __future__ import annotations

from .atomic_members import AtomicMembers
from .copy_members import CopyMembers
from .function_members import FunctionMembers
from .lane_members import LaneMembers
from .memory_members import MemoryMembers
from .order_members import OrderMembers


class KernelThread(
    MemoryMembers,
    OrderMembers,
    CopyMembers,
    LaneMembers,
    FunctionMembers,
    AtomicMembers,
):
    """The context of a kernel: every member is a value a lane, or acts on lanes."""


MEMBERS = frozenset(
    name
    for name in dir(KernelThread)
    if getattr(getattr(KernelThread, name), "of_kernel", 0)
)
