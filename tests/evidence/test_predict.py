"""Families A and C: rows read right, refused with the reason, predicted from specs."""

from dataclasses import replace

import pytest

from stacklib import hardware
from stacklib.evidence import measurements
from stacklib.evidence.measurements import Refusal
from stacklib.evidence.predict.gemm import _hits, _shape, _tilings, product_of
from stacklib.evidence.systems import device_of
from stacklib.quantity import Quantity, quoted
from stacklib.roofline.bound import gemm, hierarchy

from ..rows import refusals
from .made_row import predict, row

SHAPE = "m=64;n=4096;k=8192;dtype=bf16"


def test_a_row_is_the_product_it_says():
    found = predict(row("A", SHAPE))
    work = gemm.product(m=64, n=4096, k=8192)
    assert found.unit == "s"
    assert found.value == gemm.gemm_time(work, "h100-sxm", "stream").time


@pytest.mark.rows(
    ("software", "subject", "launch"),
    [
        ("torch 2.7", "torch.mm (MAMF best of sweep)", "sweep"),
        ("DeepGEMM 2025-02, NVCC 12.8", "DeepGEMM dense fp8 GEMM", "kernel"),
        ("PyTorch (LLMCompass AE)", "matmul fp16", "host"),
        ("cuBLAS", "GEMM", "stream"),
        ("vLLM 0.24.0 (torch.nn.functional.linear)", "GEMM", "kernel"),
    ],
)
def test_the_software_says_how_it_was_timed(software, subject, launch):
    found = predict(row("A", SHAPE, software=software, subject=subject))
    work = gemm.product(m=64, n=4096, k=8192)
    # the profiler of DeepGEMM's bench does not see the gap to the next kernel
    gap = quoted("no_bubbles.graph_gap").si if "DeepGEMM" in software else 0.0
    assert found.value == gemm.gemm_time(work, "h100-sxm", launch).time - gap


def test_a_rate_is_work_over_time_and_a_bandwidth_bytes_over_time():
    time = predict(row("A", SHAPE)).value
    rate = predict(row("A", SHAPE, metric="throughput", unit="TFLOPS"))
    bandwidth = predict(row("A", SHAPE, metric="memory_bandwidth", unit="GB/s"))
    work = gemm.product(m=64, n=4096, k=8192)
    assert (rate.value * time, rate.unit) == (pytest.approx(work.operations), "FLOP/s")
    assert (bandwidth.value * time, bandwidth.unit) == (
        pytest.approx(work.bytes),
        "B/s",
    )


FP8 = SHAPE.replace("bf16", "fp8")


def test_a_quantizing_layer_pays_for_the_quantization():
    """Per tensor TensorRT-LLM takes four kernels for it, block scales take one."""
    call = hardware.efficiency("launch_kernel")
    extra = 64 * 8192 * (2 + 2 + 1) / (3.35e12 * hardware.efficiency("dram_gemm"))
    plain = predict(row("A", FP8, software="DeepGEMM 20", subject="plain")).value
    layer = predict(row("A", FP8, software="x (torch_flow)")).value
    work = gemm.product(m=64, n=4096, k=8192, dtype="fp8")
    alone = gemm.gemm_time(work, "h100-sxm", "kernel").time
    assert layer - alone == pytest.approx(4 * call + extra)
    # a kernel of DeepGEMM's: block scales and k in one piece, without a graph's gap
    assert plain > alone - quoted("no_bubbles.graph_gap").si
    # one wide load a thread does not draw the whole memory of a B200
    device = hardware.get("b200")
    drawn = device.memory_bandwidth.si * hardware.efficiency("dram_gemm")
    large = {"config": FP8.replace("m=64", "m=65536"), "system": "B200"}
    times = [
        predict(row("A", **large, software=x)).value for x in ("x (torch_flow)", "")
    ]
    moved = 65536 * 8192 * 5
    assert times[0] - times[1] > moved / hierarchy.delivered(device, 16, drawn) * 0.9
    assert hierarchy.delivered(device, 16, drawn) < 0.8 * drawn


