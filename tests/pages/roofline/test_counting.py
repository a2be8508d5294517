"""Claims on intensity, against counts made another way."""

import pytest

from stacklib import models, pages, roofline
from stacklib.pages.roofline.counting import claims as counting
from stacklib.roofline.count import passes
from stacklib.roofline.count.operations import layer_norm


def counted_layernorm(row):
    """LayerNorm of one row, one operation at a time; returns (values, operations)."""
    n, done = len(row), 0
    total = 0.0
    for x in row:
        total, done = total + x, done + 1
    mean = total / n
    centred, squares = [], 0.0
    for x in row:
        d = x - mean
        squares, done = squares + d * d, done + 3
        centred.append(d)
    scale = 1 / (squares / n) ** 0.5
    out = []
    for d in centred:
        out.append(d * scale * 1.0 + 0.0)
        done += 3
    return out, done


def test_layernorm_is_counted_operation_by_operation():
    row = [1.0, 2.0, 4.0, 9.0]
    out, done = counted_layernorm(row)
    assert sum(out) == pytest.approx(0) and sum(x * x for x in out) == pytest.approx(4)
    assert done == passes.operations("layernorm", 1, len(row))


def test_matmul_operations_are_counted_over_a_loop():
    m, n, k = 3, 4, 5
    multiplications = additions = 0
    for _ in range(m * n):
        for step in range(k):
            multiplications += 1
            additions += step > 0
    share = (multiplications + additions) / (m * n * k)
    assert share == 2 - 1 / k
    assert counting.by_hand(m, n, k) == multiplications + additions
    got = pages.judge("matmul-flops-2mnk").computed
    assert got.value == pytest.approx(2 - 1 / counting.SMALL[2], rel=1e-12)


def test_a_square_product_crosses_the_ridge_at_the_side_that_is_named():
    why = pages.judge("matmul-small-bound").why
    side = int(why.split("at a side of ")[1].split(";")[0].replace(",", ""))
    below = roofline.matmul(m=side - 1, n=side - 1, k=side - 1, dtype="bf16")
    above = roofline.matmul(m=side + 1, n=side + 1, k=side + 1, dtype="bf16")
    point = roofline.ridge("h100_sxm", "bf16")
    assert below.intensity < point < above.intensity


def test_prefill_of_one_token_is_a_decode_step_without_a_cache():
    work = roofline.decode_work(models.get(counting.MODEL), dtype="e4m3fn", context=0)
    got = counting.prefill_intensity(1)
    assert got.si == pytest.approx(work.intensity.si, rel=1e-12)


def test_prefill_counts_each_query_against_the_tokens_before_it():
    model, tokens = models.get(counting.MODEL), 7
    pair = model.attention_flops_per_token_pair.si
    scores = sum(query * pair for query in range(1, tokens + 1))
    weights = model.streamed_parameters.si
    moved = weights + tokens * model.kv_bytes_per_token("fp8").si
    expected = (2 * tokens * weights + scores) / moved
    assert counting.prefill_intensity(tokens).si == pytest.approx(expected, rel=1e-12)


def test_a_long_cache_raises_intensity_only_where_heads_share_keys():
    judgement = pages.judge("decode-arith-2n-2n-kv")
    model = models.get("llama-3-8b")
    short = roofline.decode_work(model, dtype="bf16", context=0).intensity
    assert judgement.computed > short
    assert (
        model.heads.si / model.kv_heads.si == 4
        if hasattr(model.heads, "si")
        else (model.heads / model.kv_heads == 4)
    )


def test_layer_norm_is_the_count_behind_the_judged_claim():
    """The claim leaves out the four operations a row."""
    mine = layer_norm(rows=4096, columns=4096, dtype="fp16").intensity.si
    judged = pages.judge("layernorm-ai-083").computed
    assert mine == pytest.approx(judged.si, rel=2e-4)
