"""Devices that are not NVIDIA GPUs, against oracles that others wrote.

AMD's peak tables, OpenXLA's widths, JAX's TPU constants and published measurements
say again, from elsewhere, what the spec files say.
"""

import pytest

from stacklib import hardware

# ROCm documentation, peak tables: format -> (operations a clock and CU, TFLOP/s).
AMD = {
    "mi300x": {
        "fp64/tensor": (256, 163.4),
        "fp64": (128, 81.7),
        "fp32": (256, 163.4),
        "tf32": (1024, 653.7),
        "fp16": (2048, 1307.4),
        "bf16": (2048, 1307.4),
        "fp8": (4096, 2614.9),
        "int8": (4096, 2614.9),
    },
    "mi250": {
        "fp64/tensor": (256, 90.5),
        "fp64": (128, 45.3),
        "fp32/tensor": (256, 90.5),
        "fp32": (128, 45.3),
        "fp16": (1024, 362.1),
        "bf16": (1024, 362.1),
        "int8": (1024, 362.1),
    },
    "mi100": {
        "fp64": (64, 11.5),
        "fp32/tensor": (256, 46.1),
        "fp32": (128, 23.1),
        "fp16": (1024, 184.6),
        "bf16": (512, 92.3),
    },
}

# OpenXLA, rocm_core_info_table.cc: FLOP a clock and CU of the matrix units.
OPENXLA = {
    "cdna2": {"fp16": 1024, "fp32/tensor": 256, "fp64/tensor": 256, "int8": 1024},
    "cdna3": {"fp8": 4096, "fp16": 2048, "fp64/tensor": 256, "int8": 4096},
    "cdna4": {
        "fp4": 16384,
        "fp6": 16384,
        "fp8": 8192,
        "fp16": 4096,
        "fp64/tensor": 128,
        "int8": 8192,
    },
}

# ROCm documentation, AMD GPU specifications: CUs, LDS and vector registers (KiB of
# a CU), L2 (MiB).
ROCM = {
    "mi355x": (256, 160, 512, 32),
    "mi350x": (256, 160, 512, 32),
    "mi325x": (304, 64, 512, 32),
    "mi300x": (304, 64, 512, 32),
    "mi300a": (228, 64, 512, 24),
    "mi250x": (220, 64, 512, 16),
    "mi250": (208, 64, 512, 16),
    "mi210": (104, 64, 512, 8),
    "mi60": (64, 64, 256, 4),
    "mi50_32gb": (60, 64, 256, 4),
}
# The same, of the two CUs of a work-group processor.
ROCM_PAIRS = {
    "rx_9070_xt": (64, 128, 768, 8),
    "radeon_ai_pro_r9700": (64, 128, 768, 8),
    "rx_9060_xt_16gb": (32, 128, 768, 4),
    "rx_9060_xt_8gb": (32, 128, 768, 4),
    "rx_7900_xtx": (96, 128, 768, 6),
    "rx_7900_xt": (84, 128, 768, 6),
    "radeon_pro_w7700": (48, 128, 768, 4),
    "rx_7600": (32, 128, 512, 2),
    "rx_6900_xt": (80, 128, 512, 4),
    "rx_6800_xt": (72, 128, 512, 4),
    "rx_6700_xt": (40, 128, 512, 3),
    "strix_halo_395": (40, 128, 768, 2),
}

# JAX, tpu_info.py, whole chip: TensorCores, MiB of VMEM in one, B/s, bf16 and int8
# operations a second (0: none).
JAX = {
    "tpu_v2": (2, 16, 7.16e11, 4.6e13, 0),
    "tpu_v3": (2, 16, 8.25e11, 1.40e14, 0),
    "tpu_v4": (2, 16, 1.23e12, 2.75e14, 0),
    "tpu_v5e": (1, 128, 8.20e11, 1.97e14, 3.94e14),
    "tpu_v5p": (2, 64, 2.46e12, 4.59e14, 9.18e14),
    "tpu_v6e": (1, 128, 1.64e12, 9.20e14, 1.84e15),
}
# Where Google's documentation and JAX disagree by more than 3 %.
JAX_DIFFERS = {("tpu_v3", "bandwidth"), ("tpu_v3", "bf16"), ("tpu_v5p", "bandwidth")}

# NVIDIA prints one number of AI TOPS, the sparse rate of FP4.
AI_TOPS = {
    "rtx_5060": 614,
    "rtx_5060ti_16gb": 759,
    "rtx_5090": 3352,
    "rtx_pro_4000_blackwell": 1247,
    "rtx_pro_4500_blackwell": 1687,
    "rtx_pro_5000_blackwell": 2064,
    "rtx_pro_6000_blackwell": 4000,
}

