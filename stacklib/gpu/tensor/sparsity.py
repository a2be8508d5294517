"""2:4 sparsity: of every four weights two are zero, so two are stored and multiplied.

A. Mishra et al., *Accelerating sparse deep neural networks*, arXiv 2104.08378,
section 3: the weights that stay are stored beside their places, two bits each, and the
hardware picks the operands that meet them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from stacklib.quantizers.inputs import doubles

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Sparse", "compress", "prune"]


def _fours(weights: Any) -> NDArray[Any]:
    doubles(weights, "weights")
    array = np.asarray(weights)
    if array.ndim != 2 or array.shape[1] % 4 or not array.size:
        raise ValueError(f"weights of shape {array.shape}: (rows, a multiple of 4)")
    if not np.isfinite(array).all():
        raise ValueError("weights hold NaN or an infinity: they have no order")
    return array.reshape(array.shape[0], -1, 4)


def _places(fours: NDArray[Any]) -> NDArray[Any]:
    """Places of the two largest of each four, in order; the first wins a tie."""
    size = np.abs(fours.astype(np.float64))  # unsigned numbers have no minus
    order = np.argsort(-size, axis=-1, kind="stable")[..., :2]
    return np.sort(order, axis=-1)


def prune(weights: Any) -> NDArray[Any]:
    """Weights (rows, k) with the two smallest of each four in a row set to zero.

    ValueError for a k that is no multiple of 4, NaN or infinities.

    >>> prune([[3, -1, 2, -4]]).tolist()
    [[3, 0, 0, -4]]
    """
    fours = _fours(weights)
    keep = np.zeros(fours.shape, bool)
    np.put_along_axis(keep, _places(fours), True, axis=-1)
    return np.where(keep, fours, 0).reshape(fours.shape[0], -1)


@dataclass(frozen=True, slots=True)
class Sparse:
    """A 2:4-sparse matrix as the hardware stores it."""

    values: NDArray[Any]  # (rows, k / 2) what is left of each four, two numbers
    places: NDArray[Any]  # uint8 array (rows, k / 4) Their places

    def columns(self) -> NDArray[Any]:
        """Column of each value in the full matrix: int array (rows, k / 2)."""
        fours: NDArray[Any] = 4 * np.arange(self.places.shape[1])
        first, second = self.places & 3, self.places >> 2
        pairs = np.stack([fours + first, fours + second], axis=-1)
        return pairs.reshape(self.values.shape)

    def dense(self) -> NDArray[Any]:
        """The full matrix, with its zeros."""
        rows, half = self.values.shape
        full = np.zeros((rows, 2 * half), self.values.dtype)
        np.put_along_axis(full, self.columns(), self.values, axis=1)
        return full

    def multiply(self, right: Any) -> tuple[NDArray[Any], int]:
        """The product with a dense matrix, and the multiply-adds it took.

        ``right`` (k, n).
        """
        right = np.asarray(right)
        rows, half = self.values.shape
        if right.ndim != 2 or right.shape[0] != 2 * half:
            raise ValueError(f"right is {right.shape}: ({2 * half}, n) is needed")
        met = right[self.columns()]  # (rows, k / 2, n)
        return np.einsum("rk,rkn->rn", self.values, met), rows * half * right.shape[1]

    def bits(self, each: int) -> int:
        """Bits of values and places together, with ``each`` bits a value."""
        return self.values.size * (each + 2)


def compress(weights: Any) -> Sparse:
    """A matrix (rows, k) with at most two of each four not zero, without its zeros.

    ValueError for more than two in a four, naming the first, or as ``prune``.
    """
    fours = _fours(weights)
    over = np.argwhere((fours != 0).sum(axis=-1) > 2)
    if len(over):
        row, four = over[0]
        raise ValueError(
            f"row {row}, columns {4 * four} to {4 * four + 3} hold "
            f"{fours[row, four].tolist()}: two of four may stay, prune() first"
        )
    places = _places(fours)
    values = np.take_along_axis(fours, places, axis=-1)
    packed = (places[..., 0] | places[..., 1] << 2).astype(np.uint8)
    return Sparse(values.reshape(len(fours), -1), packed)
