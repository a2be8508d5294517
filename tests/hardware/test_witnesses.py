"""A lie on one field of one device, told consistently, is named by what is true.

A bandwidth moves with its pin rate and its cache, a peak with its operations a cycle:
their own relations agree as before, and another source or a sibling does not.
"""

from dataclasses import replace
from types import MappingProxyType

import pytest

from stacklib import hardware
from stacklib.hardware.crosscheck import faults, unwitnessed
from stacklib.hardware.second_sources import asked, rows
from stacklib.hardware.survey import audit
from stacklib.quantity import Quantity

DEVICES = [hardware.get(key) for key in hardware.names() if key != "this_machine"]
GIB = 2**30 / 1e9
# Devices that a number said in a notebook stands on; of the others one kind of lie.
SAID = (
    "a100_pcie_40gb a100_sxm_40gb a100_sxm_80gb b200_sxm epyc_9755 gb200 grace "
    "h100_pcie h100_sxm h200_sxm h20 h800_sxm mi300x rtx_4090 rtx_5090 rubin tpu_v5e "
    "tpu_v5p tpu_v6e tpu_v7 trainium2 trainium3 v100_sxm2_16gb v100_sxm2_32gb wse3"
).split()
# Fields on one source and no relation, as the audit counts: they become fewer.
ALONE = {
    "memory_bandwidth": 30,
    "memory_capacity": 53,
    "l2_capacity": 56,
    "tdp": 35,
    "link": 33,
    "host_link": 7,
    "peak": 193,
}


def scaled(q, share):
    return q and Quantity(q.value * share, q.unit)


def lie(device, field, share):
    """The device with one figure wrong, and all that its own record ties to it."""
    if field.startswith("peak."):
        name = field.removeprefix("peak.")
        peak = device.peaks[name]
        each = scaled(peak.per_unit_per_cycle, share)
        told = replace(peak, rate=scaled(peak.rate, share), per_unit_per_cycle=each)
        return replace(device, peaks=MappingProxyType({**device.peaks, name: told}))
    moved = [field]
    if field == "memory_bandwidth":
        moved += ["memory_pin_rate", "l2_capacity"]
    new = {name: scaled(device.fields[name], share) for name in moved}
    return replace(device, fields=MappingProxyType({**device.fields, **new}))


def named(device, field, share):
    start = f"{device.key}: {field}: "
    return any(fault.startswith(start) for fault in faults(lie(device, field, share)))


def test_every_lie_on_a_field_with_a_witness_is_named():
    missed, tried = [], 0
    for device in DEVICES:
        alone = unwitnessed(device)
        for field in (name for name in asked(device) if name not in alone):
            for share in (2, GIB, 0.843) if device.key in SAID else (GIB,):
                tried += 1
                if not named(device, field, share):
                    missed.append((device.key, field, share))
    assert missed == [] and tried > 1700


@pytest.mark.rows(
    ("key", "field", "share"),
    [
        ("h100_sxm", "memory_bandwidth", 1.2),  # with its pin rate and its L2
        ("h100_sxm", "memory_capacity", GIB),  # GB for GiB
        ("h800_sxm", "link", 2),  # counted both ways, on a link without a record
        ("rtx_pro_6000_server", "memory_bandwidth", 1.344 / 1.597),
        ("rtx_a6000", "link", 2),
        ("mi250x", "tdp", 0.7),  # of a board of another form
        ("gaudi3", "peak.fp8", 2),
        ("t4", "peak.fp16", 2),
        ("h100_sxm", "shared_per_unit", 2),
        ("a100_sxm_80gb", "registers_per_unit", 0.5),
        ("rtx_4090", "max_blocks_per_unit", 2),
        ("rtx_4500_ada", "memory_bandwidth", 0.9),  # with its pin rate
    ],
)
def test_lies_that_once_passed(key, field, share):
    assert named(hardware.get(key), field, share)


@pytest.mark.rows("key", ["l40", "a30", "mi355x", "b300_sxm", "rtx_3080"])
def test_units_are_told_from_their_cores(key):
    """Four times as many units, each with a quarter of the rates of its siblings."""
    device = hardware.get(key)
    units = {"compute_units": scaled(device.fields["compute_units"], 4)}
    quarter = {
        name: replace(peak, per_unit_per_cycle=scaled(peak.per_unit_per_cycle, 0.25))
        for name, peak in device.peaks.items()
    }
    told = replace(device, fields=MappingProxyType({**device.fields, **units}))
    told = replace(told, peaks=MappingProxyType(quarter))
    assert any(f"{key}: compute_units: a unit and" in fault for fault in faults(told))


@pytest.mark.rows("key", ["gaudi3", "mi250x", "a800_sxm_80gb", "mi300a"])
def test_a_stack_has_the_pins_of_its_generation(key):
    device = hardware.get(key)
    for share in (0.5, 2):
        stacks = {"memory_stacks": scaled(device.fields["memory_stacks"], share)}
        told = replace(device, fields=MappingProxyType({**device.fields, **stacks}))
        assert any("pins of a stack is" in fault for fault in faults(told))


def test_a_remark_explains_what_it_says_and_no_more():
    for key, field in (("m1_max", "memory_bandwidth"), ("l40s", "peak.int4")):
        device = hardware.get(key)
        assert faults(device) == [] and field in device.inconsistent
        assert named(device, field, 1.07) and named(device, field, 4)


def test_what_has_no_witness_is_counted_and_becomes_less():
    found = audit(DEVICES).alone_by_field
    assert {name: len(keys) for name, keys in found.items()} == ALONE
    for device in DEVICES:
        alone = {field for field in unwitnessed(device) if device.key in SAID}
        assert not alone & {"memory_bandwidth", "peak.bf16"} or device.key == "rubin"


def test_every_second_source_belongs_to_a_device():
    assert set(rows()) <= set(hardware.names())