# What makers print of a machine: device, field or format, chips in it, their total.
MACHINES = [
    ("ascend_950dt", "fp4", 64, 114.1e15),  # Huawei, Atlas 950 SuperPoD of 64 cards
    ("ascend_950dt", "fp8", 64, 58.8e15),
    ("ascend_950dt", "bf16", 64, 31.1e15),
    ("ascend_910c", "bf16", 384, 272e15),  # twice Huawei's 353.9 of a die
    ("ipu_bow", "fp16", 4, 1.4e15),  # Graphcore, Bow-2000
    ("ipu_gc200", "fp16", 4, 1e15),  # IPU-M2000
    ("rngd", "fp8", 8, 4e15),  # FuriosaAI, NXT RNGD server
    ("rubin_ultra", "fp8", 144, 5e18),  # NVIDIA, GTC 2025: NVL576
    ("sn40l", "memory_bandwidth", 16, 25.6e12),  # SambaNova, Hot Chips 2024
    ("sn40l", "memory_capacity", 16, 1e12),
    ("tpu_v8i", "fp4", 1152, 11.6e18),  # Google Cloud, April 2026
    ("tpu_v8i", "memory_capacity", 1152, 331.8e12),
    ("tpu_v8t", "fp4", 9600, 121e18),
]

# Best published results: device, format or "bandwidth", T operations or TB a second.
MEASURED = [
    ("gaudi2", "bf16", 418.7),  # stas00/ml-engineering, MAMF table
    ("gaudi2", "fp8", 826.5),
    ("gaudi3", "bf16", 1288.8),
    ("mi325x", "bf16", 784.9),
    ("mi300x", "bf16", 781.9),
    ("mi250x_gcd", "bf16", 147.0),
    ("mi210", "fp16", 121.6),  # LLMCompass
    ("mi308x", "fp16", 191.6),  # rocBLAS, 8192 x 4096 x 11008
    ("mi308x", "fp8", 414.0),
    ("max_1550", "bf16", 273.0),  # Lockwood, Aurora
    ("m5", "fp32", 3.76),  # michaelstinkerings.org
    ("m5", "bandwidth", 0.122),
    ("strix_halo_395", "bandwidth", 0.212),
    ("radeon_ai_pro_r9700", "bandwidth", 0.4858),
    ("mi100", "bandwidth", 1.181),  # gpu-benches
    ("rx_6900_xt", "bandwidth", 0.505),
    ("mi300x", "bandwidth", 4.26),  # Azure ND MI300X v5
]


@pytest.mark.rows("name", AMD)
def test_amd_peaks_are_those_of_the_rocm_tables(name):
    peaks = hardware.get(name).peaks
    for key, (width, rate) in AMD[name].items():
        assert peaks[key].per_unit_per_cycle.si == width
        assert peaks[key].rate.si == pytest.approx(rate * 1e12, abs=0.06e12)


@pytest.mark.rows(
    "name", ["mi210", "mi250", "mi250x", "mi300a", "mi308x", "mi325x", "mi350x"]
)
def test_matrix_widths_are_those_openxla_schedules_by(name):
    device = hardware.get(name)
    for key, width in OPENXLA[device.architecture].items():
        if key in device.peaks:
            assert device.peaks[key].per_unit_per_cycle.si == width


@pytest.mark.rows("name", [*ROCM, *ROCM_PAIRS])
def test_amd_units_and_memories_are_those_of_the_rocm_table(name):
    device = hardware.get(name)
    units, lds, registers, l2 = ROCM.get(name) or ROCM_PAIRS[name]
    shared = 1 if name in ROCM else 2
    assert device.compute_units.si == units
    assert device.shared_per_unit.si == lds / shared * 2**10
    assert device.registers_per_unit.si == registers / shared * 2**10
    assert device.l2_capacity.si == l2 * 2**20


@pytest.mark.rows("name", [*ROCM, *ROCM_PAIRS, "mi308x", "mi250x_gcd"])
def test_amd_threads_fill_whole_waves(name):
    device = hardware.get(name)
    wave = 32 if device.architecture.startswith("rdna") else 64
    assert device.max_threads_per_unit.si == wave * device.max_warps_per_unit.si


def test_a_gcd_is_half_a_module():
    module, gcd = hardware.get("mi250x"), hardware.get("mi250x_gcd")
    halves = "compute_units memory_stacks memory_pins memory_bandwidth " + (
        "memory_capacity l2_capacity dies die_area transistors"
    )
    for field in halves.split():
        assert 2 * gcd.fields[field].si == pytest.approx(module.fields[field].si)
    assert set(gcd.peaks) == set(module.peaks)
    for key, peak in gcd.peaks.items():
        assert 2 * peak.rate.si == pytest.approx(module.peaks[key].rate.si, rel=1e-3)


def test_mi325x_computes_as_mi300x_and_mi350x_by_its_clock():
    old, new = hardware.get("mi300x"), hardware.get("mi325x")
    assert {k: p.rate.si for k, p in old.peaks.items()} == {
        k: p.rate.si for k, p in new.peaks.items()
    }
    slow, fast = hardware.get("mi350x"), hardware.get("mi355x")
    ratio = slow.clock.si / fast.clock.si
    for key, peak in fast.peaks.items():
        assert slow.peaks[key].rate.si == pytest.approx(ratio * peak.rate.si, rel=2e-3)


