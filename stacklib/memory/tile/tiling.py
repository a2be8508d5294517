"""Tiled matrix products: what a tile size moves, and what a cache makes of the order.

Y (m, n) = X (m, k) W (k, n), by blocks of (tile_m, tile_n). A block reads its rows of X
and its columns of W once, in steps of tile_k, and writes its part of Y once. So the
smaller the tiles, the more often everything is read: m n k (1/tile_n + 1/tile_m)
numbers, against a least of 2 m n k / sqrt(S) with a store of S numbers (Hong and Kung,
1981; the constant by Smith et al., 2019).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from math import ceil, sqrt
from typing import TYPE_CHECKING, Any

from stacklib.quantity.bounds import whole

if TYPE_CHECKING:
    from numpy.typing import NDArray


ORDERS = ("row", "column", "grouped")


@dataclass(frozen=True, slots=True)
class TiledMatmul:
    """A matrix product and how it is cut.

    Parameters
    ----------
    m, n, k : int
        Rows of X, columns of W, and what is summed over.
    tile_m, tile_n, tile_k : int
        Of a block, and of one of its steps. Edges may be smaller.
    width : int
        Bytes of a number.

    Raises
    ------
    ValueError
        When a size is no whole number from 1.
    """

    m: int
    n: int
    k: int
    tile_m: int
    tile_n: int
    tile_k: int = 32
    width: int = 2

    def __post_init__(self) -> None:
        whole(**asdict(self))

    @property
    def grid(self) -> tuple[int, int]:
        """Blocks down and across."""
        return ceil(self.m / self.tile_m), ceil(self.n / self.tile_n)

    @property
    def numbers_read(self) -> int:
        """Numbers all blocks read, whatever caches hold."""
        down, across = self.grid
        return self.k * (self.m * across + self.n * down)

    @property
    def numbers_moved(self) -> int:
        """Those, and the result written once."""
        return self.numbers_read + self.m * self.n

    def count(self) -> tuple[int, int]:
        """Numbers read and written, by walking through every step of every block.

        Examples
        --------
        >>> TiledMatmul(100, 70, 50, 32, 32, 32).count()
        (29000, 7000)
        """
        read = written = 0
        for row, column in self.order():
            for step in self.steps(row, column):
                rows, inner, columns = (part.stop - part.start for part in step)
                read += inner * (rows + columns)
            written += rows * columns
        return read, written

    def steps(self, row: int, column: int) -> Iterator[tuple[slice, slice, slice]]:
        """Rows, place in the sum and columns that each step of a block multiplies.

        ``row``, ``column``: place of the block in the grid.
        """
        rows = _part(row, self.tile_m, self.m)
        columns = _part(column, self.tile_n, self.n)
        for step in range(ceil(self.k / self.tile_k)):
            yield rows, _part(step, self.tile_k, self.k), columns

    @property
    def useful(self) -> float:
        """Share of the multiply-adds of whole tiles that are not beyond an edge."""
        down, across = self.grid
        return self.m * self.n / (down * self.tile_m * across * self.tile_n)

    @property
    def bytes_held(self) -> int:
        """Bytes of a step's two tiles and of the block's sums in fp32."""
        step = self.tile_k * (self.tile_m + self.tile_n)
        return self.width * step + 4 * self.tile_m * self.tile_n

    def order(self, how: str = "row", group: int = 8) -> Iterator[tuple[int, int]]:
        """Blocks in the order they start.

        Parameters
        ----------
        how : str
            ``row`` by row, ``column`` by column, or ``grouped``: down a band of
            ``group`` rows, then one column on.
        group : int
            Rows of a band.

        Raises
        ------
        ValueError
            For another order, or a group below one.
        """
        down, across = self.grid
        if how not in ORDERS or group < 1:
            raise ValueError(f"order {how!r} with group {group}: {', '.join(ORDERS)}")
        band = {"row": 1, "column": down, "grouped": group}[how]
        for top in range(0, down, band):
            for column in range(across):
                for row in range(top, min(top + band, down)):
                    yield row, column

    def trace(
        self, *, how: str = "row", group: int = 8, at_once: int = 1, line: int = 128
    ) -> NDArray[Any]:
        """Byte addresses that the blocks read, a line at a time.

        ``at_once`` blocks run side by side, step by step, as on a chip of so many
        processors. X lies before W, both row by row.

        Parameters
        ----------
        how, group
            As `order` takes them.
        at_once : int
            Blocks that run together.
        line : int
            Bytes that one access brings.

        Raises
        ------
        ValueError
            When a row of either matrix is no whole number of lines, which would make
            tiles share them, or for ``at_once`` below one.
        """
        import numpy as np

        if at_once < 1:
            raise ValueError(f"at_once = {at_once}: at least 1 block runs")
        for name, row in (("k", self.k), ("n", self.n)):
            if row * self.width % line:
                raise ValueError(
                    f"{name} = {row}: rows of whole {line}-byte lines only"
                )
        parts, second = [], self.m * self.k * self.width
        blocks = list(self.order(how, group))
        for start in range(0, len(blocks), at_once):
            together = [self.steps(*block) for block in blocks[start : start + at_once]]
            for step in zip(*together, strict=True):
                for rows, inner, columns in step:
                    parts.append(self._lines(0, self.k, rows, inner, line))
                    parts.append(self._lines(second, self.n, inner, columns, line))
        return np.concatenate(parts)

    def _lines(
        self, base: int, row_length: int, rows: slice, columns: slice, line: int
    ) -> NDArray[Any]:
        """Addresses of the lines that a tile of a matrix touches."""
        import numpy as np

        first = columns.start * self.width // line
        last = (columns.stop * self.width - 1) // line
        down = np.arange(rows.start, rows.stop, dtype=np.int64)[:, None]
        starts: NDArray[Any] = base + down * row_length * self.width
        return (starts + np.arange(first, last + 1) * line).ravel()


def _part(number: int, size: int, whole: int) -> slice:
    """Where a tile of so many lies along a side, the last one perhaps shorter."""
    return slice(number * size, min((number + 1) * size, whole))


def tile_traffic(m: Any, n: Any, k: Any, tile_m: Any, tile_n: Any) -> Any:
    """Numbers moved by a product in tiles that divide it: operands in, result out.

    m n k (1 / tile_n + 1 / tile_m) + m n. Floats, quantities or arrays.
    """
    return m * n * k * (1 / tile_n + 1 / tile_m) + m * n


def tile_intensity(tile_m: Any, tile_n: Any, width_x: Any, width_w: Any) -> Any:
    """Operations for each byte of operands that a block reads.

    A step of one along k reads a column of ``tile_m`` and a row of ``tile_n`` numbers
    for ``tile_m * tile_n`` multiply-adds. Floats, quantities or arrays.
    """
    return 2 * tile_m * tile_n / (tile_m * width_x + tile_n * width_w)


def hong_kung(m: int, n: int, k: int, held: int) -> float:
    """Least numbers that any order moves, with a store of ``held`` numbers."""
    if min(m, n, k, held) < 1:
        raise ValueError(f"m, n, k, held = {m}, {n}, {k}, {held}: 1 at least")
    # At least everything once: both operands in, the result out.
    return max(2.0 * m * n * k / sqrt(held) - 2 * held, float(m * k + k * n + m * n))
