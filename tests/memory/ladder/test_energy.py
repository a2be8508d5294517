"""Joules of a step by formula and by counting sectors."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib import hardware, memory
from stacklib.memory.ladder import energy, energy_walk
from stacklib.memory.tiers.parts import constant
from stacklib.quantity import Quantity
from stacklib.roofline import Infeasible


@pytest.mark.rows("account", energy.ACCOUNTS)
@pytest.mark.rows(
    "model, on, tp, dtype, batch, context",
    [
        ("llama-3-70b", "h100-sxm", 2, "bf16", 1, 4096),
        ("llama-3-70b", "b200-sxm", 1, "e4m3fn", 8, 1000),
        ("llama-3-8b", "h100-sxm", 1, "bf16", 3, 77),
        ("mixtral-8x7b-v0.1", "h100-sxm", 2, "bf16", 4, 10),
        ("deepseek-v3", "b200-sxm", 8, "e4m3fn", 2, 300),
    ],
)
def test_sector_by_sector_it_is_the_formula(
    account, model, on, tp, dtype, batch, context
):
    step = memory.decode_energy(
        model, on=on, account=account, dtype=dtype, tp=tp, batch=batch, context=context
    )
    counted = energy_walk.count_energy(
        model,
        on=on,
        account=account,
        dtype=dtype,
        tp=tp,
        batch=batch,
        context=context,
    )
    assert list(counted) == [n for n in step.parts if n != "constant power"]
    for name, joules in counted.items():
        # wires: the cells of a grid of 16 are coarse, and a hash is not a mean
        rel = 5e-3 if step.kinds[name] == "wire" else 1e-4
        assert joules == pytest.approx(step.parts[name].si, rel=rel), name


@pytest.mark.rows("grid", [4, 8, 16, 32])
def test_hashed_addresses_find_half_a_side_and_a_third(grid):
    ways = energy_walk.ways_across(
        grid, sectors=energy_walk.TILE * grid**2
    )  # every SM once
    mean = sum(ways) / len(ways)
    assert mean == pytest.approx(1 / 2 + (1 - 1 / grid**2) / 3, rel=2e-3)
    assert energy.wire_length(1.0) == pytest.approx(5 / 6)


def test_the_way_across_takes_floats_arrays_and_quantities():
    area = 814e-6
    q = energy.wire_length(Quantity(814, "mm2"))
    assert q.to("mm").value == pytest.approx(1e3 * energy.wire_length(area))
    assert energy.wire_length(np.array([area, 4 * area]))[1] == pytest.approx(2 * q.si)


@given(st.integers(0, 10_000), st.sampled_from([1, 2, 4]))
@settings(deadline=None)
def test_ways_are_taken_in_turn(sectors, grid):
    ways = energy_walk.ways_across(grid, 300)
    count = energy_walk.EventCount(ways)
    count.read(sectors * 16, 16)
    assert count.sectors == sectors
    slow = math.fsum(ways[i % len(ways)] for i in range(sectors))
    assert count.crossed == pytest.approx(slow)


def test_a_sector_that_is_part_empty_still_moves():
    count = energy_walk.EventCount(energy_walk.ways_across(1))
    count.read(17, 16)  # 34 bytes
    assert count.sectors == 2


def test_the_headline_is_a_product():
    whole = energy.memory_energy(Quantity(72, "GB"), hardware.memory("hbm2").energy)
    assert whole.text("J") == "2.26 J"
    assert energy.energy_of(72e9, 3.92e-12) == pytest.approx(whole.si)
    swept = energy.energy_of(np.array([72e9]), 3.92e-12)
    assert swept[0] == pytest.approx(whole.si)
    arrays = [s for s in energy.circuit_path(hardware.get("h100-sxm")) if s.times == 2]
    for stage, words in zip(arrays, ("1mb", "32kb", "8kb"), strict=True):
        word = constant(f"sram_{words}")  # one of 64 bits
        assert (word / stage.per_bit).si == pytest.approx(64 / 2)


def test_parts_add_up_and_power_is_energy_over_time():
    step = memory.decode_energy("llama-3-70b", on="h100-sxm", tp=2)
    assert step.total.si == pytest.approx(sum(q.si for q in step.parts.values()))
    assert step.power.si == pytest.approx(step.total.si / step.time.si / 2)
    shares = [share.si for *_, share in step.rows()]
    assert sum(shares) == pytest.approx(1)
    kinds = set(step.kinds.values())
    assert sum(step.share(k).si for k in kinds) == pytest.approx(1)
    assert step.share(*kinds).si == pytest.approx(1)


def test_an_h100_stays_below_its_design_power_and_above_idle():
    for account in energy.ACCOUNTS:
        step = memory.decode_energy("llama-3-70b", on="h100-sxm", tp=2, account=account)
        chip = hardware.get("h100-sxm")
        assert energy.constant_power(chip, account).si < step.power.si < chip.tdp.si


def test_what_an_a100_takes_a_b200_cannot():
    """The board account is of 7 nm: on a B200 it would pass the design power."""
    step = memory.decode_energy("llama-3-70b", on="b200-sxm", account="board")
    assert step.power.si > hardware.get("b200-sxm").tdp.si


def test_what_makes_no_sense_is_refused():
    with pytest.raises(ValueError, match="account 'guess'"):
        memory.decode_energy("llama-3-8b", on="h100-sxm", account="guess")
    with pytest.raises(ValueError, match="account 'guess'"):
        energy_walk.count_energy("llama-3-8b", on="h100-sxm", account="guess")
    with pytest.raises(ValueError, match="grid 24"):
        energy_walk.count_energy("llama-3-8b", on="h100-sxm", grid=24)
    with pytest.raises(Infeasible):
        memory.decode_energy("llama-3-70b", on="h100-sxm")
    step = memory.decode_energy("llama-3-8b", on="h100-sxm")
    with pytest.raises(ValueError, match="no part of kind heat"):
        step.share("heat")
    with pytest.raises(hardware.UnknownSpec, match="tensor operations"):
        energy.operation_energy(hardware.get("mi355x"), "board")


@pytest.mark.rows(
    "device", ["a100-sxm-80gb", "h100-sxm", "h200-sxm", "h100-pcie", "b200", "l40s"]
)
def test_no_chip_draws_more_than_its_design_power_by_circuits(device):
    step = energy.decode_energy("llama-3-8b", on=device)
    assert step.power.si <= hardware.get(device).tdp.across(1).si


@pytest.mark.parametrize("device", ["mi300x", "mi325x"])
def test_eight_small_dies_of_another_vendor_are_not_eight_of_these(device):
    with pytest.raises(hardware.UnknownSpec, match="power when idle"):
        energy.decode_energy("llama-3-8b", on=device)
