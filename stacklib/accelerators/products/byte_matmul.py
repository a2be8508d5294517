"""Matrix products of 16-bit by 8-bit integers, in two passes of 8-bit multipliers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from stacklib.quantity.bounds import whole
from stacklib.quantizers import byte_split

if TYPE_CHECKING:
    from numpy.typing import NDArray

BYTE = 8


@dataclass(frozen=True, slots=True)
class ByteMatmul:
    """A product, the two of bytes that it is made of, and what they took."""

    product: NDArray[Any]
    high: NDArray[Any]  # of the signed high bytes
    low: NDArray[Any]  # of the low bytes, without a sign
    multiplies: int  # of 8 by 8 bits, in both passes

    @property
    def accumulator_bits(self) -> int:
        """Bits that hold every sum of this product, with a sign."""
        most = max(~int(self.product.min()), int(self.product.max()))
        return most.bit_length() + 1


def byte_split_matmul(a: Any, b: Any) -> ByteMatmul:
    """Multiply a matrix of 16-bit integers by one of 8-bit integers, exactly.

    ``a = 256 h + l`` with ``h`` signed and ``l`` not, so ``a b = 256 (h b) + l b``.

    Parameters
    ----------
    a : integer array
        Shape (M, K), from -32768 to 32767.
    b : integer array
        Shape (K, N), from -128 to 127.

    Raises
    ------
    TypeError
        For what is not whole.
    ValueError
        For numbers with more bits, or shapes that do not chain.

    Examples
    --------
    >>> byte_split_matmul([[-300, 2]], [[7], [1]]).product.tolist()
    [[-2098]]
    """
    import numpy as np

    wide, narrow = np.asarray(a), np.asarray(b)
    if wide.ndim != 2 or narrow.ndim != 2 or wide.shape[1] != narrow.shape[0]:
        raise ValueError(f"shapes {wide.shape} and {narrow.shape} do not chain")
    if not wide.size or not narrow.size:
        raise ValueError(f"shapes {wide.shape} and {narrow.shape}: an empty product")
    _, high, low = byte_split(wide, 1)
    byte_split(0, narrow)  # refuses what is no byte
    first, second = (
        part.astype(np.int64) @ narrow.astype(np.int64) for part in (high, low)
    )
    macs = wide.shape[0] * wide.shape[1] * narrow.shape[1]
    return ByteMatmul((first << BYTE) + second, first, second, 2 * macs)


def passes(bits: int, other: int = BYTE) -> int:
    """Products of bytes in one of ``bits`` by ``other`` bits: ceil over ceil."""
    whole(bits=bits, other=other)
    return -(-int(bits) // BYTE) * -(-int(other) // BYTE)


def accumulator_bits(terms: int) -> int:
    """Bits that hold any sum of so many products of 16 by 8 bits, with a sign."""
    whole(terms=terms)
    return (int(terms) << 15 + 7).bit_length() + 1


def sign_slips() -> float:
    """Share of all 2^24 products that are wrong if the low byte is read with a sign.

    Half of the low bytes have their top bit set, and read 256 too low; only a zero for
    the other factor hides it.
    """
    return (1 / 2) * (1 - 1 / (1 << BYTE))


@cache
def slips() -> int:
    """Products of all pairs of operands that differ from those of wide arithmetic."""
    import numpy as np

    b: Any = np.arange(-(1 << BYTE - 1), 1 << BYTE - 1, dtype=np.int64)[None]
    wrong = 0
    for part in np.split(np.arange(-(1 << 15), 1 << 15, dtype=np.int64), 32):
        a = part[:, None]
        wrong += int((byte_split_matmul(a, b).product != a * b).sum())
    return wrong
