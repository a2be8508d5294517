"""An analog product: weights as conductances, a bitline as their sum, then an ADC.

A weight is one of 2^bits levels and a little off for good; an input is a voltage of
eight bits. Kirchhoff adds the currents of up to ``rows`` cells on a bitline at once,
and a converter of ``adc`` bits reads the sum: what it cannot resolve is lost before the
digital sum over blocks begins. So the converter is where the bits and the joules go.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from stacklib.quantity import Quantity, quoted
from stacklib.quantity.bounds import above_zero, at_least, share, whole

INPUT_BITS = 8
REACH = 4.0  # full scale of the converter, in deviations of a sum


@dataclass(frozen=True)
class Crossbar:
    """A matrix in analog cells, which stands for the weight it was made from.

    - ``cells``: (out, in), in levels, off by what programming missed
    - ``scales``: (out,), what one level is worth
    - ``adc``: bits of the converter
    - ``rows``: cells on a bitline
    - ``reach``: full scale of the converter, in deviations of a sum
    """

    __array_ufunc__ = None  # NumPy hands a product with it over

    cells: Any
    scales: Any
    adc: int
    rows: int
    reach: float = REACH

    @property
    def T(self) -> Crossbar:
        """Itself: a product reads it along its inputs either way."""
        return self

    @property
    def conversions(self) -> int:
        """Conversions for one input vector."""
        out, columns = self.cells.shape
        return int(out * -(-columns // self.rows))

    def __call__(self, x: Any) -> Any:
        """The product (..., in) -> (..., out), through cells and converters."""
        import numpy as np

        x = finite(x, "inputs").astype(np.float32)
        if x.shape[-1:] != self.cells.shape[1:]:
            raise ValueError(
                f"inputs of shape {x.shape}; vectors of {self.cells.shape[1]} are read"
            )
        top = 2 ** (INPUT_BITS - 1) - 1
        scale = np.abs(x).max(axis=-1, keepdims=True) / top
        scale[scale == 0] = 1
        codes = np.rint(x / scale)
        total = np.zeros((*x.shape[:-1], self.cells.shape[0]), np.float32)
        for begin in range(0, self.cells.shape[1], self.rows):
            block = self.cells[:, begin : begin + self.rows]
            read = codes[..., begin : begin + self.rows]
            total += self.converted(read @ block.T, read, block)
        return total * scale * self.scales

    def converted(self, sums: Any, read: Any, block: Any) -> Any:
        """What the converter makes of bitline sums.

        Its range is set by column and by vector, so that no vector feels another.
        """
        import numpy as np

        squares = (read**2).sum(axis=-1, keepdims=True)
        spread = np.sqrt(squares * (block**2).mean(axis=1))
        step = 2 * self.reach * spread / 2**self.adc
        step[step == 0] = 1
        low, high = -(2 ** (self.adc - 1)), 2 ** (self.adc - 1) - 1
        return np.clip(np.rint(sums / step), low, high) * step

    __rmatmul__ = __call__


def finite(values: Any, name: str) -> Any:
    """Real numbers that single precision holds, in double; others are refused."""
    import numpy as np

    told = np.asarray(values)
    if told.dtype.kind not in "biuf":
        raise ValueError(f"{name} of {told.dtype}: real numbers are needed")
    told = told.astype(np.float64)
    if not (np.abs(told) <= np.finfo(np.float32).max).all():
        raise ValueError(f"{name} with NaN, infinity or more than float32 holds")
    return told


def analog_matmul(
    weights: Any,
    bits: int = 8,
    noise: float = 0.0,
    adc: int = 8,
    *,
    rows: int = 256,
    reach: float = REACH,
    seed: int = 0,
) -> Crossbar:
    """A matrix programmed into analog cells; call it, or multiply by it.

    Parameters
    ----------
    weights : array
        (out, in), finite.
    bits : int
        Of a cell's level, its sign among them, 2 to 16.
    noise : float
        Standard deviation of what programming misses, over the largest level; 0 to 1.
    adc : int
        Bits of the converter at the bitline, a sign among them, 2 to 24.
    rows : int, optional
        Cells on a bitline; longer rows are cut and added digitally.
    reach : float, optional
        Full scale of the converter, in deviations that a sum has where inputs and
        weights have nothing to do with each other; what lies beyond is cut. From
        0.01 to a million.
    seed : int, optional
        Of what programming misses.

    Returns
    -------
    Crossbar
        ``crossbar(x)`` is the product, (..., in) to (..., out).

    Raises
    ------
    ValueError
        For weights that are no matrix or not finite, or bits out of range.

    Examples
    --------
    >>> import numpy as np
    >>> crossbar = analog_matmul(np.eye(2), adc=16)
    >>> [round(float(y), 1) for y in crossbar([3.0, -1.0])]
    [3.0, -1.0]
    """
    import numpy as np

    told = finite(weights, "weights")
    if told.ndim != 2 or not told.size:
        raise ValueError(f"weights {told.shape}: a matrix of finite numbers is needed")
    whole(2, bits=bits, adc=adc)
    whole(rows=rows)
    whole(0, seed=seed)
    share(noise=noise)
    at_least(0.01, reach=reach)
    if bits > 16 or adc > 24 or reach > 1e6:
        raise ValueError(f"bits={bits}, adc={adc}, reach={reach}: at most 16, 24, 1e6")
    bits, adc, rows = int(bits), int(adc), int(rows)
    top = 2 ** (bits - 1) - 1
    scales = np.abs(told).max(axis=1) / top
    scales[scales == 0] = 1
    cells = np.rint(told / scales[:, None])
    random = np.random.default_rng(seed)
    cells += noise * top * random.standard_normal(cells.shape)
    told = cells.astype(np.float32), scales.astype(np.float32)
    return Crossbar(*told, adc, rows, reach)


def lost(adc: float, reach: float = REACH) -> float:
    """Share of a product that a converter loses, by root mean square.

    A step is 2 x reach / 2^adc deviations wide, and what is rounded off is even over
    it: reach / (sqrt(3) x 2^adc). Good from three bits on, where little is clipped.
    """
    at_least(1, adc=adc)
    above_zero(reach=reach)
    return reach / math.sqrt(3) * 2.0**-adc


def loss_foretold(adc: int, loss: float, error: float) -> float:
    """Bits a byte that a converter should cost, from a format that was measured.

    What a small error costs grows with its square: ``loss`` at a share ``error``.
    """
    above_zero(loss=loss, error=error)
    return loss * (lost(adc) / error) ** 2


def in_analog(
    model: Any,
    bits: int = 8,
    noise: float = 0.0,
    adc: int = 8,
    *,
    rows: int = 256,
    reach: float = REACH,
) -> Any:
    """A language model with every matrix but the embedding in analog cells."""
    import dataclasses

    weights = {
        name: analog_matmul(w, bits, noise, adc, rows=rows, reach=reach, seed=at)
        if getattr(w, "ndim", 0) == 2 and "embed" not in name
        else w
        for at, (name, w) in enumerate(model.weights.items())
    }
    return dataclasses.replace(model, weights=weights)


def product_energy(adc: int, rows: int) -> Quantity:
    """Joules of one product on a bitline: its share of a conversion.

    A converter takes so many joules a step that it tells apart, and has 2^adc of them
    (Walden). Cells and drivers are left out: what stands here is the least.
    """
    whole(adc=adc, rows=rows)
    return (quoted("adc.walden") * 2**adc / rows).named("energy of an analog product")


def digital_energy() -> Quantity:
    """Joules of one product of eight bits and its sum in 32, in digital gates."""
    pair = quoted("horowitz.mult8") + quoted("horowitz.add32")
    return pair.named("energy of a digital product")


def worth(rows: int) -> int:
    """The most bits at which a converter still costs less than digital products."""
    whole(rows=rows)
    ratio = (digital_energy() * rows / quoted("adc.walden")).si
    return math.floor(math.log2(ratio))
