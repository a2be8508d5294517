"""The engine's blocks: who holds which, their numbers, and the tiers below."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import InitVar, dataclass
from typing import TYPE_CHECKING, Any

from stacklib import paged_kv

from .events import COPY_WORK, Clock, Log

if TYPE_CHECKING:  # both are of NumPy, and counting takes neither
    from stacklib.serving.tiers.chain import Chain

    from .pool import Pool


@dataclass(frozen=True, slots=True)
class Found:
    """Blocks given to a request, and what of it was there already."""

    sequence: paged_kv.Sequence
    tokens: int  # computed: those of the pool, then those copied back
    below: int  # of these, copied back from a tier
    why: str  # the pool had no more
    blocks: tuple[tuple[str, str], ...]  # key, and where: pool, a tier, computed


@dataclass
class Memory:
    """An allocator of blocks, the pool of their numbers, and copies to and from tiers.

    - ``pool``: the numbers; None where blocks are only counted.
    - ``tiers``: where blocks go that leave the pool; None or an empty chain drops them.
    - ``whose``: names the model in its keys there: another's numbers are no use.
    """

    blocks: InitVar[int]
    block_size: InitVar[int]
    clock: Clock
    log: Log
    pool: Pool | None = None
    tiers: Chain | None = None
    whose: bytes = b""
    out: int = 0  # blocks copied down
    back: int = 0  # and up
    copying: float = 0.0  # time of copies in this step
    _leaving: list[tuple[int, bytes]] | None = None

    def __post_init__(self, blocks: int, block_size: int) -> None:
        copies = self.pool.copy if self.pool is not None else None
        self.allocator = paged_kv.BlockAllocator(
            blocks, block_size, on_evict=self._leaves, on_copy=copies
        )

    def take(self, tokens: Sequence[int], owner: int) -> Found | None:
        """Blocks for all tokens, with what was computed before; None without room.

        At least the last token is left to compute: its logits are needed.
        """
        if not self.allocator.fits(tokens):
            return None
        why = str(self.allocator.match(tokens).why)  # a look at every content: once
        # What leaves for this request must not push its own blocks out of the tiers:
        # it goes down once they have been taken out of there.
        leaving: list[tuple[int, bytes]] = []
        self._leaving = leaving
        sequence = self.allocator.allocate(tokens, owner=owner, publish=False)
        self._leaving = None
        assert sequence is not None  # it fits
        size = self.allocator.block_size
        keys = self.allocator.keys(tokens)
        first = done = sequence.cached
        where = ["pool"] * (first // size)
        fetched = []
        for key, block in zip(
            keys[len(where) :], sequence.blocks[len(where) :], strict=False
        ):
            if done + size >= len(tokens):
                break
            found = self._fetch(key, block, owner)
            if found is None:
                break
            where.append(found[0])
            fetched.append((block, found[1]))
            done += size
        for block, key in leaving:
            self._sink(block, key)
        if self.pool is not None:
            for block, entry in fetched:
                self.pool.write(block, *entry)
        self.allocator.publish(sequence, done)
        where += ["computed"] * (len(keys) - len(where))
        names = tuple((key.hex()[:8], at) for key, at in zip(keys, where, strict=True))
        return Found(sequence, done, done - first, why, names)

    def named(self, key: bytes) -> bytes:
        """A block's key in the tiers."""
        return self.whose + key

    def _fetch(self, key: bytes, block: int, owner: int) -> tuple[str, Any] | None:
        """Take a block's keys and values out of the tier that has them."""
        tiers, named = self.tiers, self.named(key)
        tier = tiers.where(named) if tiers is not None else None
        if tiers is None or tier is None:
            return None
        found = self._timed(lambda: tiers.get(named))
        if found is None:  # it did not survive there
            return None
        self.back += 1
        self.log.note("swapped_in", owner, block=block, tier=tier, key=key.hex()[:8])
        return tier, found

    def _leaves(self, block: int, key: bytes) -> None:
        """A block with findable content is about to be used for something else."""
        seen = self.allocator.table(block)
        self.log.note("evicted", block=block, key=key.hex()[:8], age=seen.age)
        if self._leaving is None:
            self._sink(block, key)
        else:
            self._leaving.append((block, key))

    def _sink(self, block: int, key: bytes) -> None:
        """Copy a block to the first tier; its place in the pool is written later."""
        tiers, pool = self.tiers, self.pool
        if tiers is not None and pool is not None and tiers.tiers:
            self._timed(lambda: tiers.put(self.named(key), *pool.read(block)))
            self.out += 1
            self.log.note("swapped_out", block=block, key=key.hex()[:8])

    def _timed(self, copy: Callable[[], Any]) -> Any:
        before = self.clock.now()
        found = copy()
        self.clock.work += COPY_WORK
        self.copying += self.clock.now() - before
        return found