def test_a_row_a_block_waits_for_its_waves_and_an_eager_call_for_python():
    def time(m, software):
        config = f"m={m};n=64;k=64;dtype=fp8"
        return predict(row("A", config, software=software)).value

    rows, other = "vLLM 0.24.0 (CutlassFP8ScaledMMLinearKernel)", "vLLM 0.24.0 (x)"
    wave = 2 * hardware.level("h100-sxm", "dram").known("latency").si
    assert time(1, rows) - time(1, other) < 2 * wave
    assert time(16384, rows) - time(16384, other) > 50 * wave
    eager = predict(
        row(
            "A",
            "m=1;n=64;k=64;dtype=fp8_block",
            software="vLLM 0.24.0 (TritonFp8BlockScaledMMKernel)",
        )
    )
    assert eager.value == 5 * hardware.efficiency("launch_host")
    assert eager.bound == "launch"


def test_blocks_of_8_bits_run_at_the_rate_of_16_where_no_kernel_takes_them():
    config = "m=8192;n=8192;k=8192;dtype=fp8_block"
    systems = {"L40S": "bf16", "H100 SXM": "fp8", "B200": "fp8", "RTX PRO 6000": "fp8"}
    for system, dtype in systems.items():
        made = row("A", config, system=system, software="x (torch_flow)")
        work, _ = product_of(made, hardware.get(device_of(system)[0]))
        assert work.dtype == dtype and work.right < 1.01


def test_a_kernel_that_leaves_k_whole_has_few_blocks_that_wait():
    work = gemm.product(m=16, n=128, k=65536, dtype="fp8")
    whole = replace(work, whole=True)
    assert max(t.split for t in gemm.tilings(whole, 132)) == 1
    assert max(t.split for t in gemm.tilings(work, 132)) > 1
    split, walked = (gemm.gemm_time(w, "h100-sxm", "kernel") for w in (work, whole))
    latency = hardware.level("h100-sxm", "l2").known("latency").si
    assert walked.compute >= 65536 / 128 * latency > split.compute


def test_a_loop_is_as_large_as_the_benchmark_makes_it():
    """Copies that fill the L2, six layers with one input, six with one each."""
    on = {"system": "NVIDIA RTX PRO 6000 Blackwell Server Edition"}
    device = hardware.get("rtx-pro-6000-server")
    mib = 2**20

    def kept(software, columns, dtype="bf16", rows=16, source=""):
        config = f"m={rows};n={columns};k=4096;dtype={dtype}"
        made = row("A", config, software=software, source=source, **on)
        work, _ = product_of(made, device)
        return _hits(made, work, gemm.chip_of(device, work.dtype), "kernel")

    trt = "TensorRT-LLM 1.3 (torch_flow)"
    assert kept(trt, 2048) == 1  # five of 16 MiB in 128
    assert 0.5 < kept(trt, 4096) < 1  # four of 32, and the activations
    for software in ("vLLM 0.24", "SGLang 0.5"):
        assert kept(software, 2048) == 1 and kept(software, 4096) < 1e-3
    # rows of 24 KiB with their results: one set of them, or six
    assert kept("vLLM 0.24", 2048, rows=1024) == 1 > kept("SGLang 0.5", 2048, rows=1024)
    assert kept("vLLM 0.24", 8192, "nvfp4") == 1  # one layer of 18 MiB
    assert kept("SGLang 0.5", 12288, "nvfp4") < 0.1
    own = kept("vLLM 0.24", 4096, source="pull request 1 of vllm-project/vllm")
    assert own == 1
    work = gemm.product(m=16, n=4096, k=4096)
    chip = gemm.chip_of(device, "bf16")
    assert gemm.loop_hits(work, chip, "stream") == 1
    assert gemm.loop_hits(work, chip, "kernel", 1 * mib) == 0


