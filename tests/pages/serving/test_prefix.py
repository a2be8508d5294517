"""Section 8.4: what is found of a prompt, and the page's loop."""

from functools import partial

import pytest

from stacklib.paged_kv import BlockAllocator
from stacklib.pages.serving import prefix as page
from stacklib.pages.serving.prefix import drawings, live
from stacklib.plots import spec as grammar

from ...live_figures import ask
from ...programs import loop_of

loop = loop_of("08-serving/prefix")
readouts = partial(ask, live.explore, live.controls())


def test_the_loop_finds_what_the_package_finds():
    pool, texts = BlockAllocator(100, 4), []
    for printed in loop.prints().splitlines():
        text, found = printed.rsplit(" -> ", 1)
        texts.append(text)
        sequence = pool.allocate([ord(letter) for letter in text])
        assert found == f"{sequence.cached} found"
    assert len(texts) == 4 and pool.stats().hit > 8


@pytest.mark.rows("size", page.SIZES)
def test_names_a_tree_and_the_formula_find_the_same(size):
    for shared in (0, 1, 255, 256, 500, 1023, 1024):
        formula = min(shared, page.PROMPT - 1) // size * size
        assert page.found(size, shared) == formula
        assert min(page.in_tree(size, shared), 1023 // size * size) == formula


def test_the_first_token_waits_for_what_is_new():
    """About as long as a short prompt's, and longer the less is found."""
    whole, short = page.first_token(), page.first_token(found=page.FOUND)
    alone = page.first_token(page.CONTEXT - page.FOUND)
    assert alone.si == pytest.approx(short.si, rel=0.1)
    assert short.si < whole.si / 5
    half = page.first_token(found=page.CONTEXT // 2)
    assert short.si < half.si < whole.si


def test_a_session_by_hand():
    assert page.all_turns().si == 271_000 and page.last_turn().si == 58_000
    assert page.after_a_pause() == 50_000 + 2000 + 3000 + 56_000 + 2000
    assert page.fewer_tokens().si == 25
    pairs = [n * n / 2 for n in (50_000, 52_000)]
    linear, each = 2 * 68.45e9, 4 * 80 * 64 * 128
    work = [linear * n + each * p for n, p in zip((50_000, 52_000), pairs, strict=True)]
    by_hand = work[0] / (work[1] - work[0])
    assert page.fewer_operations().si == pytest.approx(by_hand, rel=2e-3)


def test_a_name_of_32_bits_is_too_short():
    assert page.collisions().si == pytest.approx(1e5**2 / 2 / 2**32, rel=1e-4)


def test_the_live_figure_says_what_the_page_computes():
    spec, said = readouts(shared=500, block=256)
    grammar.check(spec)
    assert said["found"] == str(page.found(256)) and said["share"] == "25 %"
    assert said["why"] == str(page.second(256).why)
    assert "another token at place 500" in readouts(shared=500, block=1)[1]["why"]


def test_the_reasons_are_those_of_the_allocator():
    kinds = [match.why.kind for _, match in page.reasons()]
    expected = ["last token", "another token", "another token", "shorter than a block"]
    assert kinds == expected
    assert [page.matched(words) for words in page.REASONS] == [1008, 496, 0, 0]


def test_the_drawing_is_the_tree():
    found = drawings.two_users()
    assert "instructions to user B asks" in found.alt
    assert "user A asks to A asks on" in found.alt
