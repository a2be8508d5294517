"""Advice on a profile: the sum, the order, and the cases everybody asks about."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib import hardware
from stacklib.kernels.plan import published
from stacklib.kernels.plan.advise import ROUTES, TERMS, Profile, Term, advise
from stacklib.quantity import UnknownName

H100 = hardware.get("h100-sxm")
PEAK, RATE = H100.peak("bf16").si, H100.memory_bandwidth.si
# Seven passes of a layer norm over 8,192 x 8,192 in bf16, at most of the bandwidth.
NORM = Profile(
    "layer norm as seven calls",
    seconds=12 * 8192**2 * 2 / (0.85 * RATE),
    share=0.15,
    operations=8 * 8192**2,
    bytes=2 * 8192**2 * 2,
    moved=12 * 8192**2 * 2,
    gpu_hours=100_000,
)
PRODUCT = Profile(
    "matmul",
    2 * 8192**3 / (0.8 * PEAK),
    0.5,
    2 * 8192**3,
    3 * 8192**2 * 2,
    3 * 8192**2 * 2,
    1e6,
    needs=frozenset({"tensor"}),
    library=True,
)


def test_passes_that_can_be_fused_are_the_compilers():
    found = advise(NORM)
    assert (found.do, found.bound) == ("compiler", "memory")
    assert found.fusable == pytest.approx(5 / 6)
    option = found.options[0]
    # A sixth of the bytes at the same share of the bandwidth.
    assert option.seconds == pytest.approx(NORM.seconds / 6)
    assert option.saved == pytest.approx(0.15 * 5 / 6)
    assert option.enough == pytest.approx(4 * 150 / (0.125 * 2.5))


def test_a_product_near_its_peak_is_left():
    found = advise(PRODUCT)
    assert found.do != "triton" and found.bound == "compute"
    assert found.attained == pytest.approx(0.8)
    small = advise(replace(PRODUCT, gpu_hours=1000))
    assert small.do == "leave it" and "GPU-hours" in small.why


def test_control_that_depends_on_data_goes_from_triton_to_cutlass_with_the_fleet():
    odd = replace(NORM, needs=frozenset({"data-dependent"}), share=0.3)
    assert advise(replace(odd, gpu_hours=1_000)).do == "leave it"
    assert advise(odd).do == "triton"
    # On units that have just come out, only what can name them is left.
    new = replace(
        PRODUCT,
        seconds=4 * PRODUCT.seconds,
        device="b200",
        dtype="bf16",
        needs=frozenset({"new-unit", "data-dependent"}),
        gpu_hours=1e6,
    )
    assert advise(new).do == "cutlass"
    assert advise(replace(new, gpu_hours=1e8)).do == "cuda"


@settings(deadline=None, max_examples=80)
@given(
    share=st.floats(0, 1),
    slow=st.floats(1, 30),
    fused=st.floats(0, 1),
    hours=st.floats(0, 1e8),
    lacks=st.sets(st.sampled_from(["data-dependent", "tensor"])),
)
def test_the_advice_is_the_best_open_route_and_more_use_never_saves_less(
    share, slow, fused, hours, lacks
):
    moved = 1e9
    case = Profile(
        "x",
        slow * moved / RATE,
        share,
        0.0,
        moved * (1 - fused),
        moved,
        hours,
        needs=frozenset(lacks),
    )
    found = advise(case)
    chosen = {o.route: o for o in found.options if not o.refused}
    for option in found.options:
        route = next(r for r in ROUTES if r.name == option.route)
        new = case.bytes / (RATE * route.memory)
        saved = share * max(0.0, 1 - new / case.seconds)
        assert option.saved == pytest.approx(saved)
        worth = saved * hours * 2.5 - route.hours * 150
        assert option.worth == pytest.approx(worth, abs=1e-6)
    if found.do == "leave it":
        assert (
            all(o.worth <= 0 or o.saved < TERMS["least"].value for o in chosen.values())
            or "would save" in found.why
        )
    else:
        best = chosen[found.do]
        assert best.worth == max(o.worth for o in chosen.values()) > 0
        more = advise(replace(case, gpu_hours=10 * hours))
        assert {o.route: o.saved for o in more.options}[more.do] >= best.saved - 1e-12


def test_a_reader_puts_another_price_in():
    dear = TERMS | {"wage": Term(1e9, "USD/h", "nobody can")}
    assert advise(NORM, terms=dear).do == "leave it"
    assert advise(NORM, routes=ROUTES[2:]).do == "triton"
    assert all(route.why for route in ROUTES) and all(t.why for t in TERMS.values())


@pytest.mark.rows(
    ("change", "error", "words"),
    [
        ({"seconds": 1e-9}, ValueError, "less than its roofline"),
        ({"share": 1.2}, ValueError, "share = 1.2"),
        ({"bytes": 1e12}, ValueError, "must cross"),
        ({"gpu_hours": -1}, ValueError, "gpu_hours = -1"),
        ({"device": "h1000"}, UnknownName, "h100"),
    ],
)
def test_a_profile_that_makes_no_sense_is_refused(change, error, words):
    with pytest.raises(error, match=words):
        advise(replace(NORM, **change))


def test_gains_are_over_something_and_less_time_is_not_more_work():
    for row in published.GAINS.values():
        assert row.over and row.where and row.source
        assert row.kind in published.KINDS and 0 <= row.low <= row.high
    low, high = published.speedup(published.gain("flashinfer-itl"))
    assert (low, high) == pytest.approx((1.408, 3.226), abs=1e-3)
    assert published.speedup(published.gain("tensorrt-llm")) == (1.08, 1.13)


def test_two_best_cases_are_not_divided_or_multiplied():
    # AVO over FA-4 and FA-4 over cuDNN say nothing about AVO over cuDNN.
    first, second = published.gain("avo-fa4"), published.gain("fa4-cudnn")
    with pytest.raises(ValueError, match="best of its configurations"):
        published.times(first, second)
    with pytest.raises(ValueError, match="not over"):
        published.times(second, first)
    here = published.Gain("a", 0.1, 0.2, "faster", "b", "here", "x")
    there = published.Gain("b", 0.5, 0.5, "shorter", "c", "here", "x")
    assert published.times(here, there) == pytest.approx((2.2, 2.4))
    with pytest.raises(ValueError, match="two places"):
        published.times(here, replace(there, where="there"))
    with pytest.raises(UnknownName, match="avo-fa4"):
        published.gain("avo-fa5")


def test_when_seven_days_of_search_have_paid():
    week = 24 * published.SEARCH_DAYS
    # Attention a fifth of the time, 3.5 % faster: 0.7 % of all, 25,000 hours a chip.
    hours = published.payback(week, 0.2, published.gain("avo-cudnn").high)
    assert hours == pytest.approx(week / (0.2 * 0.035 / 1.035))
    assert hours == pytest.approx(24_840, rel=1e-3)
    port = published.payback(
        published.PORT_MINUTES / 60, 0.2, published.gain("avo-gqa-cudnn").high
    )
    assert port < 40
    with pytest.raises(ValueError, match="share = 2"):
        published.payback(week, 2, 0.1)
    with pytest.raises(ValueError, match="faster = 0"):
        published.payback(week, 0.5, 0)
