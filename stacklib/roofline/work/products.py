"""Matrix products as a library is asked for them, and the ways to cut them up."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

from stacklib.quantity import bytes_per_element
from stacklib.quantity import dtype as find_dtype
from stacklib.quantity.bounds import whole

TILES = (
    (256, 128),
    (128, 256),
    (128, 128),
    (128, 64),
    (64, 128),
    (64, 256),
    (64, 64),
    (64, 32),
    (32, 64),
    (16, 128),
    (16, 64),
)
# By tile, the most rows that one as wide and lower covers, with less padding.
_LOWER = {
    (rows, columns): max((r for r, c in TILES if c == columns and r < rows), default=0)
    for rows, columns in TILES
}
# Vector instructions a weight, as FasterTransformer expands them to 16 bits, by bits of
# a code: 8 of 4 bits take four lop3, a shift, two sub and two fma, 4 of 8 bits two prmt
# and two sub; then half a multiply by the scale.
EXPAND = {4: 9 / 8 + 1 / 2, 8: 4 / 4 + 1 / 2}
_SPLITS = (1, 2, 4, 8, 16, 32, 64)
_LEAST_DEPTH = 256  # a share of k worth splitting off


@dataclass(frozen=True, slots=True)
class Product:
    """A matrix product as a library is asked for it."""

    m: int  # rows of the left
    n: int  # columns of the right
    k: int  # shared size
    dtype: str  # format in which the units multiply
    left: float  # bytes an element of both operands and the result; scales included
    right: float
    out: float
    groups: int = 1  # independent products of this shape in one launch
    expand: float = 0.0  # vector instructions that make a weight ready to multiply
    promote: float = 0.0  # vector instructions a sum needs, for each step of k
    whole: bool = False  # whether the kernels leave k in one piece

    def __post_init__(self) -> None:
        whole(m=self.m, n=self.n, k=self.k, groups=self.groups)
        find_dtype(self.dtype)
        for name in ("left", "right", "out"):
            value = getattr(self, name)
            if not 0 < value <= 16:
                raise ValueError(f"{name} = {value!r}: bytes an element, above zero")

    @property
    def operations(self) -> float:
        """Two for every multiply-add."""
        return 2.0 * self.m * self.n * self.k * self.groups

    @property
    def bytes(self) -> float:
        """Operands and result, each moved once."""
        left, right = self.m * self.k * self.left, self.k * self.n * self.right
        return self.groups * (left + right + self.m * self.n * self.out)


def product(*, m: int, n: int, k: int, dtype: str = "bf16", groups: int = 1) -> Product:
    """A product with operands of one format and a result of 16 bits or more."""
    name = find_dtype(dtype).name
    size = bytes_per_element(name).si
    return Product(m, n, k, name, size, size, max(2.0, size), groups)


@dataclass(frozen=True, slots=True)
class Tiling:
    """One way of cutting a product into thread blocks."""

    rows: int  # tile of the result one block computes
    columns: int
    split: int  # shares into which the shared size k is cut, summed afterwards
    blocks: int  # thread blocks in all


def cut(work: Product, rows: int, columns: int) -> Tiling:
    """A product cut into tiles of the result, its ``k`` in one piece."""
    return Tiling(rows, columns, 1, _grid(work.m, work.n, work.groups, rows, columns))


def _grid(m: int, n: int, groups: int, rows: int, columns: int) -> int:
    return groups * math.ceil(m / rows) * math.ceil(n / columns)


def tilings(work: Product, units: int) -> tuple[Tiling, ...]:
    """The tilings a library would consider for a product."""
    whole(units=units)
    return _tilings(work.m, work.n, work.k, work.groups, work.whole, units)


@lru_cache(maxsize=4096)
def _tilings(
    m: int, n: int, k: int, groups: int, whole: bool, units: int
) -> tuple[Tiling, ...]:
    """Of those sizes, asked for again with other formats and other factors."""
    found = []
    for (rows, columns), lower in _LOWER.items():
        if m <= lower:
            continue
        grid = _grid(m, n, groups, rows, columns)
        for split in _SPLITS:
            # k is split only while the grid stays below two waves.
            deep = k // split >= _LEAST_DEPTH and grid * split <= 2 * units
            if split > 1 and (whole or not deep):
                break
            found.append(Tiling(rows, columns, split, grid * split))
    return tuple(found)
