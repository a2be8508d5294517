"""Section 10.5: the page's loop and spans beside the room's, and its claims."""

import re

import pytest

from stacklib import pages
from stacklib.frontier import campus, supply
from stacklib.pages.frontier import supply as page
from stacklib.pages.frontier.supply import drawings
from stacklib.quantity import quoted

from ...programs import loop_of

loop = loop_of("10-frontier/supply")


def said(*changes):
    """The numbers that the loop prints, least and most."""
    lines = loop.prints(*changes).splitlines()
    return [
        [float(x.replace(",", "")) for x in re.findall(r"[\d.,]*\d", line)]
        for line in lines
    ]


def test_the_loop_prints_the_spans_of_the_room():
    made, site, need = page.made(), campus(), page.needed()
    for found, end, other in zip(said(), ("low", "high"), ("high", "low"), strict=True):
        ours = getattr(page.wafers(), end), getattr(made.packages, end)
        assert found[0] == pytest.approx(ours[0].si, rel=1e-6)
        assert found[1] == pytest.approx(ours[1].si / 1e6, abs=5e-3)
        assert found[3] == pytest.approx(getattr(need, end).to("GW").value, abs=0.05)
        assert found[4] == pytest.approx(getattr(site.gpus, other).si, abs=1)


def test_the_last_rate_of_the_year_is_too_high():
    begun = "for name, (begin, end, share, works, pue) in ends.items():"
    low, high = said(begun, f"{begun}\n    begin = end")
    climbed = page.climbed()
    assert low[1] == pytest.approx(climbed.low.si / 1e6, abs=5e-3)
    assert high[1] == pytest.approx(climbed.high.si / 1e6, abs=5e-3)
    assert quoted("cowos.nvidia_chips_2026") < climbed.low
    assert quoted("cowos.nvidia_chips_2026") in supply().packages
    assert quoted("cowos.nvidia_2026") in page.wafers()


def test_which_link_is_short():
    made, old, site = page.made(), page.made(page.BUILT), page.site()
    assert made.stacks.low > made.packages.high  # the plan of memory came true
    assert old.stacks.low < made.packages.low < old.stacks.high
    assert page.planned() < site.gpus.low  # of its line; and of what is drawn:
    assert quoted("abilene.gpus") / quoted("abilene.drawn").to("GW").value in site.gpus
    assert page.fitting("2026").si == 9 > page.fitting("2027").si


def test_the_token_and_its_campus():
    watts = page.alone().low / page.step()
    assert (page.copies().high * watts).to("GW").value == pytest.approx(1)
    assert page.shared().high.si * 50 < page.alone().low.si
    assert page.fewer(page.MORE, page.LEAN) < page.fewer(page.MORE)
    assert [row["a watt"] is None for row in page.contracts()] == [0, 0, 0, 1]
    assert page.market().high < page.sold() < quoted("eda_market.2035")
    assert "million GPUs" in drawings.wafer_to_meter().html


def test_claims_are_judged():
    for id, verdict in {
        "eda-tam-2035": "wrong",
        "cadence-revenue-growth": "agrees with its source",
        "table-rental-h100": "close",
        "openai-cerebras-deal": "cited",
        "agentic-cpu-per-gw": "cited",
        "openai-trainium-138b": "reproduced",
        "gw-campus": "false",
        "eda-duopoly-share": "close",
    }.items():
        assert pages.judge(id).verdict == verdict
