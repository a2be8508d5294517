"""A thread's own arrays: in registers while every index is plain, else in memory.

A register has no index that differs by lane, so an array that meets one lies in local
memory (CUDA C++ Programming Guide, *Device Memory Accesses*, local memory). Which it is
shows only when all of the kernel has been read: a kernel is compiled again with the
arrays in memory that turned out to need it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stacklib.quantity.bounds import is_whole

from ..vm.program import ArrayUse
from .lane_arrays import LaneArray
from .values import Cell, Value

if TYPE_CHECKING:
    from .state import State

MOST_REGISTERS = 255  # a thread has


class Spilled(Exception):
    """An array thought to be in registers has an index that differs by lane."""

    def __init__(self, key: Any) -> None:
        super().__init__()
        self.key = key


class OwnArray(LaneArray):
    """What ``t.local`` gives; ``key`` names its place in the source."""

    def __init__(self, of: State, number: int, use: ArrayUse, key: Any) -> None:
        super().__init__(of, number, use)
        self._key = key
        self._cells: dict[int, Cell] = {}
        words = self.size * -(-use.form.size // 4)
        use.registers = key not in of.spilled and words <= MOST_REGISTERS

    def _emitted(self, op: str, dst: int, *regs: int, **more: Any) -> None:
        super()._emitted(op + "_LOCAL", dst, *regs, **more)

    def load(self, index: Any) -> Any:
        """An element a lane."""
        if not self.use.registers:
            return super().load(index)
        parts = index if isinstance(index, tuple) else (index,)
        if len(parts) < self.ndim:
            return self.part(parts)
        cell, build = self._cell(parts), self._of.build
        if not cell.sure & set(self._of.regions):
            build.emit("CHECK", -1, cell.reg, imm=self._of.name_number(cell.name))
        result = build.new(self.use.form)
        build.emit("MOVE", result.reg, cell.reg, form=self.use.form.code)
        return result

    def store(self, index: Any, value: Any) -> None:
        """An element a lane, in the array's format."""
        if not self.use.registers:
            super().store(index, value)
            return
        given, build = self._number(value), self._of.build
        cell = self._cell(index if isinstance(index, tuple) else (index,))
        build.emit("MOVE", cell.reg, given.reg, form=self.use.form.code)
        if not cell.sure & set(self._of.regions):
            build.emit("SET", cell.reg)
            cell.sure.add(self._of.regions[-1])

    def element(self, index: Any, count: int = 1) -> Value:
        """An index that differs by lane, or neighbours: not in registers."""
        if self.use.registers:
            raise Spilled(self._key)
        return super().element(index, count)

    def part(self, index: tuple[Any, ...]) -> Any:
        """What is left at the first indices."""
        if self.use.registers:
            raise Spilled(self._key)
        return super().part(index)

    def _cell(self, parts: tuple[Any, ...]) -> Cell:
        """The register of an element whose place is plain."""
        if not all(is_whole(part) for part in parts) or len(parts) != self.ndim:
            raise Spilled(self._key)
        at = 0
        for part, length in zip(parts, self.shape, strict=True):
            if not 0 <= part < length:
                raise self._of.error(
                    f"{self.use.name}[{', '.join(map(str, parts))}] is outside its "
                    f"{length} elements"
                )
            at = at * length + int(part)
        if at not in self._cells:
            name = f"{self.use.name}[{', '.join(map(str, parts))}]"
            made = self._of.build.cell(self.use.form, name)
            self._cells[at] = made
        return self._cells[at]
