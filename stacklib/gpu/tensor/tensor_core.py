"""A matrix multiply-add as tensor cores do it, bit by bit.

Products are exact. ``terms`` of them and the accumulator are shifted to the largest
exponent among them, cut (not rounded) to ``fraction`` bits behind the point, and added
exactly; the sum is cut to the accumulator's width. So the order of a sum does not
matter within one such step, and small addends beside a large one vanish. P. Xie et al.,
*MMA-Sim*, arXiv 2511.10909, found the widths by experiment and checked them on the
chips; M. Fasi et al., PeerJ CS 7:e330, had found cutting and alignment before them on
V100, T4 and A100. All 160,000 outputs of eight chips that F. A. Khattak and M. Mikaitis
published (arXiv 2512.07004) come out of this to the last bit.

NaN and infinity go in and out; every NaN that comes out has the one pattern that the
chips write, 0x7FFFFFFF. Assumed beyond the sources: a long product is its steps in the
order of k.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from stacklib.quantity.bounds import whole
from stacklib.quantizers import Format
from stacklib.quantizers.inputs import doubles

from ..issue.instructions import arithmetic
from .cut_sums import dot_tiles

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["checked_sums", "mma", "promoted"]

_SUMS = ("fp32", "fp16")
_WIDE = ("bf16", "tf32")  # these have no sums in FP16 on any chip


def _read(name: str, values: Any, form: Format) -> NDArray[Any]:
    """Values as float64, once it is sure that they are numbers of the format."""
    array = doubles(values, name)
    if array.ndim != 2:
        raise ValueError(f"{name} has the shape {array.shape}: a matrix is needed")
    back = form.decode(form.encode(array)).astype(np.float64)
    odd = (back != array) & ~(np.isnan(back) & np.isnan(array))
    if odd.any():
        worst = array[odd][0].item()
        has = "NaN nor infinity" if form.row.special == "finite" else "infinity"
        if not np.isfinite(worst):
            raise ValueError(
                f"{name} holds {worst!r}: {form.name} has no {has}, its largest number "
                f"is {form.largest:g}; clip first, or take e5m2"
            )
        raise ValueError(
            f"{name} holds {worst!r}, which is no {form.name} number: round it first, "
            f"Format({form.name!r}).decode(Format({form.name!r}).encode(x))"
        )
    return array


def checked_sums(
    c: Any, shape: tuple[int, int], accumulate: str, *forms: str
) -> NDArray[Any]:
    """The accumulator to begin with, once it fits; zero without one."""
    if accumulate not in _SUMS:
        raise ValueError(f"accumulate = {accumulate!r}: {' or '.join(_SUMS)}")
    wide = [form for form in forms if form in _WIDE]
    if accumulate == "fp16" and wide:
        raise ValueError(f"{wide[0]} has no sums in fp16: accumulate = 'fp32'")
    total = np.zeros(shape) if c is None else _read("c", c, Format(accumulate))
    if total.shape != shape:
        raise ValueError(f"c is {total.shape}: a @ b is {shape}")
    return total


def mma(
    a: Any,
    b: Any,
    c: Any = None,
    *,
    dtype: str = "bf16",
    generation: str = "hopper",
    accumulate: str = "fp32",
) -> NDArray[Any]:
    """``a @ b + c`` with the arithmetic of a generation's tensor cores.

    Parameters
    ----------
    a : array (m, k)
        Numbers of the format ``dtype``, NaN and infinity among them where it has them.
    b : array (k, n)
        The same.
    c : array (m, n), optional
        Numbers of the accumulator's format; zero without it.
    dtype : str
        ``fp16``, ``bf16``, ``tf32``, ``e4m3fn``, ``e5m2``, ``e3m2``, ``e2m3`` or
        ``e2m1``, where it has them. Codes with scales: ``scaled.multiply``.
    generation : str
        One of ``gpu.issue.instructions.generations()``.
    accumulate : str
        ``fp32`` or ``fp16``.

    Returns
    -------
    float32 array (m, n)
        A sum that has become infinite stays so, unless NaN is added to it.

    Raises
    ------
    ValueError
        For shapes that do not fit, a number that is not of the format, or another
        accumulator.
    UnknownName
        For a generation, or a format that it does not multiply.

    Examples
    --------
    >>> ones = [[2.0**14, 1.0, -(2.0**14)]]
    >>> mma(ones, [[1.0]] * 3, dtype="e5m2").item(), mma(ones, [[1.0]] * 3).item()
    (0.0, 1.0)
    """
    rule = arithmetic(generation, dtype)
    form = Format(rule.dtype)
    left, right = _read("a", a, form), _read("b", b, form)
    if left.shape[1] != right.shape[0]:
        raise ValueError(f"a is {left.shape} and b {right.shape}: k differs")
    shape = (left.shape[0], right.shape[1])
    total = checked_sums(c, shape, accumulate, rule.dtype)
    return dot_tiles(left, right, total, rule, accumulate=accumulate)


def promoted(
    a: Any,
    b: Any,
    *,
    every: int = 128,
    dtype: str = "e4m3fn",
    generation: str = "hopper",
) -> NDArray[Any]:
    """``a @ b`` whose sums leave the tensor core every so many products.

    The partial sums are added in FP32 on the ordinary cores, as DeepSeek-V3 does on
    Hopper (arXiv 2412.19437, section 3.3.2, with 128).

    ``a`` (m, k); ``b`` (k, n).
    """
    whole(every=every)
    left, right = np.asarray(a), np.asarray(b)
    total = np.zeros((left.shape[0], right.shape[-1]), np.float32)
    for start in range(0, left.shape[-1], every):
        part = slice(start, start + every)
        total += mma(left[:, part], right[part], dtype=dtype, generation=generation)
    return total
