"""``tl.dot``: matrix products through the tensor cores of the device.

The arithmetic is `gpu.mma`'s for the device's generation. float32 operands are cut to
TF32 unless ``input_precision`` is "ieee", as Triton's documentation of ``dot`` warns;
"tf32x3" multiplies what was cut off as well.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from stacklib.hardware import UnknownSpec
from stacklib.quantity import UnknownName

from ..issue.instructions import Arithmetic, arithmetic
from ..tensor.cut_sums import dot_tiles
from .clock.tensor_work import instruction_for
from .machine import Product, batch, count, error
from .tile import Tile, as_tile
from .types import (
    DType,
    Type,
    bfloat16,
    float8e4nv,
    float8e5,
    float16,
    float32,
    float64,
    int8,
    int32,
)

FORMATS = {
    float16: "fp16",
    bfloat16: "bf16",
    float32: "tf32",
    float8e4nv: "e4m3fn",
    float8e5: "e5m2",
}
TF32_SINCE = 8.0  # before, float32 is multiplied on the ordinary cores
PRECISIONS = ("tf32", "tf32x3", "ieee")
# By major and minor compute capability: whose arithmetic it is.
GENERATIONS = {
    "7.0": "volta",
    "7.5": "turing",
    "8.0": "ampere",
    "8.6": "ampere",
    "8.7": "ampere",
    "8.9": "ada",
    "9.0": "hopper",
    "10.0": "blackwell",
    "10.3": "blackwell",
    "12.0": "rtx_blackwell",
    "12.1": "rtx_blackwell",
}


def dot(
    input: Any,
    other: Any,
    acc: Any = None,
    input_precision: Any = None,
    allow_tf32: Any = None,
    max_num_imprecise_acc: Any = None,
    out_dtype: Any = float32,
) -> Tile:
    """The matrix product of two tiles, added to ``acc``."""
    a, b = as_tile(input), as_tile(other)
    sums = _sums(a, b, out_dtype)
    precision = _precision(input_precision, allow_tf32)
    shape = _fit(a, b)
    start = None if acc is None else as_tile(acc)
    if start is not None and (start.shape != shape or start.dtype is not sums):
        raise error(f"acc is {start!r}: {sums}{list(shape)} is needed")
    how = How(a.dtype, b.dtype, sums, precision, max_num_imprecise_acc or 0)
    lead = max(len(t.data) for t in (a, b, start) if t is not None)
    found = np.empty((lead, *shape), sums.held)
    for n in np.ndindex(lead, *shape[:-2]):
        parts = [None if t is None else _one(t, n) for t in (a, b, start)]
        found[n] = how.product(*parts)
    form, times = _form(a.dtype, precision), count(shape[:-2])
    detail = Product(
        form,
        times * (3 if precision == "tf32x3" else 1),
        *(shape[-2], shape[-1], a.shape[-1], a.dtype.bits // 8, a.op, b.op),
        by=instruction_for(form, shape[-2], batch().device, batch().threads // 32),
    )
    needs = (a.op, b.op, -1 if start is None else start.op)
    op = batch().note("dot", count(shape), sums.bits, needs, detail=detail)
    return Tile(found, sums, op)


def _form(source: Type, precision: str) -> str:
    """The format by which an instruction is found."""
    if source is float32 and precision == "ieee":
        return "fp32"
    return FORMATS.get(source, source.name)  # type: ignore[arg-type]


def _one(x: Tile, at: tuple[int, ...]) -> Any:
    """One program's matrix."""
    return x.data[min(at[0], len(x.data) - 1)][at[1:]]


def _fit(a: Tile, b: Tile) -> tuple[int, ...]:
    if len(a.shape) != len(b.shape) or len(a.shape) < 2:
        raise error(f"tl.dot of {a!r} and {b!r}: two matrices, or two stacks of them")
    if a.shape[-1] != b.shape[-2] or a.shape[:-2] != b.shape[:-2]:
        raise error(f"tl.dot of {list(a.shape)} and {list(b.shape)}: sizes do not fit")
    least = 32 if a.dtype.bits == 8 else 16
    if a.shape[-1] < least:
        raise error(
            f"tl.dot over {a.shape[-1]} products: at least {least} of {a.dtype}"
        )
    return (*a.shape[:-1], b.shape[-1])


