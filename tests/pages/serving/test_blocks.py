"""Section 8.3: who holds which block, and the page's loop."""

import ast
from functools import partial

import pytest

from stacklib.paged_kv import BlockAllocator
from stacklib.paged_kv.reserve import SCHEMES
from stacklib.pages.serving import blocks as page
from stacklib.pages.serving.blocks import drawings, figures, live
from stacklib.plots import spec as grammar

from ...live_figures import ask
from ...programs import loop_of

loop = loop_of("08-serving/blocks")
readouts = partial(ask, live.explore, live.controls())


def test_the_loop_takes_the_blocks_that_the_package_takes():
    tables, free = ast.literal_eval("[" + loop.prints().replace("} [", "}, [") + "]")
    pool, held = BlockAllocator(12, 4), {}
    for who in [*"ABABBAABBBABC" + "A" * 7, "", *"CCCCADDCC"]:
        if not who:
            pool.free(held.pop("B"))
        elif who not in held:
            held[who] = pool.allocate([0], publish=False)
        else:
            assert pool.append(held[who], 0)
    assert tables == {who: sequence.blocks for who, sequence in held.items()}
    assert free == pool.free_blocks


def test_a_third_of_a_reservation_and_the_bytes_by_hand():
    assert page.lost().si == pytest.approx(2 / 3, rel=1e-3)
    assert page.cached(1).si == 2 * 80 * 8 * 128 * 2
    assert page.table_blocks().si * page.block_bytes().si == page.cached(4096).si
    many, few = (page.held(n).conversations.si for n in (4096, 8192))
    assert many // 2 == few


def test_three_ways_agree():
    for size in page.SIZES:
        closed, moments, run = (way.si for way in page.ways(size))
        # The formula takes all remainders as equally frequent.
        assert moments == pytest.approx(closed, rel=0.02 if size > 64 else 1e-3)
        assert run == pytest.approx(moments, rel=5e-3)


def test_answers_share_the_prompt():
    # One prompt of 255 full blocks and one that all but the last writer copy.
    assert page.blocks_of_answers(True) == 256 + page.ANSWERS - 1
    assert page.blocks_of_answers(False) == 256 * page.ANSWERS


def test_the_figure_shows_every_share():
    spec = figures.shares_spec(title="A memory.")
    grammar.check(spec)
    for row, scheme in enumerate(SCHEMES):
        bars = {m["name"]: m["x"] for m in spec["marks"] if m["y"][0] == row}
        for part, name in figures.PARTS.items():
            start, end = bars.get(name, (0, 0))
            assert end - start == pytest.approx(100 * page.told(scheme, part).si)


def test_the_live_pool_says_what_an_allocator_says():
    spec, said = readouts(step=12, size=4)
    pool, held, last = page.replay(12, 4)
    assert last in spec["title"] and said["copied"] == "1"
    assert said["table_A"] == " ".join(map(str, held["A"].blocks))
    assert said["table_D"] == "none" and said["owned"] == str(pool.stats().owned)
    drawn = sum(len(mark["x"]) for mark in spec["marks"])
    assert drawn == pool.stats().tokens + 4 * pool.stats().cached
    pool.check()
    # D finds what A left, and where B's copy of it lies.
    assert page.replay(18, 4)[1]["D"].cached == 12


@pytest.mark.parametrize("size", [2, 4, 8])
def test_every_step_of_the_live_pool_is_in_order(size):
    for step in range(page.STEPS + 1):
        page.replay(step, size)[0].check()


def test_the_drawing_has_three_tables_and_one_pool():
    found = drawings.three_tables()
    for words in ("table of A", "table of B", "table of C", "shared blocks"):
        assert words in found.alt
