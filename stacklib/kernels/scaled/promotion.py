"""FP8 products with scales of 1x128 and 128x128, promoted to FP32 every 128 of k.

Hopper's tensor core keeps 14 bits of a sum of FP8 products. DeepSeek-V3 (arXiv
2412.19437, section 3.3.2, figure 7b) therefore takes the sum out after 128 products,
multiplies it with the scales of its blocks and adds it in FP32 on the CUDA cores, as
DeepGEMM does. The error of what comes out is told three ways:

- ``scaled_product``: the emulated unit, bit by bit, and a fused multiply-add in FP32;
- ``output_in_fractions``: the same rule in exact fractions, one output at a time;
- ``summing_error``: a formula, of the histograms of both operands alone. Each step cuts
  its addends to the digits behind the largest exponent among them; the formula takes
  the distribution of that exponent, of products and of a normal running sum, times
  what a cut there loses on average.

``error_bound`` is what no operands exceed. Left out of the formula: that the products
of a step share their operands with other outputs, and FP32's own rounding.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np

from stacklib.gpu.issue.instructions import arithmetic
from stacklib.gpu.tensor.exact_dot import dot_exactly
from stacklib.gpu.tensor.tensor_core import mma
from stacklib.quantity.bounds import whole
from stacklib.quantizers import Format

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from stacklib.quantizers import Quantized

BLOCK = 128  # numbers along k that share a scale, and sums between two promotions
FORM = "e4m3fn"
POWERS = range(-24, 40)  # exponents that a sum of E4M3 products may be aligned to
# 24 numbers as likely as each other, with the mean 0 and the variance 1 of a normal one
_MIDDLES = np.array([NormalDist().inv_cdf((i + 0.5) / 24) for i in range(24)])
QUANTILES = _MIDDLES / np.sqrt(np.mean(_MIDDLES**2))


@dataclass(frozen=True, slots=True)
class Summing:
    """Error of a sum over many outputs: its mean, and its spread around the mean."""

    drift: float
    spread: float

    @property
    def rms(self) -> float:
        """Root of the mean square."""
        return math.hypot(self.drift, self.spread)


# -- the emulated unit --------------------------------------------------------------


def scaled_product(
    a: Quantized, b: Quantized, *, generation: str = "hopper"
) -> NDArray[np.float32]:
    """``a @ b.T`` as DeepGEMM adds it: float32 (m, n).

    - ``a``: Quantized; (m, k) in ``fp8_1x128``.
    - ``b``: Quantized; (n, k) in ``fp8_128x128``.
    - ``generation``: str; whose tensor cores sum 128 products.
    - raises ``ValueError`` for other schemes, or shapes that do not fit.
    """
    left, right, by_a, by_b = _operands(a, b)
    total: NDArray[np.float32] = np.zeros((len(left), len(right)), np.float32)
    for block in range(by_a.shape[1]):
        part = slice(block * BLOCK, (block + 1) * BLOCK)
        sums = mma(left[:, part], right[:, part].T, dtype=FORM, generation=generation)
        scale = by_a[:, block, None] * by_b[:, block]  # rounded to fp32, as in a kernel
        total = _fused(sums, scale, total)
    return total


def _operands(a: Quantized, b: Quantized) -> tuple[Any, Any, Any, Any]:
    """Values of the codes (m, K), (n, K), and their scales (m, blocks), (n, blocks)."""
    for name, one, scheme in (("a", a, "fp8_1x128"), ("b", b, "fp8_128x128")):
        plain = (one.scheme, one.axis, len(one.shape)) == (scheme, -1, 2)
        if not plain or one.block not in (0, BLOCK):
            raise ValueError(
                f"{name} is {one.scheme} of {one.block or BLOCK}, {one.shape}, axis "
                f"{one.axis}: quantize(matrix, {scheme!r}) along the last is needed"
            )
    if a.shape[1] != b.shape[1]:
        raise ValueError(f"a is {a.shape} and b {b.shape}: both end in k")
    form, rows = Format(FORM), b.shape[0]
    left = form.decode(a.codes).astype(np.float64).reshape(a.shape[0], -1)
    right = form.decode(b.codes).astype(np.float64)
    right = right.reshape(-1, left.shape[1])[:rows]
    by_a = a.scales.reshape(a.shape[0], -1)
    by_b = b.scales.reshape(-1, by_a.shape[1]).repeat(BLOCK, axis=0)[:rows]
    return left, right, by_a, by_b


def _fused(x: Any, y: Any, z: Any) -> NDArray[np.float32]:
    """``x * y + z`` of fp32 arrays, rounded once.

    A product of 14 and 24 bits is exact in float64. The sum is rounded there to odd,
    which leaves the second rounding as if it were the first (S. Boldo, G. Melquiond,
    IEEE Trans. Computers 57(4), 2008).
    """
    product, added = x.astype(np.float64) * y, z.astype(np.float64)
    total = product + added
    back = total - product
    lost = (product - (total - back)) + (added - back)  # Knuth's two-sum: exact
    even = total.view(np.int64) % 2 == 0
    toward = np.where(lost > 0, np.inf, -np.inf)
    odd = np.where((lost != 0) & even, np.nextafter(total, toward), total)
    found: NDArray[np.float32] = odd.astype(np.float32)
    return found


# -- exact fractions -----------------------------------------------------------------


def output_in_fractions(
    a: Quantized, b: Quantized, row: int, column: int, *, generation: str = "hopper"
) -> float:
    """One output of ``scaled_product`` by the same rule in fractions: slow, obvious."""
    left, right, by_a, by_b = _operands(a, b)
    total = Fraction(0)
    for block in range(by_a.shape[1]):
        part = slice(block * BLOCK, (block + 1) * BLOCK)
        pair = left[row, part].tolist(), right[column, part].tolist()
        sums = dot_exactly(*pair, dtype=FORM, generation=generation)
        both = Fraction(float(by_a[row, block])) * Fraction(float(by_b[column, block]))
        total += Fraction(sums) * _to_fp32(both)
        total = _to_fp32(total)
    return float(total)


def _to_fp32(x: Fraction) -> Fraction:
    """Nearest number of fp32, ties to even; no overflow is looked for."""
    if not x:
        return x
    power = abs(x.numerator).bit_length() - x.denominator.bit_length()
    power -= Fraction(2) ** power > abs(x)
    unit = Fraction(2) ** (max(power, -126) - 23)
    return round(x / unit) * unit


# -- the formula ---------------------------------------------------------------------


def summing_error(
    left: Any, right: Any, length: int, *, generation: str = "hopper"
) -> Summing:
    """Expected error of a sum of ``length`` products that never leaves the unit.

    - ``left``, ``right``: array; numbers of E4M3 in any shapes; products are of
      independent draws from both.
    - ``length``: int; products of one sum.
    """
    whole(length=length)
    rule = arithmetic(generation, FORM)
    sizes_a, weights_a = np.unique(np.ravel(left), return_counts=True)
    sizes_b, weights_b = np.unique(np.ravel(right), return_counts=True)
    products = np.outer(sizes_a, sizes_b).ravel()
    chance = np.outer(weights_a, weights_b).ravel() / (np.size(left) * np.size(right))
    fields = np.add.outer(_fields(sizes_a), _fields(sizes_b)).ravel()
    mean = float(chance @ products)
    variance = max(float(chance @ products**2) - mean**2, 0.0)
    below = np.array([chance[fields <= power].sum() for power in POWERS])
    first, second = _lost(products, chance, fields, rule.fraction)
    drift = spread = 0.0
    for start in range(0, length, rule.terms):
        terms = min(rule.terms, length - start)
        # sums that are as likely as each other, which have drifted
        sums = mean * start + drift + math.sqrt(variance * start) * QUANTILES
        own = _powers_of(sums)
        largest = np.diff(below**terms, prepend=0.0)  # of the products' exponents
        aligned = _aligned(own, largest)  # (sums, powers): chance of each
        drift += terms * float(aligned.mean(axis=0) @ first)
        spread += terms * float(aligned.mean(axis=0) @ (second - first**2))
        ahead = np.add.outer(
            sums + mean * terms, math.sqrt(variance * terms) * QUANTILES
        )
        lost, squares = _cut_sums(sums, own, aligned, ahead, rule.fraction)
        drift += lost
        spread += squares
    return Summing(drift, math.sqrt(spread))


def _fields(values: Any) -> Any:
    """Exponent field of each number, a subnormal's that of the least normal."""
    least = 1 - Format(FORM).row.bias
    found = np.maximum(np.frexp(values)[1] - 1, least)
    return np.where(values == 0, -126, found)


