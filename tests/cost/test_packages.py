"""Packages: closed forms against a workshop, what carries what, and what is lost."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib import cost, hardware
from stacklib.cost import bumps, package, packages, reticle
from stacklib.cost.dies import FIELD
from stacklib.quantity import Quantity, UnknownName

SHARE = st.floats(0.7, 1)
DIES, STACKS = st.integers(1, 4), st.integers(0, 12)
BILL = packages.Parts(die=250.0, stack=360.0, interposer=1100.0)


def mm2(value):
    return Quantity(value, "mm2", label="area")


@settings(max_examples=25, deadline=None)
@given(DIES, STACKS, SHARE, SHARE, SHARE, SHARE, st.sampled_from(packages.ORDERS))
def test_the_workshop_agrees(dies, stacks, die, bond, stack, assembly, order):
    shares = {"die": die, "bond": bond, "stack": stack, "assembly": assembly}
    told = packages.package_yield(dies, stacks, **shares, order=order)
    seen = packages.assemble_packages(
        dies, stacks, BILL, **shares, order=order, packages=4000
    )
    error = 4.5 * math.sqrt(told * (1 - told) / 4000) + 1e-9
    assert abs(seen.works - told) <= error
    if told > 0.1:
        dollars = packages.package_cost(dies, stacks, BILL, **shares, order=order)
        assert seen.each == pytest.approx(dollars, rel=0.02 + 1.2 * error / told)


def test_a_workshop_without_a_test_would_be_seen():
    """Planted: dies placed blind do not pass for tested ones."""
    case = {"die": 0.6, "bond": 0.98}
    blind = packages.assemble_packages(2, 8, BILL, **case, order="blind")
    assert abs(blind.works - packages.package_yield(2, 8, **case)) > 0.3


@given(DIES, STACKS, SHARE, SHARE)
def test_testing_earlier_never_costs_more(dies, stacks, die, bond):
    blind, good, last = (
        packages.package_cost(dies, stacks, BILL, die=die, bond=bond, order=order)
        for order in packages.ORDERS
    )
    assert last <= good * (1 + 1e-9) and good <= blind * (1 + 1e-9)


@given(DIES, STACKS)
def test_when_all_works_a_package_costs_its_parts(dies, stacks):
    plain = 1100 + 250 * dies + 360 * stacks
    for order in packages.ORDERS:
        told = packages.package_cost(dies, stacks, BILL, die=1.0, bond=1.0, order=order)
        seen = packages.assemble_packages(
            dies, stacks, BILL, die=1.0, bond=1.0, order=order, packages=3
        )
        assert told == pytest.approx(plain)
        assert seen.each == pytest.approx(plain) and seen.scrapped == 0


@given(st.floats(100, 9000), st.floats(1, 3000), st.integers(1, 20))
def test_the_implied_bond_loses_what_the_bill_lost(parts, lost, placements):
    bond = packages.implied_bond(parts, lost, placements)
    assert parts / bond**placements == pytest.approx(parts + lost)


def test_memory_last_saves_stacks():
    case = {"die": 0.6, "bond": 0.95, "packages": 6000}
    good = packages.assemble_packages(2, 8, BILL, **case)
    last = packages.assemble_packages(2, 8, BILL, **case, order="memory last")
    assert last.scrapped < good.scrapped


def test_the_field_is_858_and_the_die_model_knows_it():
    assert reticle().to("mm2").value == pytest.approx(858)
    assert reticle().si == pytest.approx(FIELD[0] * FIELD[1])


def test_an_h100_does_not_fit_one_field_and_a_b200_does_not_fit_two():
    h100 = hardware.get("h100-sxm").die_area
    one = package(h100, stacks=6, stack=Quantity(300, "USD"), bond=Quantity(0.99))
    assert one.silicon.to("mm2").value == pytest.approx(1474)
    assert one.reticles.si == pytest.approx(1474 / 858)
    two = package(
        mm2(800), dies=2, stacks=8, stack=Quantity(360, "USD"), bond=Quantity(0.98)
    )
    assert 2 < two.reticles.si < 3 and two.interposer == "cowos_s"


def test_what_carries_what_and_when():
    assert packages.carriers(mm2(2700)) == ("cowos_s", "cowos_l")
    assert packages.carriers(mm2(4000)) == ("cowos_l",)
    assert packages.carriers(mm2(4000), "2024") == ()
    assert packages.carriers(mm2(9000)) == ()


@given(st.floats(1e-6, 1e-4), st.floats(1.1, 10))
def test_bumps_grow_by_the_square(pitch, times):
    assert bumps(pitch / times) / bumps(pitch) == pytest.approx(times**2)


def test_forty_micrometres_give_625_and_hybrid_bonds_8_to_178_times():
    micro, hybrid = cost.fact("pitch", "microbump"), cost.fact("pitch", "hybrid")
    assert bumps(micro.high).to("1/mm2").value == pytest.approx(625)
    least = bumps(hybrid.high) / bumps(micro.low)
    most = bumps(hybrid.low) / bumps(micro.high)
    assert least.si == pytest.approx(7.72, abs=0.01)
    assert most.si == pytest.approx(177.8, abs=0.1)


def test_floats_and_quantities_give_the_same():
    traced = packages.Parts(*(Quantity(x, "USD") for x in (250.0, 360.0, 1100.0)))
    for order in packages.ORDERS:
        found = packages.package_cost(
            2, 8, traced, die=Quantity(0.7), bond=Quantity(0.98), order=order
        )
        plain = packages.package_cost(2, 8, BILL, die=0.7, bond=0.98, order=order)
        assert found.to("USD").value == pytest.approx(plain)


def test_a_package_holds_together():
    found = package(
        mm2(800), dies=2, stacks=8, stack=Quantity(360, "USD"), bond=Quantity(0.98)
    )
    assert (found.cost.high * found.works.low).si == pytest.approx(found.parts.high.si)
    assert found.lost.si == pytest.approx(found.cost.high.si - found.parts.high.si)


@pytest.mark.rows("bad", [0, -0.5, 1.5, math.nan, True, "x"])
def test_a_share_that_is_none_is_refused(bad):
    for name in ("die", "bond", "stack", "assembly"):
        shares = {"die": 0.9, "bond": 0.9, name: bad}
        with pytest.raises(ValueError, match=f"{name} = .*: a share"):
            packages.package_yield(2, 8, **shares)


@pytest.mark.rows("bad", [0, -1, 2.5, True])
def test_a_count_that_is_none_is_refused(bad):
    with pytest.raises(ValueError, match="dies ="):
        packages.package_yield(bad, 8, die=0.9, bond=0.9)
    with pytest.raises(ValueError, match="placements ="):
        packages.implied_bond(100.0, 10.0, bad)
    with pytest.raises(ValueError, match="packages ="):
        packages.assemble_packages(1, 1, BILL, die=0.9, bond=0.9, packages=bad)


def test_what_does_not_fit_says_the_sum():
    with pytest.raises(ValueError, match=r"reticles; cowos_s carries 3\.3"):
        package(mm2(800), dies=4, interposer="cowos_s", bond=Quantity(0.99))
    with pytest.raises(ValueError, match=r"11\..* reticles; cowos_l carries 9\.5"):
        package(mm2(800), dies=12, bond=Quantity(0.99))
    with pytest.raises(ValueError, match="scanner exposes"):
        package(mm2(900), bond=Quantity(0.99))
    with pytest.raises(ValueError, match="give stack="):
        package(mm2(800), stacks=2, bond=Quantity(0.99))
    with pytest.raises(UnknownName, match="interposer"):
        package(mm2(800), interposer="glass", bond=Quantity(0.99))
    with pytest.raises(UnknownName, match="order"):
        packages.package_yield(1, 1, die=0.9, bond=0.9, order="hope")
    with pytest.raises(TypeError, match="write Quantity"):
        packages.carriers(800)
    with pytest.raises(ValueError, match="above zero"):
        packages.carriers(mm2(0))


@given(
    st.floats(5e-3, 33e-3),
    st.floats(1e-3, 5e-3),
    st.floats(5e-6, 45e-6),
    st.floats(0.2, 1),
)
def test_whole_bumps_fall_short_of_the_area_by_less_than_a_row_and_a_column(
    edge, depth, pitch, share
):
    told = packages.link_rate(edge, depth, pitch, 1.0, share)
    seen = packages.count_link(edge, depth, pitch, 1.0, share)
    rim = (edge + depth) / pitch * share + 2
    assert told - rim <= seen <= told * (1 + 1e-6) + 1


def test_a_link_of_nothing_is_refused():
    with pytest.raises(ValueError, match="pitch = 0"):
        packages.count_link(1e-2, 1e-3, 0, 1e9, 0.5)
    with pytest.raises(ValueError, match="share = 2"):
        packages.count_link(1e-2, 1e-3, 4e-5, 1e9, 2)
