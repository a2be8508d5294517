"""Blocks in a file: a slot for each, checked when read.

The file is this process's own and lives as long as the tier: it is made new, at its
full size, and removed at the end. A slot is a head (the key's digest, lengths, a check
sum) and the block; what was cut short, changed, or is another key's is refused.
"""

from __future__ import annotations

import hashlib
import os
import struct
import tempfile
import weakref
import zlib
from collections.abc import Hashable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .held import BlockTier

_HEAD = struct.Struct("<16sQQI")  # digest of the key, bytes of both arrays, check sum


def _digest(key: Hashable) -> bytes:
    return hashlib.blake2b(repr(key).encode(), digest_size=16).digest()


def _remove(file: int, path: Path, owner: int) -> None:
    """Close and remove, in the process that made the file only."""
    os.close(file)
    if os.getpid() == owner:
        path.unlink(missing_ok=True)


class FileTier(BlockTier):
    """So many blocks in one file, each in its slot.

    Parameters
    ----------
    blocks : int
        Blocks that fit.
    path : str or Path, optional
        A file to make, which must not be there, or a folder to make one in; without
        it, the system's folder of temporary files.
    policy : str
        Who leaves a full tier: a row of ``POLICIES`` in ``memory.cache``.

    Raises
    ------
    ValueError
        For no room, another policy, or blocks of unequal size.
    FileExistsError
        For a file that is there: another tier's, or somebody's data.
    OSError
        Where the disk has no room for all slots, at the first ``put``; or after
        ``close``.
    RuntimeError
        In a process forked from the one that made it.
    """

    def __init__(
        self, blocks: int, path: str | Path | None = None, *, policy: str = "lru"
    ) -> None:
        super().__init__("file", blocks, policy)
        if path is None or Path(path).is_dir():
            file, made = tempfile.mkstemp(".kv", "tier-", path)
            self.path = Path(made)
        else:
            self.path = Path(path)
            try:
                flags = os.O_RDWR | os.O_CREAT | os.O_EXCL
                file = os.open(self.path, flags, 0o600)
            except FileExistsError:
                raise FileExistsError(
                    f"{self.path} is there: a tier makes a file of its own; name "
                    "another, or remove it if its process has ended"
                ) from None
        self._file = file
        self._owner = os.getpid()
        self._end = weakref.finalize(self, _remove, file, self.path, self._owner)
        self._bytes = 0  # of a block; known from the first one on
        self._free = list(range(blocks))[::-1]

    def close(self) -> None:
        """Remove the file; twice is once."""
        with self._lock:
            if self._end.alive:
                super().close()
                self._end()

    def _check(self, key: Hashable, k: NDArray[Any], v: NDArray[Any]) -> None:
        self._usable()
        size = k.nbytes + v.nbytes
        if not self._bytes:
            if not size:
                raise ValueError(f"key {key!r}: a block of no bytes")
            # All of it at once, so that a full disk is known before it is needed.
            _reserve(self._file, self.blocks * (_HEAD.size + size))
            self._bytes = size
        if size != self._bytes:
            raise ValueError(
                f"key {key!r}: a block of {size} B, every slot holds {self._bytes} B"
            )

    def _usable(self) -> None:
        if not self._end.alive:
            raise OSError(f"{self.path}: this tier is closed")
        if os.getpid() != self._owner:
            raise RuntimeError(
                f"{self.path} belongs to process {self._owner}: make a tier in this one"
            )

    def _store(self, key: Hashable, k: NDArray[Any], v: NDArray[Any]) -> Any:
        slot, key_digest = self._free[-1], _digest(key)
        head = (key_digest, k.nbytes, v.nbytes)
        data = k.tobytes() + v.tobytes()
        whole = _HEAD.pack(*head, _sum(head, data)) + data
        at = slot * len(whole)
        while whole:  # a write may be cut short
            written = os.pwrite(self._file, whole, at)
            whole, at = whole[written:], at + written
        self._free.pop()
        return slot, key_digest, (k.dtype, k.shape), (v.dtype, v.shape)

    def _load(self, slot: Any) -> tuple[NDArray[Any], NDArray[Any]] | None:
        self._usable()
        place, key_digest, *forms = slot
        size = _HEAD.size + self._bytes
        whole = os.pread(self._file, size, place * size)
        if len(whole) < size:
            return None
        *head, told = _HEAD.unpack_from(whole)
        data = whole[_HEAD.size :]
        if head[0] != key_digest or told != _sum(tuple(head), data):
            return None
        parts = data[: head[1]], data[head[1] :]
        k, v = (
            np.frombuffer(part, dtype).reshape(shape).copy()
            for part, (dtype, shape) in zip(parts, forms, strict=True)
        )
        return k, v

    def _drop(self, slot: Any) -> None:
        self._free.append(slot[0])


def _sum(head: tuple[Any, ...], data: bytes) -> int:
    return zlib.crc32(data, zlib.crc32(_HEAD.pack(*head, 0)))


def _reserve(file: int, size: int) -> None:
    """Give a file its full size, with room on the disk where the system can say so."""
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(file, 0, size)
    else:
        os.ftruncate(file, size)
