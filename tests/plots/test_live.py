"""The mechanism of live figures: menus, and the faults that it refuses."""

import sys

import pytest

from stacklib import hardware, plots
from stacklib.plots import axis, chart, readout, rule
from stacklib.plots.live import choices


def test_a_menu_of_devices_is_grouped_and_holds_what_can_be_drawn():
    menu = choices.device("device", "Device", "h100_sxm")
    keys = [key for key, _ in menu["options"]]
    assert len(menu["groups"]) == len(keys) == len(set(keys))
    assert [hardware.get(key).vendor for key in keys] == menu["groups"]
    runs = [g for i, g in enumerate(menu["groups"]) if g not in menu["groups"][:i]]
    assert runs == sorted(runs, key=str.lower), "a vendor stands in one group"
    names = [name for _, name in menu["options"]]
    assert len(names) == len(set(names)), "two devices read alike"
    for key in hardware.names():
        device = hardware.get(key)
        fields = [device.fields[f] for f in ("memory_bandwidth", "memory_capacity")]
        drawn = None not in fields and bool(device.formats)
        assert (key in keys) == (drawn and key != hardware.THIS_MACHINE), key


def test_a_menu_of_devices_holds_those_whose_specs_suffice():
    known = choices.knowing(lambda device: device.l2_capacity, "gpu")
    assert ["h100_sxm", "H100"] in known and len(known) < len(choices.devices())
    kinds = {hardware.get(key).fields["l2_capacity"] is None for key, _ in known}
    assert kinds == {False}
    assert choices.short(["h100_sxm"]) == [["h100_sxm", "H100"]]


# -- planted faults -----------------------------------------------------------


def planted(*, size):
    """A function with one argument, for calls named below."""
    ends = axis("x", limits=[0, 1])
    marks = [rule("size", "predicted", y=size)]
    said = [readout("size", "Size", str(size))]
    return chart("A rule.", x=ends, y=ends, marks=marks, readouts=said)


def dead(*, size):
    """A function that ignores its argument."""
    return planted(size=128)


SIZE = choices.slider("size", "Size", (128, 256), 128)


@pytest.fixture
def call_planted(monkeypatch):
    monkeypatch.setitem(sys.modules, "planted_live", sys.modules[__name__])

    def call(function, *controls):
        return plots.live(
            call=f"planted_live:{function}", controls=controls, name="planted", alt="x"
        )

    return call


def test_a_planted_function_shows(call_planted):
    assert call_planted("planted", SIZE).test["control"] == "size"


def test_a_slider_at_its_end_is_tested_the_other_way(call_planted):
    assert call_planted("planted", {**SIZE, "value": 256}).test["keys"] == ["ArrowLeft"]


@pytest.mark.parametrize(
    ("function", "control", "says"),
    [
        ("dead", SIZE, "changes any readout"),
        ("planted", {**SIZE, "value": 7}, "starts at 7"),
        ("planted", {**SIZE, "name": "depth"}, "do not match"),
        ("planted", {**SIZE, "type": "dial"}, "type is one of"),
        (
            "planted",
            {**choices.select("size", "Size", [(1, "one")], 1), "groups": []},
            "a group for each option",
        ),
        ("missing", SIZE, "planted_live:missing"),
    ],
)
def test_a_bad_live_figure_is_refused(call_planted, function, control, says):
    with pytest.raises(plots.SpecError, match=says):
        call_planted(function, control)