@pytest.mark.rows("name", JAX)
def test_tpus_are_those_jax_counts_with(name):
    device = hardware.get(name)
    cores, vmem, bandwidth, bf16, int8 = JAX[name]
    assert device.compute_units.si == cores
    assert device.shared_per_unit.si == vmem * 2**20
    pairs = {
        "bandwidth": (device.memory_bandwidth.si, bandwidth),
        "bf16": (device.peak("bf16").si, bf16),
    }
    if int8:
        pairs["int8"] = (device.peak("int8").si, int8)
    for what, (ours, theirs) in pairs.items():
        differs = abs(ours / theirs - 1) > 0.03
        assert differs == ((name, what) in JAX_DIFFERS), what


def test_two_wide_multipliers_cannot_give_trillium_its_peak():
    device = hardware.get("tpu_v6e")
    clock = device.peak("bf16").si / (device.compute_units.si * 2 * 2 * 256**2)
    fastest = max(hardware.get(f"tpu_v{v}").clock.si for v in (2, 3, 4, "5e", "5p"))
    assert clock > 1.9 * fastest
    assert device.fields["clock"] is None


def test_aws_sparsity_gives_the_printed_sparse_rate():
    for name, printed in {"trainium2": 2563e12, "trainium3": 2517e12}.items():
        for dtype in ("tf32", "bf16", "fp16"):
            sparse = hardware.get(name).peak(dtype, sparse=True)
            dense = hardware.get(name).peak(dtype)
            factor = hardware.get(name).peaks[dtype].sparse_factor
            assert sparse.tags != dense.tags
            assert factor * dense.si == pytest.approx(printed, rel=1e-3)


@pytest.mark.rows("name", AI_TOPS)
def test_ai_tops_are_the_sparse_rate_of_fp4(name):
    fp4 = hardware.get(name).peaks["fp4"]
    assert fp4.sparse_factor == 2
    assert 2 * fp4.rate.si == pytest.approx(AI_TOPS[name] * 1e12, rel=0.01)


@pytest.mark.rows(("name", "what", "chips", "total"), MACHINES)
def test_chips_of_a_machine_give_its_printed_total(name, what, chips, total):
    device = hardware.get(name)
    one = device.fields[what] if what in device.fields else device.peak(what)
    assert chips * one.si == pytest.approx(total, rel=0.025)


def test_a_910c_is_two_910b():
    pair, one = hardware.get("ascend_910c"), hardware.get("ascend_910b")
    for field in ("compute_units", "memory_bandwidth", "memory_capacity", "dies"):
        assert pair.fields[field].si == pytest.approx(2 * one.fields[field].si)
    for name, peak in one.peaks.items():
        assert pair.peaks[name].rate.si == pytest.approx(2 * peak.rate.si)


def test_wafer_sparsity_gives_the_printed_headline():
    wse3 = hardware.get("wse3").peaks["fp16"]
    assert wse3.sparse_factor * wse3.rate.si == pytest.approx(125e15)


@pytest.mark.rows(("name", "what", "result"), MEASURED)
def test_no_published_result_beats_the_device(name, what, result):
    device = hardware.get(name)
    if what == "bandwidth":
        share = result * 1e12 / device.memory_bandwidth.si
    else:
        share = result * 1e12 / device.peak(what).si
    assert 0.3 < share <= 1


def test_sram_machines_have_no_cache_beside_their_memory():
    for name in ("wse2", "wse3", "groq_lpu_v1", "groq3_lp30"):
        device = hardware.get(name)
        assert device.fields["l2_capacity"] is None
        assert device.memory_bandwidth.si > 1e13


def test_no_two_devices_answer_to_one_alias():
    owners: dict[frozenset[str], str] = {}
    for name in hardware.names():
        for alias in hardware.get(name).aliases:
            words = frozenset(alias.split())
            assert owners.setdefault(words, name) == name, alias


# philipturner, metal-benchmarks: FP32 GFLOP/s at the measured clock.
METAL = {"m1": 2617, "m1_pro": 5308, "m1_max": 10620, "m1_ultra": 21230, "m2": 3579}


@pytest.mark.rows("name", METAL)
def test_apple_rates_are_cores_times_the_measured_clock(name):
    device = hardware.get(name)
    peak = device.peaks["fp32"]
    built = device.compute_units.si * peak.per_unit_per_cycle.si * device.clock.si
    assert built == pytest.approx(METAL[name] * 1e9, rel=1e-3)
    rounded = abs(built / peak.rate.si - 1) > 0.02
    assert rounded == ("peak.fp32" in device.inconsistent)


@pytest.mark.parametrize(("name", "engines"), [("gaudi2", 2), ("gaudi3", 8)])
def test_gaudi_engines_are_arrays_of_256_by_256(name, engines):
    device = hardware.get(name)
    assert device.compute_units.si == engines
    assert device.peaks["bf16"].per_unit_per_cycle.si == 2 * 256 * 256
