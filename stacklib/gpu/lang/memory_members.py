"""Memory of a thread and its block: arrays, wide loads and stores."""

from __future__ import annotations

from typing import Any

import numpy as np

from stacklib.quantity.bounds import is_whole

from .lane_arrays import LaneArray, layout
from .own_arrays import OwnArray
from .program import ArrayUse
from .thread import Thread, member


class MemoryMembers(Thread):
    """``shared``, ``local``, ``load``, ``store``."""

    @member
    def shared(self, shape: Any, dtype: Any = np.float32) -> LaneArray:
        """An array that the threads of a block share; it holds nothing yet."""
        return self._array("shared", shape, dtype)

    @member
    def local(self, shape: Any, dtype: Any = np.float32) -> LaneArray:
        """A thread's own array; an index that differs by lane puts it in memory."""
        return self._array("local", shape, dtype)

    @member
    def dynamic_shared(self, shape: Any, dtype: Any = np.float32) -> LaneArray:
        """Shared memory whose bytes the launch gives (``shared_bytes``)."""
        made = self._array("shared", shape, dtype, dynamic=True)
        return made

    def _array(
        self, space: str, shape: Any, dtype: Any, dynamic: bool = False
    ) -> LaneArray:
        of = self._of
        key = (id(of.site), space, *of.turns)
        try:
            sizes, form = layout(shape, dtype)
        except (TypeError, ValueError, LookupError) as wrong:
            raise self._error(f"{space}({shape!r}): {wrong}") from None
        known = self._made.get(key)
        if known is not None:
            if (known.shape, known.use.form) != (sizes, form):
                raise self._error(
                    f"{known.use.name} is declared again with another shape or format"
                )
            return known
        name = self._name(space)
        use = ArrayUse(name, space, form, sizes)
        made = of.array(use)
        if space == "local":
            made = OwnArray(of, made.number, use, key)
        self._made[key] = made
        self._placed(made, dynamic)
        return made

    def _name(self, space: str) -> str:
        kept = [a for a in self._of.build.arrays if a.space == space]
        return f"{space} array {len(kept) + 1}"

    def _placed(self, made: LaneArray, dynamic: bool) -> None:
        build, use = self._of.build, made.use
        if use.space == "local":
            if not use.registers:
                use.base = build.local_words
                build.local_words += made.size
            return
        use.base = -(-build.shared_bytes // 16) * 16
        build.shared_bytes = use.base + made.size * made.itemsize
        if dynamic and made.size * made.itemsize > self._given.dynamic:
            raise self._error(
                f"{made.size * made.itemsize:,} B of dynamic shared memory; the launch "
                f"gives {self._given.dynamic:,} (shared_bytes=)"
            )
        if build.shared_bytes > self._given.limit:
            raise self._error(
                f"a block declares {build.shared_bytes:,} B of shared memory; it may "
                f"have {self._given.limit:,} B"
            )

    @member
    def load(self, array: LaneArray, index: Any, count: int = 1) -> Any:
        """``count`` neighbours by one wide load, the first at ``index``."""
        self._width(array, count)
        return array.load_row(index, count)

    @member
    def store(self, array: LaneArray, index: Any, values: Any) -> None:
        """Neighbours by one wide store, the first at ``index``."""
        given = list(values) if isinstance(values, list | tuple) else [values]
        self._width(array, len(given))
        array.store_row(index, given)

    def _width(self, array: Any, count: Any) -> None:
        if not isinstance(array, LaneArray):
            raise self._error(f"{array!r} is no array of the device")
        if not is_whole(count) or count not in (1, 2, 4, 8, 16):
            raise self._error(f"{count!r} neighbours: 1, 2, 4, 8 or 16")
        if count * array.itemsize > 16:
            raise self._error(
                f"{count} of {array.use.form} are {count * array.itemsize} bytes; one "
                "load or store moves 16 at most"
            )
