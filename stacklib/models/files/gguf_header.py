"""The header of a GGUF file: its facts and where each tensor lies, never the numbers.

Source: ggml, docs/gguf.md, versions 1 to 3. A count of 32 bits in version 1 has 64 in
the later ones. The header is looked at where it lies; lists are passed over unless they
are asked for, so that a vocabulary costs nothing.
"""

from __future__ import annotations

import math
import mmap
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stacklib.quantity.stored import STORED, Stored

from ..reading import ConfigError, reads, shown

MAGIC, ALIGNMENT = b"GGUF", 32
# gguf.h, enum gguf_type
SCALARS = dict(enumerate("<B <b <H <h <I <i <f <?".split())) | {
    10: "<Q",
    11: "<q",
    12: "<d",
}
STRING, ARRAY = 8, 9
KINDS = {row.ggml: row for row in STORED.values() if row.ggml >= 0}
KINDS |= {
    number: Stored(f"i{bits}", "", bits, ggml=number)
    for number, bits in ((24, 8), (25, 16), (26, 32), (27, 64))
}
_LONGEST = 1 << 27  # bytes of a header; those of the largest vocabularies have 2**25
_MOST_AXES, _MOST_TENSORS = 4, 1 << 20
_FEW, _LONG = 1 << 12, 1 << 20  # entries of a list, bytes of a text that are kept


@dataclass(frozen=True, slots=True)
class Entry:
    """A tensor: its name, sizes (slowest axis first), type, and first byte."""

    name: str
    shape: tuple[int, ...]
    row: Stored
    start: int

    @property
    def numbers(self) -> int:
        """Numbers in it."""
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        """Bytes of it; the scale of an NVFP4 tensor is a tensor of its own."""
        return round(self.numbers * self.row.bits / 8)


@dataclass(frozen=True, slots=True)
class Header:
    """What stands before the numbers: facts by key, and the tensors in order."""

    path: Path
    facts: dict[str, Any]
    tensors: tuple[Entry, ...]


class Passed:
    """A list or text that was passed over: how many entries it has."""

    def __init__(self, count: int) -> None:
        self.count = count

    def __repr__(self) -> str:
        return f"a list of {self.count:,}"


class _Cursor:
    """Bytes read in order, that say where they ended."""

    def __init__(self, data: mmap.mmap, path: Path, lists: bool) -> None:
        self.data, self.path, self.lists = data, path, lists
        self.at, self.what, self.count = 0, "the header", "<Q"

    def wrong(self, words: str) -> ConfigError:
        return ConfigError(f"{self.path}: {words}")

    def past(self, size: int) -> int:
        """The place before the next ``size`` bytes, which are stepped over."""
        at = self.at
        if size > len(self.data) - at:
            ends = "it ends" if len(self.data) < _LONGEST else "its header goes on"
            raise self.wrong(
                f"{ends} within {self.what}; the file is cut off or is not GGUF"
            )
        self.at += size
        return at

    def number(self, form: str) -> Any:
        return struct.unpack_from(form, self.data, self.past(struct.calcsize(form)))[0]

    def name(self) -> str:
        """The key of a fact, or the name of a tensor."""
        size = self.number(self.count)
        if size >= 1 << 16:
            raise self.wrong(f"a name of {size} bytes after {self.what}: not GGUF")
        at = self.past(size)
        return self.data[at : at + size].decode("utf-8", "replace")

    def text(self) -> Any:
        size = self.number(self.count)
        at = self.past(size)
        if size > _LONG and not self.lists:
            return Passed(size)
        return self.data[at : at + size].decode("utf-8", "replace")

    def value(self, kind: int) -> Any:
        if kind == STRING:
            return self.text()
        if kind in SCALARS:
            return self.number(SCALARS[kind])
        if kind != ARRAY:
            raise self.wrong(f"{self.what} has type {kind}, unknown here")
        inner, count = self.number("<I"), self.number(self.count)
        if inner in SCALARS:
            form = SCALARS[inner]
            at = self.past(count * struct.calcsize(form))
            if not self.lists and count > _FEW:
                return Passed(count)
            return list(struct.unpack_from(f"<{count}{form[1]}", self.data, at))
        if inner != STRING:  # lists of lists are in no file
            raise self.wrong(f"{self.what} is a list of type {inner}, unknown here")
        if self.lists:
            return [self.text() for _ in range(count)]
        self._over_texts(count)
        return Passed(count)

    def _over_texts(self, count: int) -> None:
        size = struct.calcsize(self.count)
        read, data, at = struct.Struct(self.count).unpack_from, self.data, self.at
        last = len(data) - size
        for _ in range(count):
            if at > last:
                break
            at += size + read(data, at)[0]
        else:
            self.past(at - self.at)
            return
        self.past(len(data))  # raises: the list goes on beyond the end


