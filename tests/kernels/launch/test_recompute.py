"""Plans of recomputation: formula, ledger, every plan there is, and torch."""

import itertools
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib.kernels.launch.recompute import (
    METHODS,
    CheckpointPlan,
    Layer,
    Segment,
    checkpoint_plan,
    revolve,
    run_plan,
)
from stacklib.quantity import UnknownName

LAYERS = st.builds(
    lambda a, b, f: Layer(a, a + b, f),
    st.integers(0, 5),
    st.integers(0, 9),
    st.integers(1, 9),
)


def every_plan(n):
    """All ways to cut a chain, and to keep or run again each part."""
    for bits in itertools.product((0, 1), repeat=n - 1):
        ends = [i + 1 for i, bit in enumerate(bits) if bit] + [n]
        starts = [0, *ends[:-1]]
        for kept in itertools.product((False, True), repeat=len(ends)):
            yield tuple(map(Segment, starts, ends, kept))


@settings(deadline=None, max_examples=25)
@given(layers=st.lists(LAYERS, min_size=1, max_size=6), budget=st.integers(0, 60))
def test_the_optimal_plan_is_the_best_of_all_there_are(layers, budget):
    walked = [
        run_plan(layers, CheckpointPlan("", cuts, 0, 0, 0))
        for cuts in every_plan(len(layers))
    ]
    least = min(w.peak for w in walked)
    assert checkpoint_plan(layers).memory == least
    fit = [w.again for w in walked if w.peak <= budget]
    plan = checkpoint_plan(layers, budget=budget)
    assert bool(plan.infeasible) == (not fit) == (not plan.segments)
    if fit:
        assert plan.recomputed == min(fit) and plan.memory <= budget
    else:
        assert f"{least:,.0f} B are needed" in plan.infeasible


@settings(deadline=None)
@given(
    layers=st.lists(LAYERS, min_size=1, max_size=20), method=st.sampled_from(METHODS)
)
def test_the_formula_is_what_the_ledger_finds(layers, method):
    plan = checkpoint_plan(layers, method=method)
    walked = run_plan(layers, plan)
    assert walked.peak == pytest.approx(plan.memory)
    assert walked.flops == pytest.approx(plan.flops)
    assert walked.again == pytest.approx(plan.recomputed)
    assert plan.memory >= checkpoint_plan(layers).memory - 1e-9


def test_square_root_schedule_and_the_better_one():
    # Activations of one size: Chen's segments need 2 sqrt(n), segments that shrink
    # towards the back sqrt(2 n); one forward pass more is a third of a step.
    for n in (16, 64, 256):
        chain = [Layer(1, 1, 1.0)] * n
        root = checkpoint_plan(chain, method="sqrt")
        best = checkpoint_plan(chain)
        assert root.memory == 2 * math.isqrt(n) - 1
        assert root.overhead == pytest.approx(1 / 3)
        assert math.sqrt(2 * n) - 1 <= best.memory <= math.sqrt(2 * n) + 1
        assert best.overhead <= 1 / 3


def test_a_budget_buys_back_flops():
    chain = [Layer(1, 10, 1.0)] * 12
    again = [checkpoint_plan(chain, budget=b).recomputed for b in (21, 40, 60, 90, 120)]
    assert again == sorted(again, reverse=True) and again[-1] == 0


@settings(deadline=None, max_examples=40)
@given(n=st.integers(1, 60), slots=st.integers(1, 6))
def test_revolve_is_the_binomial_closed_form(n, slots):
    r = next(r for r in itertools.count() if math.comb(slots + r, slots) >= n)
    told = r * n - (math.comb(slots + r, r - 1) if r else 0)
    assert revolve(n, slots) == told


def test_memory_of_the_tiny_model_is_what_torch_keeps():
    torch = pytest.importorskip("torch")
    from stacklib.kernels.launch.recompute_torch import (
        gradients,
        kept_bytes,
        tiny_layers,
    )
    from stacklib.tinylm.config import Config
    from stacklib.tinylm.model_torch import Decoder
    from stacklib.tinylm.plan import forward_flops, training_memory

    torch.set_num_threads(1)
    config = Config(
        vocab_size=512,
        hidden_size=64,
        num_hidden_layers=6,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=16,
        intermediate_size=160,
        max_position_embeddings=64,
        rms_norm_eps=1e-6,
        rope_theta=1e4,
    )
    layers = tiny_layers(config, 2, 64)
    told = training_memory(config, 2, 64)
    assert layers[-1].flops == 2 * 2 * 64 * 64 * 512  # head: a multiply and an add
    assert sum(layer.flops for layer in layers) == forward_flops(config, 2, 64)
    plans = {m: checkpoint_plan(layers, method=m) for m in METHODS}
    assert plans["keep"].memory == told.activations
    assert plans["every"].memory <= told.recomputed
    for plan in plans.values():
        seen = kept_bytes(config, plan, batch=2, tokens=64)
        assert seen == pytest.approx(plan.memory, rel=0.04), plan.method
    model, ids = Decoder(config), torch.arange(130).reshape(2, 65)
    right = gradients(model, plans["keep"], ids)
    for plan in plans.values():
        for one, other in zip(right, gradients(model, plan, ids), strict=True):
            assert torch.allclose(one, other, atol=1e-6)
    assert plans["optimal"].memory <= plans["sqrt"].memory < plans["keep"].memory / 2


@pytest.mark.rows(
    ("call", "error", "words"),
    [
        (lambda: checkpoint_plan([]), ValueError, "at least one"),
        (lambda: checkpoint_plan([Layer(1, 1, 1)], budget=-1), ValueError, "budget"),
        (lambda: checkpoint_plan([Layer(1, 1, 1)], method="sqare"), UnknownName, "sq"),
        (lambda: Layer(2, 1, 1), ValueError, "kept_bytes = 1"),
        (lambda: revolve(0, 1), ValueError, "layers = 0"),
    ],
)
def test_bad_input_is_named(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_a_plan_that_forgets_a_layer_is_found():
    chain = [Layer(1, 2, 1.0)] * 4
    lost = CheckpointPlan("", (Segment(0, 2, False), Segment(3, 4, True)), 0, 0, 0)
    with pytest.raises(ValueError, match=r"\[0, 1, 3\]"):
        run_plan(chain, lost)
