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
        a = a.to(tl.float32)
        b = b.to(tl.float32)
    return tl.dot(a, b, acc, input_precision="ieee")


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
            small = (x + 24576.0) - 24576.0  # to multiples of 2**-9
            x = tl.where(tl.abs(x) < 0.015625, small, _keep(x, 20))
            x = tl.minimum(tl.maximum(x, -448.0), 448.0)
    return x.to(to)


@jit
def _keep(x, CUT: tl.constexpr):
    """float32 without its ``CUT`` lowest bits, rounded to nearest even."""
    bits = x.to(tl.uint32, bitcast=True)
    odd = (bits >> CUT) & 1
    bits = ((bits + ((1 << (CUT - 1)) - 1) + odd) >> CUT) << CUT
    return tl.where(x == x, bits.to(tl.float32, bitcast=True), x)
