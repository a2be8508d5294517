"""Floating-point formats: what the bits mean, one number at a time.

A format is a row: bits of exponent and of significand, a bias, and what its highest
codes mean. Everything else follows. Encoding rounds once, from the exact value, to the
nearest number of the format, ties to the one whose last bit is zero or, with no digit
behind the first, to the larger (IEEE 754-2019, section 4.3.1). Eight bits: Micikevicius
et al., *FP8 formats for deep learning*, arXiv 2209.05433; without a negative zero:
Noune et al., arXiv 2206.02915; four and six bits and the scale: OCP Microscaling (MX)
v1.0, section 5; NF4: Dettmers et al., *QLoRA*, arXiv 2305.14314, appendix E.
"""

from __future__ import annotations

import bisect
import itertools
import math
import operator
import random
import struct
import sys
from dataclasses import dataclass
from functools import cache
from typing import Any

from stacklib.quantity import resolve
from stacklib.quantity.bounds import whole

ROUNDINGS = ("nearest", "zero", "stochastic")


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
        all ones is NaN; ``fnuz``: only the code of a negative zero is NaN; ``finite``:
        every code is a number; ``scale``: powers of two without sign or zero, the code
        of all ones is NaN; ``integer``: two's complement; ``table``: the numbers of
        ``table``.
    table : tuple of float
        The number of each code, where no rule gives it.
    """

    exponent: int
    significand: int
    bias: int
    special: str
    table: tuple[float, ...] = ()


def _fp32(*numbers: float) -> tuple[float, ...]:
    return struct.unpack(f"{len(numbers)}f", struct.pack(f"{len(numbers)}f", *numbers))


# quantiles of a normal distribution, as the paper prints them
_NF4 = """
-1.0 -0.6961928009986877 -0.5250730514526367 -0.39491748809814453
-0.28444138169288635 -0.18477343022823334 -0.09105003625154495 0.0
0.07958029955625534 0.16093020141124725 0.24611230194568634 0.33791524171829224
0.44070982933044434 0.5626170039176941 0.7229568362236023 1.0
"""
# bitsandbytes 0.50.2, get_4bit_type: neither the numbers of e2m1 nor its codes
_HALF_FP4 = _fp32(*(x / 12 for x in (0.0, 0.0625, 8.0, 12.0, 4.0, 6.0, 2.0, 3.0)))


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
    "e4m3": Row(4, 3, 7, "ieee"),
    "e4m3fnuz": Row(4, 3, 8, "fnuz"),
    "e5m2fnuz": Row(5, 2, 16, "fnuz"),
    "e3m4": Row(3, 4, 3, "ieee"),
    "e3m0": Row(3, 0, 3, "finite"),
    "int8": Row(0, 7, 0, "integer"),
    "int4": Row(0, 3, 0, "integer"),
    "int2": Row(0, 1, 0, "integer"),
    "nf4": Row(0, 3, 0, "table", tuple(map(float, _NF4.split()))),
    "bnb_fp4": Row(0, 3, 0, "table", _HALF_FP4 + tuple(0.0 - x for x in _HALF_FP4)),
}
# Words for several formats at once, and what is meant by them in formats and schemes.
FAMILIES = {
    "fp8": ("e4m3fn", "e5m2", "mxfp8_e4m3", "mxfp8_e5m2", "fp8_1x128", "fp8_128x128"),
    "mxfp8": ("mxfp8_e4m3", "mxfp8_e5m2"),
    "fp6": ("e2m3", "e3m2", "mxfp6_e2m3", "mxfp6_e3m2"),
    "mxfp6": ("mxfp6_e2m3", "mxfp6_e3m2"),
    "fp4": ("e2m1", "mxfp4", "nvfp4", "bnb_fp4"),
    "mx": ("mxfp8_e4m3", "mxfp8_e5m2", "mxfp6_e2m3", "mxfp6_e3m2", "mxfp4", "mxint8"),
    "half": ("fp16", "bf16"),
    "float": ("fp32", "tf32", "bf16", "fp16"),
    "gguf": ("q4_0", "q8_0", "q4_k", "q5_k", "q6_k", "iq4_nl"),
}


def _whole(x: float, rounding: str, seed: int | None) -> int:
    """A whole number near ``x``."""
    if rounding == "nearest":
        return round(x)  # half to even
    if rounding == "zero":
        return math.trunc(x)
    low = math.floor(x)
    return low + (random.Random(seed).random() < x - low)


def _one_number(x: Any) -> float:
    """A number of Python's, NumPy's or torch's; no truth value, text or hidden one."""
    plain = x.item() if hasattr(x, "item") else x
    hidden = getattr(x, "_mask", False)  # of NumPy's masked arrays
    hidden = hidden or getattr(getattr(x, "dtype", None), "kind", "") in ("m", "M")
    if isinstance(plain, (bool, str, bytes, bytearray, complex)) or hidden:
        raise TypeError(f"encode({x!r}): a real number is needed")
    try:
        return float(plain)
    except OverflowError:  # a whole number beyond fp64, and every format ends before it
        return sys.float_info.max if plain > 0 else -sys.float_info.max
    except (TypeError, ValueError):
        raise TypeError(f"encode({x!r}): a real number is needed") from None


