"""Family D: rows read right, refused with what is missing, predicted from specs."""

from dataclasses import replace

import pytest

from stacklib.evidence.measurements import Measurement, Refusal, public
from stacklib.evidence.predict.collectives import (
    _groups,
    collective_of,
    fabric_of,
    size_of,
)
from stacklib.evidence.validate import validate
from stacklib.interconnect.experts.count import expect
from stacklib.interconnect.selection import constants as c
from stacklib.interconnect.selection.timed import KERNEL

from ..rows import refusals
from . import made_row
from .made_row import predict

SHAPE = "ngpus=8;msg_bytes=67108864;dtype=float32"
SAID = {
    "system": "8x NVIDIA H100 80GB HBM3",
    "software": "NCCL 2.29, nccl-tests",
    "subject": "all_reduce",
    "unit": "us",
}


def row(config: str = SHAPE, **changes: str) -> Measurement:
    return made_row.row("D", config, **(SAID | changes))


@pytest.mark.rows(
    ("name", "found"),
    [
        ("all_reduce", "all_reduce"),
        ("AllReduce ring", "all_reduce"),
        ("reduce-scatter", "reduce_scatter"),
        ("allgather", "all_gather"),
        ("alltoall", "all_to_all"),
        ("sendrecv", "send_recv"),
        ("send/recv", "send_recv"),
        ("Broadcast", "broadcast"),
        ("reduce", "reduce"),
        ("GPT-3 layer op AllReduce_MHA (prefill)", "all_reduce"),
    ],
)
def test_names(name, found):
    assert collective_of(row(subject=name)) == found


def test_a_rate_is_bytes_over_time():
    time = predict(row())
    bus = predict(row(metric="busbw", unit="GB/s"))
    plain = predict(row(metric="algbw", unit="GB/s"))
    assert time.unit == "s" and bus.unit == "B/s"
    assert plain.value * time.value == pytest.approx(1 << 26)
    assert bus.value / plain.value == pytest.approx(2 * 7 / 8)


def test_sizes_by_whatever_name():
    for config in (
        "size=64M",
        "size=64MiB",
        "msg_size_as_stored=67108864",
        "msg_elems=33554432;dtype=fp16",
        "elements=16777216;dtype=float",
    ):
        assert size_of(row(f"ngpus=8;{config}")) == 1 << 26
    assert size_of(row("ngpus=8;msg=large")) > 1e9


def test_machines_by_whatever_name():
    sixteen = fabric_of(row(SHAPE, system="2 nodes x 8 H100 SXM"))
    assert (sixteen.ranks, sixteen.nodes) == (8, 2)
    many = fabric_of(row("world_size=64;msg_bytes=8", system="H200 SXM"))
    assert (many.ranks, many.nodes, many.port) == (64, 8, 48e9)
    slow = fabric_of(row("ngpus=16;msg_bytes=8", system="A100 SXM + CX6 100G IB"))
    assert slow.port == pytest.approx(12e9)
    assert fabric_of(row(system="8x AMD Instinct MI300X")).link == "nvlink"
    assert fabric_of(row(system="4x A100 pairwise NVLink")).link == "pcie"


def test_software_says_how_it_was_started():
    plain, eager, custom, lib = (
        predict(row("ngpus=8;msg_bytes=8192", software=s)).value
        for s in ("nccl-tests", "torch 2.9, NCCL", "vLLM custom all-reduce", "MSCCL++")
    )
    assert custom == lib < plain < eager


def test_a_set_algorithm_is_taken():
    free = predict(row("ngpus=8;msg=large")).value
    ring = predict(row("ngpus=8;msg=large", software="NCCL_ALGO=RING")).value
    logged = predict(row(SHAPE + ";algo=Ring/LL")).value
    assert ring > free and logged > predict(row()).value
    unknown = predict(row(SHAPE + ";algo=NVLSTree/SIMPLE")).value
    assert unknown == predict(row()).value  # one node has no such tree


