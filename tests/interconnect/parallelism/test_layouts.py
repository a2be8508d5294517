"""Layouts of a training step: memory, bytes, bubble and time by hand and by search."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from stacklib import models
from stacklib.hardware import efficiency_override
from stacklib.interconnect.parallelism.layout import Layout
from stacklib.interconnect.parallelism.megatron import LENGTH, ROWS, predicted
from stacklib.interconnect.parallelism.memory import memory_of
from stacklib.interconnect.parallelism.plan import RECOMPUTED, layouts, plan
from stacklib.interconnect.parallelism.shape import shape_of
from stacklib.interconnect.parallelism.step import step_time
from stacklib.interconnect.schedules.algorithms import reduce_scatter
from stacklib.memory.tiers.checkpoint import checkpoint_bytes
from stacklib.quantity import UnknownName
from stacklib.roofline.work.fit import Infeasible

from ...rows import refusals

LLAMA = {"on": "h100-sxm", "batch": 512}


@pytest.mark.rows("name", models.names())
def test_every_parameter_is_counted_once(name):
    shape, model = shape_of(name, 4096), models.get(name)
    # positions, final norms and towers are left out
    text = model.parameters.si - model.vision - model.unused - model.tables
    assert shape.parameters == pytest.approx(text, rel=0.01)
    assert shape_of(name, 4096) is shape


def test_memory_is_the_papers_count():
    """Section 4 of the paper: sbh (34 + 5 a s / h) a layer; figure 1's in GiB."""
    for row, gib in zip(ROWS, (59.25, 66.84375, 114.0234375, 131.25), strict=True):
        shape = shape_of(row.model, LENGTH)
        layout = replace(row.layout(False), recompute="none")
        found = memory_of(shape, layout, batch=row.batch, length=LENGTH, scores=True)
        s, h, a = LENGTH, row.hidden, row.heads
        one = s * row.micro * h * (10 + 24 / 8 + 5 * a * s / (h * 8))
        more = (row.pp - 1) / (row.pp * row.interleave)
        flying = 1 + (more if row.interleave > 1 else 0)
        head = 10 * row.micro * s * 51200 / 8 if row.pp == 1 else 0
        assert found.activations == pytest.approx(one * row.layers * flying + head)
        assert found.activations / 2**30 == pytest.approx(gib, rel=0.02)


def test_states_are_a_checkpoint_and_its_gradients():
    shape = shape_of("llama-3-8b", 4096)
    found = memory_of(shape, Layout(), batch=1, length=4096)
    states = found.weights + found.optimizer
    assert states == pytest.approx(checkpoint_bytes("llama-3-8b").si, rel=1e-6)
    assert found.gradients == 4 * shape.parameters
    cut = memory_of(shape, Layout(dp=8, zero=3), batch=8, length=4096)
    assert cut.total - cut.activations == pytest.approx(
        (found.total - found.activations) / 8
    )
    levels = [
        memory_of(shape, Layout(dp=8, zero=z), batch=8, length=4096).total
        for z in range(4)
    ]
    assert levels == sorted(levels, reverse=True)


def test_a_half_ring_sends_what_its_schedule_sends():
    schedule = reduce_scatter(8, algorithm="ring")
    sends = [s for s in schedule.sends if s.source == 0]
    shape = shape_of("llama-3-70b", 4096)
    layout = Layout(tp=8, pp=8, sequence=True, recompute="full", interleave=1)
    step = step_time("llama-3-70b", chips=64, layout=layout, **LLAMA)
    array = 2 * 4096 * shape.hidden
    each = len(sends) / schedule.chunks * array
    # 8 halves forward and backward, 4 again, 2 gathers; 10 layers, 512 microbatches
    assert step.sent.tensor == pytest.approx(14 * each * 10 * 512)
    assert step.sent.pipeline == pytest.approx(2 * array / 8 * 512)
    assert step.sent.data == 0
    # filling and draining, and what seven wait for the one that has the head
    assert 7 / 512 < step.bubble < 7 / 512 + 0.06


def test_data_parallelism_sends_gradients_and_weights():
    shape = shape_of("llama-3-8b", 4096)
    mine = shape.parameters
    for zero, each in ((0, 8), (1, 6), (3, 8)):
        layout = Layout(dp=64, zero=zero, recompute="full", micro=8)
        found = step_time("llama-3-8b", chips=64, layout=layout, **LLAMA)
        assert found.sent.data == pytest.approx(each * mine * 63 / 64)


def test_the_time_is_the_sum_of_its_parts():
    layout = Layout(dp=2, tp=8, pp=4, sequence=True, zero=1, recompute="selective")
    step = step_time("llama-3-70b", chips=64, layout=layout, **LLAMA)
    whole = step.compute + step.exposed + step.update
    assert whole < step.time < whole * (1 + step.bubble) + 1e-9
    assert step.flops / 64 / step.time / 989.4e12 == pytest.approx(step.mfu, rel=1e-3)
    traced = step_time("llama-3-70b", chips=64, layout=layout, traced=True, **LLAMA)
    assert traced.time.si == pytest.approx(step.time)
    assert traced.time.unit == "s"


def test_more_of_what_costs_costs_more():
    base = Layout(dp=2, tp=8, pp=4, sequence=True, zero=1, recompute="full")
    plain = step_time("llama-3-70b", chips=64, layout=base, **LLAMA)

    def time(device_port=None, **changed):
        layout = replace(base, **changed)
        return step_time(
            "llama-3-70b", chips=64, layout=layout, port=device_port, **LLAMA
        ).time

    assert time(interleave=4) < plain.time
    assert time(overlap=True) < plain.time
    assert time(device_port=5e9) > time(device_port=50e9)
    with efficiency_override({"gemm_issue_nvidia": 0.5}):
        assert time() > 1.3 * plain.time


