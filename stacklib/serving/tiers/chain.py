"""Tiers one behind the other: what one lets go the next takes in; exclusive.

A block is in one tier only, or with the engine: what `get` finds leaves its tier, and
comes back by `put` when the engine's pool lets it go. So all tiers together hold as
many blocks as they have room for, at the price of writing a block again that was only
read; inclusive tiers pay in room instead.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from threading import RLock
from typing import Any

from numpy.typing import NDArray

from .held import BlockTier, Entry


class Chain:
    """Tiers behind an engine's pool, the nearest first; none is a chain, too."""

    def __init__(self, tiers: Sequence[BlockTier] = ()) -> None:
        names = [tier.name for tier in tiers]
        if len(set(names)) < len(names):
            raise ValueError(f"tiers {', '.join(names)}: each needs a name of its own")
        self.tiers = tuple(tiers)
        self._lock = RLock()

    def where(self, key: Hashable) -> str | None:
        """Name of the tier that holds a key's block; no use of it."""
        with self._lock:
            return next((tier.name for tier in self.tiers if key in tier), None)

    def put(self, key: Hashable, k: NDArray[Any], v: NDArray[Any]) -> None:
        """Take a block in, which the nearest tier gets; the last one's is dropped."""
        with self._lock:
            self.discard(key)
            entries: tuple[Entry, ...] = ((key, k, v),)
            for tier in self.tiers:
                entries = tuple(gone for one in entries for gone in tier.put(*one))

    def get(self, key: Hashable) -> tuple[NDArray[Any], NDArray[Any]] | None:
        """Take a block out, bit for bit; None where no tier has it, or not unharmed."""
        with self._lock:
            for tier in self.tiers:
                if key in tier:
                    found = tier.get(key)
                    tier.discard(key)
                    return found
            return None

    def discard(self, key: Hashable) -> bool:
        """Let a key's block go; whether there was one."""
        with self._lock:
            return sum(tier.discard(key) for tier in self.tiers) > 0
