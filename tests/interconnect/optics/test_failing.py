"""Failures of a fleet: the closed form against events; budgets; watts of ports."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stacklib.interconnect.optics.budget import (
    budget,
    db,
    dbm,
    farthest,
    fibre,
    modulated,
    watts,
)
from stacklib.interconnect.optics.failing import (
    Part,
    expected,
    failures_a_day,
    fit_of,
    run_failures,
)
from stacklib.interconnect.optics.ports import (
    PORTS,
    SWITCHES,
    ends,
    energy_per_bit,
    energy_per_sent,
)
from stacklib.quantity import Quantity

from ...rows import refusals

FLEETS = [
    [Part("module", 5000, 5e4, 1, 4.0)],
    [Part("engine", 4000, 1e5, 64, 24.0), Part("laser", 300, 2e5, 8, 2.0)],
    [Part("long repair", 400, 1e6, 2, 500.0)],  # a part in repair does not fail
]


@pytest.mark.rows("fleet", FLEETS)
def test_events_come_to_the_closed_form(fleet):
    days = 200
    told, run = expected(fleet, days), run_failures(fleet, days, seed=6)
    assert abs(run.failures - told.failures) < 4 * math.sqrt(told.failures) + 8
    assert run.port_hours == pytest.approx(told.port_hours, rel=0.06)


def test_a_repair_that_is_forgotten_is_seen():
    """Planted: parts that fail while they are out."""
    (part,) = FLEETS[2]
    hurried = Part(part.name, part.count, part.fit, part.ports, 0.0)
    run, wrong = run_failures([part], 200, seed=6), expected([hurried], 200)
    assert wrong.failures - run.failures > 8 * math.sqrt(wrong.failures)


def test_a_fleet_fails_daily():
    assert failures_a_day(6.4e6, 500) == pytest.approx(76.8)
    assert fit_of(76.8, 6.4e6, 24) == pytest.approx(500)
    soldered, pulled = (
        expected([Part("port", 1000, 500, ports, 4.0)], 30) for ports in (64, 1)
    )
    assert soldered.failures == pulled.failures
    assert soldered.port_hours == pytest.approx(64 * pulled.port_hours)


@given(st.floats(-60, 30), st.lists(st.floats(0, 20), max_size=6))
def test_a_budget_is_a_product(sent, losses):
    told = budget(sent, {f"part {n}": x for n, x in enumerate(losses)}, -10.0)
    share = math.prod(10 ** (-x / 10) for x in losses)
    assert watts(told.received) == pytest.approx(watts(sent) * share)
    assert told.margin == told.received + 10.0
    assert dbm(watts(sent)) == pytest.approx(sent)


def test_modulation_takes_its_part():
    # all light switched: OMA is twice the mean; at 3 dB extinction 2/3 of it
    assert modulated(0.0, 60.0) == pytest.approx(db(2), abs=1e-4)
    assert watts(modulated(0.0, db(2))) == pytest.approx(2 / 3 * 1e-3)
    assert farthest(fibre(500, 0.5), 0.5) == pytest.approx(500)
    assert fibre(500, 0.5, 4, 0.25) == pytest.approx(1.25)


def test_watts_of_a_port():
    assert PORTS["pluggable"].power == 30 and PORTS["package"].power == 9
    assert energy_per_bit(30.0, 1.6e12) == pytest.approx(18.75e-12)
    q = energy_per_bit(Quantity(30, "W"), Quantity(1.6e12, "bit/s"))
    assert q.si == pytest.approx(18.75e-12)
    # a port that is full all the time: the same energy either way
    assert energy_per_sent(30.0, 2.0, 3.2e12) == pytest.approx(18.75e-12)
    assert ends(400_000, 3) * 30 == pytest.approx(72e6)
    assert SWITCHES["quantum_x"].ports * SWITCHES["quantum_x"].rate == 115.2e12


test_bad_input_is_named = refusals(
    (lambda: Part("module", 0, 500), "count of module = 0"),
    (lambda: Part("module", 1, -1), "fit of module"),
    (lambda: failures_a_day(10, math.nan), "fit"),
    (lambda: run_failures([], 0), "days"),
    (lambda: budget(math.inf, {}, 0.0), "sent"),
    (lambda: budget(0.0, {"lens": -1.0}, 0.0), "loss of lens"),
    (lambda: dbm(0.0), "power"),
    (lambda: energy_per_bit(1.0, 0.0), "rate"),
    (lambda: modulated(0.0, 0.0), "extinction"),
)
