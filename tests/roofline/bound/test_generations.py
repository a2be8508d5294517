"""Growth from one device to another, and a decode step as parts."""

import pytest

from stacklib import hardware, roofline
from stacklib.quantity import Quantity, UnitError
from stacklib.roofline.bound import scaling
from stacklib.roofline.bound.decode_parts import decode_parts
from stacklib.roofline.bound.generations import growth
from stacklib.roofline.timing import case as timing_case

SERVING = {"tp": 8, "batch": 64, "context": 8192}


def test_ratios_are_those_of_the_data_sheets():
    found = growth("a100-sxm-80gb", "b200-sxm")
    old, new = hardware.get("a100-sxm-80gb"), hardware.get("b200-sxm")
    assert found.arithmetic.si == new.peak("bf16").si / old.peak("bf16").si
    assert found.link.si == pytest.approx(3)
    ratio = found.arithmetic.si / found.bandwidth.si
    assert found.ridge.si == pytest.approx(ratio)


def test_another_bandwidth_may_be_given_but_not_another_unit():
    said = Quantity(8, "TB/s per_chip")
    found = growth("a100-sxm-40gb", "b200-sxm", bandwidth=said)
    assert found.bandwidth.text(digits=2) == "5.1"
    with pytest.raises(UnitError):
        growth("a100-sxm-40gb", "b200-sxm", bandwidth=Quantity(8, "TB/s per_node"))


def test_unknown_devices_and_formats_are_refused():
    with pytest.raises(LookupError, match="a100"):
        growth("a100-sxm-81gb", "b200-sxm")
    with pytest.raises(LookupError, match="fp8"):
        growth("a100-sxm-80gb", "b200-sxm", dtype="fp8")


@pytest.mark.parametrize(
    ("gains", "other"),
    [((2, 2), {"dtype": "e4m3fn"}), ((1, 2), {"dtype": "bf16", "kv_dtype": "fp8"})],
)
def test_the_parts_with_their_gains_are_the_step_counted_anew(gains, other):
    case = {"on": "h100-sxm", **SERVING}
    parts = decode_parts("llama-3-70b", dtype="bf16", **case)
    step = roofline.decode_step("llama-3-70b", dtype="bf16", **case)
    total = parts["weights"] + parts["cache"]
    assert total.si == pytest.approx(step.time.si)
    anew = roofline.decode_step("llama-3-70b", **other, **case)
    told = scaling.speed_up_of_parts(list(parts.values()), gains)
    assert told.si == pytest.approx(step.time.si / anew.time.si, rel=1e-9)


def test_a_step_that_waits_for_arithmetic_has_no_such_parts():
    with pytest.raises(ValueError, match="waits for arithmetic"):
        decode_parts("llama-3-70b", "h100-sxm", tp=8, batch=2000, context=16)


def test_what_does_not_fit_has_no_parts():
    with pytest.raises(roofline.Infeasible):
        decode_parts("llama-3-70b", "rtx-4090")


def test_the_case_of_the_timing_section_stands_on_sources_or_says_suppose():
    case = timing_case.case()
    assert case.warm < case.cold and case.product.seconds == case.seconds.si
    assert case.vector.seconds + case.vector.cold == pytest.approx(case.cold.si)
    for name in ("first", "tick", "others", "boost", "boost_s", "depth"):
        assert getattr(case, name).kind == "chosen"
