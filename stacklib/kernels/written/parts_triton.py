"""What kernels share: a product and a rounding, right in the interpreter, too."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls
# (a kernel's parameters are pointers and numbers of the device)

from __future__ import annotations

from .host_triton import jit, tl


@jit
def product(a, b, acc, WIDE: tl.constexpr):
    """``acc + a @ b``; in float32 where the interpreter would misread the codes.

    float32 operands are multiplied whole ("ieee"), not cut to TF32.
    """
    if WIDE:
        a = _widen(a)
        b = _widen(b)
    return tl.dot(a, b, acc, input_precision="ieee")


@jit
def _widen(x):
    """float32 of a narrower format: the interpreter reads FP8's NaN as numbers."""
    if x.dtype == tl.float8e5:  # the upper half of float16
        bits = x.to(tl.uint8, bitcast=True).to(tl.uint16) << 8
        return bits.to(tl.float16, bitcast=True).to(tl.float32)
    wide = x.to(tl.float32)
    if x.dtype == tl.float8e4nv:
        wide = tl.where(tl.abs(wide) > 448.0, float("nan"), wide)
    return wide


@jit
def narrow(x, to: tl.constexpr, WIDE: tl.constexpr):
    """float32 in a narrower format, to nearest, ties to even.

    A GPU does that itself. The interpreter cuts bfloat16 and loses the carry of FP8
    (1.99 becomes 1), so there the value is rounded first and the conversion is exact.
    """
    if WIDE:
        if to == tl.bfloat16:
            bits = _keep(x, 16).to(tl.uint32, bitcast=True) >> 16
            return bits.to(tl.uint16).to(tl.bfloat16, bitcast=True)
        if to == tl.float8e4nv:
            x = tl.where(tl.abs(x) < 0.015625, _near(x, 24576.0), _keep(x, 20))
            x = tl.minimum(tl.maximum(x, -448.0), 448.0)
        if to == tl.float8e5:
            x = tl.where(tl.abs(x) < 6.1035e-05, _near(x, 192.0), _keep(x, 21))
            bits = x.to(tl.float16).to(tl.uint16, bitcast=True) >> 8
            return bits.to(tl.uint8).to(tl.float8e5, bitcast=True)
    return x.to(to)


@jit
def _near(x, BIG: tl.constexpr):
    """float32 to even steps, BIG / 1.5 / 2**23: FP8's least. Zeros keep signs."""
    size = (tl.abs(x) + BIG) - BIG
    sign = x.to(tl.uint32, bitcast=True) & 0x80000000
    return (size.to(tl.uint32, bitcast=True) | sign).to(tl.float32, bitcast=True)


@jit
def _keep(x, CUT: tl.constexpr):
    """float32 without its ``CUT`` lowest bits, rounded to nearest even."""
    bits = x.to(tl.uint32, bitcast=True)
    odd = (bits >> CUT) & 1
    bits = ((bits + ((1 << (CUT - 1)) - 1) + odd) >> CUT) << CUT
    return tl.where(x == x, bits.to(tl.float32, bitcast=True), x)
