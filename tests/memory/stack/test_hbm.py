"""Stacks add up to the devices of the database, and refute what sources say of them."""

import math

import pytest

from stacklib import hardware
from stacklib.memory import hbm_stack
from stacklib.memory.stack.hbm import HEIGHTS, built_from


def devices():
    """Those whose stacks, pins and rate are all known."""
    for key in hardware.names():
        device = hardware.get(key)
        wanted = ("memory_stacks", "memory_pins", "memory_pin_rate", "memory_bandwidth")
        if all(device.fields.get(name) is not None for name in wanted):
            yield device


@pytest.mark.rows("device", list(devices()))
def test_stacks_give_a_devices_bandwidth(device):
    f = {name: device.fields[name] for name in device.fields}
    pins = f["memory_pins"].si / f["memory_stacks"].si
    if pins != int(pins) or pins < 512:
        pytest.skip("no HBM")
    stack = hbm_stack(
        8, die_gbit=16, pins=int(pins), gbit_per_pin=f["memory_pin_rate"].si / 1e9
    )
    total = stack.bandwidth.si * f["memory_stacks"].si
    if "memory_bandwidth" in device.inconsistent:
        return  # named in the database, with the reason
    assert total == pytest.approx(f["memory_bandwidth"].si, rel=0.03)


def shapes(capacity_gb: float, die: int) -> set[tuple[int, int]]:
    """Stacks and heights that give a capacity."""
    return {(b.stacks, b.height) for b in built_from(capacity_gb * 1e9, die_gbit=die)}


def test_an_h100_has_five_stacks_and_not_six():
    found = shapes(80, 16)
    assert (5, 8) in found
    assert 6 not in {stacks for stacks, _ in found}
    five = hbm_stack(8, die_gbit=16, gbit_per_pin=5.23).bandwidth.si * 5
    assert five == pytest.approx(hardware.get("h100-sxm").memory_bandwidth.si, rel=0.01)


def test_a_b200_is_eight_high_and_a_b300_twelve():
    assert (8, 8) in shapes(192, 24)
    assert (8, 12) not in shapes(192, 24)
    assert (8, 12) in shapes(288, 24)


def test_known_stacks():
    hbm3e = hbm_stack(12, die_gbit=24, gbit_per_pin=9.2)
    assert hbm3e.capacity.si == 12 * 3 * 2**30
    assert hbm3e.bandwidth.si == pytest.approx(1024 * 9.2e9 / 8)
    hbm4 = hbm_stack(12, die_gbit=24, pins=2048, gbit_per_pin=8)
    assert hbm4.bandwidth.si == pytest.approx(2.048e12)


@pytest.mark.rows(
    ("fields", "message"),
    [
        ({"height": 7}, "height = 7"),
        ({"height": True}, "height = True"),
        ({"die_gbit": 0}, "die_gbit = 0"),
        ({"die_gbit": math.nan}, "die_gbit = nan"),
        ({"gbit_per_pin": -1}, "gbit_per_pin = -1"),
        ({"pins": 0}, "pins = 0"),
        ({"gbit_per_pin": math.inf}, "gbit_per_pin = inf"),
    ],
)
def test_what_is_no_stack_is_refused(fields, message):
    given = {"height": 8, "die_gbit": 16, "gbit_per_pin": 6.4, **fields}
    with pytest.raises(ValueError, match=message):
        hbm_stack(**given)


def test_no_capacity_is_built_from_nothing():
    with pytest.raises(ValueError, match="must be positive"):
        list(built_from(0, die_gbit=16))
    assert all(b.height in HEIGHTS for b in built_from(96e9, die_gbit=24))
