"""Efficiency factors and the constants of architectures."""

import pytest

from stacklib import hardware
from stacklib.hardware import UnknownSpec, factors
from stacklib.hardware.factors import (
    efficiency_names,
    efficiency_recorded,
    efficiency_table,
)
from stacklib.quantity import UnknownName


def test_few_factors_each_within_its_bounds():
    table = efficiency_table()
    assert 0 < len(table) <= factors.MOST == 40
    for name, row in table.items():
        assert row["least"] < row["most"], name
        assert row["text"] and row["class"], name
        if not row.get("unit"):
            assert row["value"] > 1e-4, name


@pytest.mark.parametrize("fault", ["value = 9.0", "least = 0.99"])
def test_a_value_out_of_bounds_is_refused(fault, tmp_path, monkeypatch):
    key = fault.split(" ")[0]
    lines = {"value": "value = 0.5", "least": "least = 0.1", "most": "most = 1.0"}
    lines[key] = fault
    path = tmp_path / "efficiency.toml"
    path.write_text("[x]\n" + "\n".join(lines.values()) + "\n")
    monkeypatch.setattr(factors, "PATH", path)
    factors.efficiency_table.cache_clear()
    with pytest.raises(ValueError, match="out of bounds"):
        factors.efficiency_table()
    factors.efficiency_table.cache_clear()


def test_too_many_factors_are_refused(tmp_path, monkeypatch):
    row = "value = 0.5\nleast = 0.1\nmost = 1.0\n"
    path = tmp_path / "efficiency.toml"
    path.write_text("\n".join(f"[f{i}]\n{row}" for i in range(41)))
    monkeypatch.setattr(factors, "PATH", path)
    factors.efficiency_table.cache_clear()
    with pytest.raises(ValueError, match="41 factors"):
        factors.efficiency_table()
    factors.efficiency_table.cache_clear()


def test_override_is_undone_and_nests():
    before = hardware.efficiency("dram_read")
    with hardware.efficiency_override({"dram_read": 0.5}):
        with hardware.efficiency_override({"dram_mixed": 0.4}):
            assert hardware.efficiency("dram_read") == 0.5
            assert hardware.efficiency("dram_mixed") == 0.4
        assert hardware.efficiency("dram_mixed") != 0.4
    assert hardware.efficiency("dram_read") == before


@pytest.mark.rows("value", [0, -1, float("nan"), float("inf")])
def test_override_takes_numbers_above_zero(value):
    with (
        pytest.raises(ValueError, match="above zero"),
        hardware.efficiency_override({"dram_read": value}),
    ):
        pass


def test_unknown_factors_suggest_the_nearest():
    with pytest.raises(UnknownName, match="dram_read"):
        hardware.efficiency("dram_raed")
    with (
        pytest.raises(UnknownName, match="dram_read"),
        hardware.efficiency_override({"dram_raed": 1.0}),
    ):
        pass


def test_what_is_read_is_recorded():
    with efficiency_recorded() as read:
        hardware.efficiency("dram_read")
    assert read == {"dram_read"}
    hardware.efficiency("dram_mixed")
    assert read == {"dram_read"}


def test_what_is_kept_is_kept_with_the_factors_in_force():
    calls = []
    twice = factors.efficiency_kept(
        lambda times: calls.append(times) or times * hardware.efficiency("dram_read")
    )
    before = twice(2)
    with hardware.efficiency_override({"dram_read": 0.5}):
        assert twice(2) == 1.0
    assert twice(2) == before and len(calls) == 2
    with efficiency_recorded() as read:
        assert twice(2) == before
    assert read == {"dram_read"}


def test_a_factor_opens_to_its_source():
    q = hardware.efficiency_quantity("tensor_energy_hopper")
    assert q.si == hardware.efficiency("tensor_energy_hopper")
    assert "Efficiency factors" in q.source.title


def test_every_energy_class_is_a_factor():
    for key in hardware.names():
        energy = hardware.microarchitecture(hardware.get(key)).tensor_energy
        assert not energy or energy in efficiency_names(), key


def test_capability_decides_where_an_architecture_has_two_chips():
    a100, a40 = (hardware.get(k) for k in ("a100_sxm_80gb", "a40"))
    assert a100.architecture == a40.architecture
    latencies = [hardware.microarchitecture(d).latency("l2").si for d in (a100, a40)]
    assert latencies[0] != latencies[1]


def test_constants_nobody_measured_are_unknown():
    tpu = hardware.microarchitecture(hardware.get("tpu-v5p"))
    with pytest.raises(UnknownSpec, match="unknown"):
        tpu.latency("dram")
    with pytest.raises(UnknownSpec, match="no such constant"):
        tpu.latency("l7")


def test_sizes_of_an_architecture_are_the_vendors():
    trainium = hardware.microarchitecture(hardware.get("trainium2"))
    assert trainium.count("partitions").si == 128
    psum = 128 * trainium.count("psum_banks").si * trainium.size("psum_bank").si
    assert psum == 2 * 2**20
    for key in ("h100_sxm", "a100_sxm_80gb", "b200_sxm", "rtx_4090"):
        chip = hardware.get(key)
        block = hardware.microarchitecture(chip).size("shared_per_block")
        assert 0 < block.si < chip.shared_per_unit.si
    with pytest.raises(UnknownSpec, match="shared memory that one block"):
        trainium.size("shared_per_block")
