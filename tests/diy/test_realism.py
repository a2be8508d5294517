"""Projects, the path in weeks, and what a chip of one's own costs."""

import pytest

from stacklib import cost, diy
from stacklib.cost.catalogue import part
from stacklib.cost.spans import span
from stacklib.diy.silicon.realism import own_chip, two_cards
from stacklib.quantity import UnknownName, quoted


def test_seven_kinds_each_with_money_weeks_and_what_is_learnt():
    found = diy.realism()
    assert len(found) == len({one.key for one in found}) == 7
    for one in found:
        assert one.money.low.si > 0 and one.weeks.low.si >= 1 and one.teaches
        assert 1 <= one.stars <= 5
    assert {one.stars for one in found} == {1, 2, 3, 4, 5}
    weeks = [one.weeks.high.si for one in found]
    assert weeks == sorted(weeks)
    (tile,) = diy.realism("tile")
    assert tile.money.high == quoted("tinytapeout.price_high")
    with pytest.raises(UnknownName, match="edge"):
        diy.realism("edgy")


def test_a_machine_with_two_cards_is_the_sum_of_its_parts():
    cards = 2 * part("rtx_5090").price.low.si
    assert two_cards().low.si > cards and two_cards().high.si < 2.5 * cards


def test_the_phases_add_up_to_what_the_guide_says():
    path = diy.timeline()
    for end in ("low", "high"):
        total = sum(getattr(phase.weeks, end).si for phase in path.phases)
        assert total == getattr(path.weeks, end).si
        assert total == getattr(path.phases[-1].ends, end).si
    # The guide's three months are the lower end: the upper one is five and a quarter.
    guide = quoted("timeline_guide.months").si
    assert path.months.low.si == pytest.approx(guide, rel=0.1)
    assert 5 < path.months.high.si < 5.5
    assert path.chip.low.si > path.weeks.high.si


def test_tens_of_millions_are_masks_and_no_wafer():
    parts = own_chip()
    held = {k for k, each in parts.items() if each.low.si <= 20e6 <= each.high.si}
    assert held == {"masks"}
    assert parts["masks"].low.si > 500 * span(cost.wafer_price("n3")).high.si
    summed = sum(parts[name].low.si for name in ("design", "masks", "wafers"))
    assert parts["total"].low.si == summed
