"""Weights as wiring: each one picks, of its input's ready products, the one it wants.

An input times a weight of four bits is one of sixteen numbers. Make the sixteen once
per input; then a weight is a choice, a transistor at the crossing of a product's wire
and an output's, and nothing is read. What is left are sums.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, log2
from typing import TYPE_CHECKING, Any

from stacklib.quantity.bounds import whole

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_BITS = 8


@dataclass(frozen=True, slots=True)
class Parts:
    """What the wiring of a matrix is made of."""

    weights: int
    products: int  # made per input vector, whatever the number of outputs
    crossings: int  # transistors that choose, one a weight
    additions: int  # of two numbers each, per input vector
    adder_bits: int  # of those sums, at most


@dataclass(frozen=True)
class MaskRom:
    """A matrix as choices: codes, (inputs, outputs), and what each stands for."""

    codes: NDArray[Any]
    levels: tuple[float, ...]

    def products(self, x: Any) -> NDArray[Any]:
        """The table of an input vector: (inputs, levels)."""
        import numpy as np

        vector = np.asarray(x)
        inputs = self.codes.shape[0]
        if vector.shape != (inputs,):
            raise ValueError(
                f"an input of shape {vector.shape}, and ({inputs},) chains"
            )
        if vector.dtype.kind not in "iuf" or not np.isfinite(vector).all():
            raise ValueError(f"an input of {vector.dtype}: finite numbers are needed")
        levels = np.array(self.levels)
        if vector.dtype.kind in "iu" and levels.dtype.kind in "iu":
            most = max(abs(int(vector.min())), abs(int(vector.max())))
            if most * max(map(abs, self.levels)) * inputs > np.iinfo(np.int64).max:
                raise ValueError(f"an input of {most}: its sums have more than 64 bits")
            vector = vector.astype(np.int64)
        return np.multiply.outer(vector, levels)

    def multiply(self, x: Any) -> NDArray[Any]:
        """``x @ weights`` by routing: each weight's wire, summed over the inputs."""
        import numpy as np

        table = self.products(x)
        return np.take_along_axis(table, self.codes, axis=1).sum(axis=0)

    def parts(self, input_bits: int = 8) -> Parts:
        """Counted from the codes that there are."""
        import numpy as np

        whole(input_bits=input_bits)
        inputs, outputs = self.codes.shape
        widest = input_bits + _bits(self.levels) + ceil(log2(inputs))
        return Parts(
            weights=self.codes.size,
            products=inputs * len(self.levels),
            crossings=int(np.bincount(self.codes.ravel()).sum()),
            additions=(inputs - 1) * outputs,
            adder_bits=widest,
        )


def mask_rom(
    weights: Any, bits: int = 4, *, levels: Sequence[float] | None = None
) -> MaskRom:
    """Turn a matrix of few-bit weights into choices among ready products.

    Parameters
    ----------
    weights : array
        Shape (inputs, outputs); every number one of the levels.
    bits : int
        Of a weight, from 1 to 8.
    levels : sequence of float, optional
        Numbers that a code stands for, at most ``2**bits``; the integers of so many
        bits in two's complement where not given.

    Raises
    ------
    ValueError
        For bits out of range, a weight that is no level, levels that repeat.

    Examples
    --------
    >>> mask_rom([[3, -1], [0, -8]]).multiply([10, 1]).tolist()
    [30, -18]
    """
    import numpy as np

    whole(bits=bits)
    if bits > MOST_BITS:
        raise ValueError(f"bits = {bits}: from 1 to {MOST_BITS}")
    if levels is None:
        levels = range(-(1 << bits - 1), 1 << bits - 1)
    numbers = np.asarray([*levels])
    plain = numbers.ndim == 1 and numbers.dtype.kind in "iuf"
    if not plain or not np.isfinite(numbers).all():
        raise ValueError(f"levels = {levels!r}: numbers are needed, each one a level")
    known = numbers.tolist()
    if not known or len(known) > 1 << bits or len(set(known)) < len(known):
        raise ValueError(
            f"{len(known)} levels, {len(set(known))} of them different: a weight of "
            f"{bits} bits chooses among {1 << bits} at most"
        )
    matrix = np.asarray(weights)
    if matrix.ndim != 2 or not matrix.size or matrix.dtype.kind not in "iuf":
        raise ValueError(
            f"weights of shape {matrix.shape}, {matrix.dtype}: inputs by outputs"
        )
    order = np.argsort(numbers)
    sorted_ = numbers[order]
    at = np.searchsorted(sorted_, matrix).clip(0, len(known) - 1)
    if not (fits := sorted_[at] == matrix).all():
        bad = matrix[~fits].reshape(-1)[0]
        raise ValueError(f"a weight of {bad}: no level of {bits} bits")
    return MaskRom(order[at], tuple(known))


def _bits(levels: Sequence[float]) -> int:
    """Of a number in two's complement that stands for any level, in its finest step."""
    ratios = [level.as_integer_ratio() for level in levels]
    step = max(below for _, below in ratios)  # powers of two, so that each divides it
    most = (above * (step // below) for above, below in ratios)
    return max(max(n, ~n).bit_length() + 1 for n in most)
