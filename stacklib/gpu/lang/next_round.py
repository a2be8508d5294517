"""What the next round of a loop with a way back finds in its names and containers.

Within a round a name may be given another list, and a list may grow and shrink: that
is plain Python. The next round is the same instructions, so what holds the numbers
then goes where it looked for them in the first: a copy in parallel at the end of the
round, as that out of SSA form (P. Briggs and others, *Practical Improvements to the
Construction and Destruction of Static Single Assignment Form*, 1998).
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable
from typing import Any

from .frames import Closure, Construct, Frame, NeedsUnrolling, of_form
from .state import State


def anew(of: State, key: Any) -> bool:
    """Whether the round that is compiled may give a name of its loop another object."""
    inner = of.constructs[-1]
    return inner.rolled and key in inner.objects


def reshaped(of: State, owner: Any) -> bool:
    """Note a container that the round of a loop changes; it is the round's own then."""
    inner = of.constructs[-1]
    if not inner.rolled:
        return False
    depth = of.depths.get(id(owner), 0)
    inner.shapes.setdefault(id(owner), (owner, owner.copy(), depth))
    of.depths[id(owner)] = len(of.constructs)
    return True


def nothing_is_pending(constructs: Iterable[Construct]) -> None:
    """Lanes that leave a round early find names and containers as it began."""
    if any(c.bound or c.shapes for c in constructs):
        raise NeedsUnrolling


def hand_over(
    of: State, loop: Construct, set_element: Callable[[Any, Any, Any], None]
) -> None:
    """Put what a round leaves where the next one looks for it."""
    if not (loop.bound or loop.shapes):
        return
    pairs = Pairs(loop, of.torn[-1])
    for frame in of.frames:
        pairs.all_of(frame)
    for owner in of.under_way:
        pairs.match(owner, owner)
    values = [(owner, at, of.own(value)) for owner, at, value in pairs.moves]
    for names, name, before in loop.bound.values():
        names[name] = before
    for owner, before, depth in loop.shapes.values():
        owner.clear()
        owner.extend(before) if isinstance(owner, list) else owner.update(before)
        of.depths[id(owner)] = depth
    for owner, at, value in values:
        set_element(owner, at, value)


class Pairs:
    """Objects of a round's end beside those of its beginning: the same net of them."""

    def __init__(self, loop: Construct, torn: Container[Any]) -> None:
        self._loop, self._torn = loop, torn  # names that no round begins with
        self._now: dict[int, Any] = {}  # by what it was
        self._before: dict[int, Any] = {}  # by what it is
        self._seen: set[int] = set()  # functions
        self.moves: list[tuple[Any, Any, Any]] = []  # owner, where, what it gets

    def all_of(self, frame: Frame | None) -> None:
        """Names of a function, and of those around it."""
        if frame is None or id(frame) in self._seen:
            return
        self._seen.add(id(frame))
        for name, now in frame.names.items():
            key = id(frame.names), name
            if key not in self._torn:
                self.match(self._loop.bound.get(key, (None, name, now))[2], now)
        self.all_of(frame.outer)

    def match(self, before: Any, now: Any) -> None:
        """The one stands where the other stood; NeedsUnrolling where it cannot."""
        owner = getattr(now, "__self__", None)
        if isinstance(owner, list | dict):
            self.match(owner, owner)
        if isinstance(now, Closure):
            self.all_of(now.frame)
            for one in now.defaults:
                self.match(one, one)
        if hasattr(now, "__next__") or type(before) is not type(now):
            raise NeedsUnrolling
        if not isinstance(now, list | dict | tuple):
            if before is not now and not self._is_word(before, now):
                raise NeedsUnrolling
            return
        if id(before) in self._now and self._now[id(before)] is now:
            return
        if id(before) in self._now or id(now) in self._before:
            raise NeedsUnrolling
        self._now[id(before)], self._before[id(now)] = now, before
        _, held, _ = self._loop.shapes.get(id(before), (None, before, 0))
        keys = now if isinstance(now, dict) else range(len(now))
        if list(keys) != list(held if isinstance(now, dict) else range(len(held))):
            raise NeedsUnrolling
        for at in keys:
            self._element(before, at, held[at], now[at])

    def _element(self, owner: Any, at: Any, before: Any, now: Any) -> None:
        if of_form(before) is None or of_form(now) is None:
            self.match(before, now)
        elif before is not now:
            if isinstance(owner, tuple):
                raise NeedsUnrolling
            self.moves.append((owner, at, now))

    @staticmethod
    def _is_word(before: Any, now: Any) -> bool:
        return isinstance(now, str | set) and before == now
