"""The constants of ports: every one has a source, or is another's by name."""

import pytest

from stacklib import hardware
from stacklib.gpu.issue import ports
from stacklib.gpu.issue.instructions import part_count
from stacklib.gpu.issue.machine import PORTS, machine_of
from stacklib.gpu.issue.streams import KINDS
from stacklib.hardware import UnknownSpec

from ...rows import refusals


def test_every_architecture_has_every_constant_and_says_whose():
    counts = ports.audit()
    assert sum(counts.values()) == len(ports.architectures()) * len(ports.WORDS)
    assert counts["inherited"] > 0 and set(counts) <= {
        *("inherited", "secondary", "recalled", "measured")
    }
    taken = ports.constant("blackwell", "special_latency")
    assert "taken from ampere" in taken.label and taken.source.inherited


def test_lanes_agree_with_the_data_sheets():
    for name in ("v100-pcie-16gb", "a100-sxm-80gb", "rtx-3090", "h100-sxm", "b200-sxm"):
        chip = hardware.get(name)
        key = ports.architecture_of(chip)
        assert ports.fp32_lanes(chip) == part_count(chip, "fp32_lanes").si
        for lanes in ("int32_lanes", "special_lanes"):
            assert ports.constant(key, lanes).si == part_count(chip, lanes).si


@pytest.mark.rows("device", ["v100-pcie-16gb", "rtx-4090", "b200-sxm"])
def test_every_kind_has_a_way_and_no_result_comes_before_its_port_is_free(device):
    machine = machine_of(device)
    assert set(machine.ways) == set(KINDS)
    for way in machine.ways.values():
        assert set(way.ports) <= set(PORTS) and way.latency >= max(1, way.hold)
    assert len(machine.size(1, 1, 1)) == 21 and len(machine.table()) == 11 * len(KINDS)


test_what_is_unknown_is_refused = refusals(
    (lambda: ports.constant("hopper", "wings"), "no such port constant"),
    (lambda: ports.architecture_of(hardware.get("p100-sxm2")), "pascal 6.0"),
    (lambda: machine_of("h100-sxm", active=0), "active = 0"),
    error=(UnknownSpec, ValueError),
)
