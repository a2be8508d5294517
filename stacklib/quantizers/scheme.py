"""Quantization schemes as rows of a table, and what a quantized array holds."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from stacklib.quantity import Quantity, resolve
from stacklib.quantity.bounds import whole
from stacklib.quantity.core import _make
from stacklib.quantity.stored import STORED

from .formats import FORMATS, Format

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Scheme:
    """How numbers share scales.

    Parameters
    ----------
    name : str
        As asked for.
    family : str
        Which module encodes it: ``integer``, ``tile``, ``mx``, ``nvfp4``, ``table``,
        ``ggml`` or ``k``.
    code_bits : int
        Bits of a code.
    block : int
        Numbers that share the first scale; 0: a row, or the whole tensor.
    scale_bits : float
        Bits of all scales of such a block, its share of a coarser level included.
    element : str
        Format of a code, where the room has one.
    layout : str
        Where the bytes are, as ``pack`` writes them.
    source : str
        Who published it.
    """

    name: str
    family: str
    code_bits: int
    block: int
    scale_bits: float
    element: str
    layout: str
    source: str

    @property
    def bits(self) -> float:
        """Bits of a number in a long row, scales counted."""
        return self.code_bits + (self.scale_bits / self.block if self.block else 0)


_INT = "codes, two to a byte and the first in the low half; then the scales in fp16"
_TWO = "codes, one to a byte; then the scales in fp32"
_MX = "codes from the lowest bit on; then the scales, one byte each"
_BNB = "codes, the first in the high half; then the largest magnitudes in fp32"
_OCP = "OCP Microscaling Formats (MX) v1.0, sections 5 and 6"
_BITS = "bitsandbytes 0.50.2, functional.quantize_4bit"
_GGML = "ggml, ggml-quants.c, block_"
_V3 = "DeepSeek-AI, DeepSeek-V3, arXiv 2412.19437, section 3.3.2"

# Name, family, element, layout, source; the bits are those of ``quantity.stored``.
_ROWS = (
    ("int8_tensor", "integer", "int8", _TWO, "one scale for all"),
    ("int8_channel", "integer", "int8", _TWO, "one scale for each row"),
    ("int4_g128", "integer", "int4", _INT, "torchao 0.18, symmetric"),
    (
        *("int4_g128_asym", "integer", "int4"),
        _INT + "; then the zero points, four bits each",
        "Frantar et al., GPTQ, arXiv 2210.17323, asymmetric grid",
    ),
    ("fp8_128x128", "tile", "e4m3fn", _TWO, _V3),
    ("fp8_1x128", "tile", "e4m3fn", _TWO, _V3),
    ("nf4", "table", "nf4", _BNB, _BITS),
    (
        *("nf4_dq", "table", "nf4"),
        "codes, the first in the high half; then one byte for each scale; then "
        "their own scales and their mean in fp32",
        "Dettmers et al., QLoRA, arXiv 2305.14314, section 3; " + _BITS,
    ),
    ("bnb_fp4", "table", "bnb_fp4", _BNB, _BITS),
    ("mxfp8_e4m3", "mx", "e4m3fn", _MX, _OCP),
    ("mxfp8_e5m2", "mx", "e5m2", _MX, _OCP),
    ("mxfp6_e2m3", "mx", "e2m3", _MX, _OCP),
    ("mxfp6_e3m2", "mx", "e3m2", _MX, _OCP),
    (
        *("mxfp4", "mx", "e2m1"),
        "blocks of the scale and 16 bytes, the second half of the codes in the high "
        "halves",
        _OCP + "; " + _GGML + "mxfp4",
    ),
    ("mxint8", "mx", "int8", _MX, _OCP),
    (
        *("nvfp4", "nvfp4", "e2m1"),
        "blocks of 64 numbers: four scales, then 8 bytes for each of them; behind "
        "the last block the tensor's scale in fp32",
        "NVIDIA, cuDNN 9.7, block scaling; torchao 0.18; " + _GGML + "nvfp4",
    ),
    *(
        (name, "ggml", "", layout, f"{_GGML}{name}")
        for name, layout in (
            ("q4_0", "fp16 scale; 16 bytes"),
            ("q4_1", "fp16 scale and least number; 16 bytes"),
            ("q5_0", "fp16 scale; fifth bits; 16 bytes"),
            ("q5_1", "fp16 scale and least number; fifth bits; 16 bytes"),
            ("q8_0", "fp16 scale; 32 bytes"),
            ("iq4_nl", "fp16 scale; 16 bytes of places in a table"),
        )
    ),
    *(
        (name, "k", "", layout, f"{_GGML}{name}")
        for name, layout in (
            ("q2_k", "scales and minima; codes; two fp16"),
            ("q3_k", "third bits; codes; scales; fp16"),
            ("q4_k", "two fp16; scales and minima; codes"),
            ("q5_k", "two fp16; scales and minima; fifth bits; codes"),
            ("q6_k", "low four bits; high two bits; scales; fp16"),
        )
    ),
)


def _scheme(name: str, family: str, *words: str) -> Scheme:
    bits = STORED[name]
    block = bits.block * bits.across
    # of a row or a tensor one scale, which no block shares
    scale = bits.scale_bits if block else bits.per_column or bits.per_tensor
    return Scheme(name, family, int(bits.code_bits), block, scale, *words)


SCHEMES = {row[0]: _scheme(*row) for row in _ROWS}


def schemes() -> tuple[Scheme, ...]:
    """Every scheme that ``quantize`` knows, with its bits, block and source."""
    return tuple(SCHEMES.values())


def fact(name: str, field: str, unit: str = "", label: str = "") -> Quantity:
    """A field of a scheme or of a format, exact: the tables define them.

    Parameters
    ----------
    name : str
        A scheme (``mxfp4``), or a format (``e4m3fn``).
    field : str
        Of ``Scheme``, ``quantity.stored.Stored``, ``Format`` or its ``Row``, such as
        ``block``, ``row_bytes``, ``largest``, ``significand``.
    unit, label : str
        As ``Quantity`` takes them.

    Raises
    ------
    UnknownName
        For a name without a row; lists the candidates.
    ValueError
        For a field that its row does not have, or that is no number.

    Examples
    --------
    >>> fact("nvfp4", "block").text()
    '16'
    """
    name = resolve(name, {**SCHEMES, **FORMATS}, "scheme or format", exact=True)
    rows: list[Any] = [SCHEMES.get(name), STORED.get(name)]
    if name in FORMATS:
        rows += [Format(name), FORMATS[name]]
    value = next((getattr(row, field) for row in rows if hasattr(row, field)), None)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"fact({name!r}, {field!r}): its row has no such number")
    made = Quantity(value, unit, label=label or f"{field} of {name}")
    return _make(made, kind="constant")


# Families whose makers let the block be chosen, by scheme.
FREE = ("int4_g128", "int4_g128_asym", "fp8_1x128", "nf4", "nf4_dq", "bnb_fp4")


def scheme_row(name: str, block: int | None = None) -> Scheme:
    """The row of a scheme, by its name in any case, perhaps with another block."""
    row = SCHEMES.get(name) or SCHEMES[resolve(name, SCHEMES, "scheme", exact=True)]
    if block is None:
        return row
    whole(block=block)
    if block == row.block:
        return row
    if row.name not in FREE:
        raise ValueError(f"block={block}: {row.name} is defined with {row.block}")
    if block not in (16, 32, 64, 128, 256, 512, 1024, 2048, 4096):
        raise ValueError(f"block={block}: a power of two from 16 to 4096 is needed")
    return replace(row, block=block)


@dataclass(frozen=True, eq=False, slots=True)
class Quantized:
    """An array in few bits.

    Parameters
    ----------
    codes : integer array
        One code a number. The quantized axis is the last one; where a block is not
        full, zeros stand up to its end.
    scales : array
        The first level of scales as it is stored: fp32 or fp16 numbers, codes of e8m0
        (MX) or e4m3fn (NVFP4), six or four-bit integers (K-quants), bytes (nf4_dq).
    levels : dict of array
        What else is stored: ``tensor``, ``zero``, ``minimum``, ``second``, ``mean``.
    shape : tuple of int
        Of the array that came in.
    scheme : str
        Name of the scheme.
    axis : int
        The axis of ``shape`` along which numbers share a scale.
    block : int
        Numbers that share the first scale, where they are not the scheme's own.
    """

    codes: NDArray[Any]
    scales: NDArray[Any]
    shape: tuple[int, ...]
    scheme: str
    axis: int = -1
    levels: dict[str, NDArray[Any]] = field(default_factory=dict)
    block: int = 0

    @property
    def row(self) -> Scheme:
        """Its scheme, with the block that was asked for."""
        return scheme_row(self.scheme, self.block or None)

    @property
    def nbytes(self) -> int:
        """Bytes of codes, scales and all levels as ``pack`` writes them."""
        from .layouts import packed_bytes

        order = self.levels.get("order")
        extra = 0 if order is None else order.nbytes
        return packed_bytes(self.row, self.shape, self.axis) + extra

    @property
    def bits(self) -> float:
        """Bits of a number, scales and the rest of unfull blocks counted."""
        count = 1
        for size in self.shape:
            count *= size
        return 8 * self.nbytes / count

    def __repr__(self) -> str:
        return (
            f"Quantized({self.scheme}, shape {self.shape}, {self.nbytes} bytes, "
            f"{self.bits:.4g} bits a number)"
        )
