"""Arrays that count: NumPy code run as it is, its work written down as it goes.

An array of a ``Tape`` is an ordinary NumPy array that tells the tape of every product
and elementwise operation done with it. Two memories are simulated at once: one that
forgets after every step, so that each step reads its inputs and writes its result; and
one, as large as need be, that forgets after every *operation* (a ``with tape(name)``
block), so that what is made and used inside never reaches memory. What the tape cannot
count it refuses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stacklib.quantity import bytes_per_element, counted
from stacklib.quantity import dtype as find_dtype

from ..work.steps import Rule, rule_of
from ..work.work import Work

SPECIAL = {
    np.exp,
    np.exp2,
    np.expm1,
    np.log,
    np.log2,
    np.log1p,
    np.sqrt,
    np.tanh,
    np.sin,
    np.cos,
}
# Functions made of views and of operations that are counted one by one.
_COUNTED = {np.reshape, np.transpose, np.swapaxes, np.moveaxis, np.expand_dims,
            np.squeeze, np.broadcast_to, np.empty_like, np.sum, np.max, np.min,
            np.mean, np.shape, np.ndim, np.size}  # fmt: skip
_DID = "operations counted"
_OUTSIDE = 0  # label of what was there before the run


class NotCounted(TypeError):
    """NumPy was asked for something the tape does not know how to count."""


@dataclass(slots=True)
class Tally:
    """What one operation did."""

    macs: int = 0  # Multiply-adds of products
    simple: int = 0  # additions, multiplications, divisions and comparisons
    special: int = 0  # exponentials, logarithms, roots and tangents
    step_reads: int = 0  # numbers moved when every step moves its inputs
    step_writes: int = 0  # result
    reads: int = 0  # numbers moved when only the operation does
    writes: int = 0

    def work(self, name: str, dtype: str, rule: str | Rule) -> Work:
        """The tally in operations and bytes."""
        by, fmt = rule_of(rule), find_dtype(dtype)
        did = counted(self.operations, by.name, unit=fmt.operation, label=_DID)
        moved = counted(self.numbers, by.name, label="numbers counted")
        return Work(did, moved * bytes_per_element(fmt.name), name, fmt.name)

    def operations(self, rule: str) -> float:
        """Operations by a rule."""
        by = rule_of(rule)
        return 2 * self.macs + by.simple * self.simple + by.special * self.special

    def numbers(self, rule: str) -> int:
        """Numbers moved by a rule."""
        if rule_of(rule).passes == "step":
            return self.step_reads + self.step_writes
        return self.reads + self.writes


@dataclass(slots=True)
class _Buffer:
    """Memory of one array, and what is known of each of its numbers."""

    owner: NDArray[Any]
    chip: NDArray[np.int32]  # the last operation that had it on chip
    writer: NDArray[np.int32]  # label of what wrote it
    stored: NDArray[np.bool_]  # whether that write has been counted

    def views(self, array: NDArray[Any]) -> tuple[NDArray[Any], ...]:
        """The three records in the layout of a view; axes that repeat count once."""
        unit = self.owner.itemsize
        start = (_address(array) - _address(self.owner)) // unit
        kept = [
            (n, s // unit)
            for n, s in zip(array.shape, array.strides, strict=True)
            if s or n == 0
        ]
        shape = [n for n, _ in kept]

        def view(record: NDArray[Any]) -> NDArray[Any]:
            strides = [step * record.itemsize for _, step in kept]
            return np.lib.stride_tricks.as_strided(record[start:], shape, strides)

        return view(self.chip), view(self.writer), view(self.stored)


def _address(array: NDArray[Any]) -> int:
    return int(array.__array_interface__["data"][0])


class Tape:
    """What is counted in one run."""

    def __init__(self) -> None:
        self.tallies: dict[str, Tally] = {}
        self._labels: list[str] = ["outside"]
        self._open: list[str] = []
        self._operation = 0
        self._buffers: dict[int, _Buffer] = {}

    def array(self, value: Any) -> Traced:
        """A copy of ``value`` in float64 that was in memory before the run."""
        traced = np.array(value, dtype=np.float64).view(Traced)
        traced.tape = self
        self._buffer(traced, stored=True)
        return traced

    @contextmanager
    def __call__(self, name: str) -> Iterator[None]:
        """Count what runs inside under ``name``.

        Blocks inside a block share its memory: together they are one operation.
        """
        if not self._open:
            self._operation += 1
        if name not in self.tallies:
            self.tallies[name] = Tally()
            self._labels.append(name)
        self._open.append(name)
        try:
            yield
        finally:
            self._open.pop()

    def keep(self, array: NDArray[Any]) -> NDArray[np.float64]:
        """A result of the run as a plain array; counts it as written to memory."""
        # Something on the way lost count.
        if getattr(array, "tape", None) is not self:
            raise NotCounted(f"a {type(array).__name__} came back: it was not counted")
        _, writer, stored = self._buffer(array).views(array)
        self._store(writer, stored, ~stored)
        return np.array(array.view(np.ndarray))

    # -- called by the arrays ------------------------------------------------

    def step(self, cost: str, count: int, reads: list[Any], out: NDArray[Any]) -> None:
        """Write down one step."""
        if not self._open:
            raise NotCounted("a step outside every 'with tape(name)': name it")
        tally = self.tallies[self._open[-1]]
        if cost:
            setattr(tally, cost, getattr(tally, cost) + count)
        inputs = {(_address(a), a.shape, a.strides): a for a in reads if a.ndim}
        for array in inputs.values():
            chip, writer, stored = self._buffer(array).views(array)
            tally.step_reads += chip.size
            new = chip != self._operation
            tally.reads += int(new.sum())
            self._store(writer, stored, new & ~stored)
            chip[...] = self._operation
        chip, writer, stored = self._buffer(out).views(out)
        tally.step_writes += chip.size
        chip[...] = self._operation
        writer[...] = self._labels.index(self._open[-1])
        stored[...] = False

    def pick(self, array: NDArray[Any], index: Any, out: NDArray[Any]) -> None:
        """Write down a copy of the picked numbers of an array, each read once."""
        self.step("", 0, [], out)
        tally, taken = self.tallies[self._open[-1]], np.zeros(array.shape, bool)
        taken[index] = True
        chip, writer, stored = self._buffer(array).views(array)
        new = taken & (chip != self._operation)
        tally.step_reads += out.size
        tally.reads += int(new.sum())
        self._store(writer, stored, new & ~stored)
        chip[taken] = self._operation

    def _store(self, writer: Any, stored: Any, which: Any) -> None:
        """Count numbers as written by who wrote them: somebody reads them later."""
        labels, counts = np.unique(writer[which], return_counts=True)
        for label, count in zip(labels, counts, strict=True):
            if label != _OUTSIDE:
                self.tallies[self._labels[label]].writes += int(count)
        stored[which] = True

    def _buffer(self, array: NDArray[Any], stored: bool = True) -> _Buffer:
        owner = array
        while isinstance(owner.base, np.ndarray):
            owner = owner.base
        known = self._buffers.get(id(owner))
        if known is None:  # kept, so that no other array takes its id
            size = owner.size
            known = _Buffer(
                owner,
                np.zeros(size, np.int32),
                np.zeros(size, np.int32),
                np.full(size, stored),
            )
            self._buffers[id(owner)] = known
        return known


class Traced(np.ndarray):
    """A NumPy array that tells its tape what is done with it."""

    tape: Tape | None = None

    def __array_finalize__(self, obj: Any) -> None:
        """Views belong to the same tape."""
        self.tape = getattr(obj, "tape", None)

    def __array_ufunc__(
        self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any
    ) -> Any:
        """Run the operation on plain arrays, and write it down."""
        arrays = [i for i in (*inputs, *kwargs.get("out", ())) if isinstance(i, Traced)]
        tape = next((a.tape for a in arrays if a.tape), None)
        plain = [_plain(i) for i in inputs]
        if "out" in kwargs:
            kwargs["out"] = tuple(_plain(o) for o in kwargs["out"])
        cost, run = _kind(ufunc, method, kwargs)
        result = np.asarray(run(*plain, **kwargs))
        if tape is None:
            return result
        count = result.size
        if method == "reduce":
            count = plain[0].size
        elif cost == "macs":
            count *= plain[0].shape[-1]
        tape.step(cost, count, [a for a in plain if isinstance(a, np.ndarray)], result)
        traced = result.view(Traced)
        traced.tape = tape
        return traced

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        """Views, and functions made of counted operations; the rest is refused."""
        if func not in _COUNTED:
            raise NotCounted(
                f"np.{func.__name__} is not counted; write it with products, "
                "elementwise operations, sums and views"
            )
        result = super().__array_function__(func, types, args, kwargs)
        if isinstance(result, np.ndarray) and not isinstance(result, Traced):
            raise NotCounted(f"np.{func.__name__} gives a plain array: not counted")
        return result

    def __getitem__(self, index: Any) -> Any:
        """A view; rows picked by a list of indices are a copy, and counted."""
        picked = super().__getitem__(index)
        if self.tape is None or not isinstance(picked, np.ndarray):
            return picked
        if not np.may_share_memory(_plain(picked), _plain(self)):
            self.tape.pick(_plain(self), index, _plain(picked))
        return picked

    def __setitem__(self, index: Any, value: Any) -> None:
        """Refused: ``out=`` writes a result where it belongs without a copy."""
        raise NotCounted("assignment is not counted; pass out= to the operation")

    def reshape(self, *shape: Any, **kwargs: Any) -> Any:
        """A view of another shape; refused where NumPy would copy."""
        return self._view(super().reshape(*shape, **kwargs), "reshape")

    def _view(self, result: Any, name: str) -> Any:
        if not np.may_share_memory(_plain(result), _plain(self)) and result.size:
            raise NotCounted(f"{name} of {self.shape} copies, which is not counted")
        return result

    def _refused(self, *args: Any, **kwargs: Any) -> Any:
        raise NotCounted("this method is not counted; write it with operators")

    dot = copy = astype = flatten = ravel = cumsum = cumprod = std = var = _refused
    prod = trace = round = clip = sort = take = put = fill = repeat = _refused


def _plain(value: Any) -> Any:
    return value.view(np.ndarray) if isinstance(value, Traced) else value


def _kind(
    ufunc: np.ufunc, method: str, kwargs: dict[str, Any]
) -> tuple[str, Callable[..., Any]]:
    """What a call counts as, and the function that does it."""
    known = method in ("__call__", "reduce") and ufunc.nout == 1
    partial = kwargs.get("where", True) is not True
    other = ufunc.signature is not None and ufunc is not np.matmul
    if not known or partial or other:
        raise NotCounted(f"np.{ufunc.__name__} ({method}) is not counted")
    if ufunc is np.matmul:
        return "macs", ufunc
    run = ufunc if method == "__call__" else ufunc.reduce
    return ("special" if ufunc in SPECIAL else "simple"), run


def count(function: Callable[..., Any], *arrays: Any) -> tuple[Tally, Any]:
    """Run a NumPy function on arrays that count, as one operation."""
    tape = Tape()
    traced = [tape.array(a) for a in arrays]
    with tape("all"):
        result = function(*traced)
    return tape.tallies["all"], tape.keep(result)
