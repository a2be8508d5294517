"""Products of numbers that share scales, and the scales packed as hardware wants them.

A block-scaled product is ``sum over blocks of 2**(ea + eb) * (a_block . b_block)``: the
operands of FP8 E4M3, a scale of E8M0 for each 32 numbers along k (OCP MX v1.0, section
6; PTX ISA 9.0, ``tcgen05.mma``, block scaling). ``block_scaled_product`` is that
sentence in float64: the reference. A tensor core keeps fewer bits of its sums
(``gpu.tensor.scaled``).

The hardware does not read scales row by row. A tile of 128 rows and four scales is 512
bytes, and the scale of row ``r`` and block ``b`` is its byte

    (r % 32) * 16 + (r // 32) * 4 + b

with tiles one after the other along the blocks, then along the rows (cuBLAS, *1D block
scaling factors layout*). So 16 neighbouring bytes hold four rows that lie 32 apart:
one lane of tensor memory, whose 32 lanes are copied to all four quarters
(``tcgen05.cp.32x128b.warpx4``). What pads a tile is zero, which is 2**-127.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from stacklib.quantity.bounds import whole
from stacklib.quantizers import Format

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from stacklib.quantizers import Quantized

ROWS, BLOCKS = 128, 4  # of a tile of scales, a byte each
LANES = 32  # of tensor memory that a tile fills before it is copied
TILE = ROWS * BLOCKS


def packed_size(rows: int, blocks: int) -> int:
    """Bytes of packed scales: whole tiles."""
    whole(rows=rows)
    whole(blocks=blocks)
    return -(-rows // ROWS) * -(-blocks // BLOCKS) * TILE


def scale_offset(row: int, block: int, blocks: int) -> int:
    """Where the scale of a row's block lies among the packed bytes.

    ``blocks``: scales of a row, which say how many tiles lie side by side.
    """
    whole(blocks=blocks)
    whole(0, row=row, block=block)
    if block >= blocks:
        raise ValueError(f"block {block}: a row has {blocks}, counted from 0")
    tile = row // ROWS * -(-blocks // BLOCKS) + block // BLOCKS
    inside = row % ROWS
    return tile * TILE + inside % LANES * 16 + inside // LANES * BLOCKS + block % BLOCKS


def pack_scales(scales: Any) -> NDArray[np.uint8]:
    """Scales (rows, blocks) as a product on the hardware reads them: flat, padded.

    ``scales``: uint8, such as ``quantize(x, "mxfp8_e4m3").scales``.
    """
    array = _matrix(scales)
    rows, blocks = array.shape
    down, right = -(-rows // ROWS), -(-blocks // BLOCKS)
    full = np.pad(array, ((0, -rows % ROWS), (0, -blocks % BLOCKS)))
    # (tile row, quarter, lane, tile column, block)
    parts = full.reshape(down, ROWS // LANES, LANES, right, BLOCKS)
    return np.ascontiguousarray(parts.transpose(0, 3, 2, 1, 4)).reshape(-1)


def unpack_scales(packed: Any, rows: int, blocks: int) -> NDArray[np.uint8]:
    """The way back: scales (rows, blocks); raises where padding is not zero."""
    array = np.asarray(packed)
    size = packed_size(rows, blocks)
    if array.dtype != np.uint8 or array.shape != (size,):
        raise ValueError(
            f"packed is {array.dtype} of shape {array.shape}: {rows} rows of {blocks} "
            f"scales are uint8 of shape ({size},)"
        )
    down, right = -(-rows // ROWS), -(-blocks // BLOCKS)
    parts = array.reshape(down, right, LANES, ROWS // LANES, BLOCKS)
    full = parts.transpose(0, 3, 2, 1, 4).reshape(down * ROWS, right * BLOCKS)
    if full[rows:].any() or full[:, blocks:].any():
        raise ValueError(
            f"padding beyond {rows} rows of {blocks} scales holds other bytes than "
            "zero: rows or blocks are not those it was packed from"
        )
    return full[:rows, :blocks].copy()


def tensor_memory(packed: Any, tile: int = 0) -> NDArray[np.uint8]:
    """One tile as it lies in tensor memory: (128 lanes, 4 columns, 4 bytes).

    The 32 lanes are repeated for each quarter, as each warp of a group reads its own.
    """
    array = np.asarray(packed)
    if array.size % TILE or not 0 <= tile < array.size // TILE:
        raise ValueError(f"tile {tile} of {array.size} bytes: a tile is {TILE}")
    lanes = array[tile * TILE : (tile + 1) * TILE].reshape(LANES, ROWS // LANES, BLOCKS)
    return np.tile(lanes, (ROWS // LANES, 1, 1))


def block_scaled_product(a: Quantized, b: Quantized) -> NDArray[np.float64]:
    """``a @ b.T`` of two quantized matrices, block by block: float64 (m, n).

    - ``a``, ``b``: Quantized; of shapes (m, k) and (n, k), both quantized along k in
      one of the MX schemes with blocks of floating-point numbers.
    - raises ``ValueError`` for other schemes, axes or shapes.
    """
    _alike(a, b)
    left, right = _elements(a), _elements(b)  # (m, blocks, 32), (n, blocks, 32)
    total = np.zeros((len(left), len(right)))
    for block in range(left.shape[1]):
        inner = left[:, block] @ right[:, block].T  # exact: 32 products of 8 bits
        powers = _powers(a.scales[:, block])[:, None] + _powers(b.scales[:, block])
        total += np.ldexp(inner, powers)
    return total


def product_of_packed(
    a: Quantized, b: Quantized, packed_a: Any, packed_b: Any
) -> NDArray[np.float64]:
    """The same in plain loops, with every scale looked up among packed bytes."""
    _alike(a, b)
    left, right = _elements(a), _elements(b)
    m, blocks, _ = left.shape
    total = np.zeros((m, len(right)))
    for row, column in np.ndindex(total.shape):
        for block in range(blocks):
            of_a = int(packed_a[scale_offset(row, block, blocks)]) - 127
            of_b = int(packed_b[scale_offset(column, block, blocks)]) - 127
            inner = float(left[row, block] @ right[column, block])
            total[row, column] += np.ldexp(inner, of_a + of_b)
    return total


def _matrix(scales: Any) -> NDArray[np.uint8]:
    array = np.asarray(scales)
    if array.dtype != np.uint8 or array.ndim != 2 or not array.size:
        raise ValueError(
            f"scales are {array.dtype} of shape {array.shape}: a uint8 matrix of rows "
            "and blocks is needed, such as quantize(x, 'mxfp8_e4m3').scales"
        )
    return array


def _alike(a: Quantized, b: Quantized) -> None:
    for name, one in (("a", a), ("b", b)):
        if one.row.family != "mx" or one.row.element == "int8":
            raise ValueError(
                f"{name} is {one.scheme}: an MX scheme of floats is needed"
            )
        if len(one.shape) != 2 or one.axis != -1:
            raise ValueError(
                f"{name} has shape {one.shape}, quantized along axis {one.axis}: a "
                "matrix is needed, and its last axis"
            )
    if a.shape[1] != b.shape[1]:
        raise ValueError(f"a is {a.shape} and b {b.shape}: both end in k")


def _elements(q: Quantized) -> NDArray[np.float64]:
    """Numbers without their scales, (rows, blocks, 32)."""
    found = Format(q.row.element).decode(q.codes).astype(np.float64)
    return found.reshape(len(q.codes), -1, q.row.block)


def _powers(codes: NDArray[np.uint8]) -> NDArray[np.int64]:
    return codes.astype(np.int64) - 127
