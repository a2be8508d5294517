"""GGUF: one file with a model's numbers, names and facts, as llama.cpp reads it.

Source: ggml, docs/gguf.md, version 3. A header, the facts, a table of tensors, and from
a multiple of ``general.alignment`` bytes on (32 if that is not said) the tensors'
bytes, each in the layout of ``pack``. Sizes are written with the fastest axis first.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from stacklib.models.files.gguf_header import read_header
from stacklib.models.files.gguf_values import BOOL, SCALARS
from stacklib.quantity.stored import STORED

from .layouts import BLOCKS, unpack
from .scheme import Quantized

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from stacklib.models.files.gguf_header import Entry, Header

TYPES = {name: STORED[name].ggml for name in BLOCKS}
# of NumPy; bf16 it has not
PLAIN = {"fp32": "f4", "fp16": "f2", "fp64": "f8"} | {
    f"i{8 * n}": f"i{n}" for n in (1, 2, 4, 8)
}
# ggml-common.h: where the numbers of 16 bits of a block lie; a file of big endian has
# their bytes the other way round
_HALVES = {
    **dict.fromkeys(("q4_0", "q5_0", "q8_0", "iq4_nl"), (0,)),
    **dict.fromkeys(("q4_1", "q5_1", "q4_k", "q5_k"), (0, 2)),
    "q2_k": (80, 82),
    "q3_k": (108,),
    "q6_k": (208,),
}
# types of whole numbers and their ends, in the order in which they are tried
_WHOLE = ((4, 0, 1 << 32), (5, -(1 << 31), 0), (10, 0, 1 << 64), (11, -(1 << 63), 0))


class Tensors(Mapping[str, Any]):
    """The tensors of a file, each read where it lies when it is asked for."""

    def __init__(self, header: Header) -> None:
        self.header = header
        self.bytes: NDArray[Any] = np.memmap(header.path, np.uint8, mode="r")
        self.entries = {entry.name: entry for entry in header.tensors}
        for name in [*self.entries]:  # scales beside NVFP4 are read with their tensors
            entry = self.entries.get(name)
            if entry is not None and entry.row is STORED["nvfp4"]:
                self.entries.pop(beside(name), None)

    def __getitem__(self, name: str) -> Any:
        entry = self.entries[name]
        found = self._numbers(entry)
        if isinstance(found, Quantized) and found.scheme == "nvfp4":
            scale = next(
                (e for e in self.header.tensors if e.name == beside(name)), None
            )
            if scale is not None:
                self._put(found, scale)
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    def __repr__(self) -> str:
        return f"{len(self)} tensors of {self.header.path.name}: {', '.join(self)}"

    def stored(self, entry: Entry) -> NDArray[Any]:
        """A tensor's bytes as they lie in the file."""
        return self.bytes[entry.start : entry.start + entry.nbytes]

    def _wrong(self, words: str) -> ValueError:
        return ValueError(f"{self.header.path}: {words}")

    def _numbers(self, entry: Entry) -> Any:
        try:
            scheme = entry.stored.name
        except ValueError as wrong:
            raise self._wrong(str(wrong)) from None
        data, order = self.stored(entry), self.header.order
        if scheme in PLAIN:
            return data.view(f"{order}{PLAIN[scheme]}").reshape(entry.shape)
        if scheme == "bf16":
            wide = data.view(f"{order}u2").astype(np.uint32)
            wide <<= 16
            return wide.view(np.float32).reshape(entry.shape)
        if scheme not in TYPES:
            raise self._wrong(
                f"tensor {entry.name!r} of shape {entry.shape} is in {scheme}; known "
                f"here are {', '.join((*PLAIN, 'bf16', *TYPES))}"
            )
        if order == ">" and scheme in _HALVES:
            blocks = data.reshape(-1, BLOCKS[scheme][1]).copy()
            for at in _HALVES[scheme]:
                blocks[:, [at, at + 1]] = blocks[:, [at + 1, at]]
            data = blocks.reshape(-1)
        if scheme == "nvfp4":
            data = np.append(data, np.ones(1, "<f4").view(np.uint8))
        return unpack(data.tobytes(), scheme, entry.shape)

    def _put(self, tensor: Quantized, scale: Entry) -> None:
        number = self._numbers(scale)
        if isinstance(number, Quantized) or number.size != 1:
            raise self._wrong(f"tensor {scale.name!r} of shape {scale.shape}: no scale")
        if not abs(float(number.item())) <= float(np.finfo(np.float32).max):
            raise self._wrong(f"tensor {scale.name!r} = {number}: no scale")
        tensor.levels["tensor"] = number.reshape(()).astype(np.float32)


@dataclass(frozen=True, eq=False, slots=True)
class Gguf:
    """What a GGUF file holds.

    Parameters
    ----------
    metadata : dict
        Facts by key: numbers, texts, truth values, or lists of one of them. A number is
        Python's where ``write_gguf`` gives that the type it has here, else NumPy's of
        its type; a list keeps its type and is read where it lies.
    tensors : mapping
        By name: a ``Quantized``, or a NumPy array. Each is read when it is asked for:
        one of a type that is not known raises ``ValueError`` then. bf16 comes as fp32.
    """

    metadata: dict[str, Any]
    tensors: Mapping[str, Any]


def read_gguf(path: Any) -> Gguf:
    """Read a GGUF file of version 1 to 3, of little or big endian.

    Raises
    ------
    ValueError
        For another kind of file, or one that is cut off or makes no sense; fact or
        tensor is named.
    """
    header = read_header(path)
    facts = {
        key: _typed(header.kinds[key], value) for key, value in header.facts.items()
    }
    return Gguf(facts, Tensors(header))


def _typed(kind: int, value: Any) -> Any:
    """A number of a type that Python's would not be written in as NumPy's."""
    if kind not in SCALARS or kind_of_number(value) == kind:
        return value
    return np.dtype(SCALARS[kind]).type(value)


def kind_of_number(value: float) -> int | None:
    """The type that one of Python's numbers is written in; nothing: in none."""
    if isinstance(value, bool):
        return BOOL
    if isinstance(value, float):
        return 6 if math.isfinite(value) else None
    return next((kind for kind, low, high in _WHOLE if low <= value < high), None)


def beside(name: str) -> str:
    """The tensor that keeps the scale of one in NVFP4."""
    return name.removesuffix(".weight") + ".scale"
