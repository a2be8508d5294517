"""A pass over many sequences against one pass a sequence."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib.serving.engine.batched import Segment, forward_batch, forward_each
from stacklib.serving.engine.pool import Pool

SIZE = 4


@pytest.fixture(scope="module")
def model(small):
    return small


def passes(model, lengths, seed, wrong=None):
    """Random pieces of sequences in three passes through both; the largest gaps."""
    draw = np.random.default_rng(seed)
    most = model.config.max_position_embeddings // SIZE
    fast, slow = (Pool(model.config, most * len(lengths), SIZE) for _ in range(2))
    tables = draw.permutation(fast.blocks).reshape(len(lengths), most)
    past, gaps = [0] * len(lengths), []
    for turn in range(3):
        segments = []
        for line, length in enumerate(lengths):
            count = 1 + (length + turn * (line + 1)) % 17
            tokens = draw.integers(0, model.config.vocab_size, count).tolist()
            wanted = int(draw.integers(0, count + 1))
            segments.append(Segment(tokens, past[line], tables[line], wanted))
            past[line] += count
        found = forward_batch(model.weights, fast, segments)
        due = forward_each(model.weights, slow, segments)
        if wrong:
            wrong(fast, tables)
        assert [len(x) for x in found] == [s.wanted for s in segments]
        gaps += [np.abs(x - y).max() for x, y in zip(found, due, strict=True) if len(x)]
        gaps.append(np.abs(fast.keys - slow.keys).max())
        gaps.append(np.abs(fast.values - slow.values).max())
    return max(gaps)


@given(st.lists(st.integers(0, 16), min_size=1, max_size=5), st.integers(0, 99))
@settings(max_examples=15, deadline=None)
def test_a_batch_is_its_sequences(model, lengths, seed):
    assert passes(model, lengths, seed) < 1e-4


def test_a_block_swapped_with_anothers_is_seen(model):
    def swap(pool, tables):
        first, other = tables[0][0], tables[1][0]
        kept = pool.read(first)
        pool.copy(other, first)
        pool.write(other, *kept)

    assert passes(model, [3, 9], 1, swap) > 1e-2


@pytest.mark.parametrize(
    ("segment", "words"),
    [
        (Segment([], 0, [0]), "row of whole numbers"),
        (Segment([2048], 0, [0]), "outside 0 to 2047"),
        (Segment([1, 2], 3, [0]), "3 \\+ 2 tokens: the table has 1 blocks of 4"),
        (Segment([1], 64, range(17)), "64 \\+ 1 tokens do not fit a context of 64"),
    ],
)
def test_what_a_model_cannot_read(model, segment, words):
    for each in (forward_batch, forward_each):
        with pytest.raises(ValueError, match=words):
            each(model.weights, Pool(model.config, 17, SIZE), [segment])
