"""A chain of layers tile by tile in a small memory, or layer by layer through DRAM.

``y = max(x W, 0)`` layer after layer. Layer by layer, every layer's rows go out to DRAM
and come back. In a chain, a tile of a few rows passes through all layers while it stays
in the tightly coupled memory, so that only the first rows come in and the last go out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from stacklib.quantity.bounds import whole

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Traffic:
    """Bytes to and from DRAM, both ways, and what of the memory was in use."""

    apart: int  # layer by layer
    chained: int
    used: int  # bytes of the memory, at most
    tile: int  # rows


def weights_of(widths: Sequence[int]) -> int:
    """Numbers in the matrices between layers of these widths."""
    return sum(a * b for a, b in pairwise(widths))


def largest_tile(rows: int, widths: Sequence[int], *, room: int, size: int) -> int:
    """Rows of a tile that fit beside all weights, in bytes of ``size`` a number.

    Two layers of a tile are there at a time.
    """
    _sizes(rows, widths, room, size)
    left = room - weights_of(widths) * size
    wide = max(a + b for a, b in pairwise(widths)) * size
    if left < wide:
        raise ValueError(
            f"{room} B do not hold weights of {weights_of(widths) * size} B and one "
            f"row of {wide} B: fewer or narrower layers"
        )
    return min(rows, left // wide)


def traffic(rows: int, widths: Sequence[int], *, room: int, size: int) -> Traffic:
    """Bytes both ways, by closed form: weights once, rows at the ends or everywhere.

    - ``rows``: of the input; ``widths``: of the input and of each layer's output.
    - ``room``, ``size``: bytes of the memory, and of a number.

    ``b (sum w_i w_j + n (w_0 + w_L))`` against ``b sum (w_i w_j + n (w_i + w_j))``.
    """
    tile = largest_tile(rows, widths, room=room, size=size)
    weights = weights_of(widths)
    apart = weights + rows * sum(a + b for a, b in pairwise(widths))
    ends = weights + rows * (widths[0] + widths[-1])
    used = weights + tile * max(a + b for a, b in pairwise(widths))
    return Traffic(apart * size, ends * size, used * size, tile)


def run_chain(
    x: NDArray[Any], weights: Sequence[NDArray[Any]], *, room: int
) -> tuple[NDArray[Any], Traffic]:
    """The same, executed both ways: the result of the chain, and the bytes counted."""
    import numpy as np

    if x.ndim != 2 or any(one.dtype.kind not in "iu" for one in (x, *weights)):
        raise ValueError(
            f"x of shape {x.shape}, {x.dtype}: rows of whole numbers are needed, whose "
            "sums are the same in any order"
        )
    widths = [x.shape[1], *(w.shape[1] for w in weights)]
    size = x.itemsize
    tile = largest_tile(len(x), widths, room=room, size=size)
    moved = apart = sum(w.nbytes for w in weights)
    y, used, held = x, 0, moved
    for w in weights:
        apart += y.nbytes
        y = np.maximum(y @ w, 0)
        apart += y.nbytes
    done = []
    for first in range(0, len(x), tile):
        now = x[first : first + tile]
        moved += now.nbytes
        for w in weights:
            then = np.maximum(now @ w, 0)
            used = max(used, held + now.nbytes + then.nbytes)
            now = then
        moved += now.nbytes
        done.append(now)
    chained = np.concatenate(done)
    if not np.array_equal(chained, y):
        raise AssertionError("tiles give another result than layers")
    return chained, Traffic(apart, moved, used, tile)


def _sizes(rows: int, widths: Sequence[int], room: int, size: int) -> None:
    whole(rows=rows, room=room, size=size)
    if len(widths) < 2:
        raise ValueError(f"widths {list(widths)}: those of an input and an output")
    for at, wide in enumerate(widths):
        whole(**{f"widths[{at}]": wide})
