"""Section 4.9: padding three ways, rounding, and the page's loop."""

import numpy as np
import pytest

from stacklib.kernels.experts.rounding import draw_counts, pad_waste, padded
from stacklib.pages.kernels import experts as page
from stacklib.pages.kernels.experts import drawings, figures, live

from ...programs import loop_of

loop = loop_of("04-kernels/experts")


def test_the_loop_is_the_package(capsys: pytest.CaptureFixture[str]):
    names: dict[str, object] = {}
    exec(loop(), names)
    counts = np.array(names["counts"])
    assert counts.sum() == page.rows().si
    assert names["padding"] == padded(counts).sum()
    assert names["padding"] / counts.sum() == pytest.approx(page.exact().si, abs=0.05)
    assert set(names["rounded"]) == {128}
    share = names["moved"] / names["asked"]
    assert share == pytest.approx(page.after("even", "pairs_changed").si, abs=0.01)
    assert f"{share:.1%}" in capsys.readouterr().out


def test_three_ways_agree():
    for tokens in (page.TOKENS, page.FEWER, page.MANY):
        assert page.drawn(tokens).si == pytest.approx(page.exact(tokens).si, abs=0.02)
    assert page.exact(page.MANY).si == pytest.approx(
        page.formula(page.MANY).si, rel=0.03
    )
    assert page.after("tiny", "waste").si == pytest.approx(
        page.small("waste").si, rel=0.1
    )


def test_fewer_tokens_pad_less_where_the_mean_is_a_tile():
    assert page.mean().si == page.TILE
    assert page.share(page.exact(page.FEWER)).si < 0.6 * page.share(page.exact()).si
    assert page.saved().si > 2 * page.cut_off().si
    assert page.formula(page.FEWER).si > page.formula().si  # and the formula errs


def test_reading_hides_two_tiles_and_not_three():
    assert page.multiplying(2).si < page.reading().si < page.multiplying(3).si
    assert 2 * page.TILE < page.free_rows().si < 3 * page.TILE
    assert page.FEWER < page.TOKENS < page.free_tokens().si < page.MANY


def test_an_expert_has_44_million_parameters():
    assert page.parameters().si == 3 * 7168 * 2048
    assert page.narrower().si == 3 * 7168 * 1536
    assert page.all_routed(False).si < 0.76 * page.all_routed().si


def test_rounding_pads_nothing_and_moves_the_faint():
    for which in ("even", "tiny"):
        done = page.rounded(which)
        assert not (done.counts[1] % page.TILE).any()
        assert page.after(which, "gates_changed").si < 0.5 * done.pairs_changed
        assert page.after(which, "left alone").si == 0
    assert page.after("tiny", "gain").si > 1.15


@pytest.mark.parametrize("skew", [0.0, 1.0])
def test_the_live_figure_draws_as_the_room_does(skew: float):
    mine = live.counts(4096, 64, 4, skew)
    assert len(mine) == 64
    assert sum(mine) == pytest.approx(4096 * 4, rel=0.02)
    sizes = {"tokens": 4096, "top_k": 4, "experts": 64, "skew": skew}
    rooms = draw_counts(np.random.default_rng(1), **sizes)
    waste = padded(rooms).sum() / (rooms.sum() + padded(rooms).sum())
    assert live.padding(mine, 128) == pytest.approx(waste, abs=0.05)
    half = pad_waste(4096, 4, 64)
    assert half / (1 + half) == pytest.approx(waste, abs=0.05)
    few = live.counts(20, 512, 1, skew)
    assert 0 < sum(few) < 60


def test_drawing_and_chart():
    found = drawings.padded_and_rounded().html
    assert page.after("tiny", "waste").text("%", 3) in found
    assert page.after("tiny", "pairs_changed").text("%", 2) in found
    assert len(figures.saw()["marks"]) == 3
    spec = live.explore(tokens=4096, experts=256, top_k=8, tile=128, skew=0)
    assert "padding" in spec["title"]
