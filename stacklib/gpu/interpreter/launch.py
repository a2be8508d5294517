"""Arrays in memory, a launch, and what it counts."""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from stacklib.quantizers import Format

from .tile import FLOAT, Tile, each

Pointer = tuple["Array", Any]


class constexpr:
    """Annotation of what is known before the program runs."""


class Array:
    """Numbers of one format in memory, row by row; ``None`` where none was written."""

    def __init__(self, values: Sequence[float | None], form: str = FLOAT) -> None:
        self.form = form
        self.format = None if form.startswith("int") else Format(form)
        self.size = int(form[3:]) // 8 if self.format is None else self.format.bits // 8
        self.values = [None if x is None else self.rounded(x) for x in values]

    def rounded(self, x: float) -> float:
        """A number as its format holds it."""
        if self.format is not None:
            return self.format.decode(self.format.encode(x))
        most = 2 ** (8 * self.size - 1)
        if not -most <= (whole := int(x)) < most:
            raise ValueError(f"{x!r}: {self.form} holds from {-most} to {most - 1}")
        return whole

    def __add__(self, offsets: Any) -> At:
        return At(self, offsets)


@dataclass(frozen=True, slots=True)
class At:
    """Addresses: an array and places in it."""

    array: Array
    places: Any

    def __add__(self, offsets: Any) -> At:
        return At(self.array, each(operator.add, self.places, offsets))


@dataclass(slots=True)
class Counts:
    """What a launch asked for."""

    read: Counter[str] = field(default_factory=Counter)  # bytes, by argument
    written: Counter[str] = field(default_factory=Counter)
    multiply_adds: int = 0  # of tl.dot
    exponentials: int = 0

    def total(self, what: str) -> int:
        """Bytes read or written, of all arguments."""
        return sum(getattr(self, what).values())


@dataclass(slots=True)
class _Now:
    """The program that runs."""

    place: tuple[int, ...]
    grid: tuple[int, ...]
    names: dict[int, str]
    counts: Counts


_running: ContextVar[_Now] = ContextVar("running")  # each thread's own


def now() -> _Now:
    """The program that runs; an error outside of one."""
    try:
        return _running.get()
    except LookupError:
        raise RuntimeError(
            "no program runs: give the function to run(program, grid)"
        ) from None


def run(
    program: Callable[..., Any], grid: int | tuple[int, ...], *given: Any, **words: Any
) -> Counts:
    """Take a program through its grid, one place after the other.

    - ``program``: function; of arrays, numbers and, by name, sizes of tiles.
    - ``grid``: int or tuple of int; programs along up to three axes.
    - gives `Counts`; arrays hold what was stored.
    - raises ``ValueError`` for a grid of no programs, and what the program raises.
    """
    sizes = grid if isinstance(grid, tuple) else (grid,)
    if not 1 <= len(sizes) <= 3 or any(type(n) is not int or n < 1 for n in sizes):
        raise ValueError(f"grid = {grid!r}: one to three whole numbers from 1")
    called = program.__code__.co_varnames
    names = {id(x): n for n, x in zip(called, given, strict=False) if type(x) is Array}
    counts = Counts()
    for place in product(*map(range, sizes)):
        token = _running.set(_Now(place, sizes, names, counts))
        try:
            program(*given, **words)
        finally:
            _running.reset(token)
    return counts


def name_of(array: Array) -> str:
    """What the program calls an array."""
    return now().names.get(id(array), "an array")


def places_of(at: Any, word: str) -> tuple[Array, Tile | int]:
    """The array and places of an address, checked."""
    at = at + 0 if isinstance(at, Array) else at
    if not isinstance(at, At):
        raise TypeError(f"tl.{word} of {at!r}: an array plus offsets is needed")
    return at.array, at.places


def within(array: Array, place: int, word: str) -> int:
    """A place, if the array has it."""
    if not 0 <= place < len(array.values):
        raise IndexError(
            f"tl.{word}: {name_of(array)} has {len(array.values):,} elements, and "
            f"element {place:,} is asked for; a mask leaves it out"
        )
    return place
