"""Section 8.9: what two pools are worth, and the page's loop."""

from functools import partial

import pytest

from stacklib.pages.serving import pools as page
from stacklib.pages.serving.pools import drawings, figures, live
from stacklib.plots import spec as grammar
from stacklib.quantity import chosen
from stacklib.serving.pools import turns

from ...live_figures import ask
from ...programs import loop_of

loop = loop_of("08-serving/pools")
readouts = partial(ask, live.explore, live.controls())
FIRST = "attention, mlp, crossing = 37.4, 76.8, 5.0  # microseconds"
SECOND = "layers, batches = 80, 2"


@pytest.fixture(autouse=True)
def few(monkeypatch):
    kept = page.ran, page.rate
    monkeypatch.setattr(page, "REQUESTS", 120)
    for each in kept:
        each.cache_clear()
    yield
    for each in kept:
        each.cache_clear()


@pytest.mark.parametrize(
    "sides, layers, many",
    [((37.4, 76.8, 5.0), 80, 2), ((2.0, 2.0, 9.0), 7, 3), ((5.0, 1.0, 0.5), 4, 1)],
)
def test_the_loop_runs_as_the_pipeline(sides, layers, many):
    text = loop().replace(FIRST, "attention, mlp, crossing = {}, {}, {}".format(*sides))
    text = text.replace(SECOND, f"layers, batches = {layers}, {many}")
    said = loop.prints(loop(), text).split()
    for mine, side in zip((37.4, 76.8), (0, 1), strict=True):  # the page's own
        assert mine == pytest.approx(1e6 * page.half(page.FULL, side).si, rel=2e-3)
    ran = turns.run_turns(*sides, layers, many)
    assert float(said[0]) == pytest.approx(ran.time, abs=1e-4)
    assert float(said[-3]) == pytest.approx(ran.busy("mlp"), abs=1e-4)


def test_both_are_alike_at_the_border():
    at = page.border()
    assert page.one_pool(at).si == pytest.approx(page.two_pools().si)
    strict, loose = (chosen(ms, "ms", label="limit") for ms in (20, 100))
    assert page.one_pool(strict).si < page.two_pools().si < page.one_pool(loose).si


def test_a_strict_limit_parts_the_pools():
    strict, loose = page.over(0.016), page.over(page.LOOSE)
    assert strict.si > 1.5 and loose.si < 1
    assert page.rate(page.BEST, 0.001).si == 0


def test_prompts_stand_in_the_way_of_one_pool_alone():
    alone, pieces, two = map(page.waited, (page.ONE, page.PIECES, page.BEST))
    assert two.si < pieces.si < alone.si
    assert alone.si >= page.reading().si


def test_seats_are_the_most_that_meet_the_limit():
    for limit in (0.016, 0.02):
        seats = page.seats(limit)
        assert page.writing(seats).si <= limit < page.writing(seats + 1).si
    assert page.seats(0.001) == 0


def test_balance_by_hand():
    read, written = page.CONTEXT / page.reading().si, 64 / page.writing(64).si
    told = (page.CONTEXT / read) / (page.NEW / written)
    assert page.readers().si == pytest.approx(told)
    assert page.lmsys_mix().si == pytest.approx(9 * 22.3 / (3 * 52.3))
    assert page.crossed().si == pytest.approx(2 * 61 * 5e-6)
    size = 4096 * 80 * 2 * 8 * 128 * 2
    assert page.crossing().si == pytest.approx(size / (8 * 50e9))


def test_the_live_figure_says_what_the_page_computes():
    spec, said = readouts(prompt=4096, new=256, limit=20, readers=3)
    assert said["one"] == f"{live.alone(4096, 256, 20):.3g}"
    # The napkin's twelve answers are about what the best number of them is.
    limit = chosen(20, "ms", label="limit")
    assert live.alone(4096, 256, 20) == pytest.approx(page.one_pool(limit).si, rel=0.05)
    assert live.apart(4096, 256, 100, 3) == pytest.approx(page.two_pools().si)
    assert live.apart(4096, 256, 5, 3) == live.alone(4096, 256, 5) == 0
    grammar.check(spec)


def test_the_figure_and_the_drawing(monkeypatch):
    monkeypatch.setattr(figures, "LIMITS", (16, 100))
    grammar.check(figures.goodput_spec(title="A figure."))
    drawn = drawings.one_pool_and_two()
    assert drawn.name == "pools-two" and page.DEVICE == "h100_sxm"
