"""Decode in pieces and over pages is decode."""

import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parent))

from attention_cases import made

from stacklib.kernels.attention import split_kv
from stacklib.kernels.attention.naive import naive_attention

few = st.integers(1, 4)


@settings(max_examples=40, deadline=None)
@given(few, few, few, st.integers(1, 60), st.integers(1, 12), st.data())
def test_pieces_are_merged_exactly_in_any_number(batch, group, kv, keys, wide, data):
    splits = data.draw(st.integers(1, keys))
    x = made(1, batch, group * kv, kv, 2, keys, wide, np.float64)
    out, lse = split_kv.split_decode(*x, splits=splits)
    assert np.allclose(out, naive_attention(*x), rtol=1e-12, atol=1e-12)
    scores = wide**-0.5 * x[0] @ np.repeat(x[1], group, axis=1).swapaxes(-1, -2)
    assert np.allclose(lse, np.log(np.exp(scores).sum(-1)), rtol=1e-12, atol=1e-12)


def test_merging_is_associative_and_does_not_mind_the_order():
    rng = np.random.default_rng(2)
    parts = [(rng.standard_normal((3, 4)), 9 * rng.standard_normal(3)) for _ in "abcd"]
    whole = split_kv.merge(parts)
    for other in (
        split_kv.merge([split_kv.merge(parts[:2]), split_kv.merge(parts[2:])]),
        split_kv.merge([parts[3], split_kv.merge(parts[:3])]),
        split_kv.merge(parts[::-1]),
    ):
        assert all(
            np.allclose(x, y, rtol=1e-13) for x, y in zip(whole, other, strict=True)
        )


def test_a_piece_that_a_row_does_not_see_counts_for_nothing():
    nothing = np.zeros((2, 3)), np.full(2, -np.inf)
    part = np.ones((2, 3)), np.array([800.0, -800.0])  # beyond what exp holds
    out, lse = split_kv.merge([nothing, part, nothing])
    assert np.array_equal(out, part[0]) and np.array_equal(lse, part[1])
    out, lse = split_kv.merge([nothing, nothing])
    assert (out == 0).all() and (lse == -np.inf).all()
    rubbish = np.full((2, 3), np.nan), np.full(2, -np.inf)  # as 0 / 0 leaves it
    out, lse = split_kv.merge([rubbish, part])
    assert np.array_equal(out, part[0]) and np.array_equal(lse, part[1])
    with pytest.raises(ValueError, match="sees nothing has -inf"):
        split_kv.merge([part, (part[0], np.full(2, np.inf))])


lengths_of = st.lists(st.integers(0, 700), min_size=1, max_size=128)


@settings(max_examples=60, deadline=None)
@given(lengths_of, st.integers(1, 64), st.sampled_from([1, 16, 64]))
def test_shares_are_equal_none_is_idle_and_every_key_is_in_one(lengths, splits, tile):
    found = split_kv.shares(lengths, splits, tile=tile)
    tiles = [sum(-(-(r.right - r.left) // tile) for r in share) for share in found]
    total = sum(-(-n // tile) for n in lengths)
    assert len(found) == min(splits, total) and sum(tiles) == total
    assert not tiles or (min(tiles) >= 1 and max(tiles) - min(tiles) <= 1)
    for one, length in enumerate(lengths):
        runs = [r for share in found for r in share if r.sequence == one]
        edges = [0, *(r.right for r in runs)]
        assert [r.left for r in runs] == edges[:-1] and edges[-1] == length


def test_forgetting_the_log_sum_exp_is_seen():
    """A planted fault: pieces averaged by their number of keys."""
    q, k, v = made(3, 1, 1, 1, 1, 30, 8, np.float64, by=3.0)
    pieces = [
        naive_attention(q, k[:, :, s], v[:, :, s]) for s in (slice(10), slice(10, 30))
    ]
    assert not np.allclose((pieces[0] + 2 * pieces[1]) / 3, naive_attention(q, k, v))


@pytest.mark.rows(("page", "splits"), [(1, 1), (4, 2), (16, 7)])
def test_pages_in_any_order_give_what_tokens_in_order_give(page, splits):
    rng = np.random.default_rng(4)
    lengths, kv_heads, wide, queries = (417, 3, 66), 2, 8, 3
    most = max(-(-n // page) for n in lengths)
    free = rng.permutation(3 * most)
    shape = (3 * most, kv_heads, page, wide)
    k_pages, v_pages = np.full(shape, np.nan), np.full(shape, np.nan)  # canaries
    table = np.full((3, most), -1)
    q = rng.standard_normal((3, 4, queries, wide))
    right = np.empty_like(q)
    for one, length in enumerate(lengths):
        k, v = rng.standard_normal((2, kv_heads, length, wide))
        table[one, : -(-length // page)] = free[one * most :][: -(-length // page)]
        for token in range(length):
            at = table[one, token // page], slice(None), token % page
            k_pages[at], v_pages[at] = k[:, token], v[:, token]
        right[one] = naive_attention(q[one][None], k[None], v[None], causal=True)[0]
    asked = q, k_pages, v_pages, table
    found = split_kv.paged_decode(*asked, lengths, splits=splits)
    assert np.allclose(found, right, rtol=1e-12, atol=1e-12)
    asked = q, k_pages, v_pages[..., :5], table  # and one sequence of none
    none = split_kv.paged_decode(*asked, [0, *lengths[1:]], splits=splits)
    assert (none[0] == 0).all() and np.allclose(none[1:], right[1:, ..., :5])


@pytest.mark.rows("kind", ["int16", "uint8", "int32", "uint32", "uint64"])
def test_lengths_of_numpy_do_not_wrap(kind):
    """In int32 a quarter of 128 long sequences had no share; without a sign, all."""
    few, many = (100, 0, 30), np.full(128, 131072 if "32" in kind else 120, kind)
    told = split_kv.shares(np.array(few, kind), 2, tile=16)
    assert told == split_kv.shares(few, 2, tile=16)
    assert split_kv.shares(many, 10_000) == split_kv.shares(many.tolist(), 10_000)
    pages, table = np.ones((7, 1, 16, 8)), np.arange(7)
    assert split_kv.gather(pages, table, many.dtype.type(100)).shape == (1, 100, 8)


def test_tables_that_do_not_fit_are_refused():
    pages, q = np.zeros((4, 1, 2, 8)), np.zeros((1, 1, 1, 8))
    with pytest.raises(ValueError, match="9 tokens need 5 pages of 2: the table's row"):
        split_kv.gather(pages, np.array([0, 1]), 9)
    with pytest.raises(ValueError, match=r"pages \[0, 4\]: the pool has pages 0 to 3"):
        split_kv.gather(pages, np.array([0, 4]), 3)
    with pytest.raises(ValueError, match="2 lengths: one row"):
        split_kv.paged_decode(q, pages, pages, np.zeros((1, 2), int), [1, 2])
    with pytest.raises(ValueError, match="0 lengths: one row"):
        split_kv.paged_decode(q[:0], pages, pages, np.zeros((0, 2), int), [])
    with pytest.raises(ValueError, match="splits = 9 of 8 keys"):
        split_kv.split_decode(*made(5, 1, 1, 1, 1, 8, 4), splits=9)
    with pytest.raises(ValueError, match="parts is empty"):
        split_kv.merge([])
