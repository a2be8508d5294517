"""Weights in few bits when the inputs are known: AWQ, SmoothQuant, outliers apart.

A layer is ``y = W x`` with weights of shape (outputs, inputs); what counts is the error
of ``y``. Over many inputs it is the weights' error in the norm of the Hessian
``H = 2 X X^T / n``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .arrays import as_single
from .inputs import real
from .quantizing import dequantize, quantize
from .scheme import Quantized, scheme_row

if TYPE_CHECKING:
    from numpy.typing import NDArray

ALPHAS = tuple(i / 20 for i in range(20))  # AWQ, auto_scale.py: n_grid = 20
LEAST = 1e-5  # SmoothQuant, smooth.py: no scale below it


def checked_matrix(x: Any, name: str) -> NDArray[Any]:
    """A finite matrix in double precision."""
    array = real(x, name)
    array = as_single(array) if array.itemsize == 2 else array
    if array.ndim != 2 or not array.size:
        raise ValueError(f"{name} of shape {array.shape}: a matrix is needed")
    array = array.astype(np.float64)
    if not np.isfinite(array).all():
        at = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
        raise ValueError(f"{name}: {array[at]} at index {at}")
    return array


def hessian(activations: Any) -> NDArray[np.float64]:
    """``2 X X^T / n`` over the inputs of a layer, as a running mean.

    Parameters
    ----------
    activations : array or tensor of shape (samples, inputs), or an iterable of such
        Batches are averaged by their samples, so that how they are cut has no effect.

    Returns
    -------
    array of shape (inputs, inputs)

    Raises
    ------
    ValueError
        Without a sample, for NaN or infinity, for batches of different widths.

    Notes
    -----
    Frantar et al., *GPTQ*, arXiv 2210.17323, section 3; gptq.py, ``add_batch``.
    """
    batches = [activations] if hasattr(activations, "shape") else activations
    total, found = 0, np.zeros((0, 0))
    for batch in batches:
        x = batch if hasattr(batch, "shape") else np.asarray(batch)
        x = checked_matrix(x.reshape(-1, x.shape[-1]) if x.ndim > 2 else x, "a batch")
        if total and x.shape[1] != len(found):
            raise ValueError(f"a batch of {x.shape[1]} inputs after {len(found)}")
        if not total:
            found = np.zeros((x.shape[1], x.shape[1]))
        seen = total + len(x)
        found *= total / seen
        found += 2 / seen * (x.T @ x)
        total = seen
    if not total:
        raise ValueError("no samples: a layer is calibrated with at least one")
    return found


def layer_error(weights: Any, rounded: Any, hessian: Any) -> float:
    """Mean squared error of a layer's outputs, from the Hessian of its inputs."""
    error = checked_matrix(weights, "weights") - checked_matrix(rounded, "rounded")
    h = checked_matrix(hessian, "hessian")
    return float(np.einsum("oi,ij,oj->", error, h, error, optimize=True) / 2)


@dataclass(frozen=True, eq=False, slots=True)
class Awq:
    """Weights whose input channels were scaled before rounding.

    ``quantized`` holds ``W * scales``; a layer divides its input by ``scales``, or, as
    here, the weights afterwards. ``losses`` are the output errors by exponent.
    """

    quantized: Quantized
    scales: NDArray[Any]
    alpha: float
    losses: dict[float, float]

    @property
    def weights(self) -> NDArray[Any]:
        """What a layer multiplies with: no precision is mixed, every code is alike."""
        return dequantize(self.quantized) / self.scales


def awq(
    weights: Any, activations: Any, scheme: str, *, alphas: tuple[float, ...] = ALPHAS
) -> Awq:
    """Scale the channels that see large inputs up, by the exponent that loses least.

    Parameters
    ----------
    weights : array of shape (outputs, inputs)
    activations : array of shape (samples, inputs)
    scheme : str
        One of ``schemes()``.
    alphas : tuple of float
        Exponents to try; 0 is plain rounding.

    Raises
    ------
    ValueError
        For shapes that do not match, no samples, NaN or infinity.

    Notes
    -----
    Lin et al., *AWQ*, arXiv 2306.00978, equation 5; ``auto_scale.py``: the scale is the
    mean magnitude of the input to the power alpha, over the root of its extremes.
    """
    alphas = tuple(alphas)
    if not len(alphas) or not np.isfinite(alphas).all():
        raise ValueError(f"alphas={alphas!r}: exponents to try are needed")
    w, x = checked_matrix(weights, "weights"), _inputs(weights, activations)
    name = scheme_row(scheme).name
    size = np.maximum(np.abs(x).mean(0), 1e-4)
    h = hessian(x)
    losses: dict[float, float] = {}
    kept: dict[float, tuple[Quantized, Any]] = {}
    for alpha in alphas:
        scales = np.maximum(size**alpha, 1e-4)
        scales = (scales / np.sqrt(scales.max() * scales.min())).astype(np.float32)
        try:
            q = quantize((w * scales).astype(np.float32), name)
        except ValueError:  # more than a scale of the scheme holds
            if alpha == alphas[-1] and not kept:
                raise
            continue
        losses[alpha] = layer_error(w, dequantize(q) / scales, h)
        kept[alpha] = q, scales
    best = min(losses, key=lambda alpha: losses[alpha])
    return Awq(*kept[best], best, losses)


