"""Section 4.11: its loop, its numbers, and searches that replay stored timings."""

import subprocess
import sys
from statistics import mean

import pytest

from stacklib.kernels.plan.search import METHODS, expected_best
from stacklib.pages.kernels import search as page
from stacklib.pages.kernels.search import drawings, figures, live

from ...programs import loop_of

loop = loop_of("04-kernels/search")


def test_the_loop_is_as_good_as_the_package(capsys: pytest.CaptureFixture[str]):
    text, found = loop(), []
    for seed in range(page.SEEDS):
        exec(text.replace("Random(1)", f"Random({seed})"), {})
        found.append(float(capsys.readouterr().out.split()[-1]))
    ours = [page.run("evolutionary", s).best.seconds for s in range(page.SEEDS)]
    chance = expected_best(list(page.times().values()), page.BUDGET) / page.least()
    assert 1 <= mean(found) < chance
    assert mean(found) == pytest.approx(mean(ours) / page.least(), abs=0.01)


def test_the_loop_and_the_live_figure_need_no_numpy():
    lines = [
        "import sys",
        "sys.modules['numpy'] = None",
        "from stacklib.pages.kernels.search import live",
        "live.explore(method='guided', seed=0, budget=16)",
        loop(),
    ]
    subprocess.run([sys.executable, "-c", "\n".join(lines)], check=True)


def test_the_stored_curves_are_the_pages():
    told = {row["id"]: row for row in page.file()["curves"]}
    for method in METHODS:
        for after in (16, 64):
            over = 1 + page.above(method, after).si
            assert over == pytest.approx(told[method][str(after)][1], rel=1e-3)


def test_prediction_and_outcome_differ_as_the_page_says():
    assert min(METHODS, key=lambda m: page.foretold(m).si) == "guided"
    assert min(METHODS, key=lambda m: page.above(m).si) == "evolutionary"
    assert max(METHODS, key=lambda m: page.above(m, 16).si) == "guided"
    order = sorted(METHODS, key=lambda m: page.trials(m).si)
    assert order == ["evolutionary", "guided", "hill-climb", "random"]


def test_good_tiles_have_all_columns():
    assert page.near(0.05).si == page.near(0.05, 768).si == 19
    assert page.first(0.05).si == pytest.approx(513 / 20)
    every = sorted(page.times().values())
    assert every[18] <= 1.05 * every[0] < every[19]


def test_advice_is_worth_what_its_name_is():
    assert page.helps("short rows").si > 0.95
    assert page.helps("W rows").si < page.helps("W rows", advised=False).si + 0.05


def test_a_walk_climbs_and_the_guided_one_turns_back():
    ends = {
        method: figures.walk(method, seed)[-1] for method, seed in figures.WALKS.items()
    }
    last = len(page.SPACE["tile_n"]) - 1
    assert ends["hill-climb"][0] == last > ends["guided"][0]
    figures.map_spec(title="A map.")
    figures.curves_spec(title="Curves.")
    assert figures.engines_spec(title="Engines.")["y"]["names"][0] == "v7 TensorE"


def test_the_versions_are_faster_each():
    times = [page.version_time(v).si for v in page.VERSIONS]
    assert times == sorted(times, reverse=True)
    for same, as_ in (("v8", "v7"), ("v11", "v10")):
        assert page.version_time(same).si == page.version_time(as_).si


def test_a_week_on_one_gpu_has_paid_after_its_share():
    assert page.payback().si == pytest.approx(168 * 3600 / page.saved().si)


@pytest.mark.parametrize("method", METHODS)
def test_the_live_figure_answers_what_the_page_has(method: str):
    spec = live.explore(method=method, seed=2, budget=64)
    (best,) = (r for r in spec["readouts"] if r["name"] == "best")
    assert best["text"].startswith(f"{1e3 * page.run(method, 2).best.seconds:.3g}")


def test_the_drawing_has_the_four_methods():
    html = drawings.the_loop().html
    assert all(method in html for method in METHODS)
