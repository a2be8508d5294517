"""What an allocator says: matches with their reasons, refusals, blocks, bad input."""

import random

import numpy as np
import pytest

from stacklib.paged_kv import BlockAllocator
from stacklib.paged_kv.content import Contents, key


def used(*prompts, blocks=8, size=4, **options):
    """A pool that served some prompts and freed them."""
    pool = BlockAllocator(blocks, size, **options)
    for number, prompt in enumerate(prompts):
        pool.free(pool.allocate(prompt, owner=f"r{number}"))
    return pool


@pytest.mark.parametrize(
    ("prompt", "found", "why"),
    [
        ([1, 2, 3], 0, "the rest from token 0 on is shorter than a block, by 1 token"),
        ([9, 9, 9, 9], 0, "never seen from token 0 on"),
        ([1, 2, 9, 4, 5], 0, "another token at place 2: 9, not 3"),
        ([1, 2, 3, 4], 0, "the block from token 0 on is there, but its last token is"),
        ([1, 2, 3, 4, 5], 4, "shorter than a block, by 3 tokens"),
        ([1, 2, 3, 4, 5, 6, 0, 8], 4, "another token at place 6: 0, not 7"),
        ([*range(1, 9), 1, 1, 1, 1], 8, "never seen from token 8 on"),
        ([], 0, "all of it is there"),
    ],
)
def test_a_match_says_why_it_is_no_longer(prompt, found, why):
    pool = used([1, 2, 3, 4, 5, 6, 7, 8])
    match = pool.match(prompt)
    assert (match.tokens, len(match.blocks)) == (found, found // 4)
    assert why in str(match.why)


def test_what_was_evicted_says_when_and_for_whom():
    pool = used([1, 2, 3, 4, 5], blocks=2)
    pool.step = 7
    pool.free(pool.allocate([9] * 8, owner="greedy"))
    why = pool.match([1, 2, 3, 4, 5]).why
    assert str(why) == "evicted from token 0 on, at step 7 for 'greedy'"
    assert (why.kind, why.step, why.owner) == ("evicted", 7, "greedy")


def test_half_a_prompt_computed_is_found_by_nobody_until_published():
    pool = BlockAllocator(8, 4)
    first = pool.allocate(range(12), publish=False)
    assert pool.match(range(12)).tokens == 0
    pool.publish(first, 7)
    assert pool.match(range(12)).tokens == 4
    pool.publish(first, 3)  # never less
    assert pool.match(range(12)).tokens == 4


def test_what_two_computed_at_once_outlives_either():
    pool = BlockAllocator(4, 4)
    one, two = (pool.allocate([1, 2, 3, 4], publish=False) for _ in range(2))
    for sequence in (one, two):
        pool.publish(sequence, 4)
    pool.free(one)
    assert pool.allocate([9] * 12)  # takes the block of the first
    assert pool.match([1, 2, 3, 4, 5]).blocks == two.blocks
    pool.check()


@pytest.mark.parametrize("freed", [False, True])
def test_a_block_is_found_with_the_token_that_fills_it(freed):
    pool = BlockAllocator(8, 4)
    sequence = pool.allocate([1, 2])
    for token in range(3, 9):
        assert pool.match([*range(1, 9), 0]).tokens == (token - 1) // 4 * 4
        pool.append(sequence, token)
    if freed:
        pool.free(sequence)
    assert pool.match([*range(1, 9), 0]).tokens == 8


def test_a_refusal_is_a_value_with_its_sum():
    pool = used([1, 2, 3, 4, 5, 6, 7, 8], blocks=4)
    held = pool.allocate([9] * 8)
    before = pool.stats()
    assert pool.allocate([7] * 12) is None
    assert pool.short == (3, 0, 2)
    assert str(pool.short) == "3 needed, 0 free and 2 to evict"
    assert pool.stats() == before
    # What it would find is no room for the rest of it.
    assert pool.allocate([1, 2, 3, 4, 5, 6, 7, 8, *[5] * 4]) is None
    assert pool.short == (1, 0, 0)
    assert pool.append(held, 1)


def test_a_fork_shares_until_somebody_writes():
    copies = []
    pool = BlockAllocator(4, 4, on_copy=lambda *pair: copies.append(pair))
    first = pool.allocate([1, 2, 3, 4, 5], owner="a")
    twin = pool.fork(first, owner="b")
    assert twin.blocks == first.blocks and pool.stats().owned == 2
    assert pool.append(twin, 7) and pool.append(first, 6)
    assert copies == [(first.blocks[1], twin.blocks[1])]  # then no more
    assert list(first.tokens)[4:] == [5, 6] and list(twin.tokens)[4:] == [5, 7]
    assert pool.table(first.blocks[0]).owners == ("a", "b")


def test_forks_publish_one_block_once():
    pool = BlockAllocator(4, 2)
    first = pool.allocate([1, 2, 3], publish=False)
    twin = pool.fork(first)
    for sequence in (first, twin):
        pool.publish(sequence, 2)
    pool.check()
    assert pool.match([1, 2, 3]).blocks == first.blocks[:1]


def test_rolling_back_behind_a_findable_block_copies_it():
    pool = BlockAllocator(3, 4)
    sequence = pool.allocate([1, 2, 3, 4, 5, 6, 7, 8])
    pool.truncate(sequence, 6)
    assert pool.append(sequence, 0) and pool.stats().copied == 1
    assert pool.match([1, 2, 3, 4, 5, 6, 7, 8, 9]).tokens == 8
    pool.check()


def test_a_key_is_the_same_before_and_after():
    saved = {}
    pool = BlockAllocator(2, 2, on_evict=lambda block, key: saved.update({key: block}))
    first = pool.allocate([1, 2, 3, 4, 5][:4])
    pool.free(first)
    assert pool.allocate([7, 8, 9, 6])
    assert [*reversed(saved)] == pool.keys([1, 2, 3, 4, 5])
    assert (
        pool.keys([1, 2, 3, 5])[0] in saved and pool.keys([2, 1, 3, 4])[0] not in saved
    )


def test_the_key_of_a_long_context_needs_no_recursion():
    contents = Contents(8, lambda content, before: before + 1, 10)
    node = contents.root
    for n in range(5000):
        node = contents.put(node, n.to_bytes(8, "little"))
    assert len(key(node)) == 32


def test_a_block_as_a_reader_sees_it():
    pool = BlockAllocator(3, 2)
    sequence = pool.allocate([1, 2, 3], owner="a")
    full, part = (pool.table(block) for block in sequence.blocks)
    assert (full.state, full.owners, full.tokens) == ("owned", ("a",), (1, 2))
    assert (part.hash, part.tokens) == (None, (3,))
    pool.free(sequence)
    pool.step = 5
    kept = pool.table(full.block)
    assert (kept.state, kept.age, kept.tokens, kept.hash) == (
        "cached",
        5,
        (1, 2),
        full.hash,
    )
    assert pool.table(part.block).state == "free"
    with pytest.raises(ValueError, match="block = 3: there are 3"):
        pool.table(3)


def test_shared_slots_count_once():
    pool = BlockAllocator(8, 4)
    first = pool.allocate([1] * 4 + [2])
    assert pool.fork(first) and pool.allocate([1] * 4 + [3, 3])
    stats = pool.stats()
    assert (stats.tokens, stats.slots, stats.owned) == (4 + 1 + 2, 12, 3)
    assert stats.utilisation == 7 / 12 and stats.hit_rate == 4 / 11


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda pool, seq: BlockAllocator(0), "blocks = 0"),
        (lambda pool, seq: BlockAllocator(True), "blocks = True"),
        (lambda pool, seq: BlockAllocator(4, 2.5), "block_size = 2.5"),
        (lambda pool, seq: pool.allocate([1.5]), "token = 1.5"),
        (lambda pool, seq: pool.allocate([True]), "token = True"),
        (lambda pool, seq: pool.allocate("abc"), "not text"),
        (lambda pool, seq: pool.allocate([2**70]), "does not fit"),
        (lambda pool, seq: pool.append(seq, float("nan")), "token = nan"),
        (lambda pool, seq: pool.append(seq, False), "token = False"),
        (lambda pool, seq: pool.append(seq, 2**64), "64 bits"),
        (lambda pool, seq: pool.publish(seq, 4), "has 3"),
        (lambda pool, seq: pool.truncate(seq, 4), "has 3"),
        (lambda pool, seq: pool.truncate(seq, -1), "length = -1"),
        (lambda pool, seq: pool.needed(-1), "tokens = -1"),
        (lambda pool, seq: BlockAllocator(4).free(seq), "none of this allocator"),
    ],
)
def test_bad_input_is_named_and_changes_nothing(call, words):
    pool = BlockAllocator(4, 2)
    sequence = pool.allocate([1, 2, 3])
    before = pool.stats()
    with pytest.raises(ValueError, match=words):
        call(pool, sequence)
    assert pool.stats() == before
    pool.check()


