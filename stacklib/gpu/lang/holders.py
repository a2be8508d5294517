"""Who holds a Python container of a kernel: whether a name may take on other elements.

Where only some lanes are, a name cannot be given another list: it would be given it on
every lane. If nobody else sees the list it has, its elements may be set instead.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from .frames import Closure, Frame, of_form


def slots(frames: Iterable[Frame]) -> Iterator[Any]:
    """What each name and each element of a container holds."""
    seen: set[int] = set()
    left: list[Any] = list(frames)
    while left:
        place = left.pop()
        if id(place) in seen:
            continue
        seen.add(id(place))
        values: list[Any] = []
        if isinstance(place, Frame):
            values = [*place.names.values()]
            left += [place.outer] if place.outer is not None else []
        elif isinstance(place, Closure):
            values = [*place.defaults]
            left.append(place.frame)
        elif isinstance(place, dict):
            values = [*place.values()]
        elif isinstance(place, list | tuple | set):
            values = [*place]
        elif getattr(place, "__self__", None) is not None:
            values = [place.__self__]
        yield from values
        left += values


def holders(frames: list[Frame], container: Any) -> int:
    """How many names and elements hold a container; many where that is not known."""
    count = 0
    for value in slots(frames):
        count += value is container
        if hasattr(value, "__next__"):  # what it goes through, it does not say
            return 9
    return count


def parts(value: Any) -> list[Any]:
    """A container, and all containers in it."""
    if not isinstance(value, list | dict | tuple):
        return []
    inside = value.values() if isinstance(value, dict) else value
    own = [] if isinstance(value, tuple) else [value]
    return own + [inner for one in inside for inner in parts(one)]


def alike(one: Any, other: Any) -> bool:
    """Whether two have numbers at the same places of lists, dicts and tuples."""
    if isinstance(one, dict) and isinstance(other, dict):
        same = list(one) == list(other)
        return same and all(alike(one[key], other[key]) for key in one)
    for kind in (list, tuple):
        if isinstance(one, kind) and isinstance(other, kind):
            return len(one) == len(other) and all(map(alike, one, other))
    return of_form(one) is not None and of_form(other) is not None
