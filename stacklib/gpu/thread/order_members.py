"""Who waits for whom: barriers of a block and of the grid, fences."""

from __future__ import annotations

from typing import Any

from stacklib.quantity.bounds import is_whole

from ..lang.builder import Value
from ..lang.lane_arrays import LaneArray
from ..lang.thread import Thread, member
from .atomic_members import ATOMICS


class OrderMembers(Thread):
    """``sync``, named barriers, fences, what acquires and releases."""

    @member
    def sync(self) -> None:
        """A barrier for the block; every thread that has not ended must come."""
        self._of.build.emit("BARRIER", kind="barrier")

    @member
    def syncwarp(self) -> None:
        """A barrier for the warp."""
        self._of.build.emit("WARP_BARRIER", kind="barrier")

    @member
    def bar_sync(self, number: Any, threads: int) -> None:
        """Wait at a named barrier until so many threads have come to it."""
        self._named(number, threads, 1)

    @member
    def bar_arrive(self, number: Any, threads: int) -> None:
        """Come to a named barrier without waiting."""
        self._named(number, threads, 2)

    def _named(self, number: Any, threads: Any, how: int) -> None:
        if not is_whole(threads) or threads < 32 or threads % 32:
            raise self._error(
                f"a named barrier of {threads!r} threads: whole warps, 32, 64, ..."
            )
        given = self._of.build.value(number)
        kind = "barrier" if how == 1 else "arrive"
        code = how + 4 * (threads // 32)
        self._of.build.emit("BARRIER", -1, given.reg, imm=code, kind=kind)

    @member
    def grid_sync(self) -> None:
        """A barrier for the grid, all of whose blocks must be resident."""
        self._of.build.emit("GRID_BARRIER", kind="barrier")

    @member
    def fence(self) -> None:
        """What this thread wrote before is seen by the device before what follows."""
        self._of.build.emit("FENCE", imm=1, kind="fence")

    @member
    def fence_block(self) -> None:
        """The same for the block."""
        self._of.build.emit("FENCE", imm=0, kind="fence")

    @member
    def load_acquire(self, array: LaneArray, index: Any) -> Value:
        """Load; what the one who released the value did before is seen after."""
        return array.atomic(ATOMICS.index("load"), index)

    @member
    def store_relaxed(self, array: LaneArray, index: Any, value: Any) -> None:
        """Store where others may store at once, as several raise one flag; no order."""
        array.atomic(ATOMICS.index("exch"), index, value)

    @member
    def store_release(self, array: LaneArray, index: Any, value: Any) -> None:
        """Store, after all that this thread did before is seen by others."""
        self._of.build.emit("FENCE", imm=1, kind="fence")
        array.atomic(ATOMICS.index("exch"), index, value)
