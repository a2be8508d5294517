"""Section 4.5: bytes three ways, the page's loop, and what was measured."""

import math

import numpy as np
import pytest

from stacklib.kernels.attention import exponent, witnesses
from stacklib.kernels.attention.naive import naive_attention
from stacklib.pages.kernels import attention as page
from stacklib.pages.kernels.attention import claims, drawings, figures, live

from ...programs import loop_of

loop = loop_of("04-kernels/attention")


def softmax(scores, values):
    """By the room's reference: scores as keys of one number, the query is one."""
    k, v = (np.array(x, np.float64)[None, None, :, None] for x in (scores, values))
    return float(naive_attention(np.ones((1, 1, 1, 1)), k, v, scale=1.0).item())


@pytest.mark.parametrize("tile", [1, 2, 6])
def test_the_loop_ends_at_the_softmax(tile):
    last = float(loop.prints("tile = 2", f"tile = {tile}").split()[-1])
    right = softmax(drawings.SCORES, drawings.VALUES)
    assert last == pytest.approx(right, abs=1e-4)
    told = page.steps(drawings.SCORES, drawings.VALUES, tile)[-1]["output"]
    assert told == pytest.approx(right)


@pytest.mark.rows("tile", live.TILES)
def test_the_live_row_ends_at_the_softmax(tile):
    scores, values = live.row(8, 5)
    found = live.after(scores, values, tile, live.KEYS // tile)
    assert found[3] == pytest.approx(softmax(scores, values))
    assert found[:1] == (max(scores),)
    (early,) = (live.explore(step=s, tile=tile, spread=8, draw=5) for s in [1])
    texts = {r["name"]: r["text"] for r in early["readouts"]}
    assert (texts["output"] == texts["softmax"]) == (tile == live.KEYS)


def asked_by_three(tokens: int, head: int, tile: int) -> int:
    """Numbers that three kernels load and store, tile by tile."""
    found, steps = 0, range(tokens // tile)
    for _ in steps:
        found += sum(2 * tile * head + tile * tile for _ in steps)  # scores of q and k
        found += sum(2 * tile * tile for _ in steps)  # read, and written as weights
        found += sum(tile * tile + tile * head for _ in steps) + tile * head
    return found


def test_one_rule_counts_what_is_asked_and_the_l2_does_the_rest():
    assert page.in_tiles().si == page.counted_bytes().si
    assert page.unfused().si == claims.count(4096, 128, 128, 128).unfused
    sizes = page.TOKENS, page.HEAD, page.TILE
    assert page.asked().si == 2 * asked_by_three(*sizes)
    limit = 3 / 2 + 2 * page.TILE / page.HEAD
    assert page.saved().si == pytest.approx(limit, rel=0.03)
    assert page.at_memory().si * page.saved_at_memory().si == page.unfused().si
    assert page.through("times_read").si == 1
    assert 1 < page.through("times_read", small=True).si
    assert page.through("missed").si == page.through("once").si


def test_the_exponent_is_lost_where_numbers_are_taken_for_rows():
    numbers = claims.CHIP.si / 2
    n, d = 8192, page.HEAD
    right = exponent.kv_numbers(n, d, exponent.tile_rows(d, numbers))
    assert right == pytest.approx(8 * n * n * d * d / numbers)
    lost = exponent.kv_numbers(n, d, page.fitting(as_rows=True).si)
    assert right / lost == pytest.approx(d)
    assert page.exponent_of_head().si == claims.exponent_of_head(claims.LONG)
    assert page.chip().si == claims.CHIP.si


def test_five_witnesses_say_one_number():
    rows = page.testimony()
    assert [row["witness"] for row in rows] == list(page.COUNTS)
    assert len({row["in bf16"].si for row in rows}) == 1
    same = [one for one in page.heard() if one.name not in page.WIDTHS]
    assert witnesses.dissenting(page.ASKED, same) == []
    assert len({one.kv // page.WIDTHS.get(one.name, 4) for one in page.heard()}) == 1


def test_the_prompt_is_faster_without_the_matrix():
    assert page.crossing().si < page.naive().si
    assert page.tiled().si < page.naive().si / 3
    assert page.published().si == pytest.approx(page.tiled().si, rel=0.2)


def test_memory_does_not_grow_with_the_square():
    spec = figures.memory_spec("title")
    by_name = {m["name"]: m for m in spec["marks"]}
    x, y = (by_name["tiles in NumPy"][axis] for axis in "xy")
    assert x[-1] == 8 * x[0] and y[-1] < 2 * y[0]
    over = page.growth("naive").si / page.growth("numpy").si
    assert over == pytest.approx(3123, abs=1)
    assert all(page.over_peer(kind).si < 1.4 for kind in ("avx2", "avx512"))


def test_the_drawings_say_what_the_page_says():
    assert "236 MB" in (drawn := drawings.tiles_of_scores().html) and "69.2 MB" in drawn
    steps = page.steps(drawings.SCORES, drawings.VALUES, drawings.PART)
    told = drawings.row_in_tiles().html
    for row in steps:
        assert f"{row['output']:.4g}" in told
    assert steps[1]["factor"] == pytest.approx(math.exp(-2))
