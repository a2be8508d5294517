"""Places around a car ask its cameras' features: attention made of products of bytes.

Space is cut into cubes, voxels. A voxel's place is a query, the features of all cameras
are keys and values. Features fit a byte, a place does not, so that a score takes two
passes; the weights of the softmax, taken in wide arithmetic, go back as bytes.

The pipeline is Tesla's (AI Day 2022; US 2024/0185445 A1), the sizes are the caller's.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from stacklib.quantity.bounds import above_zero, share, whole

from .byte_matmul import BYTE, byte_split_matmul, passes

if TYPE_CHECKING:
    from numpy.typing import NDArray

FULL = (1 << BYTE - 1) - 1  # the weight of what fits a query best
PLACE_BITS = 16


@dataclass(frozen=True, slots=True)
class Answers:
    """What each query reads, and the products of bytes that it took."""

    values: NDArray[Any]  # (N, E), weighted means
    scores: NDArray[Any]  # (N, F), whole
    weights: NDArray[Any]  # (N, F), from 0 to 127
    multiplies: int


def voxel_query(queries: Any, keys: Any, values: Any, scale: float) -> Answers:
    """Attention of N places to F features.

    - ``queries``: (N, D), 16 bits; ``keys``: (F, D) and ``values``: (F, E), bytes.
    - ``scale``: what a score is multiplied with before the softmax.
    - raises ``ValueError`` for shapes that do not chain, numbers with more bits, and a
      scale that is not above zero.
    """
    import numpy as np

    above_zero(scale=scale)
    held = np.asarray(values)
    found = byte_split_matmul(queries, np.asarray(keys).T)
    scores = found.product
    wide = np.exp(scale * (scores - scores.max(axis=1, keepdims=True)))
    weights = np.rint(FULL * wide).astype(np.int64)
    sums = byte_split_matmul(weights, held)  # the high bytes are all zero
    means = sums.product / weights.sum(axis=1, keepdims=True)
    return Answers(means, scores, weights, found.multiplies + sums.multiplies // 2)


def voxel_products(voxels: int, features: int, deep: int, wide: int) -> int:
    """Products of bytes that so many queries take: N F (2 D + E).

    - ``deep``: numbers of a query and a key; ``wide``: of a value.
    """
    whole(voxels=voxels, features=features, deep=deep, wide=wide)
    each = passes(PLACE_BITS) * int(deep) + int(wide)
    return int(voxels) * int(features) * each


def voxels(length: float, width: float, height: float, side: float) -> int:
    """Cubes of a side that cover a box, all in one unit."""
    above_zero(length=length, width=width, height=height, side=side)
    # A quotient of doubles lies beside a whole number where the box holds whole cubes.
    return math.prod(math.ceil(round(w / side, 9)) for w in (length, width, height))


def between(corners: Sequence[float], at: Sequence[float]) -> float:
    """What is read at a point inside a cube whose eight corners are known.

    - ``corners``: x slowest, z fastest; ``at``: three shares of the side, 0 to 1.
    - the weights are products of shares (trilinear interpolation).
    """
    if len(corners) != 8 or len(at) != 3:
        raise ValueError(
            f"{len(corners)} corners, {len(at)} shares: 8 and 3 are needed"
        )
    share(**dict(zip("xyz", at, strict=True)))
    left = list(corners)
    for part in at:  # halves what is left: x, then y, then z
        half = len(left) // 2
        pairs = zip(left[:half], left[half:], strict=True)
        left = [low + part * (high - low) for low, high in pairs]
    return left[0]
