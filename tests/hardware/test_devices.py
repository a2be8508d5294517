"""Every device: sources, names, and figures that physics ties together."""

from pathlib import Path

import pytest

from stacklib import hardware
from stacklib.hardware.crosscheck import faults
from stacklib.hardware.survey import audit, entries
from stacklib.quantity.names import fold

DATA = Path(hardware.__file__).parent / "data" / "accelerators"
NAMES = sorted(path.stem for path in DATA.glob("*.toml"))
DEVICES = {name: hardware.get(name) for name in hardware.names()}


def test_every_file_is_a_device():
    assert (*NAMES, hardware.THIS_MACHINE) == hardware.names()
    assert len(NAMES) >= 110


@pytest.mark.rows("name", NAMES)
def test_every_value_has_a_source(name):
    for field, value in entries(DEVICES[name]).items():
        if value is not None:
            price = ("claimed",) if field.endswith("price") else ()
            assert value.source is not None
            assert value.kind in ("spec", "measured", *price)
            assert value.source.where.strip()


@pytest.mark.rows("name", NAMES)
def test_figures_agree_or_their_contradiction_is_explained(name):
    assert not faults(DEVICES[name])


def test_an_alias_means_one_device_and_finds_it():
    owner = {}
    for name, device in DEVICES.items():
        for alias in (name, *device.aliases):
            assert owner.setdefault(fold(alias), name) == name, alias
            assert hardware.get(alias).key == name, alias


@pytest.mark.rows("name", NAMES)
def test_every_device_but_a_chip_sold_in_machines_only_has_an_alias(name):
    assert DEVICES[name].aliases


def is_nvidia_gpu(name: str) -> bool:
    return (DEVICES[name].vendor, DEVICES[name].kind) == ("NVIDIA", "gpu")


@pytest.mark.rows("name", [*filter(is_nvidia_gpu, NAMES)])
def test_nvidia_limits_are_those_of_the_compute_capability(name):
    device = DEVICES[name]
    same = [
        d
        for d in DEVICES.values()
        if d.compute_capability == device.compute_capability != ""
    ]
    limits = (
        "max_threads_per_unit",
        "max_warps_per_unit",
        "max_blocks_per_unit",
        "shared_per_unit",
        "registers_per_unit",
    )
    for field in limits:
        values = {d.fields[field].si for d in same if d.fields[field] is not None}
        assert len(values) <= 1, f"{device.compute_capability}: {field}: {values}"


def test_audit_adds_up_and_lists_the_widest_gap_first():
    found = audit(DEVICES.values())
    assert found.devices == len(DEVICES)
    assert found.fields == sum(len(entries(d)) for d in DEVICES.values())
    assert sum(found.confidence.values()) == found.own + found.inherited
    widths = [abs(gap.gap) for gap in found.gaps]
    assert widths == sorted(widths, reverse=True)
    assert all(width <= 0.02 for width in (abs(g.gap) for g in found.agreeing))
    explained = {(device, place) for device, place, _ in found.inconsistent}
    wide = {(g.key, g.predicts) for g in found.gaps if abs(g.gap) > 0.02}
    assert wide <= explained
