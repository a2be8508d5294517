"""A camera's raw picture into colours: four 2 x 2 kernels, each by two bytes.

Behind every pixel of a Bayer sensor lies one colour: red, green, green, blue in each
square of four. Raw samples have 12 bits, a multiplier of bytes has 8, so that each
kernel passes over the high bytes and over the low ones.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .byte_matmul import byte_split_matmul

if TYPE_CHECKING:
    from numpy.typing import NDArray

SAMPLE_BITS = 12
# Of a square's red, green, green and blue: weights that add up to 64.
KERNELS = {
    "red": (64, 0, 0, 0),
    "green": (0, 32, 32, 0),
    "blue": (0, 0, 0, 64),
    "grey": (19, 19, 19, 7),
}


def squares(raw: NDArray[Any]) -> NDArray[Any]:
    """Rows of four samples, one a square; errors for what is no raw picture."""
    import numpy as np

    picture = np.asarray(raw)
    if picture.ndim != 2 or not picture.size or any(n % 2 for n in picture.shape):
        raise ValueError(f"a picture of {picture.shape}: even sides are needed")
    if picture.dtype.kind not in "iu":
        raise TypeError(f"a picture of {picture.dtype}: whole samples are needed")
    top = (1 << SAMPLE_BITS) - 1
    if not 0 <= picture.min() <= picture.max() <= top:
        bad = picture.min() if picture.min() < 0 else picture.max()
        raise ValueError(f"a sample of {bad}: from 0 to {top}")
    four = [picture[y::2, x::2] for y in (0, 1) for x in (0, 1)]
    return np.stack([plane.reshape(-1) for plane in four], axis=1)


def demosaic(
    raw: Any, kernels: Mapping[str, Sequence[int]] = KERNELS
) -> dict[str, NDArray[Any]]:
    """Planes of a quarter of the pixels, by products of bytes; sums, not divided.

    Parameters
    ----------
    raw : integer array
        Even sides, samples of 12 bits in squares of red, green, green, blue.
    kernels : mapping of str to four int
        Weights of a square's samples, from -128 to 127.

    Raises
    ------
    TypeError, ValueError
        For samples that are not whole or too large, odd sides, or larger weights.

    Examples
    --------
    >>> demosaic([[4095, 10], [20, 0]])["green"].tolist()
    [[960]]
    """
    import numpy as np

    samples = squares(raw)
    weights = np.array([list(kernel) for kernel in kernels.values()]).T
    sums = byte_split_matmul(samples, weights).product
    high, wide = np.asarray(raw).shape
    planes = sums.T.reshape(len(kernels), high // 2, wide // 2)
    return dict(zip(kernels, planes, strict=True))
