"""Section 6.4: its loop, crossing, log and claims held to the package."""

import pytest

from stacklib.interconnect import Topology, all_reduce, simulate
from stacklib.pages.interconnect import selection as page
from stacklib.pages.interconnect.selection import claims, drawings, figures, live

from ...programs import loop_of

loop = loop_of("06-interconnect/selection")


def test_the_loop_is_the_package():
    names = {"ring": "ring", "tree": "tree", "nvls": "in the switches"}
    ways = {"ll": ", LL", "ll128": ", LL128", "simple": ", Simple"}
    said = loop.prints().splitlines()
    assert len(said) == 10
    for power, text in zip(range(12, 31, 2), said, strict=True):
        told = page.chosen_by(float(2**power))
        way = "" if told.algorithm == "nvls" else ways[told.protocol]
        assert text.endswith(names[told.algorithm] + way)
        assert f"{told.time * 1e6:.0f}" in text or float(
            text.split(" KiB")[1].split("us")[0]
        ) == pytest.approx(told.time * 1e6, rel=2e-3)


def test_without_switches_the_ring_with_ll128_comes_between():
    out = loop.prints('    "in the switches": (25.0, 272000),\n', "")
    assert out.index("ring, LL128") < out.index("ring, Simple")
    assert "tree, LL" in loop.prints("(15.0, 80571)", "(120.0, 80571)").splitlines()[1]


def test_the_choice_changes_where_the_lines_cross():
    at = page.cross().si
    assert page.chosen_by(0.99 * at).algorithm == "ring"
    assert page.chosen_by(1.01 * at).algorithm == "nvls"
    # The published log changes between the powers of two around it.
    assert 1 << 20 < at < 1 << 21


def test_a_token_is_its_exchanges():
    assert page.exchanges().si == 160
    assert page.token().si == pytest.approx(160 * page.time().si)
    assert page.size(page.TOKENS).si == 4096 * page.size().si == 1 << 26
    alpha = page.constant("base", "ring", "ll") + page.steps() * page.constant(
        "hop", "ring", "ll"
    )
    assert alpha.si == pytest.approx(page.candidate("alpha", page.LL).si)


def test_the_log_and_the_bars():
    assert page.same_choice().si == 18
    assert page.error("D_large").si < 0.15 and page.error("D_small").si < 0.30
    assert page.rows_judged("predicted").si > 0.9 * page.rows_judged().si
    worst = [o.row.id for o in page.judged("source").worst(5)]
    assert set(worst) == set(page.WORST)
    for row in page.log():
        assert 0.7 < row["predicted"].si / row["measured"].si < 1.4


def test_points_are_times():
    found = page.points()
    assert len(found) > 150 and {p[0] for p in found} == set(figures.CLASSES)
    low, high = figures.ENDS
    assert all(low < 1e6 * t.si < high for _, a, b in found for t in (a, b))


def test_claims():
    assert claims.adds("fp8").si == pytest.approx(14.4e12)
    assert claims.sent(8, "in_switch") == 1 and claims.sent(8, "ring") == 1.75
    assert page.gain(72).si == pytest.approx(2 * 71 / 72)
    assert page.reached().si < page.gain().si


def test_the_live_figure_answers_for_every_menu():
    given = {c["name"]: c["value"] for c in live.controls()}
    assert "takes the ring with LL" in live.explore(**given)["title"]
    assert "takes the switches" in live.explore(**given | {"size": 65536.0})["title"]
    for device in live.DEVICES:
        for ranks in (2, 64):
            live.explore(**given | {"device": device, "ranks": ranks})


def test_the_drawing_lights_what_is_taken():
    html = drawings.board().html
    assert "15.2" in html and "LL128" in html and len(html) < 90_000


@pytest.mark.parametrize("ranks", [8, 24])
def test_a_sum_in_switches_saves_the_bytes_that_the_link_simulator_counts(ranks):
    """A GPU's busiest link around a ring over the same where the switch adds."""
    box = Topology.nvswitch(ranks, 1, links=1, link=1e9, latency=1e-9)
    most = []
    for algorithm in ("ring", "in_switch"):
        run = simulate(all_reduce(ranks, algorithm=algorithm), box, 24e6)
        sent = [size for (source, _), size in run.bytes.items() if source < ranks]
        most.append(max(sent))
    assert most[0] / most[1] == pytest.approx(page.gain(ranks).si)
