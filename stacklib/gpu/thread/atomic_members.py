"""Atomics: combine with what stands there, one lane after another."""

from __future__ import annotations

from typing import Any

from ..lang.builder import Value
from ..lang.lane_arrays import LaneArray
from ..lang.thread import Thread, member

ATOMICS = ("add", "max", "min", "exch", "cas", "and", "or", "xor", "sub", "inc", "load")


class AtomicMembers(Thread):
    """``atomic_add`` and its like."""


def _atomics() -> None:
    says = {
        "add": "Add to an element",
        "max": "Keep the larger",
        "min": "Keep the smaller",
        "exch": "Put the value in its place",
        "and": "Keep the bits that both have",
        "or": "Set the value's bits",
        "xor": "Flip the value's bits",
        "sub": "Take from an element",
        "inc": "Count up, and begin at 0 after the value, read without a sign",
    }

    def made(what: str, words: str) -> Any:
        def atomic(self: AtomicMembers, array: Any, index: Any, value: Any) -> Value:
            if not isinstance(array, LaneArray) or array.use.space == "local":
                raise self._error(f"{array!r} is no array that threads share")
            if what in ("and", "or", "xor", "inc") and array.use.form.floating:
                raise self._error(f"atomic_{what} of {array.use.form}")
            return array.atomic(ATOMICS.index(what), index, value)

        atomic.__doc__, atomic.__name__ = (
            f"{words}; what stood there.",
            f"atomic_{what}",
        )
        return member(atomic)

    for what, words in says.items():
        setattr(AtomicMembers, f"atomic_{what}", made(what, words))

    def cas(
        self: AtomicMembers, array: Any, index: Any, expected: Any, new: Any
    ) -> Value:
        """Put ``new`` where ``expected`` stands; what stood there."""
        if not isinstance(array, LaneArray) or array.use.space == "local":
            raise self._error(f"{array!r} is no array that threads share")
        return array.atomic(ATOMICS.index("cas"), index, expected, new)

    AtomicMembers.atomic_cas = member(cas)  # type: ignore[attr-defined]


_atomics()
