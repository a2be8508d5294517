"""Barriers in shared memory, as a kernel names them: arrive, expect bytes, wait."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stacklib.quantity.bounds import is_whole

from ..vm.program import BARRIER_SPAN
from .thread import member
from .values import Value

if TYPE_CHECKING:
    from .state import State

MOST_ARRIVALS = (1 << 20) - 1  # PTX ISA 9.0, 9.7.13.15.1, contents of an mbarrier


class Mbarrier:
    """One, or the one of a list that a lane's index names."""

    def __init__(
        self, of: State, first: int, index: Value | None = None, many: int = 0
    ) -> None:
        self._of, self.first, self._index, self._many = of, first, index, many

    def __repr__(self) -> str:
        return f"mbarrier {self.first + 1}"

    def which(self) -> tuple[int, int]:
        """Register of the index and code of the barriers it is taken from."""
        reg = -1 if self._index is None else self._index.reg
        return reg, self.first + BARRIER_SPAN * self._many

    @member
    def arrive(self) -> None:
        """Come to it without waiting."""
        self._emitted("MB_ARRIVE", -1, "arrive")

    @member
    def expect(self, size: Any) -> None:
        """Come to it, and let the phase last until so many bytes have landed."""
        self._of.needs("9.0", "an mbarrier that counts bytes")
        self._emitted("MB_EXPECT", self._whole(size, "bytes").reg, "arrive")

    @member
    def wait(self, phase: Any) -> None:
        """Wait until the phase of this parity is complete; the first has parity 0."""
        self._emitted("MB_WAIT", self._whole(phase, "a phase").reg, "wait")

    def _whole(self, number: Any, what: str) -> Value:
        form = self._of.build.form_of(number)
        if form.floating:
            raise self._of.error(f"{number!r} {what}: a whole number is needed")
        return self._of.build.value(number)

    def _emitted(self, op: str, reg: int, kind: str) -> None:
        index, code = self.which()
        self._of.build.emit(op, -1, index, reg, imm=code, kind=kind)


def chosen(of: State, listed: Any, index: Value) -> Mbarrier | None:
    """The barrier of a list that each lane's index names; None for other lists."""
    if not isinstance(listed, list | tuple) or not listed:
        return None
    if not all(isinstance(one, Mbarrier) for one in listed):
        return None
    first = listed[0].first
    if [one.first for one in listed] != list(range(first, first + len(listed))):
        raise of.error("an index that differs by lane: make the list in one place")
    return Mbarrier(of, first, index, len(listed))


def count_of(of: State, count: Any) -> int:
    """Arrivals that complete a phase."""
    if not is_whole(count) or not 1 <= count <= MOST_ARRIVALS:
        raise of.error(f"an mbarrier of {count!r} arrivals: 1 to {MOST_ARRIVALS:,}")
    return int(count)
