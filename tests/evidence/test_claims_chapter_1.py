"""Chapter 1's checks: their counting against counts made another way."""

import importlib

import pytest

from stacklib import hardware, models, roofline
from stacklib.evidence import claims, measurements
from stacklib.quantity import Quantity

decode = importlib.import_module("stacklib.evidence.claims.chapter_01_decode")
ridge = importlib.import_module("stacklib.evidence.claims.chapter_01_ridge")


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
    assert done == sum(ridge.LAYERNORM.values()) * len(row)


@pytest.mark.parametrize("reads", [1, 2])
def test_layernorm_intensity_is_operations_over_bytes(reads):
    rows, width, per_element = 64, 128, 7
    moved = 2 * (rows * width * (reads + 1) + 2 * width)
    each = Quantity(per_element, "FLOP")
    got = ridge.layernorm_intensity(each, reads, rows, width)
    assert got.si == pytest.approx(per_element * rows * width / moved, rel=1e-12)


def test_the_documents_own_layernorm_is_five_operations_and_three_accesses():
    judgement = claims.judge("layernorm-ai-083")
    assert judgement.then.value == pytest.approx(5 / 6, rel=1e-3)


def test_matmul_operations_are_counted_over_a_loop():
    m, n, k = 3, 4, 5
    multiplications = additions = 0
    for _ in range(m * n):
        for step in range(k):
            multiplications += 1
            additions += step > 0
    share = (multiplications + additions) / (m * n * k)
    assert share == 2 - 1 / k
    side = ridge.SIDE
    got = claims.judge("matmul-flops-2mnk").computed
    assert got.value == pytest.approx(2 - 1 / side, rel=1e-12)


def test_a_square_product_crosses_the_ridge_at_the_side_that_is_named():
    why = claims.judge("matmul-small-bound").why
    side = int(why.split("at a side of ")[1].split(";")[0].replace(",", ""))
    below = roofline.matmul(m=side - 1, n=side - 1, k=side - 1, dtype="bf16")
    above = roofline.matmul(m=side + 1, n=side + 1, k=side + 1, dtype="bf16")
    point = roofline.ridge("h100_sxm", "bf16")
    assert below.intensity < point < above.intensity


def test_doubling_the_peak_gains_what_the_longer_time_allows():
    chip = hardware.get("h100_sxm")
    for batch, context in ((1, 4096), (64, 4096), (512, 256), (1024, 16)):
        step = roofline.decode_step(
            decode.MODEL, on=chip, tp=8, batch=batch, context=context
        )
        t_c, t_m = step.t_compute.si, step.t_memory.si
        gain = max(t_c, t_m) / max(t_c / 2, t_m) - 1
        got = decode._gain_of_double_peak(batch, context).si
        assert got == pytest.approx(gain, abs=1e-12)
    assert decode._gain_of_double_peak(1, 4096).si == 0
    assert decode._gain_of_double_peak(1024, 16).si == pytest.approx(1)


def test_beyond_the_context_it_names_no_batch_gains():
    longest = roofline.memory_bound_context(decode.MODEL, on="h100_sxm").si
    for batch in (1, 8, 64, 128):
        step = roofline.decode_step(
            decode.MODEL, on="h100", tp=8, batch=batch, context=int(longest) + 1
        )
        assert step.bound == "memory"


def test_prefill_of_one_token_is_a_decode_step_without_a_cache():
    work = roofline.decode_work(models.get(decode.MODEL), dtype="fp8", context=0)
    got = decode.prefill_intensity(1)
    assert got.si == pytest.approx(work.intensity.si, rel=1e-12)


def test_prefill_counts_each_query_against_the_tokens_before_it():
    model, tokens = models.get(decode.MODEL), 7
    pair = model.attention_flops_per_token_pair.si
    scores = sum(query * pair for query in range(1, tokens + 1))
    weights = model.streamed_parameters.si
    moved = weights + tokens * model.kv_bytes_per_token("fp8").si
    expected = (2 * tokens * weights + scores) / moved
    assert decode.prefill_intensity(tokens).si == pytest.approx(expected, rel=1e-12)


def test_published_shares_are_the_rows_of_the_measurements():
    shares = decode.published_training_shares()
    rows = [r for r in measurements.public() if r.family == "F" and r.metric == "mfu"]
    assert len(shares) == len(rows) > 20
    lowest = min(r.value for r in rows)
    judgement = claims.judge("real-workloads-30-70")
    assert judgement.computed.to("%").value == pytest.approx(lowest)
    assert all(s.source is not None and s.kind == "measured" for s in shares)


def test_a_long_cache_raises_intensity_only_where_heads_share_keys():
    judgement = claims.judge("decode-arith-2n-2n-kv")
    model = models.get("llama-3-8b")
    short = roofline.decode_work(model, dtype="bf16", context=0).intensity
    assert judgement.computed > short
    assert (
        model.heads.si / model.kv_heads.si == 4
        if hasattr(model.heads, "si")
        else (model.heads / model.kv_heads == 4)
    )


def test_growth_in_two_years_compounds_to_the_whole():
    growth = importlib.import_module("stacklib.evidence.claims.chapter_01_growth")
    first, last = (hardware.get(growth.FLAGSHIPS[i]) for i in (0, -1))
    years = last.year - first.year
    whole = last.peak("fp16").si / first.peak("fp16").si
    got = claims.judge("memwall-compute-growth").computed.si
    assert got ** (years / 2) == pytest.approx(whole, rel=1e-9)
    for rate in (growth._fp16, growth._bandwidth):  # "the last one is above it"
        assert growth._over(rate, *growth.FLAGSHIPS[:-3:-1]) > 2
    gap = claims.judge("memwall-gap").computed.si
    bandwidth = claims.judge("memwall-bandwidth-growth").computed.si
    assert gap == pytest.approx(got / bandwidth, rel=1e-9)
