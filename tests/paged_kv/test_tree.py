"""The tree against all the beginnings there are, page by page."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib.paged_kv import PrefixTree

TEXTS = st.lists(st.integers(0, 2), max_size=12)
WHAT = st.sampled_from(["insert", "match", "lock", "unlock", "evict"])


def pages(text, page):
    """A text's beginnings of whole pages."""
    return {tuple(text[:n]) for n in range(page, len(text) + 1, page)}


@given(
    st.lists(st.tuples(WHAT, TEXTS), max_size=40),
    st.sampled_from([1, 2, 5]),
    st.sampled_from(["lru", "cost"]),
)
@settings(max_examples=60, deadline=None)
def test_it_finds_what_all_the_beginnings_give(operations, page, policy):
    tree, known, locks = PrefixTree(page, policy), set(), []
    where = {}  # of each stored beginning, the block of its last page
    for what, text in operations:
        expected = max(map(len, pages(text, page) & known), default=0)
        if what == "insert":
            new = sorted(pages(text, page) - known, key=len)
            assert tree.insert(text) == expected
            where.update(
                zip(new, range(tree.pages - len(new), tree.pages), strict=True)
            )
            known |= pages(text, page)
        elif what == "match":
            found = tree.match(text)
            assert found.tokens == expected
            path = [tuple(text[:n]) for n in range(page, expected + 1, page)]
            assert list(found.blocks) == [where[p] for p in path]
            truthful(found.why, text, known, page)
        elif what == "lock":
            locks.append((tree.lock(text), pages(text[:expected], page)))
        elif what == "unlock" and locks:
            tree.unlock(locks.pop()[0])
        elif what == "evict":
            held = set().union(*(path for _, path in locks))
            freed = tree.evict(len(text))
            gone = {p for p in known if where[p] in set(freed)}
            known -= gone
            assert len(gone) == len(freed) and not gone & held
            assert len(freed) * page >= len(text) or not tree.evictable
            assert all(p[:-page] in known for p in known if len(p) > page)
        tree.check()
        assert tree.tokens == page * len(known)
        held = set().union(*(path for _, path in locks))
        assert tree.locked == page * len(held)


def truthful(why, text, known, page):
    """What a reason says is so."""
    assert why.place <= len(text)
    if why.kind == "another token":
        assert text[why.place] == why.token != why.theirs
        claimed = (*text[: why.place], why.theirs)
        assert any(k[: len(claimed)] == claimed for k in known)
    elif why.kind == "shorter than a block":
        assert len(text) - why.place + why.missing == page
    elif why.kind == "complete":
        assert why.place == len(text)
    else:
        assert not known & (pages(text, page) - pages(text[: why.place], page))


@pytest.mark.parametrize("page", [1, 16])
def test_a_long_text_that_differs_at_any_place(page):
    text = list(range(1000, 1512))
    tree = PrefixTree(page)
    assert tree.insert(text) == 0
    for place in (0, 1, 15, 16, 17, 300, 511):
        other = [*text[:place], 7, *text[place + 1 :]]
        assert tree.match(other).tokens == place // page * page
        tree.check()
    assert tree.match(text).tokens == 512


def test_least_recent_leaves_first_and_what_is_held_stays():
    tree = PrefixTree()
    for text in ([1, 2, 3], [1, 2, 4], [5]):
        tree.insert(text)
    lock = tree.lock([1, 2, 3])
    tree.step = 9
    assert tree.evict(1, owner="r7") == [3]  # 4, of the second
    assert (
        str(tree.match([1, 2, 4]).why) == "evicted from token 2 on, at step 9 for 'r7'"
    )
    assert tree.evict(10) == [4] and tree.tokens == tree.locked == 3
    tree.unlock(lock)
    assert tree.evictable == 3 and sorted(tree.evict(3)) == [0, 1, 2]


def test_cost_keeps_what_is_far_from_the_root_but_not_for_ever():
    tree = PrefixTree(policy="cost", even=10)
    far, near = list(range(100, 140)), [1, 2]
    tree.insert(far[:20])
    tree.insert(far)
    tree.insert(near)
    tree.evict(1)
    assert tree.match(near).tokens == 0 and tree.match(far).tokens == 40
    for number in range(30):  # the newcomers' worth rises with what was evicted
        tree.insert([1000 + number] * 30)
        tree.evict(1)
    assert tree.match(far).tokens < 40


def test_the_caller_is_told_which_blocks_are_twice():
    tree = PrefixTree(2)
    assert tree.insert([1, 2, 3, 4], [10, 11]) == 0
    assert tree.insert([1, 2, 3, 4, 5, 6, 7], [20, 21, 22]) == 4
    assert list(tree.match([1, 2, 3, 4, 5, 6]).blocks) == [10, 11, 22]


def test_a_lock_survives_what_others_insert_and_split():
    tree, draw = PrefixTree(), random.Random(1)
    locks = []
    for _ in range(200):
        text = [draw.randrange(2) for _ in range(draw.randrange(12))]
        tree.insert(text)
        lock = tree.lock(text)
        locks.append((lock, text, list(lock.blocks)))
        if draw.random() < 0.3:
            tree.evict(draw.randrange(10))
    for lock, text, blocks in locks:
        assert list(tree.match(text).blocks) == blocks
        tree.unlock(lock)
        tree.check()
    assert tree.locked == 0


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: PrefixTree(0), "page = 0"),
        (lambda: PrefixTree(policy="cheapest"), "policy"),
        (lambda: PrefixTree(even=float("nan")), "even = nan"),
        (lambda: PrefixTree().insert([1, 2], [3]), "1 for 2 whole pages"),
        (lambda: PrefixTree().insert([None]), "token = None"),
        (lambda: PrefixTree().evict(-1), "tokens = -1"),
        (lambda: PrefixTree().unlock(PrefixTree().lock([1])), "not held"),
    ],
)
def test_bad_input_is_named(call, words):
    with pytest.raises((ValueError, LookupError), match=words):
        call()