def _one_code(code: Any) -> int:
    """A whole number; what has digits behind the point is not cut off."""
    plain = code.item() if hasattr(code, "item") else code
    if isinstance(plain, bool) or getattr(code, "_mask", False):
        plain = None
    try:
        return operator.index(plain)
    except TypeError:
        raise TypeError(f"decode({code!r}): codes are whole numbers") from None


@cache
def _arrays() -> Any:
    """The module for arrays: one number needs no NumPy."""
    from . import arrays

    return arrays


@cache
def table_order(name: str) -> tuple[tuple[int, ...], tuple[float, ...]]:
    """Codes of a table in the order of their numbers, and the half ways between.

    The half ways are rounded to fp32 as bitsandbytes has them, so that its codes are
    met at the last bit; two codes of zero both stay.
    """
    table = FORMATS[name].table
    codes = tuple(sorted(range(len(table)), key=lambda code: table[code]))
    pairs = itertools.pairwise(table[code] for code in codes)
    return codes, _fp32(*((a + b) / 2 for a, b in pairs))


@cache
def grid(name: str) -> tuple[tuple[float, ...], tuple[int, ...]]:
    """Numbers of a format of few codes in order, and the lowest code of each."""
    form = Format(name)
    found: dict[float, int] = {}
    for code in range(1 << form.bits):
        value = form.decode(code)
        if math.isfinite(value):
            found.setdefault(value + 0.0, code)
    values = tuple(sorted(found))
    return values, tuple(found[value] for value in values)


