"""What every part of a thread's context stands on: compiler, sizes, place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from ..vm.formats import Form, find
from ..vm.program import Place
from .lane_arrays import LaneArray

if TYPE_CHECKING:
    from .state import State

F = TypeVar("F", bound=Callable[..., Any])


def member(function: F) -> F:
    """A member that makes instructions when a kernel calls it."""
    function.of_kernel = True  # type: ignore[attr-defined]
    return function


@dataclass(frozen=True, slots=True)
class Dim:
    """Three numbers, or three values a lane: ``x`` varies fastest."""

    x: Any
    y: Any = 1
    z: Any = 1


class Thread:
    """Who a thread is; what the other parts of its context share."""

    def __init__(self, of: State, grid: Dim, block: Dim, given: Place) -> None:
        self._of, self._given = of, given
        self.block_dim, self.grid_dim = block, grid
        special = of.build.special

        def place(word: str, size: Dim) -> Dim:
            return Dim(
                *(
                    special(f"{word}.{axis}")
                    if axis == "x" or getattr(size, axis) > 1
                    else 0
                    for axis in "xyz"
                )
            )

        self.thread, self.block = place("thread", block), place("block", grid)
        self.lane = special("lane")
        self.warp = special("warp")
        self.cluster_rank = special("rank") if given.cluster > 1 else 0
        self._made: dict[Any, Any] = {}

    def _error(self, what: str) -> Exception:
        return self._of.error(what)

    def _form(self, dtype: Any) -> Form:
        try:
            return find(dtype)
        except (TypeError, ValueError, LookupError) as wrong:
            raise self._error(str(wrong)) from None

    def _needs(self, capability: str, what: str) -> None:
        self._of.needs(capability, what)

    def _array_of(self, array: Any) -> LaneArray:
        if not isinstance(array, LaneArray):
            raise self._error(f"{array!r} is no array of the device")
        return array
