"""What a memory operation touches: which elements of which array, by whom; checked.

Lanes that a mask leaves out touch nothing.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .machine import Batch, batch, choose, error, place
from .memory import Array
from .requests import count as count_requests
from .tile import Tile, as_tile, spread
from .types import Pointer, int1


class Access:
    """Elements that a memory operation touches: addresses and mask, checked."""

    def __init__(self, word: str, pointer: Any, mask: Any) -> None:
        if not isinstance(pointer, Tile) or not isinstance(pointer.dtype, Pointer):
            raise error(f"tl.{word} of {pointer!r}: a pointer is needed")
        self.now: Batch = batch()
        self.word, self.pointer = word, pointer
        self.dtype = pointer.dtype.element_ty
        self.shape = pointer.shape
        self.mask = None if mask is None else self._masked(as_tile(mask))
        lead = max(len(pointer.data), 1 if self.mask is None else len(self.mask))
        self.addresses = np.broadcast_to(pointer.data, (lead, *self.shape))
        self.array = self._home()
        self.at = self._elements()

    def _masked(self, mask: Tile) -> Any:
        if mask.dtype is not int1:
            raise error(f"a mask of {mask.dtype}: a comparison gives int1")
        data = spread(mask, self.shape).data
        return None if data.all() else data

    def _home(self) -> Array:
        """The array the pointer came from; else the one its first address is in."""
        home = self.pointer.home or self._found()
        if home.dtype.itemsize != self.dtype.itemsize:
            raise error(f"{home.name} holds {home.dtype}, its pointer {self.dtype}")
        return home

    def _found(self) -> Array:
        """The array of each program's first address; programs part where it differs."""
        shape = (len(self.addresses), max(1, self.pointer.numel))
        on = np.ones(shape, bool) if self.mask is None else self._flat_mask(shape)
        first = self.addresses.reshape(shape)[np.arange(shape[0]), on.argmax(axis=1)]
        arrays = self.now.memory.arrays
        bases = [array.base for array in arrays]
        which = choose(np.searchsorted(bases, first, side="right") - 1)
        inside = which >= 0 and (first < arrays[which].end).all()
        if not inside and on.any():
            raise error(f"tl.{self.word} at address {first[0]}, where no array is")
        return arrays[max(0, which)]

    def _flat_mask(self, shape: tuple[int, int]) -> Any:
        return np.broadcast_to(self.mask, self.addresses.shape).reshape(shape)

    def _elements(self) -> Any:
        """Element numbers, 0 where the mask leaves a lane out."""
        size = self.array.dtype.itemsize
        at = (self.addresses - self.array.base) // size
        if self.mask is not None:
            at = np.where(self.mask, at, 0)
        if at.min() < 0 or at.max() >= self.array.flat.size:
            raise self._fault((at < 0) | (at >= self.array.flat.size), at, self._out)
        return at

    def _out(self, element: int) -> str:
        return (
            f"{self.array.name}[{element}] is outside its "
            f"{self.array.flat.size:,} elements; mask it"
        )

    def _fault(self, bad: Any, at: Any, says: Any) -> Exception:
        """An error that names program, element and address."""
        first = np.unravel_index(int(np.argmax(bad)), bad.shape)
        program = (
            int(np.broadcast_to(self.now.programs, (max(len(at), 1),))[first[0]])
            if len(at) == len(self.now)
            else int(self.now.programs[0])
        )
        where = tuple(int(n) for n in first[1:])
        inside = f", element {list(where)} of the tile" if where else ""
        text = f"tl.{self.word}: {says(int(at[first]))}"
        return error(f"{text}; program {place(self.now, program)}{inside}")

    # -- who, and where --------------------------------------------------------

    def everyone(self) -> tuple[Any, Any, Any]:
        """Elements and programs + 1 of all active lanes, and their mask; flat."""
        shape = (len(self.now), *self.shape)
        at = np.broadcast_to(self.at, shape)
        programs = (self.now.programs + 1).reshape(-1, *(1 for _ in self.shape))
        me = np.broadcast_to(programs, shape)
        if self.mask is None:
            return at.reshape(-1), me.reshape(-1), np.ones(shape, bool)
        mask = np.broadcast_to(self.mask, shape)
        return at[mask], me[mask], mask

    def look(self, kind: str) -> None:
        """Find reads of nothing and races; note the access."""
        races = self.array.races
        if races is None:
            return
        at, me, mask = self.everyone()
        if not len(at):
            return
        if kind != "write" and self.array.written is not None:
            bad = ~self.array.written[at]
            if bad.any():
                raise self._wrong(bad, mask, "is read, and nobody has written it")
        bad = getattr(races, kind)(self.now, at, me)
        if bad.any():
            raise self._wrong(bad, mask, _CLASH[kind])

    def _wrong(self, bad: Any, mask: Any, says: str) -> Exception:
        where = np.zeros(mask.shape, bool)
        where[mask] = bad
        at = np.broadcast_to(self.at, mask.shape)
        return self._fault(where, at, lambda n: f"{self.array.name}[{n}] {says}")

    def count(self, kind: str, needs: tuple[int, ...], found: Any = None) -> int:
        """Record the requests; the operation's number."""
        op = count_requests(self.now, self, kind, needs)
        if found is not None and not self.shape and len(self.now) == 1:
            asked = (f"tl.{self.word}", int(self.addresses[0]), found[0].item())
            self.now.ops[op].detail = asked
        return op


_CLASH = {
    "read": "is read while another program writes it: nothing orders programs",
    "write": "is written while another program uses it: nothing orders programs",
    "atomic": "meets an atomic while another program reads or writes it plainly: "
    "nothing orders programs",
}


def word(given: Any, known: tuple[str, ...]) -> None:
    if given and given not in known:
        raise error(f"{given!r}: one of {', '.join(known)}")


def op_of(x: Any) -> int:
    return x.op if isinstance(x, Tile) else -1
