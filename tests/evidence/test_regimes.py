"""Cells of rows of families C, D and F: what a band is printed for."""

import pytest

from stacklib.evidence.predict import collectives, memory, training

from .made_row import row

COLLECTIVES = [
    ("8x H100 SXM", "nccl-tests", "ngpus=8;msg_bytes=8192", "nvlink small library"),
    ("8x H100 SXM", "vLLM custom", "ngpus=8;size=2M;eager", "nvlink middle eager"),
    ("2x L40S", "NCCL", "ngpus=2;msg_bytes=8;impl=flashinfer", "pcie small engine"),
    ("4x GB200", "torch; CUDA graph", "ngpus=4;msg=large", "nvlink larger library"),
    ("8x L40S", "NCCL", "ngpus=8;msg_bytes=134217727", "pcie middle library"),
    ("8x L40S", "NCCL", "ngpus=8;msg_bytes=134217728", "pcie larger library"),
]


@pytest.mark.rows(("system", "software", "config", "said"), COLLECTIVES)
def test_links_size_and_software(system, software, config, said):
    made = row("D", config, system=system, software=software, subject="all_reduce")
    words = tuple(said.replace("middle", "to_128_MiB").split())
    assert collectives.regime(made) == tuple(w.replace("_", " ") for w in words)


def test_nodes_and_experts():
    many = {"system": "H200 SXM", "software": "NCCL", "subject": "all_reduce"}
    for ranks, size, said in ((16, "large", "larger"), (64, "1M", "to 128 MiB")):
        key = "msg" if size == "large" else "size"
        made = row("D", f"world_size={ranks};{key}={size}", **many)
        assert collectives.regime(made) == ("network", said, "library")
    for ranks, links in ((8, "nvlink"), (16, "network")):
        made = row("D", f"ep={ranks}", subject="MoE dispatch", system="H800")
        assert collectives.regime(made) == ("experts", links)


@pytest.mark.rows(
    ("subject", "config", "cell"),
    [
        ("STREAM triad", "fp64", ("bandwidth", "mixed")),
        ("HBM bandwidth", "", ("bandwidth", "read")),
        ("L2/DRAM read bandwidth", "working_set_kB=9", ("bandwidth", "working set")),
        ("load latency L2", "", ("latency", "cache")),
        ("load latency DRAM", "", ("latency", "memory")),
        ("softmax", "m=4096;n=32;dtype=fp16", ("rows", "small")),
        ("softmax", "m=4096;n=16384;dtype=fp16", ("rows", "large")),
    ],
)
def test_what_is_measured_of_a_memory(subject, config, cell):
    assert memory.regime(row("C", config, subject=subject)) == cell


FEW, SOME = "to 8 chips", "to 512 chips"


@pytest.mark.rows(
    ("system", "software", "config", "cell"),
    [
        ("8x H100", "torchtitan", "FSDP", ("library", "switched", FEW)),
        ("8x H100", "NeMo", "cp=2", ("tuned", "switched", FEW, "shared context")),
        ("TPU v5p", "MaxText", "chips=6144", ("tuned", "torus", "more chips")),
        ("64x A100 80GB", "Megatron-LM", "tp=8", ("tuned", "switched", SOME)),
    ],
)
def test_software_links_and_chips_of_a_step(system, software, config, cell):
    for metric, kind in (("mfu", "speed"), ("peak_memory", "memory")):
        made = row("F", config, system=system, software=software, metric=metric)
        assert training.regime(made) == (kind, *cell)
