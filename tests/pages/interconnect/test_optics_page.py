"""Section 6.11: watts, light and failures against the package, and the page's loop."""

import re

import pytest

from stacklib.interconnect.optics import errors
from stacklib.pages.interconnect import optics as page
from stacklib.pages.interconnect.optics import drawings, live, rows

from ...programs import loop_of

loop = loop_of("06-interconnect/optics")


def counted(program: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, int]:
    exec(program, {})
    wrong, bits = re.findall(r"\d+", capsys.readouterr().out)
    return int(wrong), int(bits)


@pytest.mark.parametrize("reach", [2.0, 1.5])
def test_the_loop_is_the_package(reach, capsys):
    wrong, bits = counted(loop().replace("reach = 2.0", f"reach = {reach}"), capsys)
    told = errors.bit_errors(reach) * bits
    assert abs(wrong - told) < 5 * told**0.5
    ours = errors.run_symbols(bits // 2, reach, seed=6)[1]
    assert abs(wrong - ours) < 7 * told**0.5


def test_the_loop_loses_by_labels_that_are_not_gray(capsys):
    fine, _ = counted(loop(), capsys)
    poor, _ = counted(loop().replace("0b11, 0b10", "0b10, 0b11"), capsys)
    assert poor > 1.2 * fine


def test_the_cluster_is_what_nvidia_has():
    for way in page.WAYS:
        assert page.fleet(way).si == pytest.approx(page.fleet_published(way).si)
    assert page.saved("engine").si == pytest.approx(0.65)
    assert page.saved("port").si == pytest.approx(0.70)
    # NVIDIA's module of today: within a fifth of the larger port's energy per bit
    ours = page.per_bit("pluggable") * 2 * 400e9
    assert page.module().si == pytest.approx(ours.si, rel=0.2)


def test_a_token_pays_for_the_time():
    old, new = (page.token(way).si for way in page.WAYS)
    assert old == pytest.approx(8 * 6 * 400e9 * 18.75e-12 * page.step().si)
    assert old / new == pytest.approx(30 / 9)
    assert page.crossing().si < old / 1000 < page.chips().si / 1000


def test_the_standard_spends_all_it_has():
    assert 0 <= page.margin().si == pytest.approx(0.1)
    assert page.received().si > page.least_measured().si > page.least().si
    assert 1 < page.off().si < 4 and 4 < page.four_levels().si < 5
    assert page.lost().si < 1e-11


def test_failures_three_ways():
    assert page.a_day().si == pytest.approx(76.8)
    run, told = page.run(events=True).si, page.run(events=False).si
    assert abs(run - told) < 3 * told**0.5
    alone, whole = (page.stuck(together=one).si for one in (False, True))
    assert whole == pytest.approx(64 * alone, rel=1e-3)
    # of the right size: what a training run saw was switches and cables as well
    assert 0.5 < page.llama_foretold().si / page.llama("network").si < 1
    assert rows.failures()[0]["pulled"].si == pytest.approx(alone)
    assert page.fit_measured("package").si == pytest.approx(1e9 / 2.6e6)


def test_the_live_figure_follows_the_light():
    given = {c["name"]: c["value"] for c in live.controls()}
    assert "mends" in live.explore(**given)["title"]
    assert "Too little" in live.explore(**given | {"loss": 14, "noise": 6})["title"]
    way = (9, 9, 5, 4, 3)
    lost = live.arrives(*way, 10) - live.arrives(*way, 10_000)
    assert lost == pytest.approx(live.PER_KM * 9.99)


def test_the_drawing_says_both_ways():
    html = drawings.two_ways().html
    assert len(html) < 90_000
    for word in ("board trace", "module", "laser", "fibre", "engine"):
        assert word in html