def test_a_layer_that_no_tuner_saw_has_one_tile_on_data_centre_blackwell():
    def tiles(software: str, system: str, dtype: str = "nvfp4") -> set[tuple[int, int]]:
        config = f"m=16;n=4096;k=4096;dtype={dtype}"
        made = row("A", config, software=software, system=system)
        device = hardware.get(device_of(system)[0])
        chosen = _tilings(made, product_of(made, device)[0], device)
        assert all(t.blocks >= 4096 / t.columns for t in chosen)
        return {(t.rows, t.columns) for t in chosen}

    trt, b200 = "TensorRT-LLM 1.3 (torch_flow)", "NVIDIA B200"
    assert tiles(trt, b200) == {(128, 256)}
    for other in ((trt, b200, "bf16"), (trt, "RTX 5090"), ("vLLM 0.24", b200)):
        assert len(tiles(*other)) > 3


def test_scales_that_are_packed_at_each_call_are_four_kernels():
    config = "m=16;n=4096;k=256;dtype=fp8_block"
    times = {
        (engine, system): predict(row("A", config, software=engine, system=system))
        for engine in ("SGLang 0.5 (sglang_deepgemm)", "TensorRT-LLM 1.3 (deepgemm)")
        for system in ("B200", "H100 SXM")
    }
    sglang, trt = ([t.value for k, t in times.items() if e in k[0]] for e in "ST")
    assert sglang[0] - trt[0] == pytest.approx(4 * hardware.efficiency("launch_kernel"))
    assert sglang[1] == trt[1]


def test_a_layer_without_a_graph_takes_the_calls_that_python_makes():
    config = "m=16;n=1024;k=1024;dtype=fp8_block"
    call = hardware.efficiency("launch_host")
    for kernel, calls in (("FlashInferFp8", 2), ("DeepGemmFp8", 3), ("TritonFp8", 5)):
        found = predict(row("A", config, software=f"vLLM 0.24 ({kernel}BlockScaledMM)"))
        assert (found.value, found.bound) == (calls * call, "launch")


def test_block_scales_are_a_class_of_their_own():
    """Scales in the bytes, one quantizing kernel, sums brought up to date by hand."""
    config = "m=64;n=4096;k=4096;dtype=fp8_block"
    hopper, blackwell = hardware.get("h100-sxm"), hardware.get("b200")
    block = row("A", config, software="TensorRT-LLM 1.3 (torch_flow)")
    plain, _ = product_of(row("A", config.replace("fp8_block", "fp8")), hopper)
    work, _ = product_of(block, hopper)
    assert work.promote == 2 / 128 and plain.promote == 0
    assert work.bytes - plain.bytes == pytest.approx(64 * 4096 / 32 + 32 * 32 * 4)
    assert product_of(block, blackwell)[0].promote == 0  # its mma takes the scales
    own = row("A", "m=64;n=64;k=128;dtype=fp8_e4m3;scaling=1x128/128x128")
    assert product_of(own, hopper)[0].promote == 2 / 128


@pytest.mark.rows(
    ("subject", "shape"),
    [
        ("GPT-3 layer op Q_K_V (prefill)", (1, 16384, 3072, 12288, 3)),
        ("GPT-3 layer op Q_mul_K (prefill)", (192, 2048, 2048, 128, 1)),
        ("GPT-3 layer op A_mul_V (decode)", (192, 1, 128, 3072, 1)),
        ("GPT-3 layer op Wo_proj (decode)", (1, 8, 12288, 3072, 1)),
        ("GPT-3 layer op W1_proj (prefill)", (1, 16384, 12288, 12288, 1)),
    ],
)
def test_operations_of_a_layer(subject, shape):
    config = "d_model=12288;n_heads=96;tp=4;batch=8;seq=2048;kv_len=3072;dtype=fp16"
    assert _shape(row("A", config, subject=subject)) == shape


