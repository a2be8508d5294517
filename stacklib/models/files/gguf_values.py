"""Values of a GGUF file's header, read where they lie.

A list is not taken apart when it is met: `Listed` keeps where it is, so that a
vocabulary costs nothing until somebody asks for it.
"""

from __future__ import annotations

import mmap
import struct
from array import array
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from ..reading import ConfigError

# gguf.h, enum gguf_type
SCALARS = dict(enumerate("BbHhIif?")) | {10: "Q", 11: "q", 12: "d"}
BOOL, STRING, ARRAY = 7, 8, 9
LONGEST = 1 << 27  # bytes of a header; those of the largest vocabularies have 2**25
_LONGEST_NAME = 1 << 16
_CHUNK = 1 << 20


class Listed(Sequence[Any]):
    """A list of a file: its entries are read when they are asked for.

    - ``data``, ``start``, ``end``: the bytes that it has
    - ``order``, ``wide``: ``<`` or ``>``, and the form of a text's length
    - ``kind``, ``many``: type of its entries, and how many there are
    """

    __slots__ = ("_places", "data", "end", "kind", "many", "order", "start", "wide")

    def __init__(
        self, data: mmap.mmap, order: str, wide: str, kind: int, many: int, start: int
    ) -> None:
        self.data, self.order, self.wide = data, order, wide
        self.kind, self.many, self.start = kind, many, start
        self.end = start
        self._places: array[int] | None = None

    @property
    def raw(self) -> memoryview:
        """Its bytes, type and count not among them."""
        return memoryview(self.data)[self.start : self.end]

    def __len__(self) -> int:
        return self.many

    def __iter__(self) -> Iterator[Any]:
        if self.kind == STRING:
            return (self._text(at) for at in self._starts())
        form = self.order + SCALARS[self.kind]
        return (value for (value,) in struct.iter_unpack(form, self.raw))

    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, slice):
            places = range(*at.indices(self.many))
            if places.step == 1:
                return list(islice(self, places.start, places.stop))
            return [self[place] for place in places]
        at = range(self.many)[at]  # counts from the end, and raises beyond it
        if self.kind == STRING:
            if self._places is None:
                self._places = array("Q", self._starts())
            return self._text(self._places[at])
        form = self.order + SCALARS[self.kind]
        place = self.start + at * struct.calcsize(form)
        return struct.unpack_from(form, self.data, place)[0]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, (Listed, list, tuple)):
            return NotImplemented
        return len(self) == len(other) and all(
            a == b for a, b in zip(self, other, strict=True)
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        if self.many <= 8:
            return repr(list(self))
        return f"a list of {self.many:,}"

    def _starts(self) -> Iterator[int]:
        length = struct.Struct(self.order + self.wide)
        at = self.start
        for _ in range(self.many):
            yield at
            at += length.size + length.unpack_from(self.data, at)[0]

    def _text(self, at: int) -> str:
        form = self.order + self.wide
        (size,) = struct.unpack_from(form, self.data, at)
        at += struct.calcsize(form)
        return self.data[at : at + size].decode("utf-8", "surrogateescape")


class Cursor:
    """Bytes of a header read in order, that say where they ended."""

    def __init__(self, data: mmap.mmap, path: Path) -> None:
        self.data, self.path = data, path
        self.at, self.what = 0, "the header"
        self.order, self.wide = "<", "Q"  # version 1 counts in 32 bits

    def wrong(self, words: str) -> ConfigError:
        return ConfigError(f"{self.path}: {words}")

    def past(self, size: int) -> int:
        """The place before the next ``size`` bytes, which are stepped over."""
        at = self.at
        if size > len(self.data) - at:
            ends = "it ends" if len(self.data) < LONGEST else "its header goes on"
            raise self.wrong(
                f"{ends} within {self.what}; the file is cut off or is not GGUF"
            )
        self.at += size
        return at

    def number(self, form: str) -> Any:
        """The next number of a form of ``struct``."""
        form = self.order + form
        return struct.unpack_from(form, self.data, self.past(struct.calcsize(form)))[0]

    def count(self) -> int:
        """The next count or size."""
        return int(self.number(self.wide))

    def name(self) -> str:
        """The key of a fact, or the name of a tensor."""
        size = self.count()
        if not 0 < size < _LONGEST_NAME:
            raise self.wrong(f"a name of {size} bytes after {self.what}: not GGUF")
        at = self.past(size)
        raw = self.data[at : at + size]
        try:
            return raw.decode()
        except UnicodeDecodeError:
            raise self.wrong(
                f"the name {raw[:64]!r} after {self.what} is not UTF-8"
            ) from None

    def value(self, kind: int) -> Any:
        """The next value of a type; a text that is not UTF-8 keeps its bytes."""
        if kind == STRING:
            size = self.count()
            at = self.past(size)
            with memoryview(self.data) as all_bytes, all_bytes[at : at + size] as raw:
                return str(raw, "utf-8", "surrogateescape")
        if kind in SCALARS:
            at = self.at
            found = self.number(SCALARS[kind])
            if kind == BOOL:
                self._truths(at, self.at)
            return found
        if kind != ARRAY:
            raise self.wrong(f"{self.what} has type {kind}, unknown here")
        inner, count = self.number("I"), self.count()
        if inner not in SCALARS and inner != STRING:  # lists of lists are in no file
            raise self.wrong(f"{self.what} is a list of type {inner}, unknown here")
        found = Listed(self.data, self.order, self.wide, inner, count, self.at)
        if inner == STRING:
            self._over_texts(count)
        else:
            self.past(count * struct.calcsize(self.order + SCALARS[inner]))
        found.end = self.at
        if inner == BOOL:
            self._truths(found.start, found.end)
        return found

    def _truths(self, start: int, end: int) -> None:
        for at in range(start, end, _CHUNK):
            other = self.data[at : min(at + _CHUNK, end)].translate(None, b"\0\1")
            if other:
                raise self.wrong(f"{self.what} has a truth value of {other[0]}")

    def _over_texts(self, count: int) -> None:
        length = struct.Struct(self.order + self.wide)
        read, data, at = length.unpack_from, self.data, self.at
        last = len(data) - length.size
        for _ in range(count):
            if at > last:
                break
            at += length.size + read(data, at)[0]
        else:
            self.past(at - self.at)
            return
        self.past(len(data))  # raises: the list goes on beyond the end
