"""What all replacement policies say of a key that is not there, and of none at all."""

from __future__ import annotations

from collections.abc import Hashable, Iterable


def first_of(held: Iterable[Hashable]) -> Hashable:
    """The first of what is held; raises where that is nothing."""
    for key in held:
        return key
    raise ValueError("nothing is held: none can leave")


def absent(key: Hashable) -> ValueError:
    """The error of a key that is not held."""
    return ValueError(f"key {key!r} is not held: only what is held can be removed")