def _inputs(weights: Any, activations: Any) -> NDArray[Any]:
    x = activations if hasattr(activations, "shape") else np.asarray(activations)
    x = x.reshape(-1, x.shape[-1]) if x.ndim > 2 else x
    if x.ndim != 2 or not len(x):
        raise ValueError(
            f"activations of shape {x.shape}: no samples to calibrate with"
        )
    x = checked_matrix(x, "activations")
    if x.shape[1] != np.shape(weights)[1]:
        raise ValueError(
            f"activations have {x.shape[1]} inputs, the weights {np.shape(weights)[1]}"
        )
    return x


@dataclass(frozen=True, eq=False, slots=True)
class Smoothed:
    """Weights multiplied and activations divided by the same scale of each channel."""

    weights: NDArray[Any]
    activations: NDArray[Any]
    scales: NDArray[Any]


def smoothquant(weights: Any, activations: Any, alpha: float = 0.5) -> Smoothed:
    """Move the difficulty of outlier channels from the activations to the weights.

    Parameters
    ----------
    weights : array of shape (outputs, inputs)
        All layers behind one norm, stacked: they share the scale.
    activations : array of shape (samples, inputs)
    alpha : float
        From 0, all of it stays, to 1, all of it moves.

    Raises
    ------
    ValueError
        For alpha outside of 0 to 1, shapes that do not match, NaN or infinity.

    Notes
    -----
    Xiao et al., *SmoothQuant*, arXiv 2211.10438, equation 4; ``smooth.py``.
    """
    if not 0 <= alpha <= 1:
        raise ValueError(f"alpha={alpha}: from 0 to 1")
    w, x = checked_matrix(weights, "weights"), _inputs(weights, activations)
    by_input, by_weight = np.abs(x).max(0), np.maximum(np.abs(w).max(0), LEAST)
    scales = np.maximum(by_input**alpha / by_weight ** (1 - alpha), LEAST)
    return Smoothed(w * scales, x / scales, scales)


@dataclass(frozen=True, eq=False, slots=True)
class OutlierSplit:
    """A matrix as a dense part of small numbers and a sparse one of large ones.

    ``rows``, ``columns`` and ``values`` are the sparse part; ``dense`` is zero there.
    """

    dense: NDArray[Any]
    rows: NDArray[Any]
    columns: NDArray[Any]
    values: NDArray[Any]

    @property
    def sparse_bytes(self) -> int:
        """In compressed rows: fp16 numbers, 16-bit columns, a 32-bit start a row."""
        return 4 * self.values.size + 4 * (len(self.dense) + 1)

    def joined(self, dense: Any) -> NDArray[Any]:
        """A dense part, quantized or not, with the large numbers put back."""
        found: NDArray[Any] = np.array(dense)
        found[self.rows, self.columns] = self.values
        return found


def outlier_split(weights: Any, share: float) -> OutlierSplit:
    """Take the largest numbers of a matrix out of it, so that scales fit the rest.

    Parameters
    ----------
    weights : matrix
    share : float
        Of the numbers, from 0 to 1.

    Raises
    ------
    ValueError
        For a share outside of 0 to 1, NaN or infinity.

    Notes
    -----
    Kim et al., *SqueezeLLM*, arXiv 2306.07629, section 4.2.
    """
    if not 0 <= share <= 1:
        raise ValueError(f"share={share}: from 0 to 1")
    w = checked_matrix(weights, "weights").astype(np.float32)
    count = round(share * w.size)
    order = np.argsort(-np.abs(w), axis=None, kind="stable")[:count]
    rows, columns = np.unravel_index(np.sort(order), w.shape)
    values = w[rows, columns]
    w[rows, columns] = 0
    return OutlierSplit(w, rows, columns, values)
