"""The guide's layer norm and its fix, as a tile program beside a reference in float64.

``layernorm`` is the sample of document 003, which squares lanes beyond the row with the
rest; ``MASKED`` keeps them out. It runs on the tile machine (`gpu.launch_tiles`) and,
with ``import triton.language as tl``, in Triton.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from stacklib import gpu
from stacklib.gpu import tiles as tl

from .norms import next_power

EPS = 1e-5


def layernorm_reference(
    x: Any, weight: Any, bias: Any, eps: float = EPS
) -> NDArray[np.float64]:
    """Layer norm of every row in float64.

    - ``x``: array (rows, columns).
    - ``weight``, ``bias``: array (columns,).
    - raises ``ValueError`` for shapes that do not fit each other.
    """
    x, weight, bias = (np.asarray(a, np.float64) for a in (x, weight, bias))
    if x.ndim != 2 or not x.size or weight.shape != bias.shape != x.shape[1:]:
        raise ValueError(
            f"x {x.shape}, weight {weight.shape}, bias {bias.shape}: rows of numbers, "
            "and one weight and bias a column"
        )
    centred = x - x.mean(-1, keepdims=True)
    variance = (centred**2).mean(-1, keepdims=True)
    out: NDArray[np.float64] = centred / np.sqrt(variance + eps) * weight + bias
    return out


def run_layernorm(
    x: Any, weight: Any, bias: Any, *, masked: bool = True, device: str = "h100-sxm"
) -> Any:
    """Launch the kernel on the tile machine; results ``y`` and ``var``, and a report.

    - ``x``: array (rows, columns); in float32, as are ``weight`` and ``bias``,
      (columns,).
    - ``masked``: bool; whether lanes beyond a row are kept out of the variance.
    """
    layernorm_reference(x, weight, bias)  # refuses what does not fit
    x, weight, bias = (np.asarray(a, np.float32) for a in (x, weight, bias))
    rows, columns = x.shape
    tile = int(next_power(columns))
    out, variances = gpu.empty((rows, columns)), gpu.empty(rows)
    given = (x, weight, bias, out, variances, columns, tile, masked)
    return gpu.launch_tiles(layernorm, rows, *given, device=device)


# -- the tile program ----------------------------------------------------------------


def layernorm(
    x: Any,
    weight: Any,
    bias: Any,
    y: Any,
    var: Any,
    n: Any,
    BLOCK: tl.constexpr,
    MASKED: tl.constexpr,
) -> None:
    """The guide's sample, whose lanes beyond the row hold -mean, unless ``MASKED``."""
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    inside = at < n
    values = tl.load(x + row * n + at, mask=inside, other=0.0)
    mean = tl.sum(values, axis=0) / n
    centred: Any = values - mean
    if MASKED:
        centred = tl.where(inside, centred, 0.0)
    variance: Any = tl.sum(centred * centred, axis=0) / n
    tl.store(var + row, variance)
    scaled = centred / tl.sqrt(variance + 1e-5)
    w = tl.load(weight + at, mask=inside)
    b = tl.load(bias + at, mask=inside)
    tl.store(y + row * n + at, scaled * w + b, mask=inside)
