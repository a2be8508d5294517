"""Ten thousand random operations, and faults planted in copies of the allocator."""

import random

import pytest

from stacklib.paged_kv import BlockAllocator
from stacklib.paged_kv.content import Contents


def churn(pool: BlockAllocator, operations: int, seed: int = 0, each: int = 100) -> int:
    """Random operations by at most six requests; checked every so often."""
    draw, live, refused = random.Random(seed), [], 0
    for number in range(operations):
        pool.step = number
        sequence = draw.choice(live) if live else None
        what = draw.random()
        if sequence is None or (what < 0.1 and len(live) < 6):
            wanted = [draw.randrange(2) for _ in range(draw.randrange(30))]
            made = pool.allocate(wanted, owner=number, publish=draw.random() < 0.5)
            live += [made] if made else []
            refused += made is None
        elif what < 0.7:
            refused += not pool.append(sequence, draw.randrange(2))
        elif what < 0.8:
            pool.truncate(sequence, draw.randrange(len(sequence) + 1))
        elif what < 0.9:
            pool.publish(sequence, draw.randrange(len(sequence) + 1))
        elif what < 0.93 and len(live) < 6:
            live.append(pool.fork(sequence, owner=number))
        elif what > 0.95:
            live.remove(sequence)
            pool.free(sequence)
        if number % each == 0:
            pool.check()
    for sequence in live:
        pool.free(sequence)
    pool.check()
    return refused


def test_ten_thousand_operations_leave_nothing_behind():
    pool = BlockAllocator(23, 4)
    assert churn(pool, 10_000) > 100
    stats = pool.stats()
    assert (stats.owned, stats.free + stats.cached) == (0, 23)
    assert stats.hit and stats.evicted and stats.copied
    assert len(list(pool.contents.nodes())) < 23 * 10  # what it remembers is bounded


class Written(BlockAllocator):
    def _copy_last(self, sequence):
        return True  # writes a block that others read


class Leaking(BlockAllocator):
    def _empty(self, block):
        self.holds[block] = None


class Twice(BlockAllocator):
    def truncate(self, sequence, length):
        super().truncate(sequence, length)
        self._release(sequence.blocks[-1:])


class Trusting(Contents):
    def find(self, parent, content):
        return self.by_hash.get(self.hash(content, parent.hash))


def trusting(blocks: int, size: int) -> BlockAllocator:
    pool = BlockAllocator(blocks, size, hash=lambda content, before: sum(content))
    pool.contents = Trusting(8 * size, pool.contents.hash, blocks)
    return pool


@pytest.mark.parametrize("faulty", [Written, Leaking, Twice, trusting])
def test_a_planted_fault_is_caught(faulty):
    with pytest.raises((AssertionError, ValueError, IndexError)):
        churn(faulty(23, 4), 2000, each=1)


def test_an_evict_hook_that_fails_loses_no_block():
    def full(block, key):
        raise OSError("no space left")

    pool = BlockAllocator(2, 2, on_evict=full)
    pool.free(pool.allocate([1, 2, 3]))
    with pytest.raises(OSError, match="no space"):
        pool.allocate([7, 8, 9, 10])
    pool.check()
    assert pool.match([1, 2, 3]).tokens == 2
