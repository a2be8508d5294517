"""Rows of sources that no fit has seen, and readings of rows that they put right."""

import math

import pytest

from stacklib import hardware
from stacklib.evidence import calibrate, measurements
from stacklib.evidence.calibrate.public import predicted_first, unseen_misses
from stacklib.evidence.predict import collectives, gemm, regime
from stacklib.evidence.systems import device_of
from stacklib.evidence.validate import validate
from stacklib.kernels.schedule import rates
from stacklib.quantity import quoted
from stacklib.roofline.bound import hierarchy

from .made_row import predict, row


def test_no_fit_and_no_other_file_has_them_and_most_are_predicted():
    rows = measurements.unseen()
    others = {row.id for row in measurements.fitted() + measurements.left_out()}
    assert not {row.id for row in rows} & others
    assert not {row.id for row in rows} & {
        c.id for c in calibrate.public_problem().cases
    }
    sources = {row.source for row in measurements.fitted()}
    new = [row for row in rows if row.source not in sources]
    assert len(new) > 0.9 * len(rows) > 450
    told = validate(rows).outcomes
    assert sum(one.predicted is not None for one in told) >= 0.95 * len(rows)
    assert len(unseen_misses()) >= 0.95 * len(rows)


SHAPE = "m=64;n=4096;k=8192;dtype=fp8"


def test_activations_that_come_in_8_bits_are_not_rounded_first():
    both = [
        row("A", SHAPE, software="vLLM 0.10", subject=f"scaled_mm{end}")
        for end in ("", " noquant")
    ]
    assert gemm._format(both[0]).kernels > 0 == gemm._format(both[1]).kernels
    assert predict(both[1]).value < predict(both[0]).value


TOKEN = "batch=4;kv_len=8192;heads=64;kv_heads=8;head_dim=64;kv_dtype=bf16"
STAGE = "generation (decode) attention"


@pytest.mark.parametrize(
    ("software", "subject", "first"),
    [
        ("vLLM 0.10", STAGE, "token"),
        ("FlashInfer (trtllm-gen)", STAGE, "kernel"),
        ("FlashInfer 0.2", STAGE, "kernel"),
        ("vLLM 0.19.0 (layerwise profile)", "decode attention", "kernel"),
    ],
)
def test_only_an_engine_s_stage_is_a_token_of_it(software, subject, first):
    """A library's benchmark calls its kernel alone, and has nothing around it."""
    made = row("B", TOKEN, software=software, subject=subject, system="NVIDIA B200")
    assert regime(made)[0] == first


def test_warp_level_instructions_reach_their_share_of_a_smaller_peak():
    """Of a chip with fewer tensor operations a cycle than Hopper's old ones have."""
    for name in ("h20", "h100_sxm"):
        found = rates.rates_of(name)
        share = found.warp_mma / min(found.tensor, 4096)
        assert share == pytest.approx(0.629), name


PAIR = "ngpus=8;msg_bytes=8"


def test_one_process_starts_the_kernels_of_its_chips_one_after_the_other():
    def takes(software, config=PAIR):
        made = row("D", config, software=software, subject="all_reduce")
        return predict(made)

    alone, held = takes("NCCL, nccl-tests"), takes("NCCL, nccl-tests -g 8")
    low, high = (quoted(f"launch_driver.{end}").si for end in ("low", "high"))
    assert 8 * low <= held.value <= 8 * high and held.bound == "launch"
    assert alone.value < held.value
    large = "ngpus=8;msg_bytes=1073741824"
    assert takes("nccl-tests -g 8", large).value == takes("nccl-tests", large).value


@pytest.mark.parametrize(
    ("system", "config", "key", "local"),
    [
        ("12x V100 SXM3 32GB (DGX-2)", "ngpus=12", None, 12),
        ("2x H100 pairwise NVLink", "ngpus=2", "h100_pcie", 2),
    ],
)
def test_switches_of_sixteen_and_bridges_of_two(system, config, key, local):
    made = row("D", f"{config};msg_bytes=1e9", system=system, subject="all_reduce")
    on = collectives.fabric_of(made)
    assert on.local == local and on.nodes == 1
    assert key is None or on.rate == pytest.approx(
        collectives.fabric(key, 2, domain=2).rate
    )


