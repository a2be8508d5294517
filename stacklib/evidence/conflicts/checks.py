"""The correct value of a disputed figure, computed from devices, links and models.

Each check stands on published fields alone; none sees what the sources say the answer
is. ``CHECKS`` maps the id of a conflict to its check.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib.resources import files
from pathlib import Path

from stacklib import hardware, models
from stacklib.hardware import Accelerator
from stacklib.hardware.sourced import read_toml, read_value
from stacklib.quantity import Quantity

Check = Callable[[], Quantity]


@cache
def _facts() -> dict[str, Quantity]:
    path = Path(str(files("stacklib.evidence") / "data" / "conflict_facts.toml"))
    raw = read_toml(path)
    return {
        name: read_value(
            entry,
            raw["sources"],
            "",
            f"{path.name}: {name}",
            name.replace("_", " "),
            entry.get("unit", "1"),
        )
        for name, entry in raw["facts"].items()
    }


def _field(device: str, name: str) -> Check:
    return lambda: getattr(hardware.get(device), name)


def _peak(device: str, dtype: str) -> Check:
    return lambda: hardware.get(device).peak(dtype)


def _pins(device: str) -> Check:
    def check() -> Quantity:
        chip = hardware.get(device)
        return (chip.memory_pins * chip.memory_pin_rate).to("TB/s")

    return check


def _links(name: str) -> Check:
    def check() -> Quantity:
        link = hardware.link(name)
        return link.links * link.link_bandwidth

    return check


def _per_cycle(device: str, dtype: str) -> tuple[Accelerator, Quantity]:
    chip = hardware.get(device)
    rate = chip.peaks[dtype].per_unit_per_cycle
    if rate is None:
        raise hardware.UnknownSpec(f"{device}: {dtype} operations a cycle are unknown")
    return chip, rate


def _tensor_cores(device: str, core: str) -> Check:
    """Cores of an SM: what it does in a cycle over what one core does."""

    def check() -> Quantity:
        _, rate = _per_cycle(device, "fp16")
        return rate / _facts()[core].to("FLOP/cycle")

    return check


def _switch_ports() -> Quantity:
    switch = hardware.link("nvswitch4")
    return (switch.ports * switch.link_bandwidth).retag("bidirectional", 2)


def _switches_of_a_rack() -> Quantity:
    """Ports that the GPUs of a rack need, over the ports of one switch chip."""
    domain = hardware.get("gb200").link_domain
    return domain * hardware.link("nvlink5").links / hardware.link("nvswitch4").ports


def _quantum_x800() -> Quantity:
    switch = hardware.link("switch_q3400")
    return (switch.ports * switch.link_bandwidth).to("Tbit/s")


def _pcie4() -> Quantity:
    link = hardware.link("pcie4_x16")
    return (link.lanes * link.lane_rate * link.encoding_efficiency).to("GB/s")


def _tunnel() -> Quantity:
    link = hardware.link("pcie4_x4")
    return (link.lanes * link.lane_rate * link.encoding_efficiency).to("GB/s")


def _density() -> Quantity:
    chip = hardware.get("h100_sxm")
    return (chip.transistors / chip.die_area).to("1/mm2")


def _m4_max() -> Quantity:
    chip, rate = _per_cycle("m4_max", "fp32")
    return chip.compute_units * rate * chip.clock


def _tensor_memory() -> Quantity:
    fact = _facts()
    size = fact["tmem_columns"] * fact["tmem_lanes"] * fact["tmem_cell"]
    return size.to("KiB")


def _fp64_units() -> Quantity:
    """Multiply-adds a cycle of one SM that the FP64 peak needs."""
    chip = hardware.get("h100_sxm")
    return (chip.peak("fp64") / chip.compute_units / chip.clock).to("MAC/cycle")


def _groq_rack() -> Quantity:
    chip = hardware.get("groq3_lp30")
    return chip.memory_bandwidth.across(chip.link_domain)


def _b300_stacks() -> Quantity:
    """Dies of all stacks, in the powers of two that dies are made in."""
    dies = hardware.get("b300_sxm").memory_stacks * _facts()["hbm3e_12_high"]
    return (dies * hardware.memory("hbm3e").die_capacity).to("GiB")


def _hoppers_of_a_gh200() -> Quantity:
    parts = (hardware.get(key).compute_units for key in ("gh200", "h100_sxm"))
    return next(parts) / next(parts)


def _gaudi3() -> Quantity:
    fact = _facts()
    slower = fact["gaudi3_shipped_clock"] / fact["gaudi3_paper_clock"]
    return hardware.get("gaudi3").peak("bf16") * slower


def _tensor_clock() -> Quantity:
    chip, rate = _per_cycle("h100_sxm", "bf16")
    return (chip.peak("bf16") / (chip.compute_units * rate)).to("GHz")


def _trainium2_sram() -> Quantity:
    chip = hardware.get("trainium2")
    return (chip.compute_units * chip.shared_per_unit).to("MiB")


def _ai_tops() -> Quantity:
    """Sparsity, FP4 to FP8, FP8 to FP16, FP32 accumulation: each halves."""
    sparse = hardware.get("rtx_5090").peak("fp4", sparse=True)
    return sparse.retag("dense", 1 / 2) / 2 / 2 / 2


def _nvswitch3() -> Quantity:
    switch = hardware.link("nvswitch3")
    both = (switch.ports * switch.link_bandwidth).retag("bidirectional", 2)
    return both.to("Tbit/s")


CHECKS: dict[str, Check] = {
    "h200_bw": _pins("h200_sxm"),
    "h100_fp8": _peak("h100_sxm", "fp8"),
    "b200_sms": _field("b200_sxm", "compute_units"),
    "b200_stacks": _field("b200_sxm", "memory_stacks"),
    "h100_stacks": _field("h100_sxm", "memory_stacks"),
    "b200_fp4": _peak("b200_sxm", "fp4"),
    "rtx4090_330": _peak("rtx_4090", "fp16"),
    "rtx5090_838": _peak("rtx_5090", "fp16"),
    "l40s_362": _peak("l40s", "fp16"),
    "a100_624": _peak("a100_sxm_80gb", "fp16"),
    "tpu_v5p": _peak("tpu_v5p", "bf16"),
    "tpu_v7": _peak("tpu_v7", "fp8"),
    "wse3_flops": _peak("wse3", "fp16"),
    "wse3_sram": _field("wse3", "memory_capacity"),
    "wse3_bw": _field("wse3", "memory_bandwidth"),
    "groq_sram": _field("groq3_lp30", "memory_capacity"),
    "groq_40pb": _groq_rack,
    "nvlink5": _links("nvlink5"),
    "nvswitch_ports": _switch_ports,
    "nvl72_planes": _switches_of_a_rack,
    "qx800": _quantum_x800,
    "sharp": lambda: hardware.link("switch_q3400").reduction,
    "grace": _field("grace", "memory_bandwidth"),
    "pcie4": _pcie4,
    "h100_density": _density,
    "b200_l2": _field("b200_sxm", "l2_capacity"),
    "mi300x_1300": _peak("mi300x", "bf16"),
    "mi308x_fp16": _peak("mi308x", "fp16"),
    "m4max": _m4_max,
    "trn2": _peak("trainium2", "fp8"),
    "tmem": _tensor_memory,
    "hopper_tc": _tensor_cores("h100_sxm", "hopper_tensor_core"),
    "v100_tc": _tensor_cores("v100_sxm2_32gb", "volta_tensor_core"),
    "h100_int32": _fp64_units,
    "rubin_bw": _field("rubin", "memory_bandwidth"),
    "rubin_fp4": _peak("rubin", "fp4"),
    "nvlink6": _links("nvlink6"),
    "b200_bw_driver": _pins("b200_sxm"),
    "b200_fp64": _peak("b200_sxm", "fp32"),
    "b300_fp4": _peak("b300_sxm", "fp4"),
    "b300_cap": _b300_stacks,
    "gh200_gpus": _hoppers_of_a_gh200,
    "mi355x_link": _links("if_mi355x"),
    "mi355x_fp8": _peak("mi355x", "fp8"),
    "nvswitch3_tbit": _nvswitch3,
    "p150": _peak("tt_blackhole_p150", "fp8"),
    "gaudi3_clk": _gaudi3,
    "tpu_v5e_bw": _field("tpu_v5e", "memory_bandwidth"),
    "tpu_v3_tf": _peak("tpu_v3", "bf16"),
    "h100_clock": _tensor_clock,
    "h100_pcie_mem": _field("h100_pcie", "memory_bandwidth"),
    "rubin_sms": _field("rubin", "compute_units"),
    "b300_int8": _peak("b300_sxm", "int8"),
    "h200_l2": _field("h200_sxm", "l2_capacity"),
    "h100_l2_rate": lambda: hardware.level("h100_sxm", "l2").known("rate"),
    "orin_tops": _peak("jetson_agx_orin_64", "int8"),
    "trn2_sbuf": _trainium2_sram,
    "trn3_bw": _field("trainium3", "memory_bandwidth"),
    "spark_1pf": _peak("dgx_spark_gb10", "fp4"),
    "pro6000_rate": _peak("rtx_pro_6000_blackwell", "bf16"),
    "tb5": _tunnel,
    "groq_c2c": _field("groq_lpu_v1", "link"),
    "mla_kv": lambda: models.get("deepseek-v3").kv_bytes_per_token("bf16"),
    "ai_tops_50": _ai_tops,
}