def test_what_does_not_fit_has_no_time_and_says_the_sum():
    step = step_time("llama-3-70b", chips=64, layout=Layout(dp=64), **LLAMA)
    assert step.time is None and step.mfu is None and not step.feasible
    for word in ("weights 141", "gradients 282", "optimizer 846", "GB on H100"):
        assert word in step.refused, step.refused


test_what_does_not_divide_is_named = refusals(
    (Layout(tp=8), "8 chips, and there are 64"),
    (Layout(pp=64, interleave=2), "more parts than 80 layers"),
    (Layout(dp=8, pp=8, interleave=11), "interleave = 11"),
    (Layout(dp=32, pp=2, split=(40, 39)), "40.39 holds 79 layers, and there are 80"),
    (Layout(dp=32, pp=2, split=(40, 20, 20)), "3 parts, and pp = 2"),
    (Layout(dp=16, pp=4, split=(40, 0, 20, 20)), r"part \[1\] in the middle"),
    (Layout(dp=32, pp=2, split=(40, 40), later=1), "holds 80 layers, and there are 81"),
    (Layout(dp=8, pp=8, interleave=2, schedule="zb-h1"), "zb-h1 holds layers in one"),
    (Layout(dp=8, pp=8, schedule="zb-h2", micro=8), "too few microbatches"),
    (Layout(dp=32, pp=2, schedule="dualpipe", micro=16), "half of the microbatches"),
    (Layout(dp=64, micro=3), "a batch of 512"),
    (Layout(dp=64, ep=3), "ep = 3"),
    (Layout(dp=64, interleave=2), "needs a pipeline"),
    (Layout(tp=3), "fills 3 chips"),
    by=lambda layout: step_time("llama-3-70b", chips=64, layout=layout, **LLAMA),
)


@pytest.mark.rows(
    "wrong",
    [
        {"tp": 0},
        {"dp": 1.5},
        {"zero": 4},
        {"recompute": "some"},
        {"schedule": "fastest"},
        {"later": -1},
        {"etp": 0},
        {"split": (1, 2.5)},
        {"split": 5},
        {"split": (1, True)},
        {"split": (2, -1)},
        {"split": "Ett|xtL"},
        {"split": "tt|tL"},
        {"split": "Ett|L|t"},
        {"split": "Etmt|L"},
        {"split": "E(t|)*99999999L"},
        {"split": ""},
    ],
)
def test_bad_layouts(wrong):
    with pytest.raises((ValueError, UnknownName)):
        Layout(**wrong)


def test_experts_are_cut_among_data_parallel_chips():
    kept = {"on": "h100-sxm", "chips": 64, "batch": 512}
    whole = step_time(
        "mixtral-8x7b-v0.1", layout=Layout(dp=64, zero=3, recompute="full"), **kept
    )
    cut = step_time(
        "mixtral-8x7b-v0.1",
        layout=Layout(dp=64, ep=8, zero=3, recompute="full"),
        **kept,
    )
    assert whole.sent.expert == 0 < cut.sent.expert
    assert cut.sent.data < whole.sent.data
    assert cut.memory.weights == pytest.approx(whole.memory.weights)  # zero 3 cut both


def test_arrays_are_their_elements():
    ways = [w for w in itertools.product((1, 2, 8, 3), (1, 4), (1, 2)) if w[0] < 9]
    tp, pp, micro = (np.array(c, float) for c in zip(*ways, strict=True))
    dp = 64 / tp / pp
    many = Layout(
        dp=dp, tp=tp, pp=pp, micro=micro, zero=3, sequence=True, recompute="full"
    )
    found = step_time("llama-3-70b", chips=64, layout=many, **LLAMA)
    for i, (t, p, m) in enumerate(ways):
        if t == 3:
            assert found.time[i] == np.inf
            continue
        one = Layout(
            dp=64 // t // p,
            tp=t,
            pp=p,
            micro=m,
            zero=3,
            sequence=True,
            recompute="full",
        )
        step = step_time("llama-3-70b", chips=64, layout=one, **LLAMA)
        assert found.time[i] == pytest.approx(step.time or np.inf)
        assert found.sent.total[i] == pytest.approx(step.sent.total)


@pytest.mark.parametrize(
    ("model", "chips", "batch"),
    [("llama-3-8b", 8, 64), ("qwen3-30b-a3b", 12, 48)],
)
def test_a_plan_is_the_exhaustive_search(model, chips, batch):
    shape, best = shape_of(model, 4096), None
    for one in layouts(shape, chips, batch, 4096):
        for again in RECOMPUTED:
            layout = replace(one, recompute=again)
            step = step_time(
                model, on="h100-sxm", chips=chips, layout=layout, batch=batch
            )
            if step.time and (best is None or step.time < best[0]):
                best = step.time, layout
    found = plan(model, on="h100-sxm", chips=chips, batch=batch)
    assert best is not None
    assert (found[0].step.time, found[0].layout) == best
    times = [c.step.time for c in found]
    assert times == sorted(times)
    assert all(c.reason for c in found)


def test_a_plan_that_cannot_be():
    with pytest.raises(Infeasible, match="gradients"):
        plan("llama-3.1-405b", on="h100-sxm", chips=8, batch=8)
    with pytest.raises(ValueError, match="batch of 7"):
        plan("llama-3-8b", on="h100-sxm", chips=37, batch=7)


def test_the_published_steps_are_met_without_a_fitted_factor():
    misses = [
        predicted(row, lean).time / row.seconds(lean) - 1
        for row in ROWS
        for lean in (False, True)
    ]
    assert sum(map(abs, misses)) / 8 <= 0.035
    assert max(map(abs, misses)) <= 0.08
