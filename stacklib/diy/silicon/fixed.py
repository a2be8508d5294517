"""A network in whole numbers, as hardware computes it: every bit is told.

A layer is a convolution; a dense layer is one whose kernel is as large as its input.
Each output is a sum of products and a bias, rounded by a shift to the right, cut off at
eight bits, below zero replaced by zero, the largest of a square kept. ``run`` is that
as loops; ``run_many`` the same on NumPy's arrays, written another way.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, product
from math import prod
from typing import Any, TypeAlias

from stacklib.quantity.bounds import is_whole, whole

Plane: TypeAlias = Sequence[Sequence[int]]
Image: TypeAlias = Sequence[Plane]  # channel, row, column
LOW, HIGH = -128, 127
ACCUMULATOR = 32  # bits of a sum


@dataclass(frozen=True)
class Convolution:
    """A convolution in whole numbers."""

    kernels: tuple[Image, ...]  # one for each output channel, of eight bits
    bias: tuple[int, ...]
    shift: int = 0  # bits that a sum is shifted to the right, rounded half up
    pool: int = 1  # side of the squares of which the largest is kept
    last: bool = False  # sums are given out as they are

    def __post_init__(self) -> None:
        whole(0, shift=self.shift)
        whole(pool=self.pool)
        sizes = {shape_of(kernel, "a kernel") for kernel in self.kernels}
        if len(sizes) != 1 or len(self.bias) != len(self.kernels):
            told = f"{len(self.kernels)} kernels of sizes {sorted(sizes)}"
            raise ValueError(f"{told}, {len(self.bias)} biases: one size, a bias each")
        if bad := [b for b in self.bias if not is_whole(b)]:
            raise ValueError(f"bias {bad[0]!r}: a whole number is needed")
        # Python's own numbers, which no product runs over.
        made = tuple(ints(kernel, "weights") for kernel in self.kernels)
        vars(self).update(kernels=made, bias=tuple(map(int, self.bias)))
        if self.widest >= 1 << ACCUMULATOR - 1:
            told = f"sums up to {self.widest} do not fit {ACCUMULATOR} bits"
            raise ValueError(f"{told}; use smaller weights")

    @property
    def size(self) -> tuple[int, int, int]:
        """Input channels, rows and columns of a kernel."""
        return shape_of(self.kernels[0])

    @property
    def depth(self) -> int:
        """Products of one sum."""
        return prod(self.size)

    @property
    def widest(self) -> int:
        """The largest sum that inputs of eight bits can give, without its sign."""
        both = zip(self.kernels, self.bias, strict=True)
        return max(abs(bias) - LOW * sum(map(abs, flat(k))) for k, bias in both)

    def sums(self, shape: tuple[int, int, int]) -> tuple[int, int]:
        """Rows and columns of sums from an input's channels, rows and columns."""
        channels, rows, cols = self.size
        if channels != shape[0] or rows > shape[1] or cols > shape[2]:
            told = f"an input of {shape} meets kernels of {self.size}"
            raise ValueError(f"{told}: as many channels, no fewer rows and columns")
        return shape[1] - rows + 1, shape[2] - cols + 1

    def output(self, shape: tuple[int, int, int]) -> tuple[int, int, int]:
        """Channels, rows and columns after pooling; rests of a square go."""
        rows, cols = self.sums(shape)
        if rows < self.pool or cols < self.pool:
            raise ValueError(f"pool = {self.pool}: sums have {rows} x {cols} places")
        return len(self.kernels), rows // self.pool, cols // self.pool


@dataclass(frozen=True)
class Network:
    """Layers one after another, and what comes in."""

    name: str
    shape: tuple[int, int, int]  # channels, rows, columns of the input
    layers: tuple[Convolution, ...]

    def __post_init__(self) -> None:
        if not self.layers:
            raise ValueError(f"{self.name} has no layers; one at least is needed")
        self.shapes()

    def shapes(self) -> list[tuple[int, int, int]]:
        """Of the input, and of every layer's output."""
        made = accumulate(self.layers, lambda s, of: of.output(s), initial=self.shape)
        return list(made)

    def sizes(self) -> list[tuple[int, int, int]]:
        """Of every layer: places of each kernel's sums, kernels, products of a sum."""
        each = zip(self.layers, self.shapes(), strict=False)
        return [(prod(of.sums(had)), len(of.kernels), of.depth) for of, had in each]

    def products(self) -> list[int]:
        """Multiplications of every layer for one input."""
        return [prod(size) for size in self.sizes()]

    @property
    def bits(self) -> int:
        """Of all weights and biases on the chip."""
        return sum(len(of.bias) * (8 * of.depth + ACCUMULATOR) for of in self.layers)


