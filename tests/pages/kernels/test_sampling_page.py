"""Section 4.10: draws in tiles, what they save, and the page's loop."""

import math
import random

import numpy as np
import pytest

from stacklib.kernels.rows.flash_sampling import draw_in_tiles
from stacklib.kernels.written import host_triton, sampling_triton
from stacklib.pages.kernels import sampling as page
from stacklib.pages.kernels.sampling import drawings, draws, figures, live
from stacklib.plots.spec import check


def test_the_live_winner_is_the_packages():
    source, scores = random.Random(3), live.logits()
    for tile in (1, 5, 16):
        noise = [live.gumbel(source.random()) for _ in scores]
        _, token = live.winner(scores, noise, tile, shared=False)
        row = np.array(scores) + noise  # no noise of its own at temperature zero
        ours = draw_in_tiles(np.ones((1, 1)), row[:, None], 0, 0, tile=tile).tokens
        assert token == ours[0]


def test_chances_are_even_and_a_shared_noise_is_found():
    assert min(draws.p_values()) > 0.01 and max(draws.p_values()) < 0.99
    assert draws.shared_noise_p() < 1e-6
    assert draws.model_p() > 0.01
    given = {c["name"]: c["value"] for c in live.controls()}
    assert "as the softmax has it" in live.explore(**given)["title"]
    wrong = live.explore(**{**given, "noise": "tile"})
    assert "not as" in wrong["title"]
    check(wrong)
    hits = live.drawn(1, 4, 500, 2, False)
    assert live.chance(hits, live.softmax(1)) == pytest.approx(
        draws.p_value(np.array(hits), np.array(live.softmax(1))), rel=1e-6
    )


def test_what_is_saved_adds_up():
    parts = [page.saved(part) for part in ("passes", "gather", "launches")]
    assert sum(q.si for q in parts) + page.rest().si == pytest.approx(
        page.saved_in_all().si
    )
    assert page.rest().si > 0.8 * page.saved_in_all().si
    assert page.took(fused=False).si > page.took(fused=True).si
    assert page.took("head", fused=True).si == pytest.approx(
        page.head().si / 8 / 3.35e12, rel=1e-4
    )
    assert page.document_chain().si == pytest.approx(132e-6, rel=0.01)


def test_prediction_lies_below_what_was_published():
    for row in page.rank_rows():
        assert 0.6 < row["predicted"].si / row["fused"].si < 0.9
    gains = [row["gain"].si for row in page.rank_rows()]
    assert gains == sorted(gains)
    assert page.gain(2).si < page.claimed("flashsampling-1p84").si < page.gain(4).si
    assert page.share("qwen3-1.7b", 1).si < 0.1 < 0.2 < page.share("qwen3-1.7b", 8).si


def test_cuts_in_one_kernel_draw_the_same():
    assert draws.same_token()
    assert draws.of_cut("launches", fused=False).si == 20
    assert draws.of_cut("crossings", fused=True).si == pytest.approx(1, rel=1e-3)


def test_tritons_kernel_reads_and_leaves_what_the_run_counts():
    given = np.random.default_rng(0)
    hidden = given.standard_normal((3, 40), dtype=np.float32)
    head = given.standard_normal((100, 40), dtype=np.float32)
    with host_triton.on_tiles() as ran:
        sampling_triton.flash_sampling(hidden, head, 1.0, 0, blocks=(16, 32, 32))
    crossed = draw_in_tiles(hidden, head, 1.0, 0, tile=32).crossed
    first = ran[0].report
    assert len(ran) == crossed.launches == 2
    assert first.levels.read == crossed.read["weights"] + crossed.read["hidden"]
    assert first.traffic.asked["store"] == crossed.written["winners"]


def test_the_drawing_lights_the_largest():
    scores = drawings.scores().reshape(drawings.TILES, drawings.EACH)
    assert len(set(scores.argmax(axis=1))) > 1
    assert page.logits().text("kB") in drawings.through_memory_or_not().html
    assert math.isclose(figures.gains()["marks"][0]["y"][-1], page.gain(8).si)
