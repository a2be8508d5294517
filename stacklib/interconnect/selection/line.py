"""A line through times: what a message costs, and what each of its bytes costs.

    time = alpha + beta size

Weighted least squares of the relative error, since times span orders of magnitude and
their noise grows with them: each weight is one over the square of the line's own time,
found by fitting again. Errors are from the scatter about the line, intervals from
Student's distribution with ``n - 2`` degrees of freedom. Left out: a bend (protocols
change with size) and noise that is not relative.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import atan, cos, fsum, inf, pi, sin, sqrt

from stacklib.quantity.bounds import above_zero, at_least

ROUNDS = 6  # of fitting again; weights stand after three or four


@dataclass(frozen=True, slots=True)
class Line:
    """Alpha in seconds, beta in seconds a byte, and what is known of both."""

    alpha: float
    beta: float
    alpha_error: float  # standard errors
    beta_error: float
    spread: float  # of a time about the line, relative
    points: int
    factor: float  # of the standard error, for the level asked for

    def time(self, size: float) -> float:
        """Seconds the line says for a size."""
        return self.alpha + self.beta * size

    @property
    def alpha_interval(self) -> tuple[float, float]:
        """From and to of alpha, at the level asked for."""
        wide = self.factor * self.alpha_error
        return self.alpha - wide, self.alpha + wide

    @property
    def beta_interval(self) -> tuple[float, float]:
        """From and to of beta, at the level asked for."""
        wide = self.factor * self.beta_error
        return self.beta - wide, self.beta + wide

    @property
    def bandwidth(self) -> float:
        """Bytes a second of a message that never ends."""
        return 1 / self.beta if self.beta > 0 else inf

    @property
    def half_size(self) -> float:
        """Bytes at which half of the time is alpha."""
        return self.alpha * self.bandwidth


def fit_line(
    sizes: Sequence[float], times: Sequence[float], *, level: float = 0.95
) -> Line:
    """Find alpha and beta of measured times, with their intervals.

    Parameters
    ----------
    sizes : sequence of float
        Bytes, from 0 up; at least two of them differ.
    times : sequence of float
        Seconds, above zero, one a size; at least three.
    level : float
        Share of repetitions in which an interval is to hold the truth.

    Returns
    -------
    Line
        ``.alpha``, ``.beta``, ``.alpha_interval``, ``.beta_interval``, ``.bandwidth``.

    Raises
    ------
    ValueError
        For fewer than three points, lengths that differ, sizes that are all the same,
        a size below zero, a time not above it, or NaN in either.

    Examples
    --------
    >>> line = fit_line([1e3, 1e5, 1e6, 1e7], [11e-6, 12e-6, 20e-6, 112e-6])
    >>> f"{line.alpha * 1e6:.1f} us, {line.bandwidth / 1e9:.0f} GB/s"
    '10.9 us, 101 GB/s'
    >>> low, high = line.alpha_interval
    >>> low < 10.5e-6 < high
    True
    """
    xs, ys = list(sizes), list(times)
    if len(xs) != len(ys):
        raise ValueError(f"{len(xs)} sizes and {len(ys)} times: one time a size")
    if len(xs) < 3:
        raise ValueError(f"{len(xs)} points: a line with an error needs three or more")
    for place, (x, y) in enumerate(zip(xs, ys, strict=True)):
        at_least(0, **{f"sizes[{place}]": x})
        above_zero(**{f"times[{place}]": y})
    if min(xs) == max(xs):
        raise ValueError(f"every size is {xs[0]:g}: two that differ are needed")
    if not 0 < level < 1:
        raise ValueError(f"level = {level!r}: a share between 0 and 1 is needed")
    return _fit(xs, ys, level)


def _fit(xs: list[float], ys: list[float], level: float) -> Line:
    weights = [1 / y**2 for y in ys]
    for _ in range(ROUNDS):
        alpha, beta, _, _ = _solve(xs, ys, weights)
        said = [alpha + beta * x for x in xs]
        # Where the line falls below a tenth of what was measured it is no weight.
        weights = [1 / max(s, y / 10) ** 2 for s, y in zip(said, ys, strict=True)]
    alpha, beta, of_alpha, of_beta = _solve(xs, ys, weights)
    left = fsum(
        w * (y - alpha - beta * x) ** 2 for x, y, w in zip(xs, ys, weights, strict=True)
    )
    free = len(xs) - 2
    spread = sqrt(left / free)
    errors = spread * sqrt(of_alpha), spread * sqrt(of_beta)
    return Line(alpha, beta, *errors, spread, len(xs), student(free, level))


def _solve(
    xs: list[float], ys: list[float], weights: list[float]
) -> tuple[float, float, float, float]:
    """Alpha, beta, and the variance of each for errors of one weight.

    Exact sums: those of floats depend on the Python that adds them.
    """
    total = fsum(weights)
    x0 = fsum(w * x for w, x in zip(weights, xs, strict=True)) / total
    y0 = fsum(w * y for w, y in zip(weights, ys, strict=True)) / total
    # About the mean, so that sizes of a few bytes and of gigabytes do not cancel.
    wide = fsum(w * (x - x0) ** 2 for w, x in zip(weights, xs, strict=True))
    both = zip(weights, xs, ys, strict=True)
    beta = fsum(w * (x - x0) * (y - y0) for w, x, y in both) / wide
    return y0 - beta * x0, beta, 1 / total + x0**2 / wide, 1 / wide


def student(free: int, level: float) -> float:
    """How many standard errors hold a share ``level``, with ``free`` degrees.

    The finite sums of M. Abramowitz and I. Stegun, *Handbook of Mathematical
    Functions*, 26.7.3 and 26.7.4, bisected.
    """
    low, high = 0.0, 1.0
    while _within(high, free) < level:
        high *= 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if _within(middle, free) < level else (low, middle)
    return high


def _within(t: float, free: int) -> float:
    """Share of Student's distribution between ``-t`` and ``t``."""
    angle = atan(t / sqrt(free))
    odd = free % 2
    term = cos(angle) if odd else 1.0
    total = 0.0
    for k in range(1 + odd, free, 2):  # free - 1 is the last power of the cosine
        total += term
        term *= k / (k + 1) * cos(angle) ** 2
    if odd:
        return 2 / pi * (angle + sin(angle) * total)
    return sin(angle) * total
