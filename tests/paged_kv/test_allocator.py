"""The allocator against the dullest one there is, with memory too small."""

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    initialize,
    invariant,
    rule,
)

from stacklib.paged_kv import BlockAllocator

tokens = st.lists(st.integers(0, 1), max_size=9)


def colliding(content: bytes, before: int) -> int:
    """A hash of one bit: nearly every two blocks collide."""
    return (sum(content) + before) % 2


class Written:
    """The memory itself: what each block's slots hold, written and copied as told.

    An allocator that lets a shared block be written shows another's token here.
    """

    def __init__(self, blocks, size, **options):
        self.slots = [[None] * size for _ in range(blocks)]
        self.saved = {}
        self.pool = BlockAllocator(
            blocks, size, on_copy=self.copy, on_evict=self.save, **options
        )

    def copy(self, source, target):
        self.slots[target][:] = self.slots[source]

    def save(self, block, key):
        self.saved[key] = list(self.slots[block])

    def write(self, sequence, start):
        size = self.pool.block_size
        for n in range(start, len(sequence)):
            self.slots[sequence.blocks[n // size]][n % size] = sequence.tokens[n]

    def read(self, sequence):
        size = self.pool.block_size
        return [
            self.slots[sequence.blocks[n // size]][n % size]
            for n in range(len(sequence))
        ]


def findable(pool, wanted):
    """Tokens that any block's content and beginning give, by looking at all of them."""
    size = pool.block_size
    prefixes = set()
    for node in pool.contents.nodes():
        if node.block is not None:
            path, here = [], node
            while here.parent:
                path.insert(0, here.content)
                here = here.parent
            prefixes.add(b"".join(path))
    text, found = np.array(wanted, np.int64).tobytes(), 0
    while found + size < len(wanted) and text[: 8 * (found + size)] in prefixes:
        found += size
    return found


class Requests(RuleBasedStateMachine):
    """Random requests of a pool of seven blocks; of two tokens, so that many agree."""

    live = Bundle("live")

    @initialize(size=st.integers(1, 3), hashed=st.booleans())
    def begin(self, size, hashed):
        self.memory = Written(7, size, **({"hash": colliding} if hashed else {}))
        self.pool = self.memory.pool
        self.texts = {}

    @rule(target=live, wanted=tokens, publish=st.booleans())
    def allocate(self, wanted, publish):
        before, match = self.pool.stats(), self.pool.match(wanted)
        expected = findable(self.pool, wanted)
        assert match.tokens == expected
        fits = self.pool.fits(wanted)
        sequence = self.pool.allocate(wanted, publish=publish)
        assert fits == (sequence is not None)
        if sequence is None:
            short = self.pool.short
            assert short.needed > short.free + short.evictable
            assert self.pool.stats() == before
            return None
        assert sequence.cached == expected
        self.memory.write(sequence, sequence.cached)
        self.texts[sequence] = list(wanted)
        return sequence

    @rule(sequence=live, token=st.integers(0, 1))
    def append(self, sequence, token):
        if sequence in self.texts:
            if self.pool.append(sequence, token):
                self.texts[sequence].append(token)
                self.memory.write(sequence, len(sequence) - 1)
            else:
                assert self.pool.short.free + self.pool.short.evictable == 0

    @rule(sequence=live, share=st.floats(0, 1))
    def truncate(self, sequence, share):
        if sequence in self.texts:
            keep = int(share * len(sequence))
            self.pool.truncate(sequence, keep)
            del self.texts[sequence][keep:]

    @rule(sequence=live, share=st.floats(0, 1))
    def publish(self, sequence, share):
        if sequence in self.texts:
            self.pool.publish(sequence, int(share * len(sequence)))

    @rule(target=live, sequence=live)
    def fork(self, sequence):
        if sequence not in self.texts:
            return None
        twin = self.pool.fork(sequence)
        self.texts[twin] = list(self.texts[sequence])
        return twin

    @rule(sequence=consumes(live))
    def free(self, sequence):
        if sequence in self.texts:
            del self.texts[sequence]
            self.pool.free(sequence)
        elif sequence is not None:
            with pytest.raises(ValueError, match="freed before"):
                self.pool.free(sequence)

    @invariant()
    def everybody_reads_what_was_written(self):
        self.pool.check()
        for sequence, text in self.texts.items():
            assert list(sequence.tokens) == text == self.memory.read(sequence)


TestRequests = Requests.TestCase
TestRequests.settings = settings(max_examples=40, stateful_step_count=40, deadline=None)
