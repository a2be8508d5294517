"""Kernels over rows: what a row holds is read once, and written once.

Vector add, softmax, LayerNorm, RMSNorm, and LayerNorm joined with the linear layer
behind it. A tile's side is a power of two, so a row of 768 has 256 lanes too many: each
kernel says what they hold, and none is written. `layernorm_unmasked` is the version of
a guide (source document 003) that forgets it after the mean is taken off.

Sources: M. Milakov and N. Gimelshein, "Online normalizer calculation for softmax",
2018; J. Ba et al., "Layer normalization", 2016, equation 3; B. Zhang and R. Sennrich,
"Root mean square layer normalization", 2019, equation 4; T. Chan et al., "Updating
formulae and a pairwise algorithm for computing sample variances", 1979, equation 2.1.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls
# (a kernel's parameters are pointers and numbers of the device)

from __future__ import annotations

import math
from typing import Any

from .host_triton import (
    FLOATS,
    Array,
    cdiv,
    empty,
    in_one_piece,
    interpreted,
    jit,
    launch,
    look,
    next_power_of_2,
    tile_side,
    tl,
)
from .parts_triton import narrow, product

WIDEST = 65536  # elements of a row that one program holds
PART = 8192  # of a wider one, at a time


@jit
def add_kernel(a, b, out, n, BLOCK: tl.constexpr, WIDE: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    total = tl.load(a + at, mask=inside).to(tl.float32) + tl.load(b + at, mask=inside)
    tl.store(out + at, narrow(total, out.dtype.element_ty, WIDE), mask=inside)


@jit
def softmax_kernel(x, out, columns, BLOCK: tl.constexpr, WIDE: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * columns
    at = tl.arange(0, BLOCK)
    inside = at < columns
    values = tl.load(x + row + at, mask=inside, other=-float("inf")).to(tl.float32)
    powers = tl.exp(values - tl.max(values, axis=0))  # lanes past the row: exp(-inf)
    share = powers / tl.sum(powers, axis=0)
    tl.store(out + row + at, narrow(share, out.dtype.element_ty, WIDE), mask=inside)


@jit
def layernorm_kernel(
    x,
    weight,
    bias,
    out,
    columns,
    eps,
    BLOCK: tl.constexpr,
    MASKED: tl.constexpr,
    WIDE: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64) * columns
    at = tl.arange(0, BLOCK)
    inside = at < columns
    values = tl.load(x + row + at, mask=inside, other=0.0).to(tl.float32)
    mean = tl.sum(values, axis=0) / columns
    apart = values - mean
    if MASKED:  # lanes past the row hold -mean by now
        apart = tl.where(inside, apart, 0.0)
    variance = tl.sum(apart * apart, axis=0) / columns
    scale = tl.load(weight + at, mask=inside, other=0.0).to(tl.float32)
    shift = tl.load(bias + at, mask=inside, other=0.0).to(tl.float32)
    normed = apart * tl.rsqrt(variance + eps) * scale + shift
    tl.store(out + row + at, narrow(normed, out.dtype.element_ty, WIDE), mask=inside)


@jit
def rmsnorm_kernel(
    x, weight, out, columns, eps, BLOCK: tl.constexpr, WIDE: tl.constexpr
):
    row = tl.program_id(0).to(tl.int64) * columns
    at = tl.arange(0, BLOCK)
    inside = at < columns
    values = tl.load(x + row + at, mask=inside, other=0.0).to(tl.float32)
    mean_square = tl.sum(values * values, axis=0) / columns  # 0 past the row: no fix
    scale = tl.load(weight + at, mask=inside, other=0.0).to(tl.float32)
    normed = values * tl.rsqrt(mean_square + eps) * scale
    tl.store(out + row + at, narrow(normed, out.dtype.element_ty, WIDE), mask=inside)


@jit
def moments(mean, squares, chunk, inside, start, columns, BLOCK: tl.constexpr):
    """Mean of rows and squares apart from it, of those before and one chunk more."""
    here = tl.minimum(columns - start, BLOCK).to(tl.float32)
    seen = here + start
    chunk_mean = tl.sum(chunk, axis=1) / here
    apart = tl.where(inside, chunk - chunk_mean[:, None], 0.0)
    step = chunk_mean - mean
    squares += tl.sum(apart * apart, axis=1) + step * step * (start * here / seen)
    return mean + step * (here / seen), squares


@jit
def wide_kernel(
    x,
    weight,
    bias,
    out,
    columns,
    eps,
    BLOCK: tl.constexpr,
    OF: tl.constexpr,
    WIDE: tl.constexpr,
):
    """A row that no program holds: read for its two numbers, and to be written."""
    row = tl.program_id(0).to(tl.int64) * columns
    turn = tl.arange(0, BLOCK)[None, :]
    level = tl.zeros([1], dtype=tl.float32)  # the highest so far, or the mean
    total = tl.zeros([1], dtype=tl.float32)  # of powers, or of squares
    if OF == "softmax":
        level += float("-inf")
    for start in range(0, columns, BLOCK):
        inside = start + turn < columns
        part = tl.load(x + row + start + turn, mask=inside, other=0.0).to(tl.float32)
        if OF == "softmax":
            part = tl.where(inside, part, float("-inf"))
            new = tl.maximum(level, tl.max(part, axis=1))
            base = tl.where(new == float("-inf"), 0.0, new)
            powers = tl.exp(part - base[:, None])
            total = total * tl.exp(level - base) + tl.sum(powers, axis=1)
            level = new
        elif OF == "layernorm":
            level, total = moments(level, total, part, inside, start, columns, BLOCK)
        else:
            total += tl.sum(part * part, axis=1)
    for start in range(0, columns, BLOCK):
        at = start + turn
        inside = at < columns
        part = tl.load(x + row + at, mask=inside, other=0.0).to(tl.float32)
        if OF == "softmax":
            found = tl.exp(part - level[:, None]) / total[:, None]
        else:
            found = (part - level[:, None]) * tl.rsqrt(total / columns + eps)[:, None]
            found *= tl.load(weight + at, mask=inside, other=0.0).to(tl.float32)
            if OF == "layernorm":
                found += tl.load(bias + at, mask=inside, other=0.0).to(tl.float32)
        found = narrow(found, out.dtype.element_ty, WIDE)
        tl.store(out + row + at, found, mask=inside)


@jit
def layernorm_linear_kernel(
    x,
    weight,
    bias,
    linear,
    out,
    rows,
    columns,
    outputs,
    eps,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    WIDE: tl.constexpr,
):
    row = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    output = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    row_in, output_in = row < rows, output < outputs
    x_row = x + row.to(tl.int64)[:, None] * columns
    # -- mean and squares of each row, chunk by chunk ------------------------------
    mean = tl.zeros([BLOCK_M], dtype=tl.float32)
    squares = tl.zeros([BLOCK_M], dtype=tl.float32)
    for start in range(0, columns, BLOCK_K):
        at = start + tl.arange(0, BLOCK_K)
        inside = row_in[:, None] & (at[None, :] < columns)
        chunk = tl.load(x_row + at[None, :], mask=inside, other=0.0).to(tl.float32)
        mean, squares = moments(mean, squares, chunk, inside, start, columns, BLOCK_K)
    rstd = tl.rsqrt(squares / columns + eps)
    # -- the product, each chunk normed on its way -----------------------------------
    acc = tl.zeros([BLOCK_M, BLOCK_N], dtype=tl.float32)
    for start in range(0, columns, BLOCK_K):
        at = start + tl.arange(0, BLOCK_K)
        inside = row_in[:, None] & (at[None, :] < columns)
        chunk = tl.load(x_row + at[None, :], mask=inside, other=0.0).to(tl.float32)
        scale = tl.load(weight + at, mask=at < columns, other=0.0).to(tl.float32)
        shift = tl.load(bias + at, mask=at < columns, other=0.0).to(tl.float32)
        normed = (chunk - mean[:, None]) * rstd[:, None] * scale[None, :]
        normed = narrow(normed + shift[None, :], x.dtype.element_ty, WIDE)
        of = linear + output.to(tl.int64)[None, :] * columns + at[:, None]
        there = output_in[None, :] & (at[:, None] < columns)
        matrix = tl.load(of, mask=there, other=0.0)
        acc = product(normed, matrix, acc, WIDE)
    place = out + row.to(tl.int64)[:, None] * outputs + output[None, :]
    inside = row_in[:, None] & output_in[None, :]
    tl.store(place, narrow(acc, out.dtype.element_ty, WIDE), mask=inside)


def add(a: Array, b: Array, *, block: int = 1024) -> Array:
    """``a + b``, element by element.

    - ``a``, ``b``: array; of one shape and one format of float32, float16 and bfloat16.
    - ``block``: int; elements a program; a power of two.
    """
    look({"a": (a, _axes(a)), "b": (b, _axes(a))}, FLOATS)
    a, b, out = in_one_piece(a), in_one_piece(b), empty(a, a.shape)
    n = math.prod(a.shape)
    grid = (cdiv(n, tile_side("block", block)),)
    launch(add_kernel, grid, a, b, out, n, BLOCK=block, WIDE=interpreted())
    return out


def softmax(x: Array, *, block: int | None = None) -> Array:
    """Softmax along the last axis: one read and one write of each element.

    - ``x``: array (..., columns).
    - ``block``: int, optional; lanes a row is held in, or a part of one of more than
      65,536, which is read twice; a power of two, by default the next from ``columns``.
    """
    return _launched("softmax", softmax_kernel, x, (), None, block)


def layernorm(
    x: Array,
    weight: Array,
    bias: Array,
    eps: float = 1e-5,
    *,
    block: int | None = None,
) -> Array:
    """``(x - mean) / sqrt(variance + eps) * weight + bias`` along the last axis.

    - ``x``: array (..., columns).
    - ``weight``, ``bias``: array (columns,).
    - ``eps``: float; of the variance's own unit.
    - ``block``: int, optional; as `softmax` takes it.
    """
    given = (weight, bias)
    return _launched("layernorm", layernorm_kernel, x, given, eps, block, MASKED=True)


def layernorm_unmasked(
    x: Array,
    weight: Array,
    bias: Array,
    eps: float = 1e-5,
    *,
    block: int | None = None,
) -> Array:
    """LayerNorm as a guide has it: the lanes past the row count as ``-mean``.

    The variance of a row of mean m is too large by ``(block / columns - 1) m**2``: a
    row of 768 in 1,024 lanes with mean 1 and variance 1 is given 1.333.
    """
    given = (weight, bias)
    return _launched("layernorm", layernorm_kernel, x, given, eps, block, MASKED=False)


def rmsnorm(
    x: Array, weight: Array, eps: float = 1e-6, *, block: int | None = None
) -> Array:
    """``x / sqrt(mean(x**2) + eps) * weight`` along the last axis.

    - ``x``: array (..., columns).
    - ``weight``: array (columns,).
    - ``eps``: float; of the square's own unit.
    - ``block``: int, optional; as `softmax` takes it.
    """
    return _launched("rmsnorm", rmsnorm_kernel, x, (weight,), eps, block)


def layernorm_linear(
    x: Array,
    weight: Array,
    bias: Array,
    linear: Array,
    eps: float = 1e-5,
    *,
    blocks: tuple[int, int, int] = (64, 64, 64),
) -> Array:
    """``layernorm(x) @ linear.T`` in one launch: the normed rows are never written.

    - ``x``: array (rows, columns).
    - ``weight``, ``bias``: array (columns,).
    - ``linear``: array (outputs, columns).
    - ``eps``: float; of the variance's own unit.
    - ``blocks``: tuple of int; sides of a tile along rows, outputs and columns; powers
      of two from 16.
    - gives array (rows, outputs).
    """
    sizes = look(
        {
            "x": (x, ("rows", "columns")),
            "weight": (weight, ("columns",)),
            "bias": (bias, ("columns",)),
            "linear": (linear, ("outputs", "columns")),
        },
        FLOATS,
    )
    rows, columns, outputs = (sizes[n] for n in ("rows", "columns", "outputs"))
    m, n, k = (tile_side("blocks", side, 16) for side in blocks)
    out = empty(x, (rows, outputs))
    operands = [in_one_piece(a) for a in (x, weight, bias, linear)]
    meta = {"BLOCK_M": m, "BLOCK_N": n, "BLOCK_K": k, "WIDE": interpreted()}
    args = (*operands, out, rows, columns, outputs, eps)
    launch(layernorm_linear_kernel, (cdiv(rows, m), cdiv(outputs, n)), *args, **meta)
    return out


def _axes(x: Array) -> tuple[str, ...]:
    return tuple(f"axis {i}" for i in range(len(x.shape)))


def _launched(
    of: str,
    kernel: Any,
    x: Array,
    given: tuple[Array, ...],
    eps: float | None,
    block: int | None,
    **more: bool,
) -> Array:
    """Start a kernel over rows, or `wide_kernel` where no program can hold one."""
    if not len(x.shape):
        raise ValueError("x is one number: at least one axis is needed")
    columns = int(x.shape[-1])
    named = zip(("weight", "bias"), given, strict=False)
    look({"x": (x, _axes(x)), **{n: (one, (columns,)) for n, one in named}}, FLOATS)
    wide = columns > WIDEST
    if wide and more.get("MASKED") is False:
        raise ValueError(f"x {tuple(x.shape)}: rows of at most {WIDEST:,}")
    lanes = PART if wide else next_power_of_2(columns)
    lanes = lanes if block is None else tile_side("block", block)
    if lanes < columns and not wide:
        raise ValueError(f"block = {block}: a row of {columns} does not fit in it")
    meta = {"BLOCK": lanes, "WIDE": interpreted()}
    meta["num_warps"] = min(16, max(1, lanes // 512))  # 16 elements a thread
    grid, out = (math.prod(x.shape) // columns,), empty(x, x.shape)
    x, *rest = map(in_one_piece, (x, *given))
    if wide:
        rest = [*rest, None, None][:2]
        launch(wide_kernel, grid, x, *rest, out, columns, eps or 0.0, OF=of, **meta)
    else:
        counts = [columns] if eps is None else [columns, eps]
        launch(kernel, grid, x, *rest, out, *counts, **meta, **more)
    return out
