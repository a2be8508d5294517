"""Generations and famous speed-ups: what is gained, and that it is bytes."""

import pytest

from stacklib import hardware, models, roofline
from stacklib.roofline import Infeasible
from stacklib.roofline.bound import gains
from stacklib.roofline.count import traffic_cuts

LINE = ("v100_sxm2_32gb", "a100_sxm_80gb", "h100_sxm", "h200_sxm", "b200_sxm")


@pytest.mark.rows("gain", gains.generation_gains(LINE))
def test_tokens_at_batch_one_follow_the_bandwidth(gain):
    assert gain.tokens.si == pytest.approx(gain.bandwidth.si)


def test_tokens_are_those_of_the_counted_step():
    flop, moved = roofline.count_decode("llama-3-70b", dtype="fp16", context=4096)
    times = []
    for key in ("h100_sxm", "b200_sxm"):
        d = hardware.get(key)
        times.append(max(flop / d.peak("fp16").si, moved / d.memory_bandwidth.si) / 8)
    gain = gains.generation_gain("h100_sxm", "b200_sxm")
    assert gain.tokens.si == pytest.approx(times[0] / times[1], rel=1e-3)


def test_the_stated_headline_and_what_it_leaves_out():
    gain = gains.generation_gain("h100_sxm", "b200_sxm")
    assert gain.bandwidth.si == pytest.approx(2.3, abs=0.1)
    assert gain.fp8.si == pytest.approx(2.27, abs=0.02)
    assert gain.headline.si > 1.9 * gain.fp8.si  # fp4 against fp8


def test_a_format_one_of_the_two_lacks_has_no_ratio():
    gain = gains.generation_gain("a100_sxm_80gb", "h100_sxm")
    assert gain.fp8 is None and gain.tokens_narrow.si > 1.9 * gain.tokens.si


def test_a_gain_needs_two_that_hold_the_model():
    with pytest.raises(ValueError, match="needs two"):
        gains.generation_gains(["h100_sxm"])
    with pytest.raises(Infeasible, match="does not fit"):
        gains.generation_gain("h100_sxm", "b200_sxm", chips=1)


# -- speed-ups ----------------------------------------------------------------


@pytest.mark.rows("cut", traffic_cuts.famous_cuts())
def test_a_famous_speedup_keeps_the_work_and_cuts_the_bytes(cut):
    assert cut.work.si == pytest.approx(1, rel=0.02)
    assert cut.traffic.si < 0.6
    assert 1 < cut.speedup("h100-sxm").si <= 1 / cut.traffic.si * (1 + 1e-9)


def test_unfused_attention_moves_its_scores_four_times():
    m = models.get("llama-3-70b")
    shape = {"heads": m.heads, "kv_heads": m.kv_heads, "head_dim": m.head_dim}
    fused = roofline.attention(queries=512, keys=512, **shape)
    apart = traffic_cuts.unfused_attention(tokens=512, **shape)
    scores = m.heads * 512 * 512 * 2
    assert apart.bytes.si - fused.bytes.si == 4 * scores
    assert apart.operations.si == fused.operations.si


def test_the_five_on_one_array():
    found = traffic_cuts.five_operations(4096, 4096)
    assert tuple(found) == traffic_cuts.FIVE
    limits = {k: roofline.bound_on(w, "a100-sxm-80gb").bound for k, w in found.items()}
    assert {k for k, b in limits.items() if b == "compute"} == {"matmul"}
    assert found["matmul"].intensity.si == pytest.approx(4096 / 3)
    assert found["transpose"].operations.si == 0


@pytest.mark.parametrize("bad", ["matmul", "conv"])
def test_what_cannot_be_fused_is_refused(bad):
    with pytest.raises(ValueError, match=bad):
        traffic_cuts.fused(bad, 8, 8)
