"""Products of FP8 numbers whose scales stand beside them, and SwiGLU that makes them.

Two ways to scale: a float32 for each 1 x 128 of the activations and each 128 x 128 of
the weights (DeepSeek-AI, "DeepSeek-V3 technical report", 2024, section 3.3.2), where
sums leave the tensor cores every 128 products; and MXFP8, a power of two for each 32
(B. Rouhani et al., "OCP Microscaling formats (MX) v1.0", 2023), which Hopper's cores do
not know: there the product of each 32 is scaled outside.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls
# (a kernel's parameters are pointers and numbers of the device)

from __future__ import annotations

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
    tile_side,
    tl,
)
from .parts_triton import narrow, product

CODES = ("float8_e4m3fn",)
LARGEST = 448.0  # of E4M3
BLOCK = 128  # products between promotions; also the side of a block of weights
MX = 32  # elements that share a power of two


@jit
def power_of_two(code):
    """The factor of an E8M0 code, 2**(code - 127), made of its bits."""
    exponent = code.to(tl.int32)
    bits = tl.where(exponent == 0, 1 << 22, exponent << 23)  # 2**-127 is subnormal
    found = bits.to(tl.float32, bitcast=True)
    return tl.where(exponent == 255, float("nan"), found)


@jit
def scaled_kernel(
    a,
    a_scale,
    b,
    b_scale,
    c,
    M,
    N,
    K,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    DEPTH: tl.constexpr,  # products that share their scales
    ACROSS: tl.constexpr,  # columns of b that share one
    WIDE: tl.constexpr,
):
    row = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    column = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    row_in, column_in = row < M, column < N
    blocks = tl.cdiv(K, DEPTH)
    acc = tl.zeros([BLOCK_M, BLOCK_N], dtype=tl.float32)
    for block in range(blocks):
        deep = block * DEPTH + tl.arange(0, DEPTH)
        a_at = a + row.to(tl.int64)[:, None] * K + deep[None, :]
        a_tile = tl.load(a_at, mask=row_in[:, None] & (deep[None, :] < K), other=0.0)
        b_at = b + column.to(tl.int64)[None, :] * K + deep[:, None]
        b_tile = tl.load(b_at, mask=column_in[None, :] & (deep[:, None] < K), other=0.0)
        # -- a block's products in the tensor cores, then out to float32 --------------
        part = tl.zeros([BLOCK_M, BLOCK_N], dtype=tl.float32)
        part = product(a_tile, b_tile, part, WIDE)
        a_at = a_scale + row.to(tl.int64) * blocks + block
        a_factor = tl.load(a_at, mask=row_in, other=0)
        b_at = b_scale + (column // ACROSS).to(tl.int64) * blocks + block
        b_factor = tl.load(b_at, mask=column_in, other=0)
        if a_scale.dtype.element_ty == tl.uint8:
            a_factor, b_factor = power_of_two(a_factor), power_of_two(b_factor)
        # one factor after the other: their product may leave float32 where neither does
        acc += part * a_factor[:, None] * b_factor[None, :]
    place = c + row.to(tl.int64)[:, None] * N + column[None, :]
    inside = row_in[:, None] & column_in[None, :]
    tl.store(place, narrow(acc, c.dtype.element_ty, WIDE), mask=inside)


@jit
def swiglu(gate, up):
    """silu(gate) * up."""
    return gate / (1.0 + tl.exp(-gate)) * up


@jit
def swiglu_kernel(
    x,
    codes,
    scales,
    columns,
    groups,
    GROUP: tl.constexpr,
    GROUPS: tl.constexpr,
    POWERS: tl.constexpr,
    WIDE: tl.constexpr,
):
    """A run of groups of one row: gate and up read, codes and scales written."""
    row = tl.program_id(0).to(tl.int64)
    group = tl.program_id(1) * GROUPS + tl.arange(0, GROUPS)
    column = group[:, None] * GROUP + tl.arange(0, GROUP)[None, :]
    inside = column < columns
    gate_at = x + row * 2 * columns + column
    gate = tl.load(gate_at, mask=inside, other=0.0).to(tl.float32)
    up = tl.load(gate_at + columns, mask=inside, other=0.0).to(tl.float32)
    value = swiglu(gate, up)  # 0 past the row
    # -- a scale a group ---------------------------------------------------------------
    most = tl.max(tl.abs(value), axis=1)
    scale_at = scales + row * groups + group
    if POWERS:  # E8M0 by the rule FLOOR: exponent of the largest, less that of 448
        exponent = (most.to(tl.uint32, bitcast=True) >> 23).to(tl.int32) & 255
        code = tl.minimum(tl.maximum(exponent - 8, 0), 254)
        tl.store(scale_at, code.to(tl.uint8), mask=group < groups)
        value = value / power_of_two(code)[:, None]
    else:
        scale = tl.maximum(most, 1e-4) / 448.0
        tl.store(scale_at, scale, mask=group < groups)
        value = value / scale[:, None]
    clamped = tl.minimum(tl.maximum(value, -448.0), 448.0)  # of NaN, an end
    found = narrow(clamped, codes.dtype.element_ty, WIDE).to(tl.uint8, bitcast=True)
    found = tl.where(value == value, found, 127).to(tl.uint8)
    place = codes + row * columns + column
    tl.store(place, found.to(codes.dtype.element_ty, bitcast=True), mask=inside)


def fp8_matmul(
    a: Array,
    a_scale: Array,
    b: Array,
    b_scale: Array,
    *,
    dtype: str = "bfloat16",
    blocks: tuple[int, int] = (128, 128),
) -> Array:
    """``(a * a_scale) @ (b * b_scale).T``, sums leaving the cores every 128 products.

    - ``a``: array (M, K), float8_e4m3fn.
    - ``a_scale``: array (M, ceil(K / 128)), float32; one for each 1 x 128.
    - ``b``: array (N, K), float8_e4m3fn.
    - ``b_scale``: array (ceil(N / 128), ceil(K / 128)), float32; one for each 128 x
      128.
    - ``dtype``: str; of the result: bfloat16, float16 or float32.
    - ``blocks``: tuple of int; sides of a tile along M and N; powers of two from 16.
    - gives array (M, N).
    """
    M, N, K = _codes(a, b)
    deep, wide = cdiv(K, BLOCK), cdiv(N, BLOCK)
    rules = {"a_scale": (a_scale, (M, deep)), "b_scale": (b_scale, (wide, deep))}
    look(rules, ("float32",))
    return _scaled((BLOCK, BLOCK), a, a_scale, b, b_scale, dtype, blocks)


def mxfp8_matmul(
    a: Array,
    a_scale: Array,
    b: Array,
    b_scale: Array,
    *,
    dtype: str = "bfloat16",
    blocks: tuple[int, int] = (128, 128),
) -> Array:
    """``(a * a_scale) @ (b * b_scale).T`` in MXFP8.

    - ``a``: array (M, K), float8_e4m3fn.
    - ``a_scale``: array (M, ceil(K / 32)), uint8; e8M0 codes: 2**(code - 127) for each
      32 along K.
    - ``b``: array (N, K), float8_e4m3fn.
    - ``b_scale``: array (N, ceil(K / 32)), uint8.
    - ``dtype``: str; of the result: bfloat16, float16 or float32.
    - ``blocks``: tuple of int; sides of a tile along M and N; powers of two from 16.
    - gives array (M, N).
    """
    M, N, K = _codes(a, b)
    deep = cdiv(K, MX)
    rules = {"a_scale": (a_scale, (M, deep)), "b_scale": (b_scale, (N, deep))}
    look(rules, ("uint8",))
    return _scaled((MX, 1), a, a_scale, b, b_scale, dtype, blocks)


def _codes(a: Array, b: Array) -> tuple[int, int, int]:
    sizes = look({"a": (a, ("M", "K")), "b": (b, ("N", "K"))}, CODES)
    return sizes["M"], sizes["N"], sizes["K"]


def _scaled(
    shares: tuple[int, int],
    a: Array,
    a_scale: Array,
    b: Array,
    b_scale: Array,
    dtype: str,
    blocks: tuple[int, int],
) -> Array:
    if dtype not in FLOATS:
        raise TypeError(f"dtype = {dtype!r}: one of {', '.join(FLOATS)}")
    (M, K), N = a.shape, b.shape[0]
    m, n = (tile_side("blocks", side, 16) for side in blocks)
    operands = [in_one_piece(x) for x in (a, a_scale, b, b_scale)]
    c = empty(a, (M, N), dtype)
    meta = {"BLOCK_M": m, "BLOCK_N": n, "WIDE": interpreted(), "num_warps": 8}
    meta |= zip(("DEPTH", "ACROSS"), shares, strict=True)
    launch(scaled_kernel, (cdiv(M, m), cdiv(N, n)), *operands, c, M, N, K, **meta)
    return c


def swiglu_fp8(x: Array, *, groups: int = 8) -> tuple[Array, Array]:
    """silu(gate) * up as E4M3 with a float32 for each 1 x 128: one read, one write.

    - ``x``: array (rows, 2 * columns); gate, then up.
    - ``groups``: int; groups of 128 a program takes; a power of two.
    - gives ``codes``, array (rows, columns), float8_e4m3fn.
    - gives ``scales``, array (rows, ceil(columns / 128)), float32: largest of the group
      over 448; at least 1e-4 / 448, as the source clamps it.
    """
    return _swiglu(x, BLOCK, groups, False)


def swiglu_mxfp8(x: Array, *, groups: int = 32) -> tuple[Array, Array]:
    """silu(gate) * up as MXFP8, scales by the rule FLOOR: one read, one write.

    - ``x``: array (rows, 2 * columns); gate, then up.
    - ``groups``: int; groups of 32 a program takes; a power of two.
    - gives ``codes``, array (rows, columns), float8_e4m3fn.
    - gives ``scales``, array (rows, ceil(columns / 32)), uint8: e8M0 codes.
    """
    return _swiglu(x, MX, groups, True)


def _swiglu(x: Array, size: int, groups: int, powers: bool) -> tuple[Array, Array]:
    sizes = look({"x": (x, ("rows", "gate and up"))}, FLOATS)
    rows, both = sizes["rows"], sizes["gate and up"]
    if both % 2:
        raise ValueError(f"x {tuple(x.shape)}: gate and up have the same columns")
    columns = both // 2
    many, at_once = cdiv(columns, size), tile_side("groups", groups)
    codes = empty(x, (rows, columns), CODES[0])
    scales = empty(x, (rows, many), "uint8" if powers else "float32")
    meta = {"GROUP": size, "GROUPS": at_once, "POWERS": powers, "WIDE": interpreted()}
    grid = (rows, cdiv(many, at_once))
    launch(swiglu_kernel, grid, in_one_piece(x), codes, scales, columns, many, **meta)
    return codes, scales