def _powers_of(sums: Any) -> Any:
    """Exponents of sums, within those that are looked at."""
    found = np.where(sums == 0, POWERS[0], np.frexp(sums)[1] - 1)
    return np.clip(found, POWERS[0], POWERS[-1])


def _lost(products: Any, chance: Any, fields: Any, fraction: int) -> tuple[Any, Any]:
    """Mean and mean square of what a cut takes from a product no larger than it."""
    moments = []
    for power in POWERS:
        fits = fields <= power
        part, weight = products[fits], chance[fits]
        unit = 2.0 ** (power - fraction)
        error = np.trunc(part / unit) * unit - part
        total = max(weight.sum(), 1e-300)
        moments.append((weight @ error / total, weight @ error**2 / total))
    return tuple(np.array(moments).T)


def _aligned(own: Any, largest: Any) -> Any:
    """Chance of each exponent of a step: the sum's own or the largest product's."""
    place = (own - POWERS[0])[:, None]
    at = np.arange(len(POWERS))[None, :]
    up_to = np.cumsum(largest)[place]  # products no larger than the sum
    return np.where(at > place, largest[None, :], np.where(at == place, up_to, 0.0))


def _cut_sums(
    sums: Any, own: Any, aligned: Any, ahead: Any, fraction: int
) -> tuple[float, float]:
    """What running sums lose in a step, and the mean square of it.

    It is shifted where the step is aligned to a larger exponent, and cut where it grows
    beyond it (``ahead``, for each sum the likely next ones). A cut of ``n`` binary
    digits, each as often one as zero, loses half a unit less half of its last digit,
    and squares of (unit**2 / 3)(1 - u)(1 - u / 2) with u = 2**-n.
    """
    powers = np.array(POWERS)
    before = np.maximum(powers[None, :] - own[:, None], 0)
    shifted, squares = _loss_of(before, 2.0 ** (powers[None, :] - fraction))
    after = np.maximum(
        _powers_of(ahead)[:, :, None] - powers, 0
    )  # (sums, next, powers)
    cut, more = _loss_of(after, 2.0 ** (powers + after - fraction))
    weight = aligned[:, None, :] / ahead.shape[1]
    lost = -np.sign(sums) * (aligned * shifted).sum(axis=1)
    lost = lost - (weight * cut * np.sign(ahead)[:, :, None]).sum(axis=(1, 2))
    square = (aligned * squares).sum() + (weight * more).sum()
    return float(lost.mean()), float(square) / len(sums)


