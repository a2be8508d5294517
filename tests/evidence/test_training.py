"""Family F: what rows say of a training step, and what is refused."""

from dataclasses import replace

import pytest

from stacklib.evidence import measurements
from stacklib.evidence.measurements import Refusal
from stacklib.evidence.predict import PREDICTORS, training
from stacklib.evidence.validate import BARS, quantile
from stacklib.evidence.validate.report import in_unit
from stacklib.hardware import efficiency_override

from ..rows import refusals

ROWS = [row for row in measurements.public() if row.family == "F"]
BY_ID = {row.id: row for row in ROWS}
NEW = [row for row in measurements.found() if row.family == "F" and row.id >= "F-0142"]


def predicted(row, **changed):
    row = replace(row, **changed)
    return in_unit(PREDICTORS["F"](row)(), row.unit)


def test_the_public_rows_are_within_the_bars():
    misses, refused = [], 0
    for row in ROWS:
        try:
            miss = abs(predicted(row) / row.value - 1)
        except Refusal as why:
            assert "'" in str(why)  # names the field
            refused += 1
        else:
            if row.metric != "gpu_hours":
                misses.append(miss)
    assert refused <= 0.1 * len(ROWS)
    assert quantile(misses, 0.5) <= BARS["F"].median
    assert quantile(misses, 0.9) <= BARS["F"].p90


def ratios(rows):
    """Predicted over measured of published layouts, by row; of times their inverse."""
    found = {}
    for row in rows:
        ratio = predicted(row) / row.value
        found[row.id] = 1 / ratio if row.unit == "s" else ratio
    return found


def test_published_layouts_are_met_dense_and_of_experts():
    whole = [row for row in NEW if {"tp", "pp", "gbs", "mbs"} <= set(row.config)]
    experts = [row for row in whole if training.model_of(row).experts]
    dense = [row for row in whole if row not in experts]
    assert len({(row.subject, row.system, row.settings) for row in whole}) >= 27
    for rows, median, p90 in ((experts, 0.15, 0.4), (dense, 0.1, 0.3)):
        misses = [abs(ratio - 1) for ratio in ratios(rows).values()]
        assert len(misses) >= 27
        assert quantile(misses, 0.5) <= median and quantile(misses, 0.9) <= p90


SPELT = "ngpus=256;tp=2;pp=8;vp=4;ep=32;gbs=2048;mbs=1;seq=4096;dtype=fp8"


@pytest.mark.rows(
    "settings",
    [
        "ngpus=256;TP=2;PP=8;VPP=4;EP=32;GBS=2048;MBS=1;Seq_Len=4096;Precision=FP8",
        "GPUs=256;tensor_model_parallel_size=2;pipeline-model-parallel-size=8;"
        "virtual pipeline model parallel size=4;Expert Model Parallel Size=32;"
        "Global Batch Size=2048;micro_batch_size=1;sequence length=4096;dtype=fp8",
        "num_gpus=256;tensor_parallel=2;pipeline_parallel_degree=8;interleave=4;"
        "expert parallel=32;global-batch-size=2048;Micro Batch=1;seq=4096;quant=fp8",
        "TP2 PP8 VPP4 EP32;world_size=256;gbs=2048;mbs=1;SeqLen=4096;dtype=fp8",
    ],
)
def test_a_layout_may_be_spelt_in_many_ways(settings):
    row = replace(NEW[0], subject="Qwen3-235B-A22B", system="256x H100 SXM")
    assert predicted(row, settings=settings) == predicted(row, settings=SPELT)


def test_a_step_is_one_graph_where_its_row_or_its_release_says_so():
    row = next(
        row for row in NEW if "26.06" in row.software and "mxfp8" in row.settings
    )
    assert training.graphed(row)
    assert training.graphed(replace(row, software="Megatron-Bridge 26.08"))
    older = replace(row, software="Megatron-Bridge 26.04")
    assert not training.graphed(older)
    assert training.graphed(replace(older, notes="full-iteration CUDA graph"))
    assert not training.graphed(replace(row, settings="dtype=bf16"))


def test_products_of_eight_bits_overlap_their_exchanges_as_their_recipe_does():
    row = next(row for row in NEW if "tp=2;pp=4" in row.settings)
    assert "mxfp8" in row.settings
    told = {
        "mxfp8": (row, True),
        "nvfp4": (replace(row, settings=row.settings.replace("mxfp8", "nvfp4")), False),
        "own": (replace(row, software="Megatron-LM"), False),
        "readme": (
            replace(
                row, software="Megatron-LM", source="Megatron-LM examples/llama/README"
            ),
            True,
        ),
    }
    shape = training.shape_of(training.model_of(row), 8192)
    sheet = training.sheet_of("gb200", "fp8", None)
    for one, overlaps in told.values():
        for layout, _ in training.layouts_of(one, shape, sheet, 64, 8192):
            assert bool(layout.overlap) is overlaps


