"""Patterns over bytes: spans, one after another, one of several, repeated.

A byte is a symbol from 0 to 255. A symbol from 256 up calls a rule of a grammar, whose
text stands in that place; rules may so hold themselves, as JSON does. Characters are
what UTF-8 makes of them: ranges of one to four bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

CALL = 256  # this symbol and those above it: rules of a grammar
LAST = 0x10FFFF  # code point
# Code points after which an encoding is a byte longer; surrogates have none.
LONGER = (0x7F, 0x7FF, 0xFFFF)
SURROGATES = (0xD800, 0xDFFF)


@dataclass(frozen=True)
class Span:
    """One symbol, from ``low`` to ``high``."""

    low: int
    high: int


@dataclass(frozen=True)
class Chain:
    """Patterns one after another; of none, the empty text."""

    parts: tuple[Pattern, ...]


@dataclass(frozen=True)
class Choice:
    """One of several patterns."""

    parts: tuple[Pattern, ...]


@dataclass(frozen=True)
class Repeat:
    """A pattern ``least`` to ``most`` times; None is no end."""

    part: Pattern
    least: int = 0
    most: int | None = None


Pattern: TypeAlias = Span | Chain | Choice | Repeat


def text(words: str) -> Chain:
    """These characters."""
    return Chain(tuple(Span(byte, byte) for byte in words.encode("utf-8")))


def chain(*parts: Pattern) -> Chain:
    """Patterns one after another."""
    return Chain(parts)


def choice(*parts: Pattern) -> Choice:
    """One of the patterns."""
    return Choice(parts)


def maybe(part: Pattern) -> Repeat:
    """The pattern or nothing."""
    return Repeat(part, 0, 1)


def call(rule: int) -> Span:
    """The text of a rule of the grammar."""
    return Span(CALL + rule, CALL + rule)


@lru_cache(64)
def characters(ranges: tuple[tuple[int, int], ...], negated: bool = False) -> Choice:
    """One character of some ranges of code points, or one of all others."""
    points = outside(ranges) if negated else ranges
    return Choice(tuple(span for low, high in points for span in encoded(low, high)))


def outside(ranges: Iterable[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """The ranges of code points between those given."""
    found, at = [], 0
    for low, high in sorted(ranges):
        if at < low:
            found.append((at, low - 1))
        at = max(at, high + 1)
    return (*found, (at, LAST)) if at <= LAST else tuple(found)


def encoded(low: int, high: int) -> Iterator[Chain]:
    """UTF-8 of a range of code points, as spans of bytes that are independent."""
    first, last = SURROGATES
    if low <= last and high >= first:
        yield from encoded(low, first - 1) if low < first else ()
        yield from encoded(last + 1, high) if high > last else ()
        return
    at = cut(low, high)
    if at is not None:
        yield from encoded(low, at)
        yield from encoded(at + 1, high)
        return
    pairs = zip(chr(low).encode(), chr(high).encode(), strict=True)
    yield Chain(tuple(Span(*pair) for pair in pairs))


def cut(low: int, high: int) -> int | None:
    """Where a range must be split; None where each byte has a span of its own."""
    for last in LONGER:
        if low <= last < high:
            return last
    for bits in (6, 12, 18)[: len(chr(low).encode()) - 1]:
        tail = (1 << bits) - 1  # six bits a byte behind the first
        if low >> bits != high >> bits:
            if low & tail:
                return low | tail
            if high & tail != tail:
                return (high & ~tail) - 1
    return None
