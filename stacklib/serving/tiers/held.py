"""What every tier has in common: a policy, a lock, counters, and who must leave."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from threading import RLock
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from stacklib.memory.cache.replacement import policies

Entry: TypeAlias = tuple[Hashable, NDArray[Any], NDArray[Any]]  # key, keys, values


@dataclass(frozen=True, slots=True)
class Moved:
    """What went through a tier so far."""

    puts: int = 0
    gets: int = 0  # that found their block
    misses: int = 0  # that did not
    refused: int = 0  # blocks that failed their check
    dropped: int = 0  # blocks let go for others
    bytes_in: int = 0
    bytes_out: int = 0


class BlockTier:
    """Blocks by key, so many at most; subclasses say where the bytes are.

    Every call is atomic: threads may share a tier.
    """

    def __init__(self, name: str, blocks: int, policy: str) -> None:
        (self._policy,) = policies(policy, [blocks])
        self.name = name
        self.blocks = blocks
        self._lock = RLock()
        self._count = dict.fromkeys(Moved.__slots__, 0)
        self._slots: dict[Hashable, Any] = {}  # key -> where its block is

    def __len__(self) -> int:
        """Blocks held."""
        return len(self._slots)

    def __contains__(self, key: Hashable) -> bool:
        """Whether a key's block is held; no use of it."""
        return key in self._slots

    @property
    def keys(self) -> tuple[Hashable, ...]:
        """Keys of the blocks held."""
        with self._lock:
            return tuple(self._slots)

    @property
    def moved(self) -> Moved:
        """What went through so far."""
        with self._lock:
            return Moved(**self._count)

    def put(self, key: Hashable, k: NDArray[Any], v: NDArray[Any]) -> tuple[Entry, ...]:
        """Take a block in; what had to leave for it comes back, to be put elsewhere.

        Parameters
        ----------
        key : hashable
            Equal for equal tokens from the first on, and for no others.
        k, v : ndarray
            The block's keys and values, of any shape; copied.

        Raises
        ------
        ValueError
            For arrays of objects; of a file, for a block of another size.
        """
        k, v = np.asarray(k), np.asarray(v)
        for array in (k, v):
            if array.dtype.hasobject:
                raise ValueError(f"key {key!r}: an array of objects, not of numbers")
        with self._lock:
            self._check(key, k, v)
            self.discard(key)
            left: list[Entry] = []
            if len(self._slots) == self.blocks:
                gone = self._policy.victim(key)
                entry = self._load(self._slots[gone])
                if entry is not None:
                    left.append((gone, *entry))
                    self._count["bytes_out"] += entry[0].nbytes + entry[1].nbytes
                self._count["dropped" if left else "refused"] += 1
            self._policy.access(key)  # lets the victim go where the tier is full
            if len(self._slots) == self.blocks:
                self._drop(self._slots.pop(gone))
            try:
                self._slots[key] = self._store(key, k, v)
            except OSError:
                self._policy.remove(key)
                raise
            self._count["puts"] += 1
            self._count["bytes_in"] += k.nbytes + v.nbytes
            return tuple(left)

    def get(self, key: Hashable) -> tuple[NDArray[Any], NDArray[Any]] | None:
        """A copy of a key's block, bit for bit, which stays; None if it has none.

        A block that fails its check is none, and is let go.
        """
        with self._lock:
            if key not in self._slots:
                self._count["misses"] += 1
                return None
            found = self._load(self._slots[key])
            if found is None:
                self.discard(key)
                self._count["refused"] += 1
                return None
            self._policy.access(key)
            self._count["gets"] += 1
            self._count["bytes_out"] += found[0].nbytes + found[1].nbytes
            return found

    def discard(self, key: Hashable) -> bool:
        """Let a key's block go; whether there was one."""
        with self._lock:
            if key not in self._slots:
                return False
            self._policy.remove(key)
            self._drop(self._slots.pop(key))
            return True

    def close(self) -> None:
        """Let all blocks go."""
        for key in self.keys:
            self.discard(key)

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _check(self, key: Hashable, k: NDArray[Any], v: NDArray[Any]) -> None:
        """Refuse what cannot be stored, before anything has changed."""

    def _store(self, key: Hashable, k: NDArray[Any], v: NDArray[Any]) -> Any:
        raise NotImplementedError

    def _load(self, slot: Any) -> tuple[NDArray[Any], NDArray[Any]] | None:
        raise NotImplementedError

    def _drop(self, slot: Any) -> None:
        """Make the place of a block free again."""
