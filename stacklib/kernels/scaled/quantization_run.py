"""The forward pass of experts in MXFP8 as kernels over a memory that counts.

Each kernel loads pieces, computes, and stores; the memory adds up the bytes that were
asked for, and marks which were touched, so that reads before a cache and reads that
must be are both counted, not derived. ``fused_quantization`` has the closed forms.
Codes and scales are ``quantizers``'; a product is exact but for float64 and its last
rounding to BF16, as the hardware's is in FP32.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from stacklib.quantizers import Format, Quantized, quantize

from .fused_quantization import SCHEME, TILE, Step
from .scale_layout import block_scaled_product

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

BF16 = Format("bf16")


@dataclass
class Memory:
    """Arrays by name, and what kernels asked of them.

    BF16 is kept as its 16-bit codes; MXFP8 as two arrays, codes and scales.
    """

    arrays: dict[str, NDArray[Any]] = field(default_factory=dict)
    touched: dict[str, NDArray[np.bool_]] = field(default_factory=dict)
    asked: int = 0
    written: int = 0
    macs: int = 0
    steps: list[Step] = field(default_factory=list)

    def make(self, name: str, shape: tuple[int, ...], dtype: Any) -> None:
        """Room for a result; storing twice at one place is an error."""
        self.arrays[name] = np.zeros(shape, dtype)
        self.touched[name] = np.zeros(shape, bool)

    def load(self, name: str, *place: slice) -> NDArray[Any]:
        """A piece of an array; its bytes are counted."""
        piece = self.arrays[name][place]
        self.touched[name][place] = True
        self.asked += piece.nbytes
        return piece

    def store(self, name: str, piece: NDArray[Any], *place: slice) -> None:
        """Write a piece; its bytes are counted."""
        self.arrays[name][place] = piece
        self.written += piece.nbytes

    def end_of_kernel(self, name: str) -> None:
        """Nothing stays on the chip: the next kernel reads what it needs again."""
        read = sum(
            int(mark.sum()) * self.arrays[key].itemsize
            for key, mark in self.touched.items()
        )
        self.steps.append(Step(name, read, self.written, self.asked, self.macs))
        self.asked = self.written = self.macs = 0
        for mark in self.touched.values():
            mark[...] = False


def run_forward(
    x: NDArray[Any],  # (tokens, hidden), sorted by expert
    gate: NDArray[Any],  # (experts, width, hidden)
    up: NDArray[Any],  # (experts, width, hidden)
    down: NDArray[Any],  # (experts, hidden, width)
    tokens: Sequence[int],  # rows of each expert
    *,
    fused: bool,
) -> tuple[NDArray[np.float32], Memory]:
    """Outputs (tokens, hidden) and the memory with its counted steps.

    Raises ValueError where shapes and tokens do not go together.
    """
    experts, width, hidden = gate.shape
    if up.shape != gate.shape or down.shape != (experts, hidden, width):
        raise ValueError(
            f"gate is {gate.shape}, up {up.shape}, down {down.shape}: (experts, width, "
            "hidden) twice and (experts, hidden, width) are needed"
        )
    if x.shape != (sum(tokens), hidden) or len(tokens) != experts:
        raise ValueError(
            f"x is {x.shape} and tokens {tuple(tokens)}: {experts} counts that add up "
            f"to the rows, of {hidden} numbers"
        )
    memory = Memory()
    memory.make("x", x.shape, np.uint16)
    memory.arrays["x"][:] = BF16.encode(x)
    # gate and up side by side in strips of half a tile: a tile of outputs has both
    both = np.stack((gate, up), axis=2).reshape(experts, 2 * width, hidden)
    for expert in range(experts):
        _weights(memory, f"up{expert}", both[expert])
        _weights(memory, f"down{expert}", down[expert])
    ends = np.cumsum([0, *tokens])
    groups = [slice(int(a), int(b)) for a, b in pairwise(ends)]
    if fused:
        _quantize(memory, "x", groups, rows=True, columns=True)
        memory.end_of_kernel("quantize both ways")
        _grouped_product(memory, "x", "up", groups, "h", hidden, width, gated=True)
        memory.end_of_kernel("gate and up, SwiGLU, quantize")
    else:
        _quantize(memory, "x", groups, rows=True)
        memory.end_of_kernel("quantize")
        _quantize(memory, "x", groups, columns=True)
        memory.end_of_kernel("transpose and quantize")
        _grouped_product(memory, "x", "up", groups, "u", hidden, 2 * width)
        memory.end_of_kernel("gate and up")
        _activate(memory, "u", "h")
        memory.end_of_kernel("SwiGLU")
        _quantize(memory, "h", groups, rows=True)
        memory.end_of_kernel("quantize the product")
        _quantize(memory, "h", groups, columns=True)
        memory.end_of_kernel("transpose and quantize the product")
    _grouped_product(memory, "h", "down", groups, "y", width, hidden)
    memory.end_of_kernel("down")
    return BF16.decode(memory.arrays["y"]).astype(np.float32), memory


def _weights(memory: Memory, name: str, values: NDArray[Any]) -> None:
    """Weights that lie in MXFP8 from the start."""
    q = quantize(values, SCHEME.name)
    for part, array in (("codes", q.codes), ("scales", q.scales)):
        memory.make(f"{name}.{part}", array.shape, np.uint8)
        memory.arrays[f"{name}.{part}"][:] = array


def _make_coded(memory: Memory, name: str, rows: int, numbers: int) -> None:
    blocks = -(-numbers // SCHEME.block)
    memory.make(f"{name}.codes", (rows, blocks * SCHEME.block), np.uint8)
    memory.make(f"{name}.scales", (rows, blocks), np.uint8)


def _store_coded(memory: Memory, name: str, q: Quantized, rows: slice, at: int) -> None:
    """A piece of coded rows whose first number is the ``at``-th."""
    first = at // SCHEME.block
    blocks = slice(first, first + q.scales.shape[1])
    numbers = slice(first * SCHEME.block, blocks.stop * SCHEME.block)
    memory.store(f"{name}.codes", q.codes, rows, numbers)
    memory.store(f"{name}.scales", q.scales, rows, blocks)


def _quantize(
    memory: Memory,
    name: str,
    groups: list[slice],
    *,
    rows: bool = False,
    columns: bool = False,
) -> None:
    """BF16 in tiles of 128 x 128 to codes along the rows, the columns, or both."""
    total, numbers = memory.arrays[name].shape
    if rows:
        _make_coded(memory, name, total, numbers)
    for expert, group in enumerate(groups):
        if columns and group.stop > group.start:
            size = group.stop - group.start
            _make_coded(memory, f"{name}{expert}.turned", numbers, size)
        for tokens, part in _tiles(group, numbers):
            tile = BF16.decode(memory.load(name, tokens, part))
            _both_ways(memory, name, expert, group, tokens, part, tile, rows, columns)


def _both_ways(
    memory: Memory,
    name: str,
    expert: int,
    group: slice,
    tokens: slice,
    part: slice,
    tile: NDArray[Any],
    rows: bool,
    columns: bool,
) -> None:
    """Store a tile's codes along its rows and, turned, along its columns."""
    if rows:
        _store_coded(memory, name, quantize(tile, SCHEME.name), tokens, part.start)
    if columns:
        turned = quantize(np.ascontiguousarray(tile.T), SCHEME.name)
        at = tokens.start - group.start
        _store_coded(memory, f"{name}{expert}.turned", turned, part, at)


