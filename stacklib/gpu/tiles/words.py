"""Words of a program that only say something: assertions, hints, barriers."""

from __future__ import annotations

from typing import Any

from .machine import batch, error
from .tile import Tile, as_tile, spread


def static_assert(cond: Any, msg: Any = "") -> None:
    """Refuse the program where a condition on known values fails."""
    if isinstance(cond, Tile):
        raise error("tl.static_assert of a tile: tl.device_assert looks at values")
    if not cond:
        raise error(f"tl.static_assert fails: {msg or 'no message'}")


def device_assert(cond: Any, msg: Any = "", mask: Any = None) -> None:
    """Refuse the launch where a condition on values fails, if checks are on."""
    if not batch().check:
        return
    holds = as_tile(cond)
    bad = holds.data == 0
    if mask is not None:
        bad = bad & spread(as_tile(mask), holds.shape).data
    if bad.any():
        row = bad.reshape(len(bad), -1).any(axis=1)
        program = int(batch().programs[int(row.argmax()) if len(row) > 1 else 0])
        raise error(f"tl.device_assert fails: {msg or 'no message'}", program)


def assume(cond: Any) -> None:
    """A condition a compiler may rely on; it is checked here."""
    device_assert(cond, "tl.assume of what does not hold")


def debug_barrier() -> None:
    """All threads of a program wait for each other."""
    batch().note("barrier", 1, 0, ())


def static_print(*values: Any, sep: str = " ", end: str = "\n") -> None:
    """Print what is known before the program runs."""
    print(*(v for v in values), sep=sep, end=end)


def hint(input: Any, values: Any) -> Any:
    """What is promised of a tile's values: a hint to compilers."""
    return input


def to_tensor(x: Any) -> Tile:
    """A number as a value of the program."""
    return as_tile(x)