test_refusals_name_what_is_missing = refusals(
    ("ngpus=8", {}, "msg_bytes"),
    ("msg_bytes=8", {"system": "H100 SXM"}, "'ngpus'"),
    (SHAPE, {"system": "4 nodes, GPU type unstated"}, "no device"),
    (SHAPE, {"subject": "matrix product"}, "model_or_kernel"),
    (SHAPE, {"metric": "energy", "unit": "J"}, "'energy'"),
    ("ngpus=12;msg_bytes=8", {}, "nodes of 8"),
    ("ngpus=8;msg_bytes=0", {}, "one byte"),
    ("ngpus=8;msg_bytes=many", {}, "msg_bytes='many'"),
    (SHAPE, {"system": "TPU v5e"}, "TPU v5e"),
    ("tokens=128;topk=8;hidden=7168", {"subject": "MoE dispatch"}, "'ep'"),
    ("ep=8;topk=8;hidden=7168", {"subject": "MoE dispatch"}, "'tokens'"),
    by=lambda config, changes: predict(row(config, **changes)),
    error=Refusal,
)


def test_combines_have_twice_the_bytes_of_dispatches():
    case = "ep=64;tokens=128;hidden=7168;topk=8"
    there, back = (
        predict(row(case, subject=f"MoE {k}", system="H800 + CX7 400G IB")).value
        for k in ("dispatch (fp8)", "combine (bf16)")
    )
    assert 1.6 < back / there < 2


def test_public_rows_are_within_the_bars_and_few_are_refused():
    report = validate(r for r in public() if r.family == "D")
    large, small = report.families["D_large"], report.families["D_small"]
    assert large.predicted + small.predicted > 0.9 * len(report.outcomes)
    assert large.median_error < 0.12 and large.p90_error < 0.35
    assert small.median_error < 0.20 and small.p90_error < 0.50
    assert all("no device" in reason for reason in report.reasons())


def test_an_exchange_of_experts_by_hand():
    """A rank sends each token to eight experts of 256, drawn alike: one copy each."""
    case = "tokens=128;hidden=7168;topk=8"
    place = {"system": "H800 + CX7 400G IB"}
    hop = c.HOP["network"]["ring"][-1] * 1e-6, c.HOP["nvlink"]["ring"][-1] * 1e-6
    token = {"dispatch (fp8)": 7168 + 4 * 7168 / 128 + 16, "combine (bf16)": 2 * 7168}
    for kind, size in token.items():
        for ranks, far in ((8, False), (64, True)):
            on = fabric_of(row(f"ngpus={ranks};nodes={-(-ranks // 8)}", **place))
            made = row(f"ep={ranks};{case}", subject=f"MoE {kind}", **place)
            outside = 128 * 8 * size * (ranks - 8) / ranks / on.port if far else 0
            inside = 128 * 8 * size * 7 / ranks / on.rate
            time = max(inside, outside) + 2 * KERNEL + hop[not far]
            assert predict(made).value == pytest.approx(time, rel=1e-9)
            rate = predict(replace(made, metric="algo_bandwidth", unit="GB/s"))
            assert rate.value == pytest.approx(128 * 8 * size / time)
            assert (predict(made).unit, rate.unit) == ("s", "B/s")
    # bf16 there, too: twice the bytes, no scales
    there = row(f"ep=8;{case}", subject="MoE dispatch (bf16)", **place)
    assert (
        predict(there).value
        == predict(row(f"ep=8;{case}", subject="MoE combine (bf16)", **place)).value
    )
    with pytest.raises(Refusal, match="'energy'"):
        predict(row(f"ep=8;{case}", subject="MoE dispatch", metric="energy"))


def test_ranks_of_an_exchange_by_whatever_name():
    assert _groups(row("topology=EP 8x4")) == (32, 8)
    assert _groups(row("topology=EP 4")) == (4, 4)
    assert _groups(row("ep=64")) == (64, 8) and _groups(row("ngpus=4")) == (4, 4)


def test_the_slower_of_links_and_ports_is_the_bottleneck():
    kept = {"system": "H800 + CX7 400G IB", "subject": "MoE dispatch", "unit": "GB/s"}
    one = predict(row("ep=8", metric="bottleneck_bandwidth", **kept))
    assert one.value == fabric_of(row("ngpus=8", system=kept["system"])).rate
    on = fabric_of(row("ngpus=32;nodes=4", system=kept["system"]))
    for few, settings in ((4, "ep=32;top4"), (None, "ep=32")):
        found = predict(row(settings, metric="bottleneck_bandwidth", **kept))
        copies = expect(
            experts=256, top_k=8, ranks=32, ranks_per_node=8, once="node", top_nodes=few
        )
        slow = max(copies.network / on.port, copies.nvlink / on.rate)
        assert found.value == pytest.approx(copies.nodes / slow)
