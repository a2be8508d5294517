"""Closed forms of kernels on round numbers, by walking through what they stand for."""

import math
from itertools import product

import pytest

from stacklib import hardware, models
from stacklib.kernels.attention import mla
from stacklib.kernels.attention.count import io_count
from stacklib.kernels.experts.tiles import (
    expert_tiles,
    routed_parameters,
    tile_efficiency,
)
from stacklib.kernels.launch import launches
from stacklib.kernels.rows import sampling_time as draw


def test_launches_step_by_step():
    host = device = 0.0
    for _ in range(5):  # the host submits; a kernel begins when told and when free
        host += 3.0
        device = max(host, device) + 2.0 + 0.5
    assert launches.launch_time(5, 2.0, submit_s=3.0, start_s=0.5) == device == 17.5
    assert launches.launch_time(5, 4.0, submit_s=3.0, start_s=0.5) == 3 + 5 * 4.5
    # rounds of two, two and one, each waited for
    paced = launches.launch_time(5, 4.0, submit_s=3.0, every=2, barrier_s=1.0)
    assert paced == 2 * (3 + 2 * 4 + 1) + (3 + 4 + 1)
    replayed = launches.replay_time(4, 1.5, replay_s=2.0, node_s=0.5, replays=3)
    assert replayed == 2 + 3 * 4 * 2.0
    for streams, depth, every in product((1, 2), (None, 3), (None, 2)):
        plan = launches.Launches(6, 4.0, 3.0, streams=streams, every=every, depth=depth)
        ran = launches.run_launches(plan)
        assert ran.submitting == 18 and 0 <= ran.idle < ran.time
        if depth is None:
            assert ran.time == pytest.approx(plan.time)
        assert ran.blocked == pytest.approx(ran.time - 18)


def test_bytes_of_attention_by_its_tiles():
    for tokens, tile_q, tile_k, causal in product(
        (7, 64), (16, 5), (8, 32), (False, True)
    ):
        found = io_count(
            tokens=tokens, head_dim=3, tile_q=tile_q, tile_k=tile_k, causal=causal
        )
        keys = pairs = 0
        for first in range(0, tokens, tile_q):
            rows = min(tile_q, tokens - first)
            for at in range(0, tokens, tile_k):
                if not causal or at < first + rows:
                    wide = min(tile_k, tokens - at)
                    keys, pairs = keys + wide, pairs + rows * wide
        assert found.read == {"q": tokens * 6, "k": keys * 6, "v": keys * 6}
        assert (found.written, found.kv) == ({"o": tokens * 6}, 12 * keys)
        assert found.flops_in_tiles == 2 * 2 * 3 * pairs
        assert found.flops == 2 * 2 * 3 * tokens**2 / (2 if causal else 1)
        assert found.matrix == 2 * tokens**2
        assert found.unfused == 4 * tokens * 6 + 4 * found.matrix
        assert found.saved == found.unfused / found.bytes
    older = io_count(tokens=64, head_dim=3, tile_q=16, tile_k=8, order="fa1")
    assert older.read == {
        "q": 8 * 384,
        "k": 384,
        "v": 384,
        "o": 7 * 384,
        "state": 7 * 512,
    }
    assert older.written == {"o": 8 * 384, "state": 8 * 512}


def test_a_latent_cache_by_its_columns():
    a = models.get("deepseek-v3").attention
    kinds = mla.bytes_by_kind(groups=8)
    heads = {"MHA": a.heads, "GQA": 8, "MQA": 1}
    for kind, many in heads.items():
        assert kinds[kind].si == 2 * 2 * many * a.v_head_dim
    assert kinds["MLA"].si == 2 * (a.kv_lora_rank + a.rope_head_dim)
    assert mla.share_of_own("deepseek-v3").si == kinds["MLA"].si / kinds["MHA"].si
    assert 1 - mla.share_of_67b().si == pytest.approx(0.933, abs=5e-4)
    work = mla.latent_decode(keys=1000, batch=3, queries=2)
    rows, both = 3 * 2 * a.heads, 576 + 512
    assert work.operations.si == 2 * rows * 1000 * both
    assert work.bytes.si == 2 * (3 * 1000 * 576 + rows * both)
    found = mla.flash_mla_time(keys=1000, batch=3, queries=2)
    slower = max(work.bytes.si / 3e12, work.operations.si / 660e12)
    assert found.time.si == pytest.approx(slower)
    h800 = hardware.get("h800_sxm")
    assert found.share_of_bandwidth.si == pytest.approx(3e12 / h800.memory_bandwidth.si)
    assert found.share_of_peak.si == pytest.approx(660e12 / h800.peak("bf16").si)


def test_tiles_of_experts_by_adding_up():
    assert [tile_efficiency(n) for n in (128, 129, 64)] == [1, 129 / 256, 0.5]
    found, model = (
        expert_tiles("mixtral-8x7b-v0.1", tokens=6, tile=2),
        models.get("mixtral-8x7b-v0.1"),
    )
    assert (found.hidden.si, found.width.si, found.tokens) == (4096, 14336, 6 * 2 / 8)
    paid = sum(
        math.comb(6, n) * 0.25**n * 0.75 ** (6 - n) * 2 * math.ceil(n / 2)
        for n in range(7)
    )
    assert found.in_tokens == pytest.approx(6 * 0.25 / paid)
    assert found.used == pytest.approx(found.in_tokens)
    assert found.parameters.si == 3 * 4096 * 14336
    assert routed_parameters(model).si == 8 * 32 * 3 * 4096 * 14336


def test_a_draw_by_its_bytes_and_calls():
    shape = {"batch": 2, "hidden": 8, "vocab": 100}
    assert draw.flash_bytes(**shape, tile=32) == 102 * 8 * 2 + 2 * 4 * 2 * 8 + 2 * 4
    rates = {"bandwidth": 10.0, "launch_s": 3.0, "ranks": 4, "link": 5.0}
    rates["latency_s"] = 7.0
    plain = draw.plain_time(**shape, **rates, chain_s=2.0)
    logits = 2 * 100 * 4
    assert plain.head == pytest.approx((100 / 4 + 2) * 8 * 2 / 10)
    assert plain.gather == 7 + 3 / 4 * logits / 5
    assert (plain.passes, plain.launches, plain.chain) == (4 * logits / 10, 9, 2)
    assert plain.sampling == plain.gather + plain.passes + plain.launches + 2
    assert plain.total == plain.head + plain.sampling
    fused = draw.flash_time(**shape, **rates)
    assert fused.sampling == 7 + 3 / 4 * (2 * 8 * 4) / 5 + 2 * 3
    alone = draw.flash_time(**shape, **{**rates, "ranks": 1})
    assert alone.gather == 0 and alone.head == 102 * 8 * 2 / 10
    gained = draw.gain_chain(1.5, plain, fused)
    assert plain.total - 2 + gained == pytest.approx(1.5 * fused.total)
    assert draw.step_share(plain, 4.0) == plain.sampling / (plain.total + 4)
    unit = {"units": 8, "bandwidth": 1e3, "unit_rate": 1e9}
    seconds, moved = draw.run_head(**shape, tile=32, **unit)
    assert moved == draw.flash_bytes(**shape, tile=32)
    first = sum(min(32, 100 - at) * 16 + 16 for at in range(0, 100, 32)) + 32
    assert seconds == pytest.approx(first / 1e3)
