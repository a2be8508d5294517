"""Parts of arrays, and arrays of other blocks, as a kernel indexes them."""

from __future__ import annotations

from typing import Any

from .lane_arrays import LaneArray
from .values import Value


class Part(LaneArray):
    """``a[stage]`` of an array with more dimensions: what is left is indexed on."""

    def __init__(self, whole: LaneArray, before: tuple[Any, ...]) -> None:
        super().__init__(whole._of, whole.number, whole.use)
        self._whole_array, self._before = whole, before

    @property
    def shape(self) -> tuple[int, ...]:
        """Lengths of the axes that are left."""
        return self.use.shape[len(self._before) :]

    def __repr__(self) -> str:
        return f"a part of {self.use.name}"

    def element(self, index: Any, count: int = 1) -> Value:
        """The number of an element of the whole array."""
        parts = index if isinstance(index, tuple) else (index,)
        return self._whole_array.element((*self._before, *parts), count)


class Remote(LaneArray):
    """A shared array of another block of the cluster: load, store, atomic."""

    def __init__(self, own: LaneArray, rank: Value) -> None:
        super().__init__(own._of, own.number, own.use)
        self._own, self._rank = own, rank

    @property
    def shape(self) -> tuple[int, ...]:
        """Its lengths."""
        return self._own.shape

    def __repr__(self) -> str:
        return f"{self._own!r} of another block"

    def element(self, index: Any, count: int = 1) -> Value:
        """The number of an element, in whichever block."""
        return self._own.element(index, count)

    def load_row(self, index: Any, count: int) -> Any:
        """Refused: no wide access crosses to another block here."""
        raise self._of.error(f"a wide access to {self!r}: one element at a time")

    def store_row(self, index: Any, values: Any) -> None:
        """Refused likewise."""
        self.load_row(index, 0)

    def _emitted(self, op: str, dst: int, *regs: int, **more: Any) -> None:
        """The access, after whose block's array it is (``mapa``)."""
        build = self._of.build
        more.setdefault("imm", self.number)
        build.emit("MAP_RANK", -1, self._rank.reg, kind="int")
        build.emit("REMOTE_" + op, dst, *regs, **more)
