"""The explorers of Amdahl's law and of the memory wall."""

import html
import json
import re

import pytest

from stacklib import plots, roofline
from stacklib.evidence import guard
from stacklib.plots import spec as grammar
from stacklib.plots.live import amdahl, wall
from stacklib.plots.live.controls import values
from stacklib.roofline.bound import scaling, trend

EXPLORERS = {"amdahl": amdahl, "wall": wall}


def start(module):
    return {c["name"]: c["value"] for c in module.controls()}


def texts(found):
    return {r["name"]: r["text"] for r in found["readouts"]}


@pytest.mark.parametrize("key", EXPLORERS)
def test_the_page_asserts_what_the_function_says(key):
    module = EXPLORERS[key]
    shown = plots.live(call=f"stacklib.plots.live.{key}:explore",
                       controls=module.controls(), name=key, alt="x")  # fmt: skip
    stored = re.search(r'data-test="([^"]*)"', shown.html)[1]
    test = json.loads(html.unescape(stored))
    control = next(c for c in module.controls() if c["name"] == test["control"])
    steps = values(control)
    moved = {**start(module), control["name"]: steps[steps.index(control["value"]) + 1]}
    assert texts(module.explore(**moved))[test["readout"]] == test["text"]
    assert guard.faults([shown._repr_mimebundle_()[guard.MIME]]) == []


@pytest.mark.parametrize("key", EXPLORERS)
def test_every_step_of_every_control_draws(key):
    module = EXPLORERS[key]
    for control in module.controls():
        for value in values(control):
            found = module.explore(**{**start(module), control["name"]: value})
            grammar.check(found)
            assert guard.faults([grammar.guard_entry(found, "f")]) == []


@pytest.mark.parametrize("serial", [0, 10, 100])
@pytest.mark.parametrize("gain", [1, 5])
def test_the_amdahl_explorer_agrees_with_the_law(serial, gain):
    found = amdahl.explore(serial=serial, workers=8, gain=gain)
    share = serial / 100
    whole = scaling.speed_up_of_parts([share, 1 - share], [gain, 8])
    assert float(texts(found)["speed-up"]) == pytest.approx(whole, rel=0.005)
    assert found["marks"][-1]["y"] == [pytest.approx(whole)]
    assert ("limit" in texts(found)) == bool(serial)


def test_workers_of_a_serial_job_are_idle():
    found = texts(amdahl.explore(serial=100, workers=4, gain=1))
    assert found["speed-up"] == "1" and found["idle"] == "75 %"


def test_the_wall_explorer_agrees_with_the_trend():
    found = texts(wall.explore(kind="hbm", first="2016", last="2025"))
    walls = roofline.memory_wall()
    for name in ("compute", "bandwidth", "ridge"):
        assert found[name] == str(getattr(walls, name))
    assert found["devices"] == str(len(trend.data_centre_gpus()))


@pytest.mark.parametrize(("first", "last"), [("2025", "2016"), ("2020", "2020")])
def test_years_without_a_trend_get_a_reason_and_no_growth(first, last):
    found = wall.explore(kind="hbm", first=first, last=last)
    assert found["message"] and not found["marks"]
    assert set(texts(found)) == {"devices"}


def test_the_ridge_figure_names_its_devices_and_holds_all_others():
    found = wall.ridge_spec()
    grammar.check(found)
    dots = [m for m in found["marks"] if m["kind"] == "dots"]
    assert sum(len(m["x"]) for m in dots) == len(trend.data_centre_gpus())
    assert {"P100", "A100", "B200"} <= {m["name"] for m in dots}
