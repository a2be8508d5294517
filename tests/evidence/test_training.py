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
