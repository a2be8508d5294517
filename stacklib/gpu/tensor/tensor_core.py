"""A matrix multiply-add as tensor cores do it, bit by bit.

Products are exact. ``terms`` of them and the accumulator are shifted to the largest
exponent among them, cut (not rounded) to ``fraction`` bits behind the point, and added
exactly; the sum is cut to the accumulator's width. So the order of a sum does not
matter within one such step, and small addends beside a large one vanish. P. Xie et al.,
*MMA-Sim*, arXiv 2511.10909, found the widths by experiment and checked them on the
chips; M. Fasi et al., PeerJ CS 7:e330, had found cutting and alignment before them on
V100, T4 and A100. All 160,000 outputs of eight chips that F. A. Khattak and M. Mikaitis
published (arXiv 2512.07004) come out of this to the last bit.

Assumed beyond them: a long product is its steps in the order of k.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from stacklib.quantity.bounds import whole
from stacklib.quantizers import Format

from ..issue.instructions import Arithmetic, arithmetic

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["mma", "promoted"]

_SUMS = ("fp32", "fp16")
_NOTHING = -4000  # the exponent of a zero: below all others


def _read(name: str, values: Any, form: Format) -> NDArray[Any]:
    """Values as float64, once it is sure that they are numbers of the format."""
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 2:
        raise ValueError(f"{name} has the shape {array.shape}: a matrix is needed")
    if np.isnan(array).any():  # its payload is not modelled
        raise ValueError(f"{name} holds NaN: finite numbers are needed")
    odd = form.decode(form.encode(array)).astype(np.float64) != array
    if odd.any():
        worst = array[odd][0].item()
        raise ValueError(
            f"{name} holds {worst!r}, which is no {form.name} number: round it first, "
            f"Format({form.name!r}).decode(Format({form.name!r}).encode(x))"
        )
    if not np.isfinite(array).all():
        raise ValueError(f"{name} holds an infinity: finite numbers are needed")
    return array


def _exponent(values: NDArray[Any], form: Format) -> NDArray[Any]:
    """Exponent field of each value; a subnormal number has that of the smallest."""
    least = 1 - form.row.bias
    found = np.maximum(np.frexp(values)[1] - 1, least)
    return np.where(values == 0, _NOTHING, found)


def _cut(values: NDArray[Any], bits: int) -> NDArray[Any]:
    """Values cut towards zero to so many bits behind the point, as FP32 has them."""
    exponent = np.maximum(np.frexp(values)[1] - 1, -126)
    kept = np.ldexp(np.trunc(np.ldexp(values, bits - exponent)), exponent - bits)
    return np.where(exponent > 127, np.copysign(np.inf, values), kept)


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
        Numbers of the format ``dtype``.
    b : array (k, n)
        The same.
    c : array (m, n), optional
        Numbers of the accumulator's format; zero without it.
    dtype : str
        ``fp16``, ``bf16``, ``tf32``, ``e4m3fn`` or ``e5m2``, where it has them.
    generation : str
        One of ``gpu.issue.instructions.generations()``.
    accumulate : str
        ``fp32`` or ``fp16``.

    Returns
    -------
    float32 array (m, n)
        A sum that has become infinite stays so.

    Raises
    ------
    ValueError
        For shapes that do not fit, infinities or NaN, a number that is not of the
        format, or another accumulator.
    UnknownName
        For a generation, or a format that it does not multiply.

    Examples
    --------
    >>> ones = [[2.0**14, 1.0, -(2.0**14)]]
    >>> mma(ones, [[1.0]] * 3, dtype="e5m2").item(), mma(ones, [[1.0]] * 3).item()
    (0.0, 1.0)
    """
    rule = arithmetic(generation, dtype)
    if accumulate not in _SUMS:
        raise ValueError(f"accumulate = {accumulate!r}: {' or '.join(_SUMS)}")
    form, sums = Format(rule.dtype), Format(accumulate)
    left, right = _read("a", a, form), _read("b", b, form)
    if left.shape[1] != right.shape[0]:
        raise ValueError(f"a is {left.shape} and b {right.shape}: k differs")
    shape = (left.shape[0], right.shape[1])
    total = np.zeros(shape) if c is None else _read("c", c, sums)
    if total.shape != shape:
        raise ValueError(f"c is {total.shape}: a @ b is {shape}")
    with np.errstate(over="ignore", invalid="ignore"):
        for start in range(0, left.shape[1], rule.terms):
            part = slice(start, start + rule.terms)
            total = _step(left[:, part], right[part], total, rule, form, sums)
    return total.astype(np.float32)


def _step(
    a: NDArray[Any],
    b: NDArray[Any],
    c: NDArray[Any],
    rule: Arithmetic,
    form: Format,
    sums: Format,
) -> NDArray[Any]:
    """One addition of the hardware for every output."""
    ea, eb, ec = _exponent(a, form), _exponent(b, form), _exponent(c, sums)
    # the products' own leading digit is not looked for: 1.5 * 1.5 counts as 2.25
    powers = ea[:, :, None] + eb[None, :, :]  # (m, terms, n)
    largest = np.maximum(powers.max(axis=1), ec)  # (m, n)
    shift = rule.fraction - largest
    products = a[:, :, None] * b[None, :, :]
    kept = np.trunc(np.ldexp(products, shift[:, None, :])).sum(axis=1)
    # an accumulator that has overflowed stays there
    kept = kept + np.trunc(np.ldexp(c, shift))
    exact = np.where(largest == 2 * _NOTHING, 0.0, np.ldexp(kept, -shift))
    exact = np.where(np.isfinite(c), exact, c)
    if sums.name == "fp16":
        rounded: NDArray[Any] = sums.decode(sums.encode(exact)).astype(np.float64)
        return rounded
    return _cut(exact, rule.result)


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
