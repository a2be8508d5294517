"""Arrays as a kernel sees them while it is compiled: what is loaded, stored where."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from stacklib.quantity.bounds import is_whole

from ..vm.formats import FORMS, I64, find
from ..vm.program import ArrayUse
from .builder import Value
from .sums import Sum, sum_of

if TYPE_CHECKING:
    from .state import State

AXES = 8  # places for lengths of an array; two of them have another use
MOST_AXES = 6


class LaneArray:
    """An array that kernels index with lanes: ``a[i]``, ``a[row, column] = x``."""

    def __init__(self, of: State, number: int, use: ArrayUse) -> None:
        self._of, self.number, self.use = of, number, use

    @property
    def shape(self) -> tuple[int, ...]:
        """Its lengths."""
        return self.use.shape

    @property
    def dtype(self) -> Any:
        """Format of an element."""
        return self.use.form.dtype

    @property
    def ndim(self) -> int:
        """Number of its dimensions."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of its elements."""
        return math.prod(self.shape)

    @property
    def itemsize(self) -> int:
        """Bytes of an element."""
        return int(self.use.form.size)

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        return self.use.name

    # -- where ---------------------------------------------------------------

    def element(self, index: Any, count: int = 1) -> Value:
        """The number of an element, checked against every axis."""
        of, build = self._of, self._of.build
        parts = index if isinstance(index, tuple) else (index,)
        if len(parts) != self.ndim:
            raise of.error(
                f"{self.use.name} has {self.ndim} dimensions, its index {len(parts)}"
            )
        at: Value | None = None
        for axis, part in enumerate(parts):
            number = self._whole(part)
            code = (self.number * AXES + axis) * 32
            code += count if axis == len(parts) - 1 else 1
            if at is None:
                build.emit("BOUND", -1, number.reg, imm=code)
                at = number
            else:
                kind = self._cost(parts[: axis + 1], self.shape[axis])
                at = build.indexed(at, number, code, kind)
        assert at is not None
        return at

    def _cost(self, parts: tuple[Any, ...], length: int) -> str:
        """What ``row * length + column`` costs beyond what is there already."""
        bases = [p.base() if isinstance(p, Value) else None for p in parts]
        if all(base is None for base in bases[:-1]):
            return ""  # the row is plain
        return self._of.build.address(length, bases)

    def _whole(self, part: Any) -> Value:
        form = part.form if isinstance(part, Value) else None
        plain = is_whole(part) or isinstance(part, bool)
        if not plain and (form is None or form.floating):
            raise self._of.error(
                f"an index of {self.use.name} is {part!r}, no whole number"
            )
        if not isinstance(part, Value):
            return self._of.build.constant(int(part), FORMS[I64])
        return part

    # -- loads and stores ----------------------------------------------------

    def _emitted(self, op: str, dst: int, *regs: int, **more: Any) -> None:
        self._of.build.emit(op, dst, *regs, imm=more.pop("imm", self.number), **more)

    def load(self, index: Any) -> Any:
        """An element a lane; fewer indices than axes name a part."""
        parts = index if isinstance(index, tuple) else (index,)
        if len(parts) < self.ndim and parts:
            return self.part(parts)
        at = self.element(index)
        result = self._of.build.new(self.use.form)
        self._emitted("LOAD", result.reg, at.reg, **self._says("load"))
        if self.use.space == "shared":
            self._of.build.rows[-1].spot = self.spot(parts)
        return result

    def spot(self, parts: tuple[Any, ...]) -> tuple[Sum, ...]:
        """What is known of an index along each axis."""
        return tuple(map(sum_of, parts))

    def part(self, index: tuple[Any, ...]) -> Any:
        """What is left of the array at the first indices."""
        return Part(self, tuple(map(self._of.own, index)))

    def _says(self, word: str) -> dict[str, Any]:
        return {"form": self.use.form.code, "kind": f"{word}_{self.use.space}"}

    def store(self, index: Any, value: Any) -> None:
        """An element a lane, in the array's format."""
        self._writable()
        given = self._number(value)
        at = self.element(index)
        self._emitted("STORE", -1, at.reg, given.reg, **self._says("store"))

    def _number(self, value: Any) -> Value:
        build = self._of.build
        try:
            return build.as_form(value, self.use.form)
        except Exception:
            raise self._of.error(
                f"{value!r} is stored to {self.use.name}: no number of a lane"
            ) from None

    def _writable(self) -> None:
        if self.use.space == "constant":
            raise self._of.error(f"{self.use.name} is constant memory: only read")
        self.use.written = True

    def load_row(self, index: Any, count: int) -> tuple[Value, ...]:
        """Neighbours by one wide load."""
        at = self.element(index, count)
        row = self._of.build.new_row(self.use.form, count)
        self._emitted("LOAD", row[0].reg, at.reg, -1, count, **self._says("load"))
        return row

    def store_row(self, index: Any, values: Any) -> None:
        """Neighbours by one wide store."""
        build, form = self._of.build, self.use.form
        self._writable()
        given = [self._number(v) for v in values]
        at = self.element(index, len(given))
        regs = build.pool.take_row(len(given))
        for reg, one in zip(regs, given, strict=True):
            build.emit("MOVE", reg, one.reg, form=form.code)
        self._emitted("STORE", -1, at.reg, regs[0], len(given), **self._says("store"))
        build.pool.free += regs

    def atomic(self, what: int, index: Any, *values: Any) -> Value:
        """Combine with what stands there, one lane after another; the old values."""
        self._writable()
        given = [self._number(v) for v in values]
        at = self.element(index)
        regs = [at.reg, *(g.reg for g in given)]
        result = self._of.build.new(self.use.form)
        code = self.number * 16 + what
        self._emitted("ATOMIC", result.reg, *regs, imm=code, **self._says("atomic"))
        return result


def layout(shape: Any, dtype: Any) -> tuple[tuple[int, ...], Any]:
    """Shape and format of an array on the device."""
    form = find(dtype)
    sizes = tuple(shape) if isinstance(shape, list | tuple) else (shape,)
    for n in sizes:
        if not is_whole(n) or n < 1:
            raise ValueError(f"a shape of {shape!r}: whole numbers from 1 are needed")
    if not 1 <= len(sizes) <= MOST_AXES:
        raise ValueError(f"{len(sizes)} dimensions; 1 to {MOST_AXES} are needed")
    return tuple(map(int, sizes)), form


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

    def spot(self, parts: tuple[Any, ...]) -> tuple[Sum, ...]:
        """What is known of an index along each axis of the whole array."""
        return self._whole_array.spot((*self._before, *parts))
