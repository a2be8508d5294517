"""Number formats as they are stored: bits of a code, blocks, and scales beside them.

One table. The plain formats are those of ``DTYPES``; the others keep scales: ggml's
blocks (ggml-common.h, one struct a type), OCP's Microscaling (MX v1.0, section 5),
NVIDIA's NVFP4, bitsandbytes' NF4, the groups of GPTQ and AWQ, the tiles of DeepSeek-V3.
Which tensor of a file takes which of them is the business of ``models``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from .core import Quantity, _make
from .dtypes import DTYPES, Dtype
from .names import resolve

HALF = "bf16"  # what stays in 16 bits is told in this format


@dataclass(frozen=True, slots=True)
class Stored:
    """How numbers lie in memory.

    - ``name``: as asked for
    - ``numbers``: the plain format whose products its codes could run in; ``""`` where
      codes are widened before they are multiplied (places in a table, groups of
      integers)
    - ``code_bits``: bits of a code, signs and parts of a grid's place included
    - ``block``: numbers of a row that share the first scale; 0: the scale is of a
      column or of the whole tensor
    - ``scale_bits``: bits of all scales of such a block, its share of a coarser level
      included
    - ``row``: a row is cut into pieces of so many numbers
    - ``ggml``: number of the type in GGUF files; -1: none
    - ``across``: columns that share the scale too: 128 in tiles of 128 x 128
    - ``per_column``, ``per_tensor``, ``per_row``: bits kept once for each output, each
      tensor, each input
    """

    name: str
    numbers: str
    code_bits: float
    block: int = 0
    scale_bits: float = 0
    row: int = 1
    ggml: int = -1
    across: int = 1
    per_column: int = 0
    per_tensor: int = 0
    per_row: int = 0

    @property
    def bits(self) -> float:
        """Bits of a number in a large matrix, the scales of its block counted."""
        scales = self.scale_bits / self.block / self.across if self.block else 0.0
        return self.code_bits + scales

    @property
    def row_bytes(self) -> int:
        """Bytes of one piece of a row."""
        return round(self.row * self.bits / 8)

    def nbytes(self, inputs: int, outputs: int) -> float:
        """Bytes of a matrix of so many inputs and outputs; blocks are filled up."""
        bits = self.code_bits * inputs * outputs + self.per_tensor
        if self.block:
            tiles = -(-inputs // self.block) * -(-outputs // self.across)
            bits += tiles * self.scale_bits
        return (bits + self.per_column * outputs + self.per_row * inputs) / 8


# Name; bits of a code; numbers that share the first scale, and its bits; numbers of
# a struct; number of the type (ggml.h, enum ggml_type).
_GGML = (
    ("q4_0", 4, 32, 16, 32, 2),
    ("q4_1", 4, 32, 32, 32, 3),
    ("q5_0", 5, 32, 16, 32, 6),
    ("q5_1", 5, 32, 32, 32, 7),
    ("q8_0", 8, 32, 16, 32, 8),
    ("q8_1", 8, 32, 32, 32, 9),
    ("q2_k", 2, 16, 8 + 2, 256, 10),
    ("q3_k", 3, 16, 6 + 1, 256, 11),
    ("q4_k", 4, 32, 12 + 4, 256, 12),
    ("q5_k", 5, 32, 12 + 4, 256, 13),
    ("q6_k", 6, 16, 8 + 1, 256, 14),
    ("q8_k", 8, 16, 16 + 2, 256, 15),
    ("iq2_xxs", (8 + 7) / 8, 32, 4 + 2, 256, 16),
    ("iq2_xs", (9 + 7) / 8, 16, 4 + 1, 256, 17),
    ("iq3_xxs", (2 * 8 + 7) / 8, 32, 4 + 2, 256, 18),
    ("iq1_s", 11 / 8, 32, 4 + 2, 256, 19),
    ("iq4_nl", 4, 32, 16, 32, 20),
    ("iq3_s", (2 * 9 + 8) / 8, 32, 4 + 2, 256, 21),
    ("iq2_s", (10 + 8) / 8, 16, 4 + 1, 256, 22),
    ("iq4_xs", 4, 32, 6 + 2, 256, 23),
    ("iq1_m", 12 / 8, 16, 3 + 1, 256, 29),
    ("tq1_0", 52 / 32, 256, 16, 256, 34),
    ("tq2_0", 2, 256, 16, 256, 35),
    ("q1_0", 1, 128, 16, 128, 41),
    ("q2_0", 2, 64, 16, 64, 42),
)
_PLAIN = {"fp32": 0, "fp16": 1, "fp64": 28, "bf16": 30}  # ggml's numbers of them
_BYTE_FLOATS = ("e4m3fn", "e5m2", "e4m3", "e4m3fnuz", "e5m2fnuz", "e3m4")


def _rows() -> Iterable[Stored]:
    for d in DTYPES.values():
        yield Stored(d.name, d.name, d.bits, ggml=_PLAIN.get(d.name, -1))
    for name in _BYTE_FLOATS:
        yield Stored(name, "fp8", 8)
    for name, numbers, bits in (
        ("e2m3", "fp6", 6),
        ("e3m2", "fp6", 6),
        ("e2m1", "fp4", 4),
        ("int2", "", 2),
    ):
        yield Stored(name, numbers, bits)
    for name, code, block, scales, row, number in _GGML:
        yield Stored(name, "", code, block, scales, row, number)
    for name, numbers, bits in (  # OCP MX: e8m0 for 32 numbers
        ("mxfp8", "fp8", 8),
        ("mxfp8_e4m3", "fp8", 8),
        ("mxfp8_e5m2", "fp8", 8),
        ("mxfp6", "fp6", 6),
        ("mxfp6_e2m3", "fp6", 6),
        ("mxfp6_e3m2", "fp6", 6),
        ("mxint8", "int8", 8),
    ):
        yield Stored(name, numbers, bits, 32, 8)
    yield Stored("mxfp4", "fp4", 4, 32, 8, row=32, ggml=39)
    # e4m3fn for 16 numbers, and fp32 for the tensor
    yield Stored("nvfp4", "fp4", 4, 16, 8, row=64, ggml=40, per_tensor=32)
    # one fp32 for 64 numbers; with double quantization a byte, and fp32 for 256 of them
    yield Stored("nf4", "", 4, 64, 32)
    yield Stored("bnb_fp4", "", 4, 64, 32)
    yield Stored("nf4_dq", "", 4, 64, 8 + 32 / 256, per_tensor=32)
    for group in (32, 64, 128):
        yield Stored(f"int4_g{group}", "", 4, group, 16)  # symmetric: fp16
        # and zero points of four bits; GPTQ keeps each input's group besides
        yield Stored(f"awq_g{group}", "", 4, group, 16 + 4)
        yield Stored(f"gptq_g{group}", "", 4, group, 16 + 4, per_row=32)
    yield Stored("int4_g128_asym", "", 4, 128, 16 + 4)
    yield Stored("int8_channel", "int8", 8, per_column=32)
    yield Stored("int8_tensor", "int8", 8, per_tensor=32)
    yield Stored("fp8_channel", "fp8", 8, per_column=32)
    yield Stored("fp8_tensor", "fp8", 8, per_tensor=32)
    yield Stored("fp8_1x128", "fp8", 8, 128, 32)
    # DeepSeek-AI, DeepSeek-V3, arXiv 2412.19437, section 3.3.2
    yield Stored("fp8_128x128", "fp8", 8, 128, 32, across=128)


STORED = {row.name: row for row in _rows()}


@lru_cache(maxsize=512)
def stored(name: str) -> Stored:
    """The row of a format, by its whole name in any case, ``-`` or ``_``.

    - raises ``UnknownName`` for anything else, with the nearest names
    """
    return STORED[resolve(name, STORED, "number format", exact=True)]


def bits_of(number: Quantity) -> Stored:
    """Bits of a number, scales counted, as a format of its own; for weights alone.

    - raises ``ValueError`` for a quantity that is no size between 0 and 64 bits
    """
    size = number.to("bit")
    if not 0 < size.si <= 64:
        raise ValueError(f"dtype = {number.text()}: more than 0 and at most 64 bits")
    return Stored(size.shown.behind(f"{size.value:g}"), "", size.si)


def bytes_per_element(name: str | Quantity) -> Quantity:
    """Bytes one element occupies, the scales of its block counted.

    Parameters
    ----------
    name : str or Quantity
        A format, such as ``"bf16"`` or ``"q8_0"``, or the bits of one number.

    Raises
    ------
    UnknownName
        For a name that no format has, with the nearest.
    """
    if isinstance(name, Quantity):
        bits_of(name)
        return name.to("B")
    return size_of_number(stored(name))


def size_of_number(row: Stored) -> Quantity:
    """Bytes of one number of a format."""
    words = f"bytes per {row.name} number"
    return _make(Quantity(row.bits / 8, "B", label=words), kind="constant")


def products(name: str, rates: Iterable[str]) -> Dtype:
    """The format in which products with such weights run on a chip.

    Their own where the chip has a rate for it. Numbers of less than 16 bits are widened
    else, as AWQ, GPTQ and GGUF always are: to bf16, to fp16, or to fp32 where a chip
    publishes neither, as those of 16 bits are there.

    - ``name``: the format of the numbers (``Stored.numbers``); ``""`` for what is
      widened
    - ``rates``: formats for which the chip publishes a rate
    """
    known = [*rates]
    wide = next((f for f in (HALF, "fp16", "fp32") if f in known), name or HALF)
    least = 32 if wide == "fp32" else 16
    if name in known or (name and DTYPES[name].bits >= least):
        return DTYPES[name]
    return DTYPES[wide]
