"""What a shared scale loses on numbers of a distribution: an integral, nothing drawn.

A block of ``n`` independent numbers has its largest magnitude ``m`` with the density of
an order statistic, ``n f(m) F(m)^(n-1)`` (David and Nagaraja, *Order Statistics*,
section 2.1). Given ``m`` the scale is known, and the others have the density ``f`` cut
off at ``m``. Between two half ways all become one number of the element, so the squared
error is a sum of partial moments of ``f``, which are closed forms for the three
distributions here. Only the outer integral, over ``m``, is a sum of many short pieces.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from stacklib.quantity import resolve
from stacklib.quantity.bounds import is_whole

from .blocks import IMPLIED, RULES, scale_codes, scale_values
from .formats import Format

if TYPE_CHECKING:
    from numpy.typing import NDArray

SCALES = (*RULES, "e4m3", "exact")
PIECES = 256  # of an octave of the largest magnitude
_erf = np.frompyfunc(math.erf, 1, 1)


def _normal(x: NDArray[Any]) -> tuple[NDArray[Any], ...]:
    density = 2 * np.exp(-x * x / 2) / math.sqrt(2 * math.pi)
    zeroth = _erf(x / math.sqrt(2)).astype(np.float64)
    return zeroth, 2 / math.sqrt(2 * math.pi) - density, zeroth - x * density


def _laplace(x: NDArray[Any]) -> tuple[NDArray[Any], ...]:
    tail = np.exp(-x)
    return 1 - tail, 1 - (1 + x) * tail, 2 - (x * x + 2 * x + 2) * tail


def _student(x: NDArray[Any]) -> tuple[NDArray[Any], ...]:
    angle = np.arctan(x / math.sqrt(3))
    both = np.sin(angle) * np.cos(angle)
    first = math.sqrt(3) * np.sin(angle) ** 2
    return tuple(
        2 / math.pi * part for part in (angle + both, first, 3 * (angle - both))
    )


# moments of the magnitude from zero to x: of order zero, one and two; the whole second
# moment; and the octaves in which the largest of a block can lie
DISTRIBUTIONS: dict[str, tuple[Any, float, tuple[int, int]]] = {
    "normal": (_normal, 1.0, (-6, 4)),
    "laplace": (_laplace, 2.0, (-6, 6)),
    "student_3": (_student, 3.0, (-6, 26)),
}


def _scales(size: NDArray[Any], element: str, rule: str) -> NDArray[Any]:
    """The scale of blocks with these largest magnitudes."""
    largest = _numbers(element)[-1]
    if rule == "exact":
        return size / largest
    if rule == "e4m3":  # a scale with three digits behind the first, range no matter
        part, power = np.frexp(size / largest)
        return np.ldexp(np.rint(part * 16) / 16, power)
    codes = scale_codes(size.astype(np.float32), element, rule)
    return scale_values()[codes].astype(np.float64)


def _numbers(element: str) -> NDArray[Any]:
    """Magnitudes of an element, from zero."""
    if element == "int8":  # MXINT8 leaves the lowest code out
        return np.arange(128) / IMPLIED
    values = Format(element).values
    kind = Format(element).row.special
    if kind != "integer" and {-x for x in values} != set(values):
        raise ValueError(
            f"{element}: its numbers below zero are not those above; "
            "the integral is over magnitudes"
        )
    return np.array([x for x in values if x >= 0])


def expected_error(
    element: str,
    block: int,
    rule: str = "floor",
    distribution: str = "normal",
    sigma: float = 1.0,
) -> float:
    """Mean squared error of blocks over the mean square of their numbers.

    Parameters
    ----------
    element : str
        A format of at most 8 bits whose numbers are the same on both sides of zero;
        an integer goes without its lowest code, and ``int8`` is MXINT8.
    block : int
        Numbers that share a scale.
    rule : str
        One of ``SCALES``: the rules of MX, which give powers of two; ``e4m3``, a scale
        with three binary digits behind the first, as NVFP4 has it; or ``exact``.
    distribution : {"normal", "laplace", "student_3"}
        Of independent numbers.
    sigma : float
        What they are multiplied by. A power of two changes nothing.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        For a block of fewer than two numbers, a ``sigma`` that is not above zero, or an
        element such as ``nf4`` whose two halves differ.
    UnknownName
        For another element, rule or distribution, with the nearest ones.

    Examples
    --------
    >>> round(expected_error("e2m1", 32), 4)
    0.0132
    """
    element = Format(element).name
    rule = resolve(rule, SCALES, "rule")
    distribution = resolve(distribution, DISTRIBUTIONS, "distribution")
    if not is_whole(block) or block < 2:
        raise ValueError(f"block={block!r}: at least two numbers share a scale")
    if not (0 < sigma < math.inf):
        raise ValueError(f"sigma={sigma!r}: must be above zero and finite")
    moments, square, (low, high) = DISTRIBUTIONS[distribution]
    edges = np.exp2(np.arange(low * PIECES, high * PIECES + 1) / PIECES)
    weight = np.diff(moments(edges)[0] ** block)
    used = weight > 1e-14
    largest = np.sqrt(edges[1:] * edges[:-1])[used]
    weight = weight[used]
    scale = _scales(largest * sigma, element, rule) / sigma
    numbers = _numbers(element)
    own = _nearest(largest / scale, numbers) * scale - largest
    whole = moments(largest)
    # Many blocks have one scale, and with it the same half ways.
    levels, level = np.unique(scale, return_inverse=True)
    half = (numbers[1:] + numbers[:-1]) / 2
    cut = np.concatenate([[0.0], half]) * levels[:, None]
    inside = cut[level] < largest[:, None]
    zeroth, first, second = (
        np.diff(np.where(inside, part[level], most[:, None]), append=most[:, None])
        for part, most in zip(moments(cut), whole, strict=True)
    )
    q = numbers * scale[:, None]
    others = (second - 2 * q * first + q * q * zeroth).sum(axis=1)
    others /= whole[0]  # of one number below the largest
    found = (weight * (own**2 + (block - 1) * others)).sum()
    return float(found / (block * square))


def _nearest(x: NDArray[Any], numbers: NDArray[Any]) -> NDArray[Any]:
    half = (numbers[1:] + numbers[:-1]) / 2
    return numbers[np.searchsorted(half, x)]
