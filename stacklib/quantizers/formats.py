"""Floating-point formats: what the bits mean, one number at a time.

A format is a row: bits of exponent and of significand, a bias, and what its highest
codes mean. Everything else follows. Encoding rounds once, from the exact value, to the
nearest number of the format, ties to the one whose last bit is zero (IEEE 754-2019,
section 4.3.1). Eight bits: Micikevicius et al., *FP8 formats for deep learning*,
arXiv 2209.05433; four and six bits and the scale: OCP Microscaling (MX) v1.0,
section 5.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from stacklib.quantity import resolve

__all__ = ["FORMATS", "Format", "Row"]


@dataclass(frozen=True, slots=True)
class Row:
    """What the bits of a format mean.

    Parameters
    ----------
    exponent, significand : int
        Bits of the exponent, and of the significand without its leading one.
    bias : int
        Subtracted from the exponent field.
    special : str
        ``ieee``: the highest exponent is infinity and NaN; ``fn``: only the code of
        all ones is NaN; ``finite``: every code is a number; ``scale``: powers of two
        without sign or zero, the code of all ones is NaN.
    """

    exponent: int
    significand: int
    bias: int
    special: str


FORMATS = {
    "fp32": Row(8, 23, 127, "ieee"),
    "tf32": Row(8, 10, 127, "ieee"),  # 19 bits; stored in 32
    "bf16": Row(8, 7, 127, "ieee"),
    "fp16": Row(5, 10, 15, "ieee"),
    "e5m2": Row(5, 2, 15, "ieee"),
    "e4m3fn": Row(4, 3, 7, "fn"),
    "e3m2": Row(3, 2, 3, "finite"),
    "e2m3": Row(2, 3, 1, "finite"),
    "e2m1": Row(2, 1, 1, "finite"),
    "e8m0": Row(8, 0, 127, "scale"),
}


@dataclass(frozen=True, slots=True)
class Format:
    """A floating-point format by name.

    Parameters
    ----------
    name : str
        A key of ``FORMATS``; case, ``-`` and ``_`` do not matter, and a unique prefix
        is enough.

    Raises
    ------
    UnknownName
        For another name, with the nearest ones.

    Examples
    --------
    >>> Format("e4m3fn").encode(448.0), Format("e4m3fn").decode(0x7E)
    (126, 448.0)
    """

    name: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", resolve(self.name, FORMATS, "format"))

    @property
    def row(self) -> Row:
        """What its bits mean."""
        return FORMATS[self.name]

    @property
    def bits(self) -> int:
        """Bits of a code, its sign included."""
        row = self.row
        return row.exponent + row.significand + (row.special != "scale")

    @property
    def top(self) -> int:
        """Code of the largest number."""
        row = self.row
        last = (1 << row.exponent + row.significand) - 1
        infinity = (1 << row.exponent) - 1 << row.significand
        if row.special == "ieee":
            return infinity - 1
        return last if row.special == "finite" else last - 1

    @property
    def largest(self) -> float:
        """The largest number."""
        return self._magnitude(self.top)

    @property
    def smallest(self) -> float:
        """The smallest number above zero."""
        return self._magnitude(0 if self.row.special == "scale" else 1)

    @property
    def nan(self) -> int:
        """What NaN becomes; ``finite`` formats have none and take negative zero.

        A NaN with its sign set becomes this code with the highest bit turned over.
        """
        row = self.row
        body = row.exponent + row.significand
        if row.special == "finite":
            return 1 << body
        if row.special == "ieee":  # a quiet one: the first bit behind the exponent
            return (((1 << row.exponent) - 1 << 1) + 1) << row.significand - 1
        return (1 << body) - 1

    def encode(self, x: Any, saturate: bool = False) -> Any:
        """The code of the nearest number, ties to even.

        Parameters
        ----------
        x : float or NumPy array of any shape
            float32 or float64; other arrays are taken as float64. A float64 is rounded
            once.
        saturate : bool
            False: as ``ml_dtypes`` does. True: as ``torch`` does. They differ in two
            formats. In ``e4m3fn`` what is too large is NaN, saturated the largest
            number. In ``e8m0`` zero and negative numbers are NaN, saturated the
            smallest scale and the scale of the magnitude. In both modes formats with
            an infinity overflow to it and ``finite`` ones to their largest number.
            Which of its NaN codes a NaN becomes is that of ``ml_dtypes``.

        Returns
        -------
        int or unsigned integer array of the same shape

        Raises
        ------
        TypeError
            For what is not a real number, or an array of complex numbers.
        """
        if hasattr(x, "__array__") and getattr(x, "shape", ()) != ():
            from .arrays import encode_array

            return encode_array(self, x, saturate)
        if x is None or isinstance(x, (bool, str, complex)):
            raise TypeError(f"encode({x!r}): a real number is needed")
        return self._encode(float(x), saturate)

    def _encode(self, x: float, saturate: bool) -> int:
        row = self.row
        if math.isnan(x):
            turned = row.special != "scale" and math.copysign(1.0, x) < 0
            return self.nan ^ (int(turned) << self.bits - 1)
        if row.special == "scale":
            return self._scale(x, saturate)
        sign = int(math.copysign(1.0, x) < 0) << row.exponent + row.significand
        code = self.top + 1 if math.isinf(x) else self._rounded(abs(x))
        if code > self.top:
            keep = row.special == "finite" or (row.special == "fn" and saturate)
            # what lies behind the largest number is infinity, or the only NaN
            code = self.top if keep else self.top + 1
        return sign | code

    def _rounded(self, size: float) -> int:
        """Code of a magnitude, as if the format went on without end."""
        row = self.row
        if size == 0:
            return 0
        least = 1 - row.bias
        power = max(math.frexp(size)[1] - 1, least)
        steps = round(math.ldexp(size, row.significand - power))  # half to even
        # the leading one of ``steps`` carries into the exponent by itself
        return (power - least << row.significand) + steps

    def _scale(self, x: float, saturate: bool) -> int:
        if x <= 0 and not saturate:
            return self.nan
        if x == 0:
            return 0
        if math.isinf(x):
            return self.nan
        part, power = math.frexp(abs(x))
        if power < 2 - self.row.bias:  # as in both libraries, nearer or not
            return int(abs(x) > self.smallest)
        code = power - 1 + self.row.bias + (part >= 0.75)  # half way goes up
        return min(code, self.nan)

    def decode(self, codes: Any) -> Any:
        """The numbers that codes stand for.

        Parameters
        ----------
        codes : int or integer array of any shape
            From 0 to ``2 ** bits - 1``.

        Returns
        -------
        float or float32 array of the same shape

        Raises
        ------
        ValueError
            For a code that has more bits than the format.
        TypeError
            For what is not a whole number.
        """
        if hasattr(codes, "__array__") and getattr(codes, "shape", ()) != ():
            from .arrays import decode_array

            return decode_array(self, codes)
        if codes is None or isinstance(codes, (bool, float, str)):
            raise TypeError(f"decode({codes!r}): codes are whole numbers")
        code = int(codes)
        if not 0 <= code < 1 << self.bits:
            raise ValueError(f"code {code}: {self.name} has {self.bits} bits")
        row = self.row
        body = row.exponent + row.significand
        if row.special == "scale":
            return math.nan if code == self.nan else self._magnitude(code)
        size = code & (1 << body) - 1
        if size > self.top:
            infinite = row.special == "ieee" and size == self.top + 1
            found = math.inf if infinite else math.nan
        else:
            found = self._magnitude(size)
        return -found if code >> body else found

    def _magnitude(self, code: int) -> float:
        row = self.row
        if row.special == "scale":
            return math.ldexp(1.0, code - row.bias)
        field, rest = code >> row.significand, code & (1 << row.significand) - 1
        lead = min(field, 1) << row.significand  # none in a subnormal number
        return math.ldexp(lead + rest, max(field, 1) - row.bias - row.significand)
