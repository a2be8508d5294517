"""The header of a GGUF file: its facts and where each tensor lies, never the numbers.

Source: ggml, docs/gguf.md, versions 1 to 3. A count of 32 bits in version 1 has 64 in
the later ones, and a file of version 3 may be of big endian. What ggml refuses is
refused here: an alignment that is no power of two, tensors that lie over each other.
"""

from __future__ import annotations

import math
import mmap
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stacklib.quantity.stored import STORED, Stored

from ..reading import ConfigError, reads, shown
from .gguf_values import LONGEST, Cursor

MAGIC, ALIGNMENT = b"GGUF", 32
ALIGNED = "general.alignment"
UINT32 = 4  # gguf.h, enum gguf_type
# ggml.h, enum ggml_type: number, name, bits of a code, numbers of a block, bits beside
# them. Whole numbers, and types that ggml read once and no longer does.
_OTHERS = (
    *((24 + n, f"i{8 << n}", 8 << n, 1, 0) for n in range(4)),
    (4, "q4_2", 4, 16, 16),
    (5, "q4_3", 4, 16, 32),
    *((31 + n, f"q4_0_{w}", 4, 32, 16) for n, w in enumerate(("4_4", "4_8", "8_8"))),
    *((36 + n, f"iq4_nl_{w}", 4, 32, 16) for n, w in enumerate(("4_4", "4_8", "8_8"))),
)
KINDS = {row.ggml: row for row in STORED.values() if row.ggml >= 0} | {
    number: Stored(name, "", code, 0 if block == 1 else block, scale, block, number)
    for number, name, code, block, scale in _OTHERS
}
_MOST_AXES, _MOST_TENSORS, _MOST_FACTS = 4, 1 << 17, 1 << 16


@dataclass(frozen=True, slots=True)
class Entry:
    """A tensor: its name, sizes (slowest axis first), type, and first byte.

    - ``row``: nothing for a type that is not known; its ``kind`` is the file's number
    """

    name: str
    shape: tuple[int, ...]
    kind: int
    row: Stored | None
    start: int

    @property
    def numbers(self) -> int:
        """Numbers in it."""
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        """Bytes of it; the scale of an NVFP4 tensor is a tensor of its own."""
        return self.numbers // self.stored.row * self.stored.row_bytes

    @property
    def stored(self) -> Stored:
        """Its type; raises ``ConfigError`` where that is not known."""
        if self.row is None:
            known = ", ".join(KINDS[kind].name for kind in sorted(KINDS))
            raise ConfigError(
                f"tensor {shown(self.name)} has ggml type {self.kind}; known here are "
                f"{known}"
            )
        return self.row


@dataclass(frozen=True, slots=True)
class Header:
    """What stands before the numbers: facts by key, and the tensors in order.

    - ``kinds``: the type of each fact
    - ``order``: ``<``, or ``>`` for a file of big endian
    - ``padded``: whether bytes follow the last entry
    """

    path: Path
    facts: dict[str, Any]
    tensors: tuple[Entry, ...]
    kinds: dict[str, int]
    version: int
    order: str
    padded: bool


def read_header(path: str | Path) -> Header:
    """The header of one file.

    - ``path``: a file of version 1 to 3
    - raises ``ConfigError`` for a file that cannot be read, is no GGUF, is cut off, or
      whose tensors have sizes or places that make no sense; fact or tensor is named
    """
    path = Path(path)
    with reads(path), path.open("rb") as file:
        size = path.stat().st_size
        if file.read(4) != MAGIC:
            raise ConfigError(f"{path}: it does not begin with {MAGIC.decode()}")
        length = min(size, LONGEST)
        data = mmap.mmap(file.fileno(), length, access=mmap.ACCESS_READ)
    return _header(Cursor(data, path), size)


def _header(cursor: Cursor, size: int) -> Header:
    cursor.past(4)
    version = cursor.number("I")
    if version == 3 << 24:
        cursor.order, version = ">", 3
    if version not in (1, 2, 3):
        big = " of big endian" if version in (1 << 24, 2 << 24) else ""
        said = version >> 24 if big else version
        raise cursor.wrong(
            f"GGUF of version {said}{big}; 1 to 3 are known, and 3 of big endian"
        )
    cursor.wide = "I" if version == 1 else "Q"
    count, facts = cursor.count(), cursor.count()
    for many, what, most in (
        (count, "tensors", _MOST_TENSORS),
        (facts, "facts", _MOST_FACTS),
    ):
        if many > most:
            raise cursor.wrong(f"{many} {what}: more than {most}")
    found: dict[str, Any] = {}
    kinds: dict[str, int] = {}
    for _ in range(facts):
        key = cursor.name()
        cursor.what = f"the fact {shown(key)}"
        if key in found:
            raise cursor.wrong(f"{cursor.what} is given twice")
        kinds[key] = cursor.number("I")
        found[key] = cursor.value(kinds[key])
    align = found.get(ALIGNED, ALIGNMENT)
    if kinds.get(ALIGNED, UINT32) != UINT32 or align < 1 or align & (align - 1):
        raise cursor.wrong(
            f"{ALIGNED} = {shown(align)}: a power of two in 32 bits without a sign is "
            "needed"
        )
    raw = [_raw(cursor) for _ in range(count)]
    base = -(-cursor.at // align) * align
    tensors = tuple(_entry(cursor, base, align, size, *parts) for parts in raw)
    _apart(cursor, tensors)
    padded = size > cursor.at
    return Header(cursor.path, found, tensors, kinds, version, cursor.order, padded)


def _raw(cursor: Cursor) -> tuple[str, tuple[int, ...], int, int]:
    name = cursor.name()
    cursor.what = f"the entry of tensor {shown(name)}"
    axes = cursor.number("I")
    if axes > _MOST_AXES:
        raise cursor.wrong(f"tensor {shown(name)} has {axes} axes")
    sizes = tuple(cursor.count() for _ in range(axes))
    return name, sizes[::-1], cursor.number("I"), cursor.number("Q")


def _entry(
    cursor: Cursor,
    base: int,
    align: int,
    size: int,
    name: str,
    shape: tuple[int, ...],
    kind: int,
    offset: int,
) -> Entry:
    said = f"tensor {shown(name)}"
    if not all(shape) or math.prod(shape) >= 1 << 63:
        raise cursor.wrong(f"{said} of shape {shape}: not a size")
    if offset % align:
        raise cursor.wrong(f"{said} has offset {offset}: {align} does not divide it")
    found = Entry(name, shape, kind, KINDS.get(kind), base + offset)
    row = found.row
    if row and (shape[-1] if shape else 1) % row.row:
        raise cursor.wrong(
            f"{said} of shape {shape} in {row.name}: {row.row} does not divide its rows"
        )
    end = found.start + (found.nbytes if row else 0)
    if end > size:
        raise cursor.wrong(
            f"{said} ends at byte {end} of {size}, by its offset {offset} and shape "
            f"{shape}; the file is cut off or is not GGUF"
        )
    return found


def _apart(cursor: Cursor, tensors: Sequence[Entry]) -> None:
    """Raise for a name given twice, and for tensors that share bytes."""
    for name, times in Counter(t.name for t in tensors).most_common(1):
        if times > 1:
            raise cursor.wrong(f"tensor {shown(name)} is given twice")
    end, before = 0, ""
    for tensor in sorted(tensors, key=lambda t: t.start):
        if tensor.start < end:
            raise cursor.wrong(
                f"tensor {shown(tensor.name)} has an offset within {shown(before)}"
            )
        end, before = tensor.start + (tensor.nbytes if tensor.row else 1), tensor.name
