"""The ladder: units x bytes x clock, per unit and per chip kept apart."""

import pytest

from stacklib import hardware
from stacklib.memory.ladder.rungs import ladder, launched_copy, mean_step, steps
from stacklib.quantity import UnitError

GPUS = [k for k in hardware.names() if hardware.get(k).kind == "gpu"]


def by_name(device):
    return {rung.name: rung for rung in ladder(device)}


@pytest.mark.rows(
    ("device", "rung", "tb"),
    [
        ("b200", "registers", 148 * 128 * 3 * 4 * 1.965e-3),
        ("b200", "shared memory", 148 * 128 * 1.965e-3),
        ("a100-sxm-80gb", "shared memory", 108 * 128 * 1.41e-3),
        ("h100-sxm", "L2", 132 * 37 * 1.98e-3),
        ("h100-sxm", "HBM", 3.35),
    ],
)
def test_bandwidths_by_hand(device, rung, tb):
    rate = by_name(device)[rung].chip_bandwidth
    assert rate.to("TB/s").value == pytest.approx(tb, rel=1e-3)


def test_the_registers_of_a_chip_outweigh_its_shared_memory():
    rungs = by_name("h100-sxm")
    near, far = rungs["registers"], rungs["shared memory"]
    assert near.unit_capacity.to("KiB").value == 256
    assert near.chip_capacity > far.chip_capacity


@pytest.mark.rows("device", GPUS)
def test_every_gpu_of_known_clock_has_a_ladder(device):
    chip = hardware.get(device)
    if chip.fields["compute_units"] is None or chip.fields["clock"] is None:
        with pytest.raises(hardware.UnknownSpec):
            ladder(device)
        return
    units, clock = chip.compute_units.si, f"@{chip.clock.si / 1e6:g}MHz"
    for rung in ladder(device):
        assert rung.chip_bandwidth is not None or rung.cycles is not None
        if rung.cycles is not None:
            assert rung.latency.si == pytest.approx(rung.cycles.si / chip.clock.si)
        pairs = [(rung.unit_bandwidth, rung.chip_bandwidth)]
        if rung.owner == "unit":
            pairs.append((rung.unit_capacity, rung.chip_capacity))
        for one, every in pairs:
            if one is not None and every is not None:
                assert one.tags - {clock} == {"per_core"} and "per_chip" in every.tags
                assert one.si * units == pytest.approx(every.si)


def test_a_unit_and_a_chip_cannot_be_added():
    shared = by_name("h100-sxm")["shared memory"]
    with pytest.raises(UnitError, match="per_core"):
        shared.unit_bandwidth + shared.chip_bandwidth
    with pytest.raises(UnitError, match="per_core"):
        _ = shared.unit_capacity < shared.chip_capacity


def test_latencies_of_one_device_grow_rung_by_rung():
    for device in ("a100-sxm-80gb", "h100-sxm", "b200", "v100-sxm2-32gb"):
        cycles = [rung.cycles.si for rung in ladder(device) if rung.cycles]
        assert cycles == sorted(cycles)


def test_steps_multiply_to_what_they_span():
    rungs = ladder("h100-sxm")
    having = [r for r in rungs if r.cycles]
    product = 1.0
    for step in steps(rungs):
        product *= step.si
    assert product == pytest.approx(having[-1].cycles.si / having[0].cycles.si)
    mean = mean_step(rungs).si
    assert mean ** len(steps(rungs)) == pytest.approx(product)
    assert steps(rungs, "chip_capacity")[0].si < 1  # the pyramid stands on its head
    rates = steps(rungs, "chip_bandwidth")  # memory and links in one row
    assert len(rates) == 6 and all(rate.si < 1 for rate in rates)


def test_a_launched_copy_is_dearer_than_a_load():
    load = by_name("h100-sxm")["host"].latency
    assert launched_copy("h100-sxm").si > 10 * load.si


def test_what_is_no_gpu_or_no_feature_is_refused():
    with pytest.raises(hardware.UnknownSpec, match="tpu_v4 is a tpu"):
        ladder("tpu-v4")
    with pytest.raises(ValueError, match="feature = 'latency'"):
        steps(ladder("h100-sxm"), "latency")
    with pytest.raises(ValueError, match="1 levels with cycles"):
        steps(ladder("h100-sxm")[:1])
