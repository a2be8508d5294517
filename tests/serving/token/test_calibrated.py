"""Lines of an account as the fitted models predict them, and where none does."""

from __future__ import annotations

import numpy as np
import pytest

from stacklib.evidence import measurements
from stacklib.evidence.systems import device_of
from stacklib.kernels.schedule.attention_time import attention_time
from stacklib.quantity import Quantity
from stacklib.roofline.bound.few_rows import kernel_time
from stacklib.roofline.work.products import product
from stacklib.serving import account
from stacklib.serving.token import calibrated
from stacklib.serving.token.account import MODES, line_time
from stacklib.serving.token.shape import ATTENTION, HEAD, PRODUCTS

from .test_account import CASE, seconds


def test_calibrated_lines_are_those_of_their_families():
    found = account(**CASE, batch=4.0, mode="calibrated")
    head = kernel_time(product(m=4, n=128256 // 8, k=8192), "h100_sxm")
    assert found[HEAD].time == pytest.approx(head)
    one = attention_time(
        "h100_sxm",
        batch=4,
        heads=8,
        kv_heads=1,
        queries=1,
        keys=4097,
        head_dim=128,
        served=True,
    )
    assert found[ATTENTION].time == pytest.approx(80 * (one.time - one.launch))
    layer = 0.0
    for n, k in ((10240 // 8, 8192), (8192, 1024), (2 * 3584, 8192), (8192, 3584)):
        layer += kernel_time(product(m=4, n=n, k=k), "h100_sxm")
    assert found[PRODUCTS].time == pytest.approx(80 * layer)
    families = {line.name: line.family for line in found.lines}
    assert families[PRODUCTS] == families[HEAD] == "A/16 bit/memory/engine"
    assert families[ATTENTION] == "B/token/launch/16 bit/tuned"
    told = account(**CASE, batch=4, mode="calibrated")
    assert seconds(told) == pytest.approx(seconds(found), rel=1e-9)
    assert (
        line_time(
            HEAD, "llama-3-70b", "h100_sxm", "calibrated", tp=8, batch=4, context=4096
        )
        == found[HEAD].time
    )


def test_no_published_token_of_llama_cpp_is_faster_than_its_lines():
    """What engines lose is in what was measured, and in no line."""
    seen = 0
    for row in measurements.fitted():
        if row.metric != "decode_speed" or "llama.cpp (May" not in row.software:
            continue
        name, _, dtype = row.subject.rpartition(" ")
        if dtype != "Q4_K_M" or row.integer("ngpus") > 1:
            continue
        context = float(row.text("test").removeprefix("tg")) / 2
        case = (
            name.replace(" ", "-"),
            device_of(row.system)[0],
            dtype,
            1,
            1.0,
            context,
        )
        limit, found = (account(*case, mode=mode).total() for mode in MODES)
        assert limit < found < 1 / row.value, row.id
        seen += 1
    assert seen == 46


def test_a_sweep_is_not_calibrated():
    with pytest.raises(ValueError, match="one case at a time"):
        account(**CASE, batch=np.array([1.0, 2.0]), mode="calibrated")


def test_cached_matrices_are_one_product_where_inputs_are():
    found = account(**CASE, batch=1.0, mode="calibrated")
    assert found[PRODUCTS].regime == "bf16, one token"
    assert "o" in calibrated.BACK and "q" not in calibrated.BACK


def test_experts_and_latents_are_predicted_shape_by_shape():
    def one(n: int, k: int, rows: int = 4, groups: int = 1) -> float:
        return kernel_time(product(m=rows, n=n, k=k, groups=groups), "h200_sxm")

    case = {"on": "h200_sxm", "dtype": "bf16", "tp": 2, "ep": 16, "batch": 64.0}
    found = account("deepseek-v3", **case, mode="calibrated")
    touched = 256 * (1 - (1 - 8 / 256) ** 64)
    experts = {"rows": round(64 * 8 / touched), "groups": round(touched / 16)}
    latent = one(768, 7168) + one(12288, 1536) + one(288, 7168) + one(16384, 512)
    latent += one(7168, 8192)
    dense = one(18432, 7168) + one(7168, 9216)
    mixture = one(128, 7168) + one(2048, 7168, **experts) + one(7168, 1024, **experts)
    mixture += one(2048, 7168) + one(7168, 1024)
    due = 61 * latent + 3 * dense + 58 * mixture
    assert found[PRODUCTS].time == pytest.approx(due)
    alone = account("deepseek-v3", **case | {"batch": 1.0}, mode="calibrated")
    mixture = one(128, 7168, 1) + 2 * one(2048, 7168, 1) + 2 * one(7168, 1024, 1)
    due = mixture * 58  # of one token half an expert is on a chip: one
    for work in ((768, 7168), (12288, 1536), (288, 7168), (16384, 512), (7168, 8192)):
        due += 61 * one(*work, 1)
    due += 3 * (one(18432, 7168, 1) + one(7168, 9216, 1))
    assert alone[PRODUCTS].time == pytest.approx(due)
    sizes = {"heads": 64, "kv_heads": 1, "queries": 1, "keys": 4097, "served": True}
    layer = attention_time("h200_sxm", batch=4, head_dim=576, value_dim=512, **sizes)
    assert found[ATTENTION].time == pytest.approx(61 * (layer.time - layer.launch))
    # and expanded in a prompt
    prompt = account("deepseek-v2", "b300_sxm", tp=8, prompt=512, mode="calibrated")
    sizes = {"heads": 16, "kv_heads": 16, "queries": 512, "keys": 512, "causal": True}
    layer = attention_time(
        "b300_sxm", batch=1, head_dim=192, value_dim=128, served=True, **sizes
    )
    due = 60 * (layer.time - layer.launch)
    assert prompt[ATTENTION].time.si == pytest.approx(due)


@pytest.mark.rows(
    "case, at_limit",
    [
        # no 16-bit rate; layers without an MLP, states; tokens selected by an index
        (("llama-3-8b", "dgx_spark_gb10", "nvfp4"), False),
        (("nemotron-3-nano-30b-a3b", "h100_sxm"), True),
        (("deepseek-v3.2", "h200_sxm", "fp8", 8), True),
    ],
)
def test_what_no_family_predicts_stands_at_its_limit(case, at_limit):
    limit, found = (account(*case, mode=mode) for mode in ("limit", "calibrated"))
    assert (found[ATTENTION].time.si == limit[ATTENTION].time.si) == at_limit
    assert ("at its limit" in found[ATTENTION].note) == at_limit
    assert found[PRODUCTS].time.si > limit[PRODUCTS].time.si


@pytest.mark.rows("asked", [{"kv_dtype": Quantity(4, "bit")}, {"dtype": "int8"}])
def test_a_narrow_cache_is_read_sooner_in_both_modes(asked):
    for mode in ("limit", "calibrated"):
        wide, narrow = (
            account("llama-3-8b", "l40s", batch=32.0, mode=mode, **more)[ATTENTION].time
            for more in ({}, asked)
        )
        assert 0.2 < narrow / wide < 0.6