def _sums(a: Tile, b: Tile, asked: Any) -> DType:
    """The type of the sums."""
    both8 = a.dtype.is_floating() and a.dtype.bits == 8 == b.dtype.bits
    if a.dtype is not b.dtype and not (both8 and b.dtype.is_floating()):
        raise error(f"tl.dot of {a.dtype} and {b.dtype}: both must be the same")
    if a.dtype is int8:
        return int32
    if a.dtype is float64:
        return float64
    if a.dtype not in FORMATS:
        raise error(f"tl.dot of {a.dtype}: fp16, bf16, fp32, fp64, fp8 or int8")
    if a.dtype in (float32, bfloat16):
        return float32
    if asked not in (float32, float16):
        raise error(f"out_dtype = {asked!r}: tl.float32 or tl.float16")
    return asked


def _precision(asked: Any, tf32: Any) -> str:
    if float(batch().device.compute_capability or 0) < TF32_SINCE:
        return "ieee"
    if asked is None:
        return "ieee" if tf32 is False else "tf32"
    if str(asked).lower() not in PRECISIONS:
        raise error(f"input_precision = {asked!r}: one of {', '.join(PRECISIONS)}")
    return str(asked).lower()


@dataclass(frozen=True, slots=True)
class How:
    """The arithmetic of a product."""

    left: Type
    right: Type
    sums: DType
    precision: str
    every: int  # products after which sums leave the tensor cores; 0 for never

    def product(self, a: Any, b: Any, c: Any) -> Any:
        """``a @ b + c`` of one program."""
        if self.sums is int32:  # exact: fewer than 2**38 products of 15 bits
            whole = a.astype(np.float64) @ b.astype(np.float64)
            return (whole.astype(np.int64) + (0 if c is None else c)).astype(np.int32)
        c = np.zeros((a.shape[0], b.shape[1]), self.sums.held) if c is None else c
        ieee = self.left is float32 and self.precision == "ieee"
        if self.sums is float64 or ieee:
            return a @ b + c
        if self.left is float32:
            return self._tf32(a, b, c)
        if not self.every:
            return self._cores(a, b, c)
        for start in range(0, a.shape[1], self.every):
            part = slice(start, start + self.every)
            c = c + self._cores(a[:, part], b[part], np.zeros_like(c))
        return c

    def _tf32(self, a: Any, b: Any, c: Any) -> Any:
        """float32 operands in TF32; the small parts first where they are kept."""
        high_a, high_b = tf32(a), tf32(b)
        if self.precision == "tf32":
            return self._cores(high_a, high_b, c)
        low = self._cores(tf32(a - high_a), high_b, np.zeros_like(c))
        low = self._cores(high_a, tf32(b - high_b), low)
        return self._cores(high_a, high_b, low) + c

    def _cores(self, a: Any, b: Any, c: Any) -> Any:
        """As the device's tensor cores do it."""
        forms = FORMATS[self.left], FORMATS[self.right]  # type: ignore[index]
        sums = "fp16" if self.sums is float16 else "fp32"
        found = dot_tiles(a, b, c, rule(forms[0]), accumulate=sums, right=forms[1])
        return found.astype(self.sums.held)


def tf32(values: Any) -> Any:
    """float32 cut to the bits that TF32 has."""
    bits = np.ascontiguousarray(values, np.float32).view(np.uint32)
    return (bits & np.uint32(0xFFFFE000)).view(np.float32)


def rule(form: str) -> Arithmetic:
    """The rule of the device's tensor cores for a format."""
    device = batch().device
    name = GENERATIONS.get(device.compute_capability or "")
    try:
        if name is None:
            raise UnknownSpec(
                f"{device.short}: the arithmetic of its tensor cores is not known"
            )
        return arithmetic(name, form)
    except (UnknownName, UnknownSpec) as wrong:
        raise error(f"tl.dot of {form}: {wrong}") from None
