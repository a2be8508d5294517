"""Copies that go on while the thread does, barriers that count bytes, clusters."""

from __future__ import annotations

import math
from typing import Any

from stacklib.quantity.bounds import is_whole

from .lane_arrays import LaneArray
from .mbarriers import Mbarrier, count_of
from .program import Box
from .thread import Thread, member
from .views import Remote

# PTX ISA 9.0, cp.async: cp-size; CUDA driver API, cuTensorMapEncodeTiled: boxDim.
COPIES = (4, 8, 16)
MOST_BOX, MOST_RANK, GRAIN = 256, 5, 16


class CopyMembers(Thread):
    """``mbarrier``, ``copy_async``, ``bulk_copy``, ``remote``."""

    @member
    def mbarrier(self, count: int) -> Mbarrier:
        """A barrier in shared memory that so many arrivals of threads complete."""
        self._needs("8.0", "an mbarrier")
        of = self._of
        key = (id(of.site), "mbarrier", *of.turns)
        count = count_of(of, count)
        if key not in self._made:
            of.build.mbarriers.append(count)
            of.build.shared_bytes = -(-of.build.shared_bytes // 8) * 8 + 8
            self._made[key] = Mbarrier(of, len(of.build.mbarriers) - 1)
        made: Mbarrier = self._made[key]
        if of.build.mbarriers[made.first] != count:
            raise self._error(f"{made!r} is declared again with another count")
        return made

    # -- copies of a thread --------------------------------------------------

    @member
    def copy_async(self, dst: Any, i: Any, src: Any, j: Any, count: int = 1) -> None:
        """Copy ``count`` neighbours from global to shared memory; go on meanwhile."""
        self._needs("8.0", "a copy that goes on meanwhile (cp.async)")
        self._between(dst, src)
        if not is_whole(count) or count * dst.itemsize not in COPIES:
            raise self._error(f"{count!r} of {dst.use.form}: a copy has 4, 8, 16 bytes")
        dst.use.written = True
        to, first = dst.element(i, count), src.element(j, count)
        code = ((dst.number << 12) + src.number) * 32 + count
        self._of.build.emit(
            "COPY_ASYNC", -1, to.reg, first.reg, imm=code, kind="async_copy"
        )

    def _between(self, dst: Any, src: Any) -> None:
        self._array_of(dst), self._array_of(src)
        if isinstance(dst, Remote):
            raise self._error(f"a copy to {dst!r}: store its elements")
        if dst.use.space != "shared" or src.use.space != "global":
            raise self._error(
                f"a copy from {src.use.space} to {dst.use.space} memory; only one "
                "from global to shared goes on meanwhile"
            )
        if dst.use.form != src.use.form:
            raise self._error(f"a copy from {src.use.form} to {dst.use.form}")

    @member
    def commit(self) -> None:
        """The copies since the last such call are a group."""
        self._needs("8.0", "a group of copies (cp.async)")
        self._of.build.emit("COMMIT", kind="arrive")

    @member
    def wait_group(self, pending: int) -> None:
        """Wait until all groups but the last so many have landed."""
        self._needs("8.0", "a group of copies (cp.async)")
        if not is_whole(pending) or pending < 0:
            raise self._error(f"wait_group({pending!r}): a whole number from 0")
        self._of.build.emit("WAIT_GROUP", imm=int(pending), kind="wait")

    # -- copies of boxes -----------------------------------------------------

    @member
    def bulk_copy(
        self, dst: Any, src: Any, corner: Any, shape: Any, bar: Mbarrier
    ) -> None:
        """One thread starts the copy of a box; elements outside the array are zero.

        Its bytes, those outside among them, complete the phase of ``bar``.
        """
        self._needs("9.0", "a bulk copy of a tensor")
        self._between(dst, src)
        if not isinstance(bar, Mbarrier):
            raise self._error(f"{bar!r} is no mbarrier")
        sizes = tuple(shape) if isinstance(shape, list | tuple) else (shape,)
        corners = tuple(corner) if isinstance(corner, list | tuple) else (corner,)
        self._box(dst, src, corners, sizes)
        dst.use.written = True
        self._started(dst, src, corners, sizes, bar)

    def _box(self, dst: Any, src: Any, corners: Any, sizes: Any) -> None:
        good = all(is_whole(n) and 1 <= n <= MOST_BOX for n in sizes)
        if not good or not 1 <= len(sizes) <= MOST_RANK:
            raise self._error(
                f"a box of {sizes!r}: 1 to {MOST_RANK} axes of 1 to {MOST_BOX} elements"
            )
        if len(corners) != src.ndim or len(sizes) != src.ndim:
            raise self._error(
                f"{src!r} has {src.ndim} dimensions, the corner {len(corners)}, the "
                f"box {len(sizes)}"
            )
        if math.prod(sizes) != dst.size:
            raise self._error(f"{dst!r} has {dst.shape}, the box {tuple(sizes)}")
        rows = [sizes[-1], *([src.shape[-1]] if src.ndim > 1 else [])]
        for n in rows:
            if n * src.itemsize % GRAIN:
                raise self._error(
                    f"a row of {n * src.itemsize} bytes: bulk copies move whole "
                    f"{GRAIN} bytes, of the box and from row to row of the array"
                )

    def _started(
        self, dst: LaneArray, src: LaneArray, corners: Any, sizes: Any, bar: Mbarrier
    ) -> None:
        build = self._of.build
        first = dst.element(tuple(0 for _ in dst.shape))
        given = [build.value(c) for c in corners]
        if any(g.form.floating for g in given):
            raise self._error(f"a corner at {corners!r}: whole numbers are needed")
        regs = build.pool.take_row(len(given))
        for reg, one in zip(regs, given, strict=True):
            build.emit("MOVE", reg, one.reg, form=one.form.code)
        index, code = bar.which()
        build.boxes.append(Box(dst.number, src.number, tuple(sizes), code))
        at = len(build.boxes) - 1
        build.emit("BULK_COPY", -1, first.reg, regs[0], index, imm=at, kind="bulk_copy")

    # -- clusters ------------------------------------------------------------

    @member
    def remote(self, array: Any, rank: Any) -> Remote:
        """The shared array of another block of the cluster."""
        self._needs("9.0", "shared memory of another block")
        self._array_of(array)
        if array.use.space != "shared":
            raise self._error(f"{array!r} is no shared array")
        if self._given.cluster < 2:
            raise self._error("t.remote without launch(..., cluster=)")
        form = self._of.build.form_of(rank)
        if form.floating:
            raise self._error(f"block {rank!r} of a cluster: a whole number is needed")
        array.use.open = True
        return Remote(array, self._of.build.value(rank))

    @member
    def cluster_sync(self) -> None:
        """A barrier for the cluster; what its blocks did before is seen after."""
        self._needs("9.0", "a cluster of blocks")
        self._of.build.emit("CLUSTER_BARRIER", kind="barrier")