def _loss_of(digits: Any, unit: Any) -> tuple[Any, Any]:
    """Mean and mean square of a cut of so many digits, the first worth half a unit."""
    last = 2.0**-digits
    return unit / 2 * (1 - last), unit**2 / 3 * (1 - last) * (1 - last / 2)


def expected_error(
    a: Quantized, b: Quantized, *, generation: str = "hopper"
) -> Summing:
    """Expected error of ``scaled_product``: a block's, times the scales, added up."""
    left, right, by_a, by_b = _operands(a, b)
    k = a.shape[1]
    # zeros that fill the last block belong to no draw
    one = summing_error(left[:, :k], right[:, :k], min(k, BLOCK), generation=generation)
    scale = by_a[:, None, :].astype(np.float64) * by_b
    drift = float(scale.sum(axis=2).mean()) * one.drift
    spread = math.sqrt((scale**2).sum(axis=2).mean()) * one.spread
    return Summing(drift, spread)


def error_bound(
    left: Any, right: Any, *, every: int = BLOCK, generation: str = "hopper"
) -> NDArray[np.float64]:
    """What the error of ``promoted(left, right, every=every)`` cannot exceed: (m, n).

    Each step loses less than a unit for each product, for the running sum, and for the
    cut of the result; a unit is at most that of the sum of all magnitudes so far.
    """
    whole(every=every)
    rule = arithmetic(generation, FORM)
    a, b = np.abs(np.asarray(left, float)), np.abs(np.asarray(right, float))
    fields = np.exp2(_fields(a).astype(float)), np.exp2(_fields(b).astype(float))
    bound = np.zeros((a.shape[0], b.shape[1]))
    total = a @ b
    for first in range(0, a.shape[1], every):
        stop = min(first + every, a.shape[1])
        for start in range(first, stop, rule.terms):
            part = slice(start, min(start + rule.terms, stop))
            so_far = a[:, first : part.stop] @ b[first : part.stop]
            largest = (fields[0][:, part, None] * fields[1][None, part]).max(axis=1)
            unit = np.exp2(np.floor(np.log2(np.maximum(so_far, largest))))
            addends = part.stop - part.start + 2
            bound += addends * unit * 2.0 ** -min(rule.fraction, rule.result)
        bound += total * 2.0**-23  # the addition in fp32, and what it had lost before
    return bound
