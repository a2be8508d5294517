"""Arrays in global memory, and what tiles do to them: load, store, atomics.

Every access is checked, counted and recorded; lanes that a mask leaves out touch
nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from . import accesses
from .formats import codes, decoded
from .machine import Batch, batch, error, place
from .races import Order, Races
from .tile import Tile, as_tile, cast, spread
from .traffic import Traffic
from .turns import in_turn
from .types import DType, Pointer, int1

ALIGNMENT = 256  # of every array, as cudaMalloc gives


class Array:
    """An argument that programs see as a pointer."""

    def __init__(
        self, name: str, values: Any, dtype: DType, base: int, written: bool
    ) -> None:
        self.name, self.dtype, self.base = name, dtype, base
        self.values = values  # as stored: codes where NumPy has no type
        self.flat = values.transpose(by_stride(values)).reshape(-1)  # as they lie
        self.written: Any = None if written else np.zeros(self.flat.size, bool)
        self.races: Races | None = None

    @property
    def end(self) -> int:
        """The address behind its last byte."""
        return self.base + self.flat.nbytes

    def result(self) -> Any:
        """Its values, in its shape."""
        return decoded(self.values, self.dtype)


def by_stride(values: Any) -> tuple[int, ...]:
    """Axes of an array, those with the farthest neighbours first."""
    axes = range(values.ndim)
    return tuple(sorted(axes, key=lambda axis: -values.strides[axis]))


def in_one_piece(values: Any) -> bool:
    """Whether elements lie side by side, in whatever order of axes."""
    return bool(values.transpose(by_stride(values)).flags.c_contiguous)


class Memory:
    """Global memory of a launch."""

    def __init__(self, check: bool) -> None:
        self.check = check
        self.arrays: list[Array] = []
        self.order = Order()
        self.traffic = Traffic()
        self.base = ALIGNMENT

    def place(self, name: str, values: Any, dtype: DType, written: bool) -> Array:
        """Put an array behind those there are."""
        made = Array(name, values, dtype, self.base, written)
        if self.check:
            made.races = Races(made.flat.size, self.order)
        self.base = -(-(made.end + 1) // ALIGNMENT) * ALIGNMENT
        self.arrays.append(made)
        return made

    def home(self, address: int) -> Array | None:
        """The array an address lies in."""
        inside = (a for a in self.arrays if a.base <= address < a.end)
        return next(inside, None)


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
        home = self.pointer.home
        if home is None:
            chosen = self.addresses if self.mask is None else self._kept(self.addresses)
            address = int(chosen.flat[0]) if chosen.size else 0
            found = self.now.memory.arrays[:1] if not chosen.size else []
            home = self.now.memory.home(address) or next(iter(found), None)
            if home is None:
                raise error(f"tl.{self.word} at address {address}, where no array is")
        if home.dtype.itemsize != self.dtype.itemsize:
            raise error(f"{home.name} holds {home.dtype}, its pointer {self.dtype}")
        return home

    def _kept(self, values: Any) -> Any:
        lead = np.broadcast_to(values, self.lead_shape(self.mask))
        return lead[np.broadcast_to(self.mask, lead.shape)]

    def lead_shape(self, mask: Any) -> tuple[int, ...]:
        """The shape of addresses and mask together."""
        return (max(len(self.addresses), len(mask)), *self.shape)

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
        op = accesses.count(self.now, self, kind, needs)
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
CACHE = (".ca", ".cg", ".cv", ".wb", ".cs", ".wt")
EVICTION = ("evict_last", "evict_first")


SEMANTICS = ("acquire", "release", "acq_rel", "relaxed")
SCOPES = ("gpu", "cta", "sys")


def _word(given: Any, known: tuple[str, ...]) -> None:
    if given and given not in known:
        raise error(f"{given!r}: one of {', '.join(known)}")


def load(
    pointer: Any,
    mask: Any = None,
    other: Any = None,
    boundary_check: Sequence[Any] = (),
    padding_option: Any = "",
    cache_modifier: Any = "",
    eviction_policy: Any = "",
    volatile: Any = False,
) -> Tile:
    """Elements at addresses; ``other``, or zero, where the mask leaves one out."""
    _word(cache_modifier, CACHE)
    _word(eviction_policy, EVICTION)
    if boundary_check or padding_option:
        raise error("boundary_check belongs to block pointers: use a mask")
    if other is not None and mask is None:
        raise error("tl.load with `other` and no mask")
    access = Access("load", pointer, mask)
    access.look("read")
    values = decoded(access.array.flat[access.at], access.dtype)
    if access.mask is not None:
        rest: Any = 0
        if other is not None:
            rest = spread(cast(as_tile(other), access.dtype), access.shape).data
        values = np.where(access.mask, values, rest).astype(values.dtype)
    op = access.count("load", (pointer.op, _op(mask)), values)
    return Tile(values, access.dtype, op)


def _op(x: Any) -> int:
    return x.op if isinstance(x, Tile) else -1


def store(
    pointer: Any,
    value: Any,
    mask: Any = None,
    boundary_check: Sequence[Any] = (),
    cache_modifier: Any = "",
    eviction_policy: Any = "",
) -> None:
    """Write elements to addresses, but where the mask leaves one out."""
    _word(cache_modifier, CACHE)
    _word(eviction_policy, EVICTION)
    if boundary_check:
        raise error("boundary_check belongs to block pointers: use a mask")
    access = Access("store", pointer, mask)
    given = cast(as_tile(value), access.dtype)
    stored = codes(spread(given, access.shape).data, access.dtype)
    access.count("store", (pointer.op, given.op, _op(mask)))
    at, _, lanes = access.everyone()
    values = np.broadcast_to(stored, lanes.shape)[lanes]
    if access.array.races is not None:
        _twice(access, at, lanes, values)
    access.look("write")
    access.now.put(access.array.flat, at, values)
    if access.array.written is not None:
        access.now.put(access.array.written, at, True)


def _twice(access: Access, at: Any, lanes: Any, values: Any) -> None:
    """Two lanes of one store that meet at an element are named."""
    if not len(at) or (np.diff(at) > 0).all():
        return
    order = np.argsort(at, kind="stable")
    same = at[order][1:] == at[order][:-1]
    if same.any():
        bad: Any = np.zeros(len(at), bool)
        pair = order[np.argmax(same)], order[np.argmax(same) + 1]
        bad[pair[1]] = True
        equal = values[pair[0]] == values[pair[1]]
        says = "is stored twice by one tl.store"
        if equal:
            says += f" (the same value, {values[pair[0]].item()!r})"
        raise access._wrong(bad, lanes, f"{says}: let one element of one program do it")


def _atomics(word: str, how: Any) -> Any:
    def atomic(
        pointer: Any, val: Any, mask: Any = None, sem: Any = None, scope: Any = None
    ) -> Tile:
        _word(sem, SEMANTICS)
        _word(scope, SCOPES)
        access = Access(f"atomic_{word}", pointer, mask)
        _has_atomic(word, access.dtype)
        value = spread(cast(as_tile(val), access.dtype), access.shape)
        return _in_turn(access, how, value, (pointer.op, value.op, _op(mask)), sem)

    atomic.__name__ = f"atomic_{word}"
    atomic.__doc__ = f"Combine with what stands there ({word}); what was there."
    return atomic


def _has_atomic(word: str, dtype: DType) -> None:
    half = dtype.is_floating() and dtype.bits == 16
    if dtype.bits < 16 or (half and word != "add") or dtype.name in ("int16", "uint16"):
        raise error(f"tl.atomic_{word} of {dtype}: GPUs have none")
    if dtype.is_floating() and word in ("and", "or", "xor"):
        raise error(f"tl.atomic_{word} of {dtype}: whole numbers are needed")


def _in_turn(
    access: Access, how: Any, value: Tile, needs: tuple[int, ...], sem: Any
) -> Tile:
    """Lanes one after another, in the order of programs."""
    access.look("atomic")
    at, me, lanes = access.everyone()
    given = np.broadcast_to(value.data, lanes.shape)[lanes]
    old, places, last = in_turn(how, access.array.flat, at, given, access.dtype)
    access.now.put(access.array.flat, places, codes(last, access.dtype))
    if not access.shape and sem != "relaxed" and access.array.races is not None:
        _ordering(access, at, me)
    found = np.zeros(lanes.shape, access.dtype.held)
    found[lanes] = old
    op = access.count("atomic", needs, found)
    return Tile(found, access.dtype, op)


def _ordering(access: Access, at: Any, me: Any) -> None:
    order = access.now.memory.order
    before = len(order.events)
    order.note(me - 1, at * access.array.dtype.itemsize + access.array.base)

    def back() -> None:
        del order.events[before:]

    access.now.undo.append(back)


def _xchg(old: Any, new: Any) -> Any:
    return new


atomic_add = _atomics("add", np.add)
atomic_max = _atomics("max", np.fmax)
atomic_min = _atomics("min", np.fmin)
atomic_and = _atomics("and", np.bitwise_and)
atomic_or = _atomics("or", np.bitwise_or)
atomic_xor = _atomics("xor", np.bitwise_xor)
atomic_xchg = _atomics("xchg", _xchg)


def atomic_cas(
    pointer: Any, cmp: Any, val: Any, sem: Any = None, scope: Any = None
) -> Tile:
    """Put ``val`` where ``cmp`` stands; what stood there before."""
    _word(sem, SEMANTICS)
    _word(scope, SCOPES)
    access = Access("atomic_cas", pointer, None)
    if access.dtype.bits < 16:
        raise error(f"tl.atomic_cas of {access.dtype}: 16, 32 or 64 bits are needed")
    expected, new = (
        spread(cast(as_tile(x), access.dtype), access.shape) for x in (cmp, val)
    )
    lead = (len(access.now), *access.shape)
    expects = np.broadcast_to(expected.data, lead).reshape(-1)

    def swap(old: Any, given: Any, turn: Any) -> Any:
        return np.where(old == expects[turn], given, old)

    swap.by_turn = True  # type: ignore[attr-defined]
    return _in_turn(access, swap, new, (pointer.op, expected.op, new.op), sem)
