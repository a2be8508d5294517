"""Arrays in global and shared memory: every access checked, counted and recorded.

An index outside the array, a read of an element that nobody wrote, and two lanes that
touch one element without a barrier between them are errors that name the lane.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from stacklib.quantity.bounds import is_whole

from .hazards import Hazards
from .lanes import Lanes

if TYPE_CHECKING:
    from .machine import Machine

ALIGNMENT = 256  # of every array in global memory, as cudaMalloc gives


def layout(shape: int | Sequence[int], dtype: Any) -> tuple[tuple[int, ...], Any]:
    """Shape and format of an array on the device."""
    kind = np.dtype(dtype)
    if kind.kind not in "iufb" or kind.itemsize > 8:
        raise TypeError(f"{kind}: whole numbers, floats to 8 bytes or bool are needed")
    sizes = tuple(shape) if isinstance(shape, list | tuple) else (shape,)
    for n in sizes:
        if not is_whole(n) or n < 1:
            raise ValueError(f"a shape of {shape!r}: whole numbers from 1 are needed")
    return tuple(map(int, sizes)), kind


class DeviceArray:
    """An array that kernels index with lanes: ``a[i]``, ``a[row, column] = x``.

    ``base``: byte address of its first element (in the block, for ``shared``).
    """

    def __init__(
        self, name: str, space: str, values: Any, base: int, hazards: Hazards | None
    ) -> None:
        self.name, self.space, self.base, self.hazards = name, space, base, hazards
        self.shape = values.shape[1:] if space == "shared" else values.shape
        self.size = int(np.prod(self.shape))
        self.values = values
        self.flat = values.reshape(-1)
        self.itemsize = values.dtype.itemsize
        self.machine: Machine | None = None
        # Element number of each warp's own copy.
        self.offset: Any = None

    __iter__ = None  # Python would try [0], [1], ... otherwise

    def __len__(self) -> int:
        return int(self.shape[0])

    def bind(self, machine: Machine) -> DeviceArray:
        """Make it the array of a batch of blocks."""
        self.machine = machine
        if self.space == "shared":
            slot: Any = np.repeat(np.arange(len(self.values)), machine.warps_of_block)
            self.offset = (slot * self.size)[:, None]
        return self

    # -- where ---------------------------------------------------------------

    def _on(self) -> Machine:
        if self.machine is None:
            raise TypeError(f"{self.name} is used outside its launch")
        return self.machine

    def element(self, index: Any) -> Any:
        """Element numbers ``(warps, 32)`` of the active lanes, checked."""
        on = self._on()
        parts = index if isinstance(index, tuple) else (index,)
        if len(parts) != len(self.shape):
            raise on.error(
                f"{self.name} has {len(self.shape)} dimensions, its index {len(parts)}"
            )
        at: Any = np.int64(0)  # addresses must not wrap where indices are narrow
        for axis, (part, length) in enumerate(zip(parts, self.shape, strict=True)):
            number = self._part(part, axis, length)
            if axis:
                on.issue("arithmetic")  # row * width + column
            at = at * length + number
        return np.broadcast_to(at, on.mask.shape)

    def _part(self, part: Any, axis: int, length: int) -> Any:
        on = self._on()
        number = on.array(part, f" as an index of {self.name}")
        if np.asarray(number).dtype.kind not in "iu":
            raise on.error(f"an index of {self.name} is {part!r}, no whole number")
        outside = on.mask & ((number < 0) | (number >= length))
        if outside.any():
            wrong = int(np.broadcast_to(number, on.mask.shape)[outside][0])
            where = f" along axis {axis}" if len(self.shape) > 1 else ""
            raise on.error(
                f"{self.name}[{wrong}] is outside its {length} elements{where}: "
                f"{self.space} address {self.base + wrong * self.itemsize}",
                outside,
            )
        return number

    def _addresses(self, at: Any) -> Any:
        return self.base + at * self.itemsize

    def _own(self, at: Any) -> Any:
        """Elements in ``flat``: a block's copy of shared memory is its own."""
        return at if self.offset is None else at + self.offset

    # -- loads and stores ----------------------------------------------------

    def __getitem__(self, index: Any) -> Lanes:
        on = self._on()
        at = self.element(index)
        on.request(self, "load", self._addresses(at))
        own = self._own(at)
        if self.hazards is not None and on.active_lanes:
            here = own[on.mask]
            bad = self.hazards.unwritten(here)
            if bad.any():
                raise self._fault("is read, and nobody has written it", at, bad)
            bad = self.hazards.read(here, *on.who())
            if bad.any():
                raise self._fault(
                    f"is read while another lane writes it{_BARRIER}", at, bad
                )
        safe = own if on.everyone else np.where(on.mask, own, 0)
        return on.loaded(self.flat[safe], self.space)

    def __setitem__(self, index: Any, value: Any) -> None:
        on = self._on()
        numbers = np.broadcast_to(
            on.array(value, f" stored to {self.name}"), on.mask.shape
        )
        if numbers.dtype.kind not in "iufb":
            raise on.error(f"{value!r} is stored to {self.name}: no number of a lane")
        at = self.element(index)
        on.request(self, "store", self._addresses(at))
        if not on.active_lanes:
            return
        here = self._own(at)[on.mask]
        if self.hazards is not None:
            bad = self.hazards.write(here, *on.who())
            if bad.any():
                what = f"is written while another lane uses it{_BARRIER}"
                alike = _one_value(here, numbers[on.mask], bad)
                raise self._fault(alike or what, at, bad)
        with np.errstate(all="ignore"):
            self.flat[here] = numbers[on.mask]

    def atomic(self, ufunc: Any, index: Any, value: Any) -> Lanes:
        """Combine with what stands there, one lane after another; the old values.

        Lanes of a request that meet at one element take turns in lane order.
        """
        on = self._on()
        numbers = np.broadcast_to(on.array(value), on.mask.shape)
        at = self.element(index)
        on.request(self, "atomic", self._addresses(at))
        here = self._own(at)[on.mask]
        given = numbers[on.mask].astype(self.flat.dtype)
        if self.hazards is not None and len(here):
            bad = self.hazards.unwritten(here)
            if bad.any():
                raise self._fault("is added to, and nobody has written it", at, bad)
            bad = self.hazards.atomic(here, *on.who())
            if bad.any():
                raise self._fault(
                    f"meets an atomic while another lane reads or writes it{_BARRIER}",
                    at,
                    bad,
                )
        old = np.zeros(on.mask.shape, self.flat.dtype)
        old[on.mask] = _in_turn(ufunc, self.flat, here, given)
        return on.loaded(old, self.space)

    def _fault(self, what: str, at: Any, bad: Any) -> Exception:
        on = self._on()
        where = np.zeros_like(on.mask)
        where[on.mask] = bad
        element = int(at[where][0])
        place = f"{self.space} address {self.base + element * self.itemsize}"
        return on.error(f"{self.name}[{element}] {what}; {place}", where)


_BARRIER = ": sync() orders lanes of a block, nothing orders blocks"


def _in_turn(ufunc: Any, flat: Any, here: Any, given: Any) -> Any:
    """Apply ``flat[here] = ufunc(flat[here], given)`` one by one; what each found."""
    old = np.empty_like(given)
    order = np.argsort(here, kind="stable")
    places, first = np.unique(here[order], return_index=True)
    lengths: Any = np.diff(np.append(first, len(here)))
    for turn in range(int(lengths.max(initial=0))):
        mine = lengths > turn
        who = order[first[mine] + turn]
        old[who] = flat[places[mine]]
        flat[places[mine]] = ufunc(old[who], given[who])
    return old


def _one_value(here: Any, stored: Any, bad: Any) -> str:
    """What to say where a request's lanes meet at an element with equal values."""
    values = stored[here == here[bad][0]]
    if len(values) < 2 or not (values == values[0]).all():
        return ""
    return (
        f"is stored by {len(values)} lanes at once; the values are equal "
        f"({values[0].item()!r}), so let one lane store it"
    )