def test_projections_of_a_model_take_its_shape():
    config = "num_tokens=16;tp=4;dtype=fp16"
    shapes = {
        "mlp_up_proj": (1, 16, 2 * 28672 // 4, 8192, 1),
        "mlp_down_proj": (1, 16, 8192, 28672 // 4, 1),
        "attn_pre_proj": (1, 16, (64 + 16) * 128 // 4, 8192, 1),
        "attn_post_proj": (1, 16, 8192, 8192 // 4, 1),
    }
    for kind, shape in shapes.items():
        assert _shape(row("A", config, subject=f"Llama-3-70B {kind}")) == shape


test_refusals_name_what_is_missing = refusals(
    ("dtype=bf16", {}, "m, n and k"),
    ("m=64;n=64;dtype=bf16", {}, "'k'"),
    ("m=64;n=64;k=0;dtype=bf16", {}, "k=0"),
    ("m=1e400;n=64;k=8;dtype=bf16", {}, "m="),
    (SHAPE.replace("bf16", "fp3"), {}, "fp3"),
    ("m=99999999999;n=64;k=64;dtype=bf16", {}, "does not fit"),
    (SHAPE, {"system": "Cray-1"}, "Cray-1"),
    (SHAPE, {"metric": "speedup"}, "speedup"),
    (SHAPE.replace("bf16", "nvfp4"), {}, "fp4"),
    ("num_tokens=1;tp=1;dtype=fp16", {"subject": "Lama-9 mlp_up_proj"}, "Lama-9"),
    ("num_tokens=1;dtype=fp16", {"subject": "Llama-3-70B norm"}, "norm"),
    by=lambda config, changes: predict(row("A", config, **changes)),
    error=Refusal,
)


def test_sustained_rates_without_a_shape_are_those_of_a_large_product():
    found = predict(row("A", "dtype=fp8;sustained", metric="throughput", unit="TFLOPS"))
    assert 0.5 < found.value / hardware.get("h100-sxm").peak("fp8").si < 1


def memory(subject: str, config: str = "", **changes: str):
    base = {"metric": "achieved_bandwidth", "unit": "GB/s", "system": "A100 80"}
    return predict(row("C", config, subject=subject, **{**base, **changes}))


def test_streams_read_or_mix():
    read = memory("STREAM read").value
    assert memory("STREAM triad").value == memory("vector add").value < read
    assert memory("HBM bandwidth").value == read


def test_a_working_set_decides_which_memory_answers():
    small = memory("L2/DRAM read bandwidth", "working_set_kB=2048")
    large = memory("L2/DRAM read bandwidth", "working_set_kB=3335168")
    assert (small.bound, large.bound) == ("l2", "dram")
    assert small.value > 2 * large.value


def test_latencies_come_in_the_unit_of_the_row():
    asked = {"metric": "latency", "unit": "cycles", "subject": "load latency L2 near"}
    cycles = predict(row("C", "clock_MHz=1000", **asked))
    seconds = predict(row("C", "clock_MHz=1000", **{**asked, "unit": "ns"}))
    assert (cycles.unit, seconds.unit) == ("cycle", "s")
    assert seconds.value == pytest.approx(cycles.value * 1e-9)
    slow = hardware.level("h100-sxm", "l2", Quantity(1, "GHz"))
    assert cycles.value == slow.cycles.si < hierarchy.load_cycles("h100-sxm", "l2")


test_what_family_c_cannot_say = refusals(
    ("load latency constant L1", {"unit": "cycles"}, "constant"),
    ("load latency L3", {"unit": "cycles"}, "L3"),
    ("STREAM read", {"system": "TPU v9"}, "TPU v9"),
    ("branch rate", {}, "branch rate"),
    ("clock under load", {"metric": "min_observed_clock"}, "clock"),
    ("softmax", {}, "dtype"),
    by=lambda subject, changes: memory(
        subject, "m=8;n=8" if "softmax" in subject else "", **changes
    ),
    error=Refusal,
)


def test_nothing_of_a_row_but_shape_and_device_moves_its_forecast():
    """A forecast that knew the answer would move with it."""
    for family in "AC":
        for r in [m for m in measurements.public() if m.family == family][::7]:
            try:
                honest = predict(r)
            except Refusal:
                continue
            other = replace(r, value=r.value * 3, id="y", notes="", source="")
            assert predict(other) == honest
