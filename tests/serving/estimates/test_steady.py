"""Many requests at once: prompts that do not coincide, runs that end, padded graphs."""

import itertools
import math
from dataclasses import replace

import pytest

from stacklib import serving
from stacklib.quantity.keys import keys_of
from stacklib.serving.estimates import steady
from stacklib.serving.estimates.step import step_of
from stacklib.serving.simulation.traffic import Row


def _step(model="llama-3-8b", ep=1):
    keys = keys_of(model, "h100-sxm", "fp8", None)
    return step_of((*keys, 1, ep), "engine", "calibrated")


@pytest.mark.parametrize("mean, many", [(0.05, 2), (0.7, 3), (2.0, 2), (0.3, 4)])
def test_the_most_of_some_groups_is_that_of_all_their_joint_numbers(mean, many):
    """Every joint outcome up to fourteen prompts each, times its chance."""
    chance = [math.exp(-mean) * mean**k / math.factorial(k) for k in range(15)]
    if many > 3:  # the joint numbers would be too many
        chance = chance[:8]
    every = itertools.product(range(len(chance)), repeat=many)
    joint = sum(max(ks) * math.prod(chance[k] for k in ks) for ks in every)
    assert steady.most_of(mean, many) == pytest.approx(joint, rel=1e-5)


@pytest.mark.parametrize("mean", [1e-9, 0.4, 9.0, 400.0, 1e5])
def test_the_most_lies_between_the_mean_and_one_after_the_other(mean):
    assert steady.most_of(mean, 1) == pytest.approx(mean)
    assert mean <= steady.most_of(mean, 8) <= 8 * mean
    if mean < 1e-6:  # never two at once
        assert steady.most_of(mean, 8) == pytest.approx(8 * mean)


def test_groups_that_wait_for_each_other_pay_less_for_prompts():
    step = _step("qwen3-235b-a22b", 8)
    load = steady.Load(800.0, 2000.0, 500.0)
    apart = steady.reading(step, load, 100.0)
    together = steady.reading(step, load, 100.0, balanced=True)
    assert together == pytest.approx(100 / 500 * steady.added(step, load))
    assert together < apart < 8 * together


@pytest.mark.parametrize(
    "requests, batch, prompt, new",
    [(150, 64, 128, 256), (200, 64, 512, 256), (64, 64, 128, 128), (320, 32, 100, 100)],
)
def test_a_run_that_ends_takes_as_long_as_it_is_simulated(requests, batch, prompt, new):
    """All queued at once, of one length; else it is a quarter off."""
    rows = [Row(i, 0, prompt, new, 0) for i in range(requests)]
    on = {"on": "h100-sxm", "dtype": "fp8", "max_batch": batch, "chunk": 8192}
    run = serving.simulate("llama-3-8b", traffic=rows, **on)
    took = max(done.finished for done in run.requests) / 1e9
    load = steady.Load(float(batch), float(prompt), float(new))
    found = steady.rate(_step(), load, requests=float(requests))
    assert found == pytest.approx(requests * new / took, rel=0.05)


def test_rows_of_no_request_cost_a_step_of_decodes():
    step, load = _step(), steady.Load(300.0, 100.0, 1000.0)
    plain = steady.rate(step, load)
    for captured, padded in (((256, 512), True), ((300,), False), ((128,), False)):
        rate = steady.rate(step, replace(load, captured=captured))
        assert rate < plain if padded else rate == plain
