"""Section 5.9: the page's loop beside the package's, and what a claim would need."""

import re

import pytest

from stacklib import hardware, pages
from stacklib.pages.accelerators import leaving as page
from stacklib.pages.accelerators.leaving import drawings, figures

from ...programs import loop_of

loop = loop_of("05-accelerators/leaving")
LINE = re.compile(r"([\d,]+) GPUs: ([+-][\d.]+) million")


def printed(**changes):
    """What the loop says: gains by fleet, and where it breaks even."""
    said = loop.prints(**changes)
    gains = {int(n.replace(",", "")): float(g) for n, g in LINE.findall(said)}
    last = re.search(r"from ([\d,]+) GPUs on", said)
    return gains, int(last[1].replace(",", ""))


def test_the_loop_breaks_even_where_the_package_does():
    gains, fleet = printed()
    assert fleet == pytest.approx(page.fleet().si, rel=0.01)
    for chips, gain in gains.items():
        hand = page.gain(chips).to("USD/year").value / 1e6
        assert gain == pytest.approx(hand, rel=0.02, abs=0.05)
    _, soon = printed(old="300_000, 3", new="300_000, 1")
    assert soon == pytest.approx(page.fleet(1).si, rel=0.01)


def test_what_is_saved_is_the_difference_of_both_bills():
    """The same tokens of an hour, on own chips and on the others."""
    own, other = page.row(page.OWN), page.row(page.OTHER)
    hour = 3600 / own.roof.si / 1e6  # million tokens of the machine
    per_million = 1e6 * (own.dollars.si - other.dollars.si)
    assert page.saved().to("USD/h").value == pytest.approx(hour * per_million / 8)


def test_the_comparison_cannot_count_answers_alone():
    assert page.share(answers=True).si > 1 > page.share(answers=False).si
    ratio = page.needed("h100", answers=True).si / page.needed("h100", answers=False).si
    assert ratio == pytest.approx((2048 + 128) / 128)
    peak = 8 * hardware.get("h100_sxm").peak("fp8").si
    assert page.each().si == pytest.approx(500_000 * page.work().si / peak)
    assert page.terms(page.prompt()).batch(page.RATIO) is None
    with pytest.raises(ValueError, match="at no number of readers"):
        page.first_batch(page.prompt())


def test_drawing_and_figure_hold_the_same_lines():
    told = drawings.effort_and_fleets().html
    assert "paid whatever the fleet" in told and "saved by each GPU" in told
    spec = figures.fleets_spec(title="t")
    assert len(spec["marks"]) == 1 + len(figures.LIVES)


def test_the_claim_is_its_makers_and_nobody_has_measured_it():
    found = pages.judge("sohu-20x")
    assert found.verdict == "cited" and "nobody else has measured" in found.why