def shape_of(image: Image, what: str = "the input") -> tuple[int, int, int]:
    """Channels, rows and columns; refuses what has rows of several lengths."""
    try:
        sizes = {(len(plane), len(row)) for plane in image for row in plane}
        rows = {len(plane) for plane in image}
    except TypeError:
        raise ValueError(f"{what}: channels of rows of numbers are needed") from None
    if len(sizes) != 1 or len(rows) != 1 or not all(*sizes):
        raise ValueError(f"{what} has planes or rows of several lengths, or of none")
    return (len(image), *sizes.pop())


def ints(image: Image, what: str) -> tuple[tuple[tuple[int, ...], ...], ...]:
    """The same in Python's whole numbers; refuses more than eight bits."""
    for value in flat(image):
        if not is_whole(value) or not LOW <= value <= HIGH:
            raise ValueError(f"{value!r} in {what}: whole, from {LOW} to {HIGH}")
    return tuple(tuple(tuple(map(int, row)) for row in plane) for plane in image)


def flat(image: Image) -> Iterator[int]:
    """Channel by channel, row by row."""
    return (value for plane in image for row in plane for value in row)


def shifted(total: Any, shift: int) -> Any:
    """A sum, or an array of them, over a power of two, rounded half up."""
    return total + (1 << shift >> 1) >> shift


def cut(value: int) -> int:
    """A number cut off at eight bits."""
    return min(max(value, LOW), HIGH)


def rounded(total: int, shift: int) -> int:
    """A sum after its shift, half up, cut off at eight bits."""
    return cut(shifted(total, shift))


def convolve(layer: Convolution, image: Image) -> list[list[list[int]]]:
    """Sums of products, one by one."""
    rows, cols = layer.sums(shape_of(image))
    channels, high, wide = map(range, layer.size)
    planes = [[[bias] * cols for _ in range(rows)] for bias in layer.bias]
    for plane, kernel in zip(planes, layer.kernels, strict=True):
        for y, x, c, dy, dx in product(range(rows), range(cols), channels, high, wide):
            plane[y][x] += kernel[c][dy][dx] * image[c][y + dy][x + dx]
    return planes


def finish(layer: Convolution, sums: Image) -> list[list[list[int]]]:
    """Rounded, cut off below zero, pooled; nothing of it for the last layer."""
    if layer.last:
        return [[list(row) for row in plane] for plane in sums]
    side = layer.pool

    def kept(plane: Plane, y: int, x: int) -> int:
        square = (row[x : x + side] for row in plane[y : y + side])
        return max(rounded(max(map(max, square)), layer.shift), 0)

    ends = (n - side + 1 for n in shape_of(sums)[1:])
    ys, xs = (range(0, end, side) for end in ends)
    return [[[kept(plane, y, x) for x in xs] for y in ys] for plane in sums]


def run(network: Network, image: Image) -> list[list[list[list[int]]]]:
    """What every layer gives for one input, as loops."""
    told: list[Any] = [entered(network, image)]
    for layer in network.layers:
        told.append(finish(layer, convolve(layer, told[-1])))
    return told[1:]


def entered(network: Network, image: Image) -> Image:
    """An input in Python's whole numbers; refuses one of another shape."""
    if (shape := shape_of(image)) != network.shape:
        raise ValueError(f"an input of {shape}: {network.name} takes {network.shape}")
    return ints(image, "the input")


def run_many(network: Network, images: Any) -> list[Any]:
    """What every layer gives for many inputs, on NumPy's arrays of whole numbers."""
    import numpy as np
    from numpy.lib.stride_tricks import sliding_window_view

    here = np.asarray(images)
    if here.ndim != 4 or here.shape[1:] != network.shape or here.dtype.kind not in "iu":
        wanted = " x ".join(map(str, ("count", *network.shape)))
        given = f"{here.dtype} of shape {here.shape}"
        raise ValueError(f"{given}: whole numbers of {wanted} are needed")
    if here.size and not LOW <= here.min() <= here.max() <= HIGH:
        raise ValueError(f"{here.min()} to {here.max()}: from {LOW} to {HIGH}")
    here, told = here.astype(np.int64), []
    for layer in network.layers:
        windows = sliding_window_view(here, layer.size, axis=(1, 2, 3))[:, 0]
        kernels = np.array(layer.kernels, np.int64)
        here = np.einsum("nyxcij,ocij->noyx", windows, kernels)
        here += np.array(layer.bias, np.int64)[:, None, None]
        if not layer.last:
            # Exact: the sums have fewer bits than a float's fraction.
            here = np.floor(here / 2.0**layer.shift + 0.5).clip(0, HIGH)
            side, (rows, cols) = layer.pool, [n // layer.pool for n in here.shape[2:]]
            here = here[:, :, : rows * side, : cols * side].astype(np.int64)
            here = here.reshape(len(here), -1, rows, side, cols, side).max((3, 5))
        told.append(here)
    return told
