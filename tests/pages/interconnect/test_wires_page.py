"""Section 6.5: the page's loop, the line and its cases, links and their buckets."""

from statistics import median

import pytest

from stacklib.interconnect.schedules.closed import closed_cost
from stacklib.pages.interconnect import wires as page
from stacklib.pages.interconnect.wires import drawings, figures

from ...programs import loop_of

loop = loop_of("06-interconnect/wires")


@pytest.mark.parametrize("alpha", [0.5e-3, 1e-5])
def test_the_loop_is_the_package(alpha):
    for said in loop.prints("0.5e-3", str(alpha)).splitlines():
        size, _, time, _, _, _ = said.split()
        given = {"size": int(size), "alpha": alpha, "beta": 1 / 0.6e9}
        told = closed_cost("all_reduce", "ring", 4, **given).time
        assert float(time) == pytest.approx(told * 1e3, abs=0.006)


def test_what_was_foretold_is_the_line():
    _, waiting, _, moving = page.ring_terms()
    told = page.foretold("ring", page.LARGE)
    assert waiting.si + moving.si == pytest.approx(told.si, rel=1e-4)
    line = page.step_line(page.rings(page.WORLD))
    assert line.alpha_interval[0] < page.alpha().si < line.alpha_interval[1]
    assert page.rate(4, 0).si < page.rate().si < page.rate(4, 1).si


def test_every_algorithm_ran_with_both_numbers_of_processes():
    from stacklib.interconnect.schedules.algorithms import KNOWN

    names = sum(map(len, KNOWN.values()))
    switched = sum(
        name in ("in_switch", "collnet") for table in KNOWN.values() for name in table
    )
    assert page.schedules().si == 2 * names - switched


def test_the_token_waits_for_alpha():
    assert page.exchanges().si == 160 and page.vector().si == 16384
    waiting = page.step_line(page.rings(page.WORLD)).alpha * page.exchanges().si
    assert page.exchange("tree").si < page.exchange().si
    assert page.exchange().si > 2 * waiting


def test_bytes_are_those_of_the_schedules():
    shares = [
        case["carried_bytes"] / case["predicted_bytes"]
        for case in page.cases().values()
        if case["bytes"] > 2**23 and case["algorithm"] != "library"
    ]
    # Headers, and acknowledgements of 66 bytes: where nothing goes back that could
    # carry them, one for each read of the receiver, at worst one in 3 kB (a broadcast).
    assert 1 < min(shares) and max(shares) < 1 + 66 / 2000
    assert median(shares) < 1.005
    # gloo's reduce-scatter is an all-reduce
    assert page.carried("library", "reduce_scatter").si == pytest.approx(2, abs=0.02)


def test_links_carry_what_was_set():
    for name in ("100 Mbit/s", "1 Gbit/s", "200 Mbit/s, 1 ms"):
        assert page.link_rate(name).si == pytest.approx(
            page.link_told(name, "rate").si, rel=0.25
        )
    # a delay is found, and what TCP waits besides
    assert page.link_alpha("2 ms").si > page.link_told("2 ms", "alpha").si
    assert page.link_rate("2 ms").si < page.link_rate("bare").si / 2


def test_tables_and_drawing():
    assert len(figures.algorithms()) == 8 and len(figures.links()) == 4
    assert len(figures.all_spec()["marks"]) == 4
    assert "socket buffer" in drawings.way_of_a_message().html
