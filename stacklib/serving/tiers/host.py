"""Blocks in the memory of the host: arrays, copied in and out."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from numpy.typing import NDArray

from .held import BlockTier


class HostTier(BlockTier):
    """So many blocks in NumPy arrays.

    Parameters
    ----------
    blocks : int
        Blocks that fit.
    policy : str
        Who leaves a full tier: a row of ``POLICIES`` in ``memory.cache``.

    Raises
    ------
    ValueError
        For no room, or another policy.

    Examples
    --------
    >>> import numpy as np
    >>> tier, block = HostTier(1), np.ones(4, "float32")
    >>> tier.put("a", block, block)
    ()
    >>> [key for key, *_ in tier.put("b", block, block)]
    ['a']
    >>> tier.get("a") is None, bool((tier.get("b")[0] == block).all())
    (True, True)
    """

    def __init__(self, blocks: int, *, policy: str = "lru") -> None:
        super().__init__("host", blocks, policy)

    def _store(self, key: Hashable, k: NDArray[Any], v: NDArray[Any]) -> Any:
        return k.copy(), v.copy()

    def _load(self, slot: Any) -> tuple[NDArray[Any], NDArray[Any]] | None:
        return slot[0].copy(), slot[1].copy()
