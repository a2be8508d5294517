"""Keys of what is kept: whatever takes long to compare is known by being itself."""

from __future__ import annotations

from typing import Any


class Same:
    """A key that is equal to itself alone: comparing whole models takes longer."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __hash__(self) -> int:
        return id(self.value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and other.value is self.value


def keys_of(*values: Any) -> tuple[Any, ...]:
    """Names and None as they are; anything else is known by being itself."""
    return tuple(v if v is None or isinstance(v, str) else Same(v) for v in values)


def values_of(*keys: Any) -> tuple[Any, ...]:
    """What stands behind keys of ``keys_of``."""
    return tuple(k.value if isinstance(k, Same) else k for k in keys)
