"""Inputs moved in turn, held to what a step's time must obey."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib import serving
from stacklib.frontier import binding_layer
from stacklib.roofline.work.fit import Infeasible

CASE = {"model": "llama-3-70b", "on": "h100-sxm", "dtype": "bf16", "tp": 8}
SMALL = 1e-6


@settings(max_examples=15, deadline=None)
@given(
    st.sampled_from(["llama-3-70b", "llama-3.1-8b", "gpt-oss-120b", "deepseek-v3"]),
    st.sampled_from(["h100-sxm", "b200-sxm", "mi300x", "rubin"]),
    st.integers(1, 200),
    st.integers(1, 6000),
)
def test_elasticities_to_all_rates_add_up_to_one(model, on, batch, context):
    """Time is amounts over rates: Euler's theorem, at the data sheet's limit."""
    case = {"model": model, "on": on, "tp": 8, "batch": batch, "context": context}
    try:
        found = binding_layer(case | {"mode": "limit"}, by=SMALL)
    except Infeasible:
        return
    assert sum(found.layers.values()) == pytest.approx(1, abs=1e-4)
    assert found.unmoved == pytest.approx(0, abs=1e-4)
    assert all(move.after <= move.before for move in found.moves)


@pytest.mark.parametrize("batch", [1, 64, 128])
def test_it_moves_the_estimate_and_says_the_point(batch):
    found = binding_layer(CASE | {"batch": batch})
    assert found.seconds == pytest.approx(found.estimate.tpot.si)
    assert f"batch {batch}" in found.point and "4,096 cached" in repr(found)
    bits = [m for m in found.moves if m.layer == "formats"]
    memory = next(m for m in found.moves if m.name == "memory bandwidth")
    saved = sum(m.before - m.after for m in bits)
    # What kernels pass to each other is read at the memory's pace as well.
    assert 0 <= (memory.before - memory.after) - saved < 0.1 * saved
    # Starts of pieces of work inside kernels, and the latency of a busy memory.
    assert 0 <= found.unmoved < 0.03


@pytest.mark.parametrize("by", [1e-6, 0.1, 1])
def test_an_elasticity_is_a_share_whatever_the_step(by):
    """Of a sum; by logarithms a tenth more fell short of it by a thirtieth."""
    found = binding_layer(CASE, by=by)
    host = next(p.time.si for p in found.estimate.parts if p.name == "host")
    assert found.layers["serving"] == pytest.approx(host / found.seconds)


def test_exchanges_bind_more_with_the_batch_and_the_engine_less():
    few, many = (binding_layer(CASE | {"batch": batch}).layers for batch in (1, 128))
    assert many["interconnect"] > 4 * few["interconnect"]
    assert many["serving"] < few["serving"] / 2
    assert few["silicon"] < many["silicon"] < few["memory"]


def test_an_estimate_will_do_and_faster_memory_is_bound_elsewhere():
    found = serving.estimate("llama-3-70b", "b200-sxm", "nvfp4", tp=8, batch=1)
    b200 = binding_layer(found)
    assert b200.estimate is found and b200.binding.name == "engine"


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({"batch": 512}, "does not fit"),
        ({"draft": (0.7, 4)}, "without a draft"),
        ({"split": "layers"}, "share every matrix"),
        ({"model": "tiny", "on": "this-machine", "tp": 1, "dtype": None}, "one case"),
    ],
)
def test_what_has_no_one_point_is_refused(asked, says):
    with pytest.raises(ValueError, match=says):
        binding_layer(CASE | asked)


@pytest.mark.parametrize(
    ("workload", "says"),
    [
        (5, "workload = 5"),
        ({"model": "llama-3-70b"}, "'on'"),
        (CASE | {"bach": 1}, "bach"),
    ],
)
def test_a_workload_is_an_estimate_or_its_arguments(workload, says):
    with pytest.raises(ValueError, match=says):
        binding_layer(workload)


@pytest.mark.parametrize("by", [0, -0.1, float("nan"), True])
def test_a_move_is_above_zero(by):
    with pytest.raises(ValueError, match="by = "):
        binding_layer(CASE, by=by)
