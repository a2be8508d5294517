"""Numbers on a logarithmic grid, and a 16-bit product out of two of 8 bits.

On a grid of equal ratios a product is a sum of codes. Chapter 5's machine multiplies
rotary angles this way, and passes 16-bit numbers through 8-bit multipliers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class LogFormat:
    """Numbers from 1 down, each the same share below the last.

    Code ``c`` stands for ``exp(-step * c)``.

    Parameters
    ----------
    bits : int
        Of a code, from 1 to 32.
    step : float
        Natural logarithm of the ratio of neighbours.

    Raises
    ------
    ValueError
        For bits or a step out of range.

    Examples
    --------
    >>> form = LogFormat(8, math.log(2))
    >>> form.encode(0.25) + form.encode(0.5), round(form.decode(3), 9)
    (3, 0.125)
    """

    bits: int
    step: float

    def __post_init__(self) -> None:
        if isinstance(self.bits, bool) or not 1 <= self.bits <= 32:
            raise ValueError(f"bits={self.bits}: from 1 to 32")
        if not (math.isfinite(self.step) and self.step > 0):
            raise ValueError(f"step={self.step}: a number above zero")

    @property
    def smallest(self) -> float:
        """The last number."""
        return math.exp(-self.step * ((1 << self.bits) - 1))

    @property
    def worst_ratio(self) -> float:
        """The largest relative error between two neighbours, over the true number."""
        return math.expm1(self.step / 2)

    def encode(self, x: Any) -> Any:
        """The code whose logarithm is nearest; numbers beyond an end take that end.

        Parameters
        ----------
        x : float or array
            Above zero.

        Raises
        ------
        ValueError
            For a number that is not above zero, which has no logarithm, or NaN.
        """
        top = (1 << self.bits) - 1
        if hasattr(x, "__array__") and getattr(x, "shape", ()) != ():
            import numpy as np

            array = np.asarray(x, np.float64)
            if not (array > 0).all():
                bad = array[~(array > 0)].reshape(-1)[0]
                raise ValueError(f"{bad} has no logarithm")
            found = np.rint(-np.log(array) / self.step)
            return np.clip(found, 0, top).astype(np.uint32)
        if not x > 0:
            raise ValueError(f"{x} has no logarithm")
        if math.isinf(x):
            return 0
        return min(max(round(-math.log(x) / self.step), 0), top)

    def decode(self, codes: Any) -> Any:
        """The numbers of codes; sums of codes, as products have them, may be longer."""
        if hasattr(codes, "__array__") and getattr(codes, "shape", ()) != ():
            import numpy as np

            return np.exp(-self.step * np.asarray(codes, np.float64))
        return math.exp(-self.step * codes)


class BytePasses(NamedTuple):
    """A product of 16 by 8 bits, and the two of 8 by 8 that it is made of."""

    product: Any
    high: Any
    low: Any


def byte_split(a: Any, b: Any) -> BytePasses:
    """Multiply a 16-bit integer by an 8-bit one in two passes of 8 bits.

    The high byte of ``a`` is signed, the low one is not: ``a = 256 * high + low``. The
    product is that of 32-bit arithmetic for every pair.

    Parameters
    ----------
    a : int or integer array
        From -32768 to 32767.
    b : int or integer array
        From -128 to 127.

    Raises
    ------
    ValueError
        For a number with more bits.
    TypeError
        For what is not whole.
    """
    a, b = _within(a, 16), _within(b, 8)
    high, low = (a >> 8) * b, (a & 255) * b
    return BytePasses((high << 8) + low, high, low)


def _within(x: Any, bits: int) -> Any:
    end = 1 << bits - 1
    if hasattr(x, "__array__"):
        import numpy as np

        array: NDArray[Any] = np.asarray(x)
        if array.dtype.kind not in "iu":
            raise TypeError(f"an array of {array.dtype}: whole numbers are needed")
        if array.size and not -end <= int(array.min()) <= int(array.max()) < end:
            raise ValueError(
                f"numbers beyond {bits} bits: {array.min()}, {array.max()}"
            )
        return array.astype(np.int32)
    if isinstance(x, bool) or not isinstance(x, int):
        raise TypeError(f"{x!r}: a whole number is needed")
    if not -end <= x < end:
        raise ValueError(f"{x} has more than {bits} bits")
    return x
