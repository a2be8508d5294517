"""The drawn wafer holds every die once; rim and wire are those of the formulas."""

import pytest

from stacklib.pages.gpu import silicon as page


@pytest.mark.parametrize("spare", [0, page.SPARES])
def test_every_die_has_one_state(spare):
    every = sum(page.so_many(state, spare).si for state in range(3))
    assert every == page.die().gross.si


def test_rim_is_what_the_area_promises_too_much():
    assert page.by_area().si - page.rim().si == pytest.approx(page.textbook(800).si)


def test_mean_way_is_half_and_a_third_of_a_side():
    assert page.way().si == pytest.approx(page.die_side().si * 5 / 6)
    assert page.nearest().si < page.way().si < page.farthest().si


def test_wires_of_a_token_take_their_power_for_as_long_as_it_reads():
    taken = page.wires_power().si * page.journey.slots("memory").time.si * 8
    assert page.wires_per_token().si == pytest.approx(taken)
