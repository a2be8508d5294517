"""A kernel of the corpus: how it is launched, and what NumPy says it must leave."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Case:
    """``expected``: array by parameter name. ``lanes``: it exchanges between lanes.

    Numba's simulator has no shuffles and votes, so that such kernels are held to NumPy
    alone; ``dtypes`` that NumPy lacks likewise.
    """

    kernel: Callable[..., None]
    grid: Any
    block: Any
    args: tuple[Any, ...]
    expected: dict[str, Any]
    within: float = 0.0  # of the largest number expected
    lanes: bool = False
    name: str = field(default="")
    more: dict[str, Any] = field(default_factory=dict)  # of the launch

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", self.name or self.kernel.__name__)

    def check(self, results: dict[str, Any]) -> None:
        """Compare every array."""
        for name, expected in self.expected.items():
            found = np.asarray(results[name])
            assert found.shape == expected.shape, (self.name, name, found.shape)
            wide = expected.astype(np.float64)
            off = np.abs(found.astype(np.float64) - wide).max()
            assert off <= self.within * np.abs(wide).max(), (self.name, name, off)


def rng(seed: int) -> Any:
    """Numbers that are the same in every process."""
    return np.random.default_rng(seed)


def normal(seed: int, *shape: int) -> Any:
    """Numbers about zero in FP32."""
    return rng(seed).normal(size=shape).astype(np.float32)


def zeros(*shape: int, dtype: Any = np.float32) -> Any:
    """What a kernel adds to, or fills."""
    return np.zeros(shape, dtype)
