"""The explorers of Amdahl's law and of the memory wall."""

from functools import partial

import pytest

from stacklib import roofline
from stacklib.pages.roofline.scaling import figures, live
from stacklib.plots import spec as grammar
from stacklib.roofline.bound import scaling, trend

from ...live_figures import ask

speed_up = partial(ask, live.explore, live.controls())
growth = partial(ask, live.wall, live.wall_controls())


@pytest.mark.rows("serial", [0, 10, 100])
@pytest.mark.rows("gain", [1, 5])
def test_the_amdahl_explorer_agrees_with_the_law(serial, gain):
    found, said = speed_up(serial=serial, workers=8, gain=gain)
    share = serial / 100
    whole = scaling.speed_up_of_parts([share, 1 - share], [gain, 8])
    assert float(said["speed-up"]) == pytest.approx(whole, rel=0.005)
    assert found["marks"][-1]["y"] == [pytest.approx(whole)]
    assert ("limit" in said) == bool(serial)


def test_workers_of_a_serial_job_are_idle():
    _, found = speed_up(serial=100, workers=4, gain=1)
    assert found["speed-up"] == "1" and found["idle"] == "75 %"


def test_the_wall_explorer_agrees_with_the_trend():
    _, found = growth(kind="hbm", first="2016", last="2025")
    walls = roofline.memory_wall()
    for name in ("compute", "bandwidth", "ridge"):
        assert found[name] == str(getattr(walls, name))
    assert found["devices"] == str(len(trend.data_centre_gpus()))


@pytest.mark.parametrize(("first", "last"), [("2025", "2016"), ("2020", "2020")])
def test_years_without_a_trend_get_a_reason_and_no_growth(first, last):
    found, said = growth(kind="hbm", first=first, last=last)
    assert found["message"] and not found["marks"]
    assert set(said) == {"devices"}


def test_the_ridge_figure_names_its_devices_and_holds_all_others():
    found = figures.ridge_spec()
    grammar.check(found)
    dots = [m for m in found["marks"] if m["kind"] == "dots"]
    assert sum(len(m["x"]) for m in dots) == len(trend.data_centre_gpus())
    assert {"P100", "A100", "B200"} <= {m["name"] for m in dots}
