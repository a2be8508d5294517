"""GPTQ: round a column of weights, and let the columns not yet rounded make up for it.

Rounding one weight by ``e`` costs least when the others move by ``-e`` times the row of
the inverse Hessian, over its diagonal. All rows of a layer are rounded in one order, so
that one Cholesky factor serves them all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from stacklib.quantity.bounds import whole

from .formats import Format
from .ggml_blocks import IQ4_NL
from .quantizing import FAMILIES, padded, quantize
from .scheme import Quantized, Scheme, scheme_row
from .weight_methods import checked_matrix

if TYPE_CHECKING:
    from numpy.typing import NDArray


def gptq(
    weights: Any,
    hessian: Any,
    scheme: str,
    *,
    block: int = 128,
    act_order: bool = False,
    static_groups: bool = False,
    damp: float = 0.01,
) -> Quantized:
    """Round a layer's weights with its inputs in mind.

    Parameters
    ----------
    weights : array of shape (outputs, inputs)
    hessian : array of shape (inputs, inputs)
        From ``hessian(activations)``. An input that never came has a zero on the
        diagonal; its weights become zero.
    scheme : str
        One of ``schemes()`` whose scales belong to a row or to a block within it.
    block : int
        Columns that are rounded before the rest is brought up to date; it changes the
        speed, not the result.
    act_order : bool
        Round the inputs with the largest diagonal first.
    static_groups : bool
        Take all scales from the weights as they came. Needed with ``act_order`` for a
        result that ``pack`` can write: else blocks are those of the order.
    damp : float
        Share of the diagonal's mean that is added to it.

    Returns
    -------
    Quantized
        A row that comes out worse than plain rounding keeps plain rounding.

    Raises
    ------
    ValueError
        For shapes that do not match, NaN or infinity, a Hessian that is not symmetric
        and positive, ``damp`` or ``block`` out of range, a scheme with a scale for the
        whole tensor.

    Notes
    -----
    Frantar et al., *GPTQ*, arXiv 2210.17323, algorithm 1; ``gptq.py`` of IST-DASLab.
    """
    row = scheme_row(scheme)
    if row.name in ("int8_tensor", "fp8_128x128", "nf4_dq", "nvfp4"):
        raise ValueError(
            f"{row.name}: a scale is shared by rows that are rounded apart"
        )
    w, h = checked_matrix(weights, "weights"), _checked_hessian(hessian, weights, damp)
    whole(block=block)
    dead = np.diag(h) == 0
    h[dead, dead] = 1
    w[:, dead] = 0
    order = np.argsort(-np.diag(h), kind="stable") if act_order else np.arange(len(h))
    moved = act_order and not static_groups
    source = w[:, order] if moved else w
    grid = _Grid(row, source, static_groups)
    factor = _factor(h[np.ix_(order, order)], damp)
    places = np.arange(len(h)) if moved else order
    rounded = _columns(w[:, order], factor, grid, places, block)
    _keep_plain(grid, source, rounded, h[np.ix_(order, order)] if moved else h)
    found = grid.result(w.shape)
    if moved:
        found.levels["order"] = order.astype(np.int32)
    return found


def _checked_hessian(hessian: Any, weights: Any, damp: float) -> NDArray[Any]:
    h, inputs = checked_matrix(hessian, "hessian"), np.shape(weights)[-1]
    if h.shape != (inputs, inputs):
        raise ValueError(f"hessian of shape {h.shape} for {inputs} inputs")
    if not np.allclose(h, h.T, atol=1e-6 * max(np.abs(h).max(), 1e-30)):
        raise ValueError("hessian: it is not symmetric")
    if (np.diag(h) < 0).any():
        at = int(np.argmin(np.diag(h)))
        raise ValueError(f"hessian: {h[at, at]:.3g} on the diagonal at {at}")
    if not 0 <= damp <= 1:
        raise ValueError(f"damp={damp}: from 0 to 1")
    return h


def _factor(h: NDArray[Any], damp: float) -> NDArray[Any]:
    """The upper Cholesky factor of the inverse."""
    damped = h + damp * np.diag(h).mean() * np.eye(len(h))
    try:
        lower = np.linalg.cholesky(np.linalg.inv(damped))
    except np.linalg.LinAlgError:
        raise ValueError(
            f"hessian: not positive with damp={damp}; take more samples or more damp"
        ) from None
    return lower.T


class _Grid:
    """Scales of a scheme, taken block by block, and the numbers they allow."""

    def __init__(self, row: Scheme, weights: NDArray[Any], static: bool) -> None:
        self.row, self.static = row, static
        self.width = padded(np.zeros((1, 1), np.float32), row).shape[1]
        if not row.block:
            self.width = weights.shape[1]
        self.columns = weights.shape[1]
        self.parts: dict[int, Quantized] = {}
        self.elements, self.codes = _elements(row)
        self.half = (self.elements[1:] + self.elements[:-1]) / 2
        full = -(-self.columns // self.width) * self.width
        self.scale = np.zeros((len(weights), full))
        self.base = np.zeros_like(self.scale)
        if static or not row.block:
            for start in range(0, self.columns, self.width):
                self.open(start // self.width, weights[:, start : start + self.width])

    def open(self, part: int, piece: NDArray[Any]) -> None:
        """Take the scales of a block from its weights as they stand."""
        start = part * self.width
        q = quantize(piece.astype(np.float32), self.row.name)
        self.parts[part] = q
        numbers = self.elements.size
        # two codes of each number tell its scale and where its zero lies
        low = np.full_like(q.codes, self.codes[0])
        high = np.full_like(q.codes, self.codes[numbers - 1])
        decode = FAMILIES[self.row.family].decode
        first = decode(self.row, low, q.scales, q.levels).astype(np.float64)
        last = decode(self.row, high, q.scales, q.levels).astype(np.float64)
        reach = self.elements[-1] - self.elements[0]
        scale = (last - first) / reach
        at = slice(start, start + scale.shape[1])
        self.scale[:, at] = scale
        self.base[:, at] = first - scale * self.elements[0]

    def round(self, column: int, w: NDArray[Any]) -> NDArray[Any]:
        """The nearest numbers of a column, and their codes kept."""
        scale, base = self.scale[:, column], self.base[:, column]
        usable = np.where(scale == 0, 1, scale)
        place = np.searchsorted(self.half, (w - base) / usable)
        place = np.where(scale == 0, np.searchsorted(self.half, 0), place)
        part, within = divmod(column, self.width)
        self.parts[part].codes[:, within] = self.codes[place]
        return base + scale * self.elements[place]

    def result(self, shape: tuple[int, ...]) -> Quantized:
        """All blocks side by side."""
        parts = [self.parts[key] for key in sorted(self.parts)]
        codes = np.concatenate([q.codes for q in parts], 1)
        scales = np.concatenate([q.scales for q in parts], 1)
        levels = {
            key: np.concatenate([q.levels[key] for q in parts], 1)
            for key in parts[0].levels
        }
        return Quantized(codes, scales, shape, self.row.name, -1, levels)


def _elements(row: Scheme) -> tuple[NDArray[Any], NDArray[Any]]:
    """Numbers of a code before its scale, in order, and the code of each."""
    if row.name == "iq4_nl":
        return np.array(IQ4_NL, np.float64), np.arange(16, dtype=np.uint8)
    if row.family in ("integer", "ggml", "k") or row.element == "int8":
        signed = row.name in ("q8_0", "q6_k", "q3_k", "int4_g128") or (
            row.element == "int8"
        )
        low = -(1 << row.code_bits - 1) if signed else 0
        low += row.element == "int8" or row.name == "q8_0"
        top = (1 << row.code_bits - signed) - 1
        whole = np.arange(low, top + 1)
        return whole.astype(np.float64), whole.astype(np.int8 if signed else np.uint8)
    form = Format(row.element)
    numbers = np.array(form.values)
    codes = np.array([form.encode(float(x), saturate=True) for x in numbers], np.uint8)
    return numbers, codes


def _columns(
    w: NDArray[Any],
    factor: NDArray[Any],
    grid: _Grid,
    places: NDArray[Any],
    block: int,
) -> NDArray[Any]:
    """Round column after column; ``places`` says where each stands in its blocks."""
    rounded = np.empty_like(w)
    for start in range(0, w.shape[1], block):
        stop = min(start + block, w.shape[1])
        errors = np.zeros((len(w), stop - start))
        for i in range(start, stop):
            at = int(places[i])
            part = at // grid.width
            if part not in grid.parts:  # scales of weights that have moved already
                end = i + grid.width
                piece = w[:, i:end].copy()
                piece[:, stop - i :] -= errors @ factor[start:stop, stop:end]
                grid.open(part, piece)
            rounded[:, at] = grid.round(at, w[:, i])
            error = (w[:, i] - rounded[:, at]) / factor[i, i]
            w[:, i:stop] -= np.outer(error, factor[i, i:stop])
            errors[:, i - start] = error
        w[:, stop:] -= errors @ factor[start:stop, stop:]
    return rounded


def _keep_plain(
    grid: _Grid, w: NDArray[Any], rounded: NDArray[Any], h: NDArray[Any]
) -> None:
    """Give rows that got worse their plain rounding back."""
    plain = _Grid(grid.row, w, static=True)
    near = np.stack([plain.round(i, w[:, i]) for i in range(w.shape[1])], 1)

    def cost(found: NDArray[Any]) -> NDArray[Any]:
        error = w - found
        total: NDArray[Any] = np.einsum("oi,ij,oj->o", error, h, error, optimize=True)
        return total

    worse = cost(rounded) > cost(near)
    for key, part in plain.parts.items():
        mine = grid.parts[key]
        mine.codes[worse] = part.codes[worse]
        mine.scales[worse] = part.scales[worse]
        for name, level in part.levels.items():
            mine.levels[name][worse] = level[worse]
