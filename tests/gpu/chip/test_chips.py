"""The tree of a chip: products against the printed counts, and walked unit by unit."""

import tomllib
from pathlib import Path

import pytest

from stacklib import gpu, hardware
from stacklib.gpu.chip import chips
from stacklib.gpu.chip.chips import chip, chips_known, count_parts, floor_plan
from stacklib.hardware import UnknownSpec

DATA = tomllib.loads((Path(chips.__file__).parent / "data" / "dies.toml").read_text())
# as printed: CUDA cores and tensor cores of the product, units of the full die
PRINTED = {
    "v100_sxm2_16gb": (5120, 640, 84),
    "a100_sxm_80gb": (6912, 432, 128),
    "h100_sxm": (16896, 528, 144),
    "h100_pcie": (14592, 456, 144),
    "rtx_4090": (16384, 512, 144),
    "b200_sxm": (18944, 592, 160),
}


@pytest.mark.rows("key", PRINTED)
def test_totals_are_those_printed(key):
    lanes, cores, designed = PRINTED[key]
    assert gpu.part_total(key, "fp32_lanes").si == lanes
    assert gpu.part_total(key, "tensor_cores").si == cores
    assert chip(key).units_designed.si == designed


@pytest.mark.rows("key", chips_known())
def test_the_walk_counts_what_the_product_says(key):
    for part in ("fp32_lanes", "tensor_cores", "int32_lanes"):
        assert count_parts(key, part) == gpu.part_total(key, part).si
    plan, found = floor_plan(key), chip(key)
    units = [unit for gpc in plan for tpc in gpc for unit in tpc]
    assert len(plan) == found.gpcs.si and sum(map(len, plan)) == found.tpcs.si
    assert len(units) == found.units_designed.si and sum(units) == found.units.si
    if found.gpcs_on is not None:
        assert sum(any(map(any, gpc)) for gpc in plan) == found.gpcs_on.si


def test_printed_tpcs_are_half_the_units():
    """Where the enabled TPCs are printed too, they must agree with the units."""
    rows = {key: row for key, row in DATA["devices"].items() if "tpcs" in row}
    assert len(rows) >= 4
    for key, row in rows.items():
        each = DATA["dies"][row["die"]]["units_per_tpc"]
        assert row["tpcs"] * each == hardware.get(key).compute_units.si


def test_two_dies_lose_alike():
    plan = [sum(map(sum, gpc)) for gpc in floor_plan("b200")]
    assert sum(plan[:4]) == sum(plan[4:]) == 74


def test_every_source_is_used():
    used = {row["source"] for row in DATA["dies"].values()}
    used |= {row["source"] for row in DATA["devices"].values() if "source" in row}
    assert used == set(DATA["sources"])


def test_integer_lanes_meet_the_printed_rate():
    """H100: INT32 at half the FP32 rate; B200: one kind of lane does both."""
    h100 = gpu.part_count("h100", "int32_lanes").si
    assert 2 * h100 == gpu.part_count("h100", "fp32_lanes").si
    assert gpu.part_count("b200", "int32_lanes").si == 128


def test_what_is_not_known_is_said():
    with pytest.raises(UnknownSpec, match="its die is unknown"):
        chip("t4")
    with pytest.raises(UnknownSpec, match="int32_lanes of a unit are unknown"):
        gpu.part_count("rtx-5090", "int32_lanes")
    with pytest.raises(LookupError, match="fp32_lanes"):
        gpu.part_total("h100", "fp33_lanes")
    assert gpu.part_total("h100", "partitions").si == 528
