"""When a port pays, and how much faster arithmetic alone can make a chip."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib import roofline
from stacklib.accelerators import limits, porting_cost
from stacklib.quantity import chosen

LLAMA, WAGE = "llama-3-70b", chosen(300_000, "USD/year", label="wage")
SAVED = chosen(0.5, "USD/h", label="saved")


@settings(max_examples=20, deadline=None)
@given(
    st.integers(1, 100),
    st.floats(1, 36),
    st.floats(0.5, 6),
    st.floats(0, 20),
    st.floats(0.05, 1),
)
def test_a_fleet_breaks_even_where_its_gain_is_nothing(
    people, months, years, kept, used
):
    asked = {"engineers": people, "months": months, "years": years, "keeping": kept}
    port = porting_cost(wage=WAGE, **asked)
    hand = people * months / 12 * 3e5 / years + kept * 3e5
    assert port.a_year.to("USD/year").value == pytest.approx(hand)
    fleet = port.fleet(SAVED, used).si
    assert fleet == pytest.approx(hand / (0.5 * 8766 * used), rel=1e-3)
    assert abs(port.worth(fleet, SAVED, used).to("USD/year").value) < 1e-6 * hand
    assert (
        port.worth(2 * fleet, SAVED, used).si
        > 0
        > port.worth(fleet / 2, SAVED, used).si
    )


def test_arithmetic_gains_what_the_roofline_leaves():
    """The ratio of the two sides of a decode step, by the room of roofs."""
    found = limits(LLAMA, "h100-sxm", "e4m3fn", context=16)
    for batch in (1, 300, 600, 4000):
        step = roofline.decode_step(
            LLAMA, on="h100-sxm", dtype="e4m3fn", tp=8, batch=batch, context=16
        )
        hand = max(step.t_compute.si / step.t_memory.si, 1)
        assert found.ratio(batch).si == pytest.approx(hand, rel=0.02)


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 300), st.floats(1.1, 30))
def test_the_batch_is_the_first_at_which_it_is_possible(context, ratio):
    found = limits(LLAMA, "h100-sxm", "e4m3fn", context=context)
    batch = found.batch(ratio)
    if batch is None:
        assert found.end.si <= ratio and found.ratio(10**9).si <= ratio
    else:
        assert found.ratio(batch).si >= ratio * (1 - 1e-9)
        assert batch == 1 or found.ratio(batch - 1).si < ratio


def test_with_two_thousand_tokens_each_no_batch_allows_twenty():
    assert limits(LLAMA, "h100-sxm", "e4m3fn", context=2048).batch(20.0) is None
    assert limits(LLAMA, "h100-sxm", "e4m3fn", context=1).batch(20.0) > 5000


BAD = [
    ({"engineers": 0}, "engineers = 0"),
    ({"months": -1}, "months = -1"),
    ({"years": float("nan")}, "years = nan"),
    ({"keeping": -1}, "keeping = -1"),
    ({"wage": 300_000}, "wage = 300000: dollars a year"),
]


@pytest.mark.rows("wrong, words", BAD)
def test_bad_effort_is_refused(wrong, words):
    asked = {"engineers": 3, "months": 6, "wage": WAGE, "years": 3}
    with pytest.raises(ValueError, match=words):
        porting_cost(**asked | wrong)


def test_a_port_that_saves_nothing_never_pays():
    port = porting_cost(engineers=3, months=6, wage=WAGE, years=3)
    with pytest.raises(ValueError, match="saved"):
        port.fleet(chosen(0, "USD/h", label="saved"))
    with pytest.raises(ValueError, match=r"used = 1\.5"):
        port.fleet(SAVED, 1.5)
    with pytest.raises(ValueError, match="USD/year"):
        port.fleet(1.0)


def test_what_limits_cannot_say_is_refused():
    with pytest.raises(ValueError, match="has experts"):
        limits("deepseek-v3", "h100-sxm")
    with pytest.raises(ValueError, match="batch = 0"):
        limits(LLAMA, "h100-sxm").ratio(0)
    with pytest.raises(ValueError, match="ratio = 0"):
        limits(LLAMA, "h100-sxm").batch(0)