def _tiles(group: slice, numbers: int, wide: int = TILE) -> list[tuple[slice, slice]]:
    return [
        (slice(i, min(i + TILE, group.stop)), slice(j, min(j + wide, numbers)))
        for i in range(group.start, group.stop, TILE)
        for j in range(0, numbers, wide)
    ]


def _load_coded(memory: Memory, name: str, rows: slice, numbers: int) -> Quantized:
    codes = memory.load(f"{name}.codes", rows)
    scales = memory.load(f"{name}.scales", rows)
    return Quantized(codes, scales, (len(codes), numbers), SCHEME.name)


def _grouped_product(
    memory: Memory,
    left: str,
    right: str,
    groups: list[slice],
    result: str,
    k: int,
    columns: int,
    *,
    gated: bool = False,
) -> None:
    """Each expert's rows times its weights along k, a tile of outputs after the other.

    ``gated``: neighbouring columns are a gate and its partner; the tile leaves the chip
    as codes of half as many numbers, along the rows and along the tokens.
    """
    wide = columns * 2 if gated else columns
    total = groups[-1].stop
    if gated:
        _make_coded(memory, result, total, columns)
    else:
        memory.make(result, (total, columns), np.uint16)
    for expert, group in enumerate(groups):
        if gated and group.stop > group.start:
            name = f"{result}{expert}.turned"
            _make_coded(memory, name, columns, group.stop - group.start)
        for tokens, part in _tiles(group, wide):
            a = _load_coded(memory, left, tokens, k)
            b = _load_coded(memory, f"{right}{expert}", part, k)
            tile = BF16.encode(block_scaled_product(a, b).astype(np.float32))
            memory.macs += tile.size * k
            if not gated:
                memory.store(result, tile.astype(np.uint16), tokens, part)
                continue
            h = _swiglu(tile)
            half = slice(part.start // 2, part.start // 2 + h.shape[1])
            values = BF16.decode(h)
            _both_ways(memory, result, expert, group, tokens, half, values, True, True)


def _swiglu(tile: NDArray[Any]) -> NDArray[np.uint16]:
    """silu(gate) * up of neighbouring columns, BF16 in and out."""
    values = BF16.decode(tile).astype(np.float64)
    gate, partner = values[:, 0::2], values[:, 1::2]
    found = (gate / (1 + np.exp(-gate)) * partner).astype(np.float32)
    return BF16.encode(found).astype(np.uint16)


def _activate(memory: Memory, name: str, result: str) -> None:
    """SwiGLU as a kernel of its own."""
    rows, columns = memory.arrays[name].shape
    memory.make(result, (rows, columns // 2), np.uint16)
    for tokens, part in _tiles(slice(0, rows), columns):
        h = _swiglu(memory.load(name, tokens, part))
        half = slice(part.start // 2, part.start // 2 + h.shape[1])
        memory.store(result, h, tokens, half)
