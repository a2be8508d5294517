"""Every rule is caught by a build, and builds that hold pass them all."""

import pytest

from stacklib.diy import Build, verify
from stacklib.diy.findings import told
from stacklib.diy.rules import RULES
from stacklib.diy.rules_power import drawn

from .builds import BASES, CLEAN, DESK, PLANTED, RACK, TOWER, other, without


def test_a_build_that_holds_has_no_finding():
    assert [verify(Build(**BASES[name])) for name in CLEAN] == [[]] * len(CLEAN)


def test_every_rule_has_a_build_that_it_alone_catches():
    assert set(PLANTED) == set(RULES) and len(RULES) >= 24


def test_a_field_that_nobody_told_is_undecided_and_does_not_pass():
    """Of each kind: without the field, no build passes as if it were known."""
    for kind, field, rule in (
        ("gpu", "length", "card-length"),
        ("cpu", "socket", "socket"),
        ("board", "slots", "lanes"),
        ("psu", "watts", "supply"),
        ("case", "height", "cooler-height"),
        ("cooler", "cools", "cooler-power"),
    ):
        own = {"gpu": "gpus", "cooler": "cooling"}.get(kind, kind)
        part = without(DESK[own], kind, field)
        found = {f.rule: f for f in verify(Build(**{**DESK, own: part}))}
        assert found[rule].verdict == "undecided"
        assert field in found[rule].sum and part.name in found[rule].sum


def test_the_guides_bill_is_refused_with_its_reasons():
    """Two 5090 on a 7960X and a WRX90 board: the socket is right, the series is not."""
    bill = {**TOWER, "gpus": "2 x rtx_5090", "psu": "straight_power_12_1500"}
    found = {f.rule: f for f in verify(Build(**{**bill, "board": "wrx90e_sage_se"}))}
    assert list(found) == ["series", "supply", "circuit"]
    assert found["circuit"].sum.endswith("> 120 V x 15 A x 0.8 = 1,440 W")
    assert found["circuit"].have.quantity().to("W").value == pytest.approx(1440)
    assert "TRX50" in found["series"].mend.says


def test_a_cards_spike_is_held_against_what_the_supply_stands():
    """Intel's own example: 300 W of card on 750 W of ATX 3, and 1,100 W of an older."""
    spike = told("rig.card_excursion").value * 300 + 300 + told("rig.rest").value
    assert spike < told("rig.atx3_excursion").value * 750
    assert spike / told("rig.atx2_excursion").value == pytest.approx(1100, rel=1e-3)
    full = other("mpg_a1000g", "psu", watts=drawn(Build(**DESK)).value, standard=2)
    assert [f.rule for f in verify(Build(**DESK | {"psu": full}))] == ["transient"]


def test_power_counts_each_card_once_and_its_limit():
    build = Build(**{**RACK, "gpus": ["rtx_3090", "rtx_4090", "rtx_3090"]})
    assert drawn(build).value == 350 + 450 + 350 + 155 + 150
    assert drawn(build.with_(limit=300)).value == 300 * 3 + 155 + 150


def test_a_riser_hides_no_narrow_slot():
    narrow, _ = PLANTED["narrow"]
    risen = {**narrow, "case": "open_frame_8", "risers": "linkup_ava5_250"}
    assert "narrow" in {f.rule for f in verify(Build(**risen))}


def test_a_share_of_the_breaker_and_the_voltage_decide():
    build = Build(**{**RACK, "gpus": "3 x rtx_3090_turbo", "psu": "rog_thor_1600_t3"})
    assert [f.rule for f in verify(build)] == ["circuit"]
    assert verify(build, continuous=1) == verify(build, mains=240) == []
