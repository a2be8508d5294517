"""What reservations waste: closed form, every moment counted, and the memory itself."""

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stacklib.paged_kv import BlockAllocator
from stacklib.paged_kv.reserve import (
    SCHEMES,
    Holes,
    filled,
    filled_by_allocator,
    filled_by_counting,
    reserved,
    serve,
)
from stacklib.paged_kv.session import prefilled
from stacklib.paged_kv.tree import PrefixTree
from stacklib.quantity import chosen


def test_98_6_percent_three_ways():
    longest, block = 1534, 16
    mean = (longest + 2) / 3
    assert mean == 512 and round(filled(mean, block), 3) == 0.986
    assert filled_by_counting(longest, block) == pytest.approx(
        filled(mean, block), 2e-4
    )
    run = filled_by_allocator(longest, block)
    assert run == pytest.approx(filled(mean, block), abs=0.002)


@pytest.mark.parametrize("block", [1, 2, 16, 256])
@pytest.mark.parametrize("tokens", [128, 512, 4096])
def test_the_closed_form_on_floats_quantities_and_arrays(tokens, block):
    one = filled(float(tokens), block)
    told = filled(chosen(tokens, label="tokens"), chosen(block, label="block"))
    assert float(told.si) == one == filled(np.array([tokens, 9.0]), block)[0]
    # All remainders once, around the mean.
    lengths = range(tokens + 1, tokens + block + 1)
    slots = sum(-(-n // block) * block for n in lengths)
    mean = tokens + (block + 1) / 2
    assert sum(lengths) / slots == pytest.approx(filled(mean, block))


def test_a_third_of_a_longest_reservation_holds_tokens():
    longest = 64
    lengths = list(range(1, longest + 1))
    random.Random(0).shuffle(lengths)
    alone = serve(lengths * 3, longest, "the longest", longest=longest)
    assert alone.tokens == pytest.approx(reserved(longest), rel=0.02)
    assert alone.running == 1 and alone.free == alone.again == 0


@pytest.mark.parametrize("scheme", SCHEMES)
def test_shares_are_of_one_whole_and_all_are_served(scheme):
    draw = random.Random(1)
    lengths = [draw.randrange(1, 97) for _ in range(200)]
    share = serve(lengths, 960, scheme, longest=96, spare=1)
    assert sum(share[:4]) == pytest.approx(1)
    assert all(0 <= part <= 1 for part in (*share[:4], share.again))
    assert share.never == 0 or scheme != "its own length"


def test_blocks_hold_more_than_knowing_and_that_more_than_the_longest():
    draw = random.Random(2)
    lengths = [draw.randrange(1, 193) for _ in range(200)]
    held = [serve(lengths, 1920, s, longest=192, block=4).tokens for s in SCHEMES]
    assert held == sorted(held) and held[2] > 2 * held[0]


@given(st.lists(st.tuples(st.booleans(), st.integers(1, 9)), max_size=40))
def test_runs_never_overlap_and_come_back_whole(asked):
    memory, held = Holes(30), []
    for give, length in asked:
        if give and held:
            memory.give(*held.pop(length % len(held)))
        elif (begin := memory.take(length)) is not None:
            held.append((begin, length))
        else:
            assert all(end - begin < length for begin, end in memory.holes)
        slots = [s for begin, n in held for s in range(begin, begin + n)]
        slots += [s for hole in memory.holes for s in range(*hole)]
        assert sorted(slots) == list(range(30))
    for run in held:
        memory.give(*run)
    assert memory.holes == [(0, 30)]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: filled(0.5, 16), "tokens"),
        (lambda: filled(float("nan"), 16), "tokens"),
        (lambda: filled_by_counting(2.5, 16), "longest"),
        (lambda: reserved(0), "longest"),
        (lambda: serve([9], 16, "blocks", longest=8), "length = 9"),
        (lambda: serve([1], 16, "blocks", longest=12, block=10), "slots = 16"),
        (lambda: serve([1], 16, "pages", longest=8), "scheme"),
        (lambda: prefilled([2, 1]), "holds the one before"),
        (lambda: prefilled([1, 2, 3], [1]), "1 pauses"),
        (lambda: prefilled([1, 2], [float("nan")]), "pause_0"),
        (lambda: prefilled([1, 2], [1], -1), "lives"),
    ],
)
def test_bad_input_is_named(call, words):
    with pytest.raises((ValueError, LookupError), match=words):
        call()


TURNS = [50, 52, 55, 56, 58]


def test_a_session_by_sums_by_a_tree_and_by_an_allocator():
    assert sum(TURNS) == 271 and sum(prefilled(TURNS)) == 58
    tree, pool, told = PrefixTree(), BlockAllocator(100, 1), list(range(58))
    by_tree, by_pool = [], []
    for turn in TURNS:
        by_tree.append(turn - tree.insert(told[:turn]))
        sequence = pool.allocate(told[:turn])
        by_pool.append(turn - sequence.cached)
        pool.free(sequence)
    assert by_tree == by_pool == prefilled(TURNS)


def test_a_pause_too_long_costs_the_whole_prompt_again():
    pauses = [60, 301, 300, 60]
    assert prefilled(TURNS, pauses, 300) == [50, 2, 55, 1, 2]
