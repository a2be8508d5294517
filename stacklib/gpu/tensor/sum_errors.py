"""How wrong a sum of tensor cores is, by five definitions of an error.

DeepSeek-V3's report (arXiv 2412.19437, section 3.3.2) measured "a maximum relative
error of nearly 2%" on an H800 for "two random matrices with K = 4096", and says neither
what they were drawn from nor relative to what. ``definitions`` are the usual readings,
``by_definition`` draws matrices and sums them by Hopper's rule.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from stacklib.quantity.bounds import whole
from stacklib.quantizers import Format

from .tensor_core import mma

if TYPE_CHECKING:
    from numpy.typing import NDArray

Draw = Callable[[Any, tuple[int, int]], Any]
DRAWN: dict[str, Draw] = {
    "normal": lambda rng, shape: rng.normal(size=shape),
    "uniform, -1 to 1": lambda rng, shape: rng.uniform(-1, 1, shape),
    "uniform, 0 to 1": lambda rng, shape: rng.uniform(0, 1, shape),
    "normal, no sign": lambda rng, shape: np.abs(rng.normal(size=shape)),
}


def definitions(found: NDArray[Any], exact: NDArray[Any]) -> dict[str, float]:
    """Errors of a product, each a share, by what they are relative to."""
    if found.shape != exact.shape or not found.size:
        raise ValueError(f"found is {found.shape} and exact {exact.shape}: the same")
    wrong, size = np.abs(found - exact), np.abs(exact)
    with np.errstate(divide="ignore", invalid="ignore"):
        each = np.where(wrong == 0, 0.0, wrong / size)
    return {
        "largest, each by its own": float(each.max()),
        "median, each by its own": float(np.median(each)),
        "all by all (Frobenius)": float(np.linalg.norm(wrong) / np.linalg.norm(size)),
        "largest by the largest": float(wrong.max() / size.max()),
        "largest by the mean": float(wrong.max() / size.mean()),
    }


def by_definition(
    drawn: str,
    *,
    k: int = 4096,
    size: int = 256,
    seed: int = 0,
    dtype: str = "e4m3fn",
    generation: str = "hopper",
) -> dict[str, float]:
    """The errors of a product of two matrices (size, k) and (k, size) of one kind."""
    whole(k=k, size=size)
    if drawn not in DRAWN:
        raise ValueError(f"drawn = {drawn!r}: one of {', '.join(DRAWN)}")
    rng, form = np.random.default_rng(seed), Format(dtype)
    a, b = (
        form.decode(form.encode(DRAWN[drawn](rng, shape))).astype(float)
        for shape in ((size, k), (k, size))
    )
    return definitions(mma(a, b, dtype=dtype, generation=generation), a @ b)
