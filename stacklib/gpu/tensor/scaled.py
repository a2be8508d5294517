"""Products of codes and scales: MXFP8, MXFP6, MXFP4 and NVFP4, and formats mixed.

A block of neighbouring numbers along k shares a scale, a code of its own: E8M0, a power
of two, for 32 numbers (OCP Microscaling v1.0), or E4M3 without its sign for 16 (NVFP4,
whose second, global scale is left to software). Two ways of adding, as P. Xie et al.,
*MMA-Sim* at c785138, have them for B200 and RTX Blackwell:

- ``mxf8f6f4``: the scales' exponents are added to that of each product, and all is as
  in ``mma``.
- ``mxf4`` and ``mxf4nvf4``: sixteen products are added exactly, the sum is multiplied
  with both scales, and is shifted by *their* exponents alone; four such sums and the
  accumulator are cut to 35 bits behind the point.

A scale that is NaN (E8M0's 0xFF, E4M3's 0x7F) makes its output NaN. MMA-Sim does not
run FP6: that E3M2 and E2M3 go the way of the other formats of their kind is assumed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from stacklib.quantizers import Format

from ..issue.instructions import Arithmetic
from .cut_sums import add_step, canonical, dot_scaled, exponents
from .kinds import Kind, kind_of
from .tensor_core import checked_sums

if TYPE_CHECKING:
    from numpy.typing import NDArray

GROUP = 16  # products that are added before a scale of FP4 touches them


@dataclass(frozen=True, slots=True, eq=False)
class Operand:
    """Codes of a format, and of their scales where blocks have some."""

    codes: Any  # whole numbers, (m, k) to the left of a product, (k, n) to its right
    form: str  # their format, as ``quantizers.Format`` calls it
    scales: Any = None  # whole numbers, (m, k / block) or (k / block, n)
    scale: str = "e8m0"  # the scales' format, or ``e4m3fn`` without its sign

    @property
    def values(self) -> NDArray[Any]:
        """What the codes mean without their scales, in float64."""
        return _decoded("codes", self.codes, Format(self.form))


def _decoded(name: str, codes: Any, form: Format) -> NDArray[Any]:
    array = np.asarray(codes)
    if array.ndim != 2 or array.dtype.kind not in "iu":
        raise ValueError(
            f"{name} of {form.name}: {array.dtype} of shape {array.shape}, a matrix of "
            f"whole numbers is needed, such as Format({form.name!r}).encode(x)"
        )
    with np.errstate(invalid="ignore"):  # a signalling NaN
        found: NDArray[Any] = form.decode(array).astype(np.float64)
    return found


def _scales(name: str, of: Operand, kind: Kind, blocks: tuple[int, int]) -> Any:
    """Scales as numbers, once there is one for each block."""
    form = Format(of.scale)
    found = _decoded(f"scales of {name}", of.scales, form)
    if found.shape != blocks:
        raise ValueError(
            f"scales of {name} are {found.shape}: {kind.name} has one for {kind.block} "
            f"numbers along k, {blocks} here"
        )
    signed = np.asarray(of.scales) > 127
    if form.name == "e4m3fn" and signed.any():
        worst = int(np.asarray(of.scales)[signed][0])
        raise ValueError(
            f"scales of {name} hold code {worst}: these scales have no sign, code & 127"
        )
    return found


def multiply(
    a: Operand,
    b: Operand,
    c: Any = None,
    *,
    generation: str = "blackwell",
    accumulate: str = "fp32",
    kind: str = "",
) -> NDArray[Any]:
    """``a @ b + c`` of codes, with the scales of their blocks: float32, (m, n).

    ``a``, ``b``: (m, k) and (k, n), both with scales or both without; ``c``: (m, n), in
    the accumulator's format. ``generation``: one of
    ``gpu.issue.instructions.generations()``. ``accumulate``: ``fp32``; ``fp16`` too
    where nothing is scaled. ``kind``: ``mxf8f6f4``, ``mxf4`` or ``mxf4nvf4`` for scaled
    E2M1, which has all three; without it the block decides.

    >>> ones = np.full((1, 32), Format("e2m1").encode(1.0))
    >>> two = np.array([[128]])  # 2 ** (128 - 127)
    >>> multiply(Operand(ones, "e2m1", two), Operand(ones.T, "e2m1", two)).item()
    128.0
    """
    left, right = a.values, b.values
    if left.shape[1] != right.shape[0]:
        raise ValueError(f"a is {left.shape} and b {right.shape}: k differs")
    found = kind_of(generation, a.form, b.form, _scale(a, b), _block(a, left), kind)
    shape = (left.shape[0], right.shape[1])
    if found.scale and accumulate != "fp32":
        raise ValueError(f"{found.name} adds in fp32, not {accumulate!r}")
    total = checked_sums(c, shape, accumulate, a.form, b.form)
    powers = exponents(left, Format(a.form)), exponents(right, Format(b.form))
    rule = found.rule(generation)
    if not found.scale:
        return dot_scaled(left, right, *powers, total, rule, accumulate=accumulate)
    blocks = left.shape[1] // found.block
    by_a = _scales("a", a, found, (shape[0], blocks))
    by_b = _scales("b", b, found, (blocks, shape[1]))
    form = Format(a.scale)
    if found.grouped:
        return _grouped(left, right, by_a, by_b, total, rule, form, found.block)
    wide_a = np.repeat(by_a, found.block, axis=1)
    wide_b = np.repeat(by_b, found.block, axis=0)
    return dot_scaled(
        left * wide_a,
        right * wide_b,
        powers[0] + exponents(wide_a, form),
        powers[1] + exponents(wide_b, form),
        total,
        rule,
    )


def _block(a: Operand, values: NDArray[Any]) -> int:
    """Numbers that share a scale, by the shapes; 0 without scales."""
    if a.scales is None:
        return 0
    k, shape = values.shape[1], np.shape(a.scales)
    if len(shape) == 2 and shape[1] and k in (16 * shape[1], 32 * shape[1]):
        return k // int(shape[1])
    raise ValueError(
        f"scales of a are {shape} for k = {k}: (m, k / 32), or (m, k / 16) for NVFP4; "
        "fill the last block with zeros"
    )


def _scale(a: Operand, b: Operand) -> str:
    """The format of the scales; nothing where there are none."""
    if (a.scales is None) != (b.scales is None):
        bare = "a" if a.scales is None else "b"
        raise ValueError(f"{bare} has no scales and the other has: ones are code 127")
    if a.scales is None:
        return ""
    forms = Format(a.scale).name, Format(b.scale).name
    if forms[0] != forms[1]:
        raise ValueError(f"scales of a are {forms[0]} and of b {forms[1]}: one of both")
    return forms[0]


def _grouped(
    a: NDArray[Any],
    b: NDArray[Any],
    by_a: NDArray[Any],
    by_b: NDArray[Any],
    total: NDArray[Any],
    rule: Arithmetic,
    form: Format,
    block: int,
) -> NDArray[Any]:
    """Sixteen products added exactly, then scaled; ``rule.terms`` sums a step."""
    with np.errstate(over="ignore", invalid="ignore"):
        powers_a, powers_b = exponents(by_a, form).T, exponents(by_b, form)
        starts = range(0, a.shape[1], GROUP)
        places = [start // block for start in starts]
        exact = np.stack([a[:, s : s + GROUP] @ b[s : s + GROUP] for s in starts])
        scaled = exact * by_a.T[places][:, :, None] * by_b[places][:, None, :]
        powers = powers_a[places][:, :, None] + powers_b[places][:, None, :]
        for start in range(0, len(places), rule.terms):
            part = slice(start, start + rule.terms)
            total = add_step(scaled[part], powers[part], total, rule)
        return canonical(total)


def nvfp4(product: Any, global_a: float, global_b: float) -> NDArray[Any]:
    """A product of NVFP4 codes times its two global scales, as software does it."""
    for name, scale in (("global_a", global_a), ("global_b", global_b)):
        if not (np.isfinite(scale) and scale > 0):
            raise ValueError(f"{name} = {scale!r}: a number above zero")
    both = np.float32(global_a) * np.float32(global_b)
    found: NDArray[Any] = np.asarray(product, np.float32) * both
    return found