def test_after_free_nothing_works():
    pool = BlockAllocator(4, 2)
    sequence = pool.allocate([1, 2, 3])
    pool.free(sequence)
    for call in (pool.free, pool.fork, lambda s: pool.append(s, 1)):
        with pytest.raises(ValueError, match="freed before"):
            call(sequence)


def test_with_room_for_all_every_beginning_is_found():
    pool, known, draw = BlockAllocator(4000, 3), set(), random.Random(3)
    for _ in range(300):
        prompt = [draw.randrange(3) for _ in range(draw.randrange(1, 30))]
        beginnings = [tuple(prompt[:n]) for n in range(3, len(prompt) + 1, 3)]
        expected = [b for b in beginnings if b in known and len(b) < len(prompt)]
        sequence = pool.allocate(prompt)
        assert sequence.cached == 3 * len(expected)
        known.update(beginnings)
        if draw.random() < 0.5:
            pool.free(sequence)
    assert pool.stats().evicted == 0


def test_a_look_changes_no_count():
    pool = used([0], size=1)
    pool.append(pool.allocate([]), 0)  # in place of the unused one
    before = pool.stats()
    pool.match([5])
    assert pool.stats() == before and before.cached == 0


def test_an_empty_prompt_is_no_refusal():
    pool = BlockAllocator(1, 2)
    sequence = pool.allocate([])
    assert sequence and len(sequence) == 0 and pool.append(sequence, 1)


def test_numpy_tokens_are_tokens():
    pool = BlockAllocator(4, 2)
    sequence = pool.allocate(np.array([1, 2, 3], np.int32))
    assert pool.append(sequence, np.int64(4)) and list(sequence.tokens) == [1, 2, 3, 4]