def read_header(path: str | Path, lists: bool = False) -> Header:
    """The header of one file.

    - ``path``: a file of version 1 to 3 and of little endian
    - ``lists``: whether facts that are long lists are kept too
    - raises ``ConfigError`` for a file that cannot be read, is no GGUF, is cut off, or
      whose tensors have a type that is not known, or sizes that make no sense; fact or
      tensor is named
    """
    path = Path(path)
    with reads(path), path.open("rb") as file:
        size = path.stat().st_size
        if file.read(4) != MAGIC:
            raise ConfigError(f"{path}: it does not begin with {MAGIC.decode()}")
        length = min(size, _LONGEST)
        with mmap.mmap(file.fileno(), length, access=mmap.ACCESS_READ) as data:
            return _header(_Cursor(data, path, lists), size)


def _header(cursor: _Cursor, size: int) -> Header:
    cursor.past(4)
    version = cursor.number("<I")
    if version not in (1, 2, 3):
        big = version in (1 << 24, 2 << 24, 3 << 24)
        why = "of big endian" if big else f"of version {version}; 1 to 3 are known"
        raise cursor.wrong(f"GGUF {why}")
    cursor.count = "<I" if version == 1 else "<Q"
    count, facts = cursor.number(cursor.count), cursor.number(cursor.count)
    if count > _MOST_TENSORS:
        raise cursor.wrong(f"{count} tensors: more than {_MOST_TENSORS}")
    found: dict[str, Any] = {}
    for _ in range(facts):
        key = cursor.name()
        cursor.what = f"the fact {shown(key)}"
        if key in found:
            raise cursor.wrong(f"{cursor.what} is given twice")
        found[key] = cursor.value(cursor.number("<I"))
    raw = [_raw(cursor) for _ in range(count)]
    align = found.get("general.alignment", ALIGNMENT)
    if not isinstance(align, int) or not 0 < align <= 1 << 20:
        raise cursor.wrong(f"general.alignment = {shown(align)}: not a size")
    base = -(-cursor.at // align) * align
    tensors = tuple(_entry(cursor, base, size, *parts) for parts in raw)
    if len({t.name for t in tensors}) < len(tensors):
        raise cursor.wrong("a tensor is given twice")
    return Header(cursor.path, found, tensors)


def _raw(cursor: _Cursor) -> tuple[str, tuple[int, ...], int, int]:
    name = cursor.name()
    cursor.what = f"the entry of tensor {shown(name)}"
    axes = cursor.number("<I")
    if axes > _MOST_AXES:
        raise cursor.wrong(f"tensor {shown(name)} has {axes} axes")
    sizes = tuple(cursor.number(cursor.count) for _ in range(axes))
    return name, sizes[::-1], cursor.number("<I"), cursor.number("<Q")


def _entry(
    cursor: _Cursor,
    base: int,
    size: int,
    name: str,
    shape: tuple[int, ...],
    kind: int,
    offset: int,
) -> Entry:
    said = f"tensor {shown(name)}"
    if kind not in KINDS:
        known = ", ".join(row.name for row in KINDS.values())
        raise cursor.wrong(f"{said} has ggml type {kind}; known here are {known}")
    row = KINDS[kind]
    if not all(shape) or math.prod(shape) >= 1 << 63:
        raise cursor.wrong(f"{said} of shape {shape}: not a size")
    if shape and shape[-1] % row.row:
        raise cursor.wrong(
            f"{said} of shape {shape} in {row.name}: {row.row} does not divide its rows"
        )
    found = Entry(name, shape, row, base + offset)
    if found.start + found.nbytes > size:
        raise cursor.wrong(
            f"{said} ends at byte {found.start + found.nbytes} of {size}; "
            "the file is cut off or is not GGUF"
        )
    return found
