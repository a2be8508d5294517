"""Section 9.8: the page's loop beside the bill, where owning pays, and its ways."""

import re

import pytest

from stacklib.pages.diy import home as page
from stacklib.pages.diy.home import drawings, figures

from ...programs import loop_of

loop = loop_of("09-diy/home")
LINE = re.compile(r"(\d+) h: +([\d.]+) USD owned, ([\d.]+) rented")


def printed(**changes):
    """What the loop says: hours to dollars a million, owned and rented."""
    lines = LINE.findall(loop.prints(**changes))
    return {int(h): (float(own), float(rent)) for h, own, rent in lines}


def test_the_loop_prints_the_bill():
    for hours, (own, rented) in printed().items():
        both = page.owned(hours), page.rented("high")
        told = [each.to("USD/Mtoken").value for each in both]
        assert [own, rented] == pytest.approx(told, rel=0.01)


def test_at_the_break_even_both_cost_the_same():
    for end, other in (("low", "high"), ("high", "low")):
        hours = page.hours(end).to("h").value
        assert page.owned(hours, end).si == pytest.approx(page.rented(other).si)
    found = printed()
    assert found[3][0] > found[3][1] and found[4][0] < found[4][1]


def test_the_same_machine_writes_more_by_other_ways():
    rates = [page.rate(way).si for way in page.WAYS]
    assert rates[0] < rates[2] < rates[1] < rates[3]
    joules = [page.joules(way).si for way in page.WAYS]
    assert joules == sorted(joules, reverse=True)


def test_drawing_and_figure_have_both_ways_to_pay():
    told = drawings.an_hour_at_home().html
    assert "owned, all day" in told and "rented" in told
    *owned, cheap, dear = figures.hours_spec(title="t")["marks"]
    assert all(mark["y"] == sorted(mark["y"], reverse=True) for mark in owned)
    assert cheap["y"] < dear["y"]