@pytest.mark.rows(
    ("port", "gbits"),
    [
        ("100G Ethernet", 100),
        ("25GbE", 25),
        ("100G Slingshot", 100),
        ("200Gb/s CX6", 200),
        ("EDR", 100),
        ("HDR InfiniBand", 200),
        ("3200G EFA", 400),  # of a node's eight
    ],
)
def test_a_port_is_read_by_whatever_name(port, gbits):
    asked, system = "ngpus=16;nodes=2;msg_bytes=1e9", "2 nodes x 8 H100, "
    found = collectives.fabric_of(row("D", asked, system=system + port)).port
    assert found == pytest.approx(gbits / 8 * 1e9, rel=0.06)


def test_one_rank_a_node_has_its_port_alone():
    """NVLink-C2C of a DGX Spark joins its processor, and no byte of another node."""
    on = collectives.fabric("dgx_spark_gb10", 2, nodes=2, port=25e9)
    assert on.rate == on.port and on.local == 1


def test_values_of_a_latent_are_columns_of_its_keys():
    """deepseek-ai/FlashMLA: 576 elements a token, of which 512 are values too."""
    said = "batch=128;kv_len=8192;heads=128;kv_heads=1;head_dim=576;v_head_dim=512"

    def takes(queries):
        asked = f"{said};seq_q={queries};dtype=bf16"
        about = {"subject": "MLA decode attention", "software": "FlashMLA"}
        return predict(row("B", asked, **about)).value

    cache = 128 * 8192 * 576 * 2 / hardware.get("h100_sxm").memory_bandwidth.si
    assert cache < takes(1) < 1.7 * cache
    assert takes(2) < 2.5 * takes(1)  # queries lie in a tile with all heads


def test_a_norm_on_a_stream_takes_its_passes_and_no_wait():
    size = 2 * 8192 * 4096
    config = "m=8192;n=4096;dtype=bf16"
    rate = {"metric": "achieved_bandwidth", "unit": "GB/s"}
    found = predict(row("C", config, subject="rmsnorm", software="PyTorch", **rate))
    start = hardware.efficiency("launch_kernel")
    stream = hierarchy.stream_rate("h100_sxm", "mixed").rate
    spent = start + 3 * size / stream
    assert (found.value, found.unit) == (pytest.approx(2 * size / spent), "B/s")
    # a compiled kernel keeps rows of up to 1,024 elements
    for length, passes in ((1024, 2), (2048, 3)):
        rows = f"m={8192 * 4096 // length};n={length};dtype=bf16"
        made = row("C", rows, subject="rmsnorm", software="torch.compile", **rate)
        spent = start + passes * size / stream
        assert predict(made).value == pytest.approx(2 * size / spent)
    alone = predict(row("C", config, subject="rmsnorm"))
    assert alone.unit == "s" and alone.value > spent


def test_what_was_predicted_before_a_mend_counts_as_a_fold():
    """Also of the rows whose causes were mended when their values were known."""
    said, moved = predicted_first(), 0
    for miss in unseen_misses():
        first, case = said.get(miss.case.id, (math.nan,))[0], miss.case
        if first > 0:
            log = math.log(case.measured / first) * (-1 if case.rate else 1)
            assert miss.low - 1e-9 <= log <= miss.high + 1e-9, case.id
            moved += miss.high - miss.low > 0.1
    assert moved > 50


def test_a_copy_by_a_framework_is_no_stream_and_dot_reads():
    rate = {"metric": "achieved_bandwidth", "unit": "GB/s"}
    for software, words in (
        ("PyTorch (benchmark.py)", ("call", "mixed")),
        ("BabelStream", ("bandwidth", "mixed")),
    ):
        assert regime(row("C", subject="copy", software=software, **rate)) == words
    dot = row("C", "fp64", subject="STREAM dot", software="BabelStream", **rate)
    assert regime(dot) == ("bandwidth", "read")


def test_nemo_counts_every_pair():
    config = "ngpus=32;tp=1;pp=1;cp=2;gbs=128;mbs=1;seq=32768;dtype=fp8"
    asked = {"metric": "throughput_per_gpu", "unit": "TFLOPS/GPU"}
    asked |= {"subject": "Llama-3-8B", "system": "32x B200 SXM"}
    nemo = predict(row("F", config, software="NeMo 25.04", **asked))
    other = predict(row("F", config, software="Megatron-LM", **asked))
    assert nemo.value == other.value


def test_a_gh200_is_named_by_the_memory_of_its_processor_too():
    assert device_of("NVIDIA GH200 480GB")[0] == "gh200_96gb"