def test_a_run_whose_row_says_nothing_is_told_by_its_paper():
    bare, count = BY_ID["F-0085"], BY_ID["F-0086"]
    told = predicted(bare, settings="tp=12;dp=512;batch=2048;fsdp;full recompute")
    assert predicted(bare) == told < predicted(bare, settings="chips=6144")
    assert predicted(count) > predicted(bare)


def test_a_layer_that_predicts_further_tokens_is_paid_for():
    row = next(row for row in NEW if {"pp=2", "mtp=1"} <= set(row.settings.split(";")))
    less = predicted(row, settings=row.settings.replace(";mtp=1", ""))
    assert 0.9 < predicted(row) / less < 0.99


@pytest.mark.rows(
    ("system", "subject", "config", "metric", "unit", "low", "high"),
    [
        ("16x Trainium2", "Llama-3-8B", "ngpus=16;batch=64", "mfu", "%", 20, 85),
        ("64x Gaudi2", "GPT 175B", "chips=64;seq=2048", "mfu", "%", 25, 80),
        ("8x MI300X", "Llama-3.1-8B", "ngpus=8;FSDP;seq=4096", "mfu", "%", 10, 60),
        (
            "64x B200",
            "Mixtral-8x7B",
            "ngpus=64;TP=2;EP=8;GBS=256;MBS=1;dtype=fp8",
            "throughput",
            "tokens/s",
            1e5,
            5e6,
        ),
        (
            "256x H100 SXM",
            "GPT 20B",
            "TP=4;PP=2;DP=32;GBS=512;seq_len=2048",
            "iteration_time",
            "s",
            0.5,
            5,
        ),
        (
            "TPU v6e-256 (256 chips)",
            "GPT 175B",
            "chips=256",
            "throughput_per_gpu",
            "TFLOPS",
            200,
            850,
        ),
    ],
)
def test_rows_of_other_devices_and_spellings(
    system, subject, config, metric, unit, low, high
):
    found = predicted(
        BY_ID["F-0003"],
        system=system,
        subject=subject,
        settings=config,
        metric=metric,
        unit=unit,
        software="Megatron-LM",
    )
    assert low < found < high


test_refusals_name_what_is_missing = refusals(
    ({"subject": "Secret"}, "'hidden'"),
    ({"subject": "Some-MoE-30B-A3B"}, "'hidden'"),
    ({"metric": "loss"}, "'loss'"),
    ({"metric": "gpu_hours", "unit": "GPU-h"}, "'tokens'"),
    ({"settings": ""}, "'seq'"),
    ({"settings": "ngpus=eight"}, "'eight'"),
    ({"settings": "ngpus=64;tp=3;pp=4;seq=4096"}, "do not fill 64 chips"),
    (
        {"subject": "Mixtral-8x7B", "settings": "ngpus=64;ep=16;seq=4096"},
        "'ep' = 16 does not divide 8 experts",
    ),
    ({"system": "unknown chip"}, "unknown chip"),
    by=lambda changed: predicted(BY_ID["F-0003"], **changed),
    error=Refusal,
)


def test_the_factor_is_of_frameworks_alone():
    megatron, titan = BY_ID["F-0057"], BY_ID["F-0003"]
    with efficiency_override({"training_share": 0.6}):
        slow = predicted(megatron), predicted(titan)
    assert slow[0] == predicted(megatron)
    assert slow[1] < predicted(titan)


@pytest.mark.rows(
    ("id", "software"),
    [
        ("F-0003", "Lightning"),
        ("F-0028", "PyTorch"),
        ("F-0045", "Lightning"),
        ("F-0117", "axlearn"),
        ("F-0125", "JAX"),
        ("F-0109", "llm.c"),
    ],
)
def test_a_class_of_software_decides_and_no_name(id, software):
    other = predicted(BY_ID[id], software=software)
    assert other == predicted(BY_ID[id])


def test_chips_and_model_are_enough_and_hardware_counts_what_it_computes_again():
    bare = BY_ID["F-0085"]
    assert not bare.settings and predicted(bare) < 80  # %, of 6,144 chips
    shape = training.shape_of(training.model_of(bare), 2048)
    sheet = training.sheet_of("tpu_v4", "bf16", None)
    for id, ways in (("F-0085", 3), ("F-0086", 1)):
        found = training.layouts_of(BY_ID[id], shape, sheet, 6144, 2048)
        assert len({one.recompute for one, _ in found}) == ways


def test_words_of_a_row_are_read():
    assert training.model_of(BY_ID["F-0003"]).key == "llama-3.1-8b"
    assert training.model_of(BY_ID["F-0089"]).key == "deepseek-v3"
    assert training.model_of(BY_ID["F-0077"]).layers == 105
    small = training.model_of(replace(BY_ID["F-0077"], subject="GPT 7B"))
    assert small.parameters.si == pytest.approx(7e9, rel=0.1)
    assert training.chips_of(BY_ID["F-0095"], 1) == 96