@dataclass(frozen=True, slots=True)
class Format:
    """A floating-point format by name.

    Parameters
    ----------
    name : str
        A key of ``FORMATS``; case, ``-`` and ``_`` do not matter.

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
        name = resolve(self.name, FORMATS, "format", FAMILIES, exact=True)
        object.__setattr__(self, "name", name)

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
        if row.special == "table":
            return row.table.index(max(row.table))
        last = (1 << row.exponent + row.significand) - 1
        infinity = (1 << row.exponent) - 1 << row.significand
        if row.special == "ieee":
            return infinity - 1
        return last - 1 if row.special in ("fn", "scale") else last

    @property
    def largest(self) -> float:
        """The largest number."""
        return self.decode(self.top)

    @property
    def octave(self) -> float:
        """The power of two above its largest number."""
        return 2.0 ** math.frexp(self.largest)[1]

    @property
    def places(self) -> int:
        """Codes from a power of two to the next."""
        return 1 << self.row.significand

    @property
    def smallest(self) -> float:
        """The smallest number above zero."""
        if self.row.special == "table":
            return min(x for x in self.row.table if x > 0)
        if self.row.special == "integer":
            return 1.0
        return self._magnitude(0 if self.row.special == "scale" else 1)

    @property
    def least_normal(self) -> float:
        """The smallest number with a leading one; below it digits are lost."""
        row = self.row
        return math.ldexp(1.0, 1 - row.bias) if self.floating else self.smallest

    @property
    def step_of_largest(self) -> int:
        """Power of two between the largest number and the one before it."""
        return math.frexp(self.largest)[1] - 1 - self.row.significand

    @property
    def floating(self) -> bool:
        """Whether its numbers have an exponent and a significand."""
        return self.row.special not in ("scale", "integer", "table")

    @property
    def values(self) -> tuple[float, ...]:
        """Every number of the format in order; infinity and NaN are none.

        Raises
        ------
        ValueError
            For a format of more than 8 bits.
        """
        if self.bits > 8:
            raise ValueError(f"{self.name} has {self.bits} bits: too many to list")
        return grid(self.name)[0]

    @property
    def nan(self) -> int:
        """What NaN becomes; ``finite`` formats have none and take negative zero.

        A NaN with its sign set becomes this code with the highest bit turned over, but
        in the formats ``fnuz``, which have one NaN.

        Raises
        ------
        ValueError
            For integers and tables, which have none.
        """
        row = self.row
        body = row.exponent + row.significand
        if row.special in ("integer", "table"):
            raise ValueError(f"{self.name} has no code for NaN")
        if row.special in ("finite", "fnuz"):
            return 1 << body
        if row.special == "ieee":  # a quiet one: the first bit behind the exponent
            return (((1 << row.exponent) - 1 << 1) + 1) << row.significand - 1
        return (1 << body) - 1

    def encode(
        self,
        x: Any,
        saturate: bool = False,
        rounding: str = "nearest",
        seed: int | None = None,
        out: Any = None,
    ) -> Any:
        """The code of a number of the format near ``x``.

        Parameters
        ----------
        x : float, NumPy array or torch tensor of any shape
            fp32, fp64, fp16 or bf16; other arrays are taken as fp64. A number is
            rounded once.
        saturate : bool
            False: as ``ml_dtypes`` does. True: as ``torch`` does. They differ in two
            formats. In ``e4m3fn`` what is too large is NaN, saturated the largest
            number. In ``e8m0`` zero and negative numbers are NaN, saturated the
            smallest scale and the scale of the magnitude. In both modes formats with
            an infinity overflow to it, ``fnuz`` to NaN, the others to the number at
            their end. Which of its NaN codes a NaN becomes is that of ``ml_dtypes``.
        rounding : {"nearest", "zero", "stochastic"}
            Nearest, ties to even (in a table, ties to the lower number, as
            bitsandbytes); toward zero, where a finite number never becomes infinity or
            NaN; or up with the probability that makes the mean right.
        seed : int, optional
            Of stochastic rounding; the same seed gives the same codes.
        out : array, optional
            Where the codes of an array go; of their type and shape.

        Returns
        -------
        int or unsigned integer array of the same shape

        Raises
        ------
        TypeError
            For what is not a real number, or an array of complex numbers.
        ValueError
            For NaN in an integer or a table, another rounding, a seed without
            stochastic rounding, or an ``out`` that does not fit.
        """
        if rounding not in ROUNDINGS:
            rounding = resolve(rounding, ROUNDINGS, "rounding")
        if seed is not None:
            if rounding != "stochastic":
                raise ValueError(f"seed={seed}: rounding {rounding!r} draws nothing")
            if not hasattr(seed, "random"):  # a generator of NumPy's
                whole(0, seed=seed)
                seed = int(seed)
        if getattr(x, "shape", ()) and not isinstance(x, memoryview):
            return _arrays().encode_array(self, x, saturate, rounding, seed, out)
        if out is not None:
            raise ValueError("out: one number has one code, which is returned")
        return self._encode(_one_number(x), saturate, rounding, seed)

    def _encode(self, x: float, saturate: bool, rounding: str, seed: int | None) -> int:
        row = self.row
        if row.special in ("integer", "table"):
            return self._listed(x, rounding, seed)
        if math.isnan(x):
            turned = row.special not in ("scale", "fnuz") and math.copysign(1.0, x) < 0
            return self.nan ^ (int(turned) << self.bits - 1)
        if row.special == "scale":
            return self._scale(x, saturate, rounding, seed)
        sign = int(math.copysign(1.0, x) < 0) << row.exponent + row.significand
        infinite = math.isinf(x)
        if rounding == "stochastic" and abs(x) > self.largest:
            rounding = "nearest"
        code = self.top + 1 if infinite else self._rounded(abs(x), rounding, seed)
        if code > self.top:
            keep = row.special == "finite" or (row.special == "fn" and saturate)
            # what lies behind the largest number is infinity, or the only NaN
            keep |= rounding == "zero" and not infinite
            code = self.top if keep else self.top + 1
        if row.special == "fnuz" and code == 0:
            return 0  # the code of a negative zero is NaN
        return sign | code

    def _rounded(self, size: float, rounding: str, seed: int | None) -> int:
        """Code of a magnitude, as if the format went on without end."""
        row = self.row
        if size == 0:
            return 0
        least = 1 - row.bias
        power = max(math.frexp(size)[1] - 1, least)
        exact = math.ldexp(size, row.significand - power)
        # half to even: one digit is one step or two, and half way between goes up
        steps = _whole(exact, rounding, seed)
        # the leading one of ``steps`` carries into the exponent by itself
        return (power - least << row.significand) + steps

    def _scale(self, x: float, saturate: bool, rounding: str, seed: int | None) -> int:
        if x <= 0 and not saturate:
            return self.nan
        if x == 0:
            return 0
        if math.isinf(x):
            return self.nan
        size = max(abs(x), self.smallest)
        part, power = math.frexp(size)
        if rounding == "zero" or (rounding == "stochastic" and size <= self.largest):
            code = power - 1 + self.row.bias
            return min(code + _whole(2 * part, rounding, seed) - 1, self.top)
        if power < 2 - self.row.bias:  # as in both libraries, nearer or not
            return int(size > self.smallest)
        code = power - 1 + self.row.bias + (part >= 0.75)  # half way goes up
        return min(code, self.nan)

    def _listed(self, x: float, rounding: str, seed: int | None) -> int:
        """Code in a format whose numbers are whole, or a table."""
        if math.isnan(x):
            raise ValueError(f"NaN has no code in {self.name}")
        if self.row.special == "integer":
            least = -(1 << self.bits - 1)
            inside = max(float(least), min(x, -least - 1.0))
            return _whole(inside, rounding, seed) & (1 << self.bits) - 1
        if rounding == "nearest":
            codes, half = table_order(self.name)
            return codes[bisect.bisect_left(half, x)]
        values, codes = grid(self.name)
        x = max(values[0], min(x, values[-1]))
        at = min(bisect.bisect_right(values, x), len(values) - 1) - 1
        low, high = values[at], values[at + 1]
        if rounding == "zero":  # zero is in every table: both lie on one side of it
            return codes[at + (x == high or low < x < 0)]
        return codes[at + (random.Random(seed).random() < (x - low) / (high - low))]

    def decode(self, codes: Any, out: Any = None) -> Any:
        """The numbers that codes stand for.

        Parameters
        ----------
        codes : int or integer array of any shape
            From 0 to ``2 ** bits - 1``.
        out : float32 array, optional
            Where the numbers of an array go.

        Returns
        -------
        float or float32 array of the same shape

        Raises
        ------
        ValueError
            For a code that has more bits than the format, or an ``out`` that does not
            fit.
        TypeError
            For what is not a whole number.
        """
        if getattr(codes, "shape", ()) and not isinstance(codes, memoryview):
            return _arrays().decode_array(self, codes, out)
        if out is not None:
            raise ValueError("out: one code has one number, which is returned")
        code = _one_code(codes)
        if not 0 <= code < 1 << self.bits:
            raise ValueError(f"code {code}: {self.name} has {self.bits} bits")
        row = self.row
        body = row.exponent + row.significand
        if row.special == "scale":
            return math.nan if code == self.nan else self._magnitude(code)
        if row.special == "table":
            return row.table[code]
        if row.special == "integer":
            return float(code - (code >> body << self.bits))
        if row.special == "fnuz" and code == self.nan:
            return math.nan
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
