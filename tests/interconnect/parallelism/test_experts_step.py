"""Experts in a training step: tiles, copies and kernels, counted another way."""

import random
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib.interconnect.experts.count import expect
from stacklib.interconnect.parallelism import exchange, layer
from stacklib.interconnect.parallelism.layout import Layout
from stacklib.interconnect.parallelism.rates import TILE, device_of, rates_of
from stacklib.interconnect.parallelism.shape import shape_of
from stacklib.interconnect.parallelism.step import step_time

H100 = device_of("h100_sxm")
RATES = rates_of(H100)
MODELS = ["qwen3-30b-a3b", "deepseek-v3", "gpt-oss-120b", "mixtral-8x7b-v0.1"]


def kind_of(model):
    return max(shape_of(model, 4096).kinds, key=lambda kind: kind.routed)


@pytest.mark.parametrize(("rows", "within"), [(20, 0.02), (150, 0.1), (4000, 0.02)])
def test_tiles_of_drawn_rows_against_a_loop_that_counts_them(rows, within):
    draw, experts, tall = random.Random(7), 40, TILE[0]
    counted = 0
    for _ in range(10):
        held = [0] * experts
        for _ in range(rows * experts):
            held[draw.randrange(experts)] += 1
        counted += sum(-(-h // tall) for h in held) / 10
    even = replace(RATES, tail=0.0, product=1.0, moving=1e99, fill=0.0)
    one = layer.product_time(rows, 128, 64, experts, even, True)
    tile = 2 * tall * 128 * 64
    assert one / tile == pytest.approx(counted, rel=within)


def test_where_nobody_is_sent_there_is_no_tile():
    fast = replace(RATES, moving=1e99)
    one, none = (layer.product_time(m, 128, 64, 8, fast, True) for m in (1, 1e-6))
    assert one == layer.product_time(1, 128, 64, 8, fast)
    assert none < one


@given(
    st.sampled_from(
        ["qwen3-30b-a3b", "deepseek-v3", "gpt-oss-120b", "mixtral-8x7b-v0.1"]
    ),
    st.integers(1, 4096),
    st.integers(2, 9),
    st.sampled_from([1, 2, 4, 8]),
)
@settings(max_examples=60, deadline=None)
def test_more_tokens_cost_no_more_each(model, tokens, times, ep):
    kind, cut = kind_of(model), Layout(dp=8, ep=ep)
    one = layer.products(kind, cut, tokens, RATES)
    many = layer.products(kind, cut, tokens * times, RATES)
    assert many[0] <= times * one[0] * (1 + 1e-9)
    assert many[1] <= times * one[1] * (1 + 1e-9)


@pytest.mark.parametrize("model", MODELS[:3])
@pytest.mark.parametrize("ep", [2, 8, 16, 32])
def test_copies_are_those_that_a_routing_is_expected_to_move(model, ep):
    kind = kind_of(model)
    free = replace(H100, link=1.0, port=1e30)
    asked = {"experts": kind.experts, "top_k": kind.routed, "ranks": ep}
    asked |= {"ranks_per_node": 8}
    rank = expect(once="rank", **asked)
    time, moved = exchange.all_to_all(free, kind, 1, ep, 1.0)
    assert moved == pytest.approx(rank.nvlink + rank.network)
    handed = expect(once="node", **asked)
    assert time == pytest.approx(handed.nvlink, rel=1e-4)
    free = replace(H100, link=1e30, port=1.0)
    time, _ = exchange.all_to_all(free, kind, 1, ep, 1.0)
    assert time == pytest.approx(handed.network, rel=1e-4, abs=1e-4)


@given(
    st.sampled_from(["h100_sxm", "b200", "mi300x", "a100_sxm_80gb"]),
    st.sampled_from(MODELS),
    st.sampled_from([2, 4, 8]),
    st.sampled_from([1, 2, 4]),
)
@settings(max_examples=40, deadline=None)
def test_within_a_domain_an_exchange_is_no_slower_than_across(on, model, ep, near):
    device, kind = device_of(on), kind_of(model)
    inside, _ = exchange.all_to_all(replace(device, domain=ep), kind, 1, ep, 1e8)
    across, _ = exchange.all_to_all(replace(device, domain=near), kind, 1, ep, 1e8)
    assert inside <= across * (1 + 1e-9)


def test_kernels_of_a_layer_are_those_that_a_profile_counted():
    # 463,348 kernels of a step: 64 microbatches of 48 layers, eight experts a chip
    kind = kind_of("qwen3-30b-a3b")
    one = layer.started(kind, Layout(dp=16, ep=16), False)
    assert one == pytest.approx(463348 / 64 / 48, rel=0.005)


def test_heads_of_their_own_size():
    assert kind_of("deepseek-v3").head == (128 + 64 + 128) / 2
    assert kind_of("gpt-oss-120b").head == 64 and kind_of("qwen3-30b-a3b").head == 128
    assert RATES.at_heads(64) < RATES.at_heads(128) == RATES.attention
    assert RATES.at_heads(128) < RATES.at_heads(160) < RATES.at_heads(256)


def test_a_share_of_an_exchange_may_run_beside_products():
    asked = {"on": "h100_sxm", "chips": 16, "batch": 64}

    def seconds(overlap):
        cut = Layout(dp=16, ep=16, zero=1, recompute="full", overlap=overlap)
        return step_time("qwen3-30b-a3b", layout=cut, **asked).time

    apart, half, beside = seconds(False), seconds(0.5), seconds(True)
    assert beside < half < apart
    assert half == pytest.approx((apart + beside) / 2)


@pytest.mark.parametrize("share", [-0.1, 1.5, float("nan"), "half"])
def test_a_share_is_one(share):
    with pytest.raises(ValueError, match="overlap"):
        Layout(overlap=share)
