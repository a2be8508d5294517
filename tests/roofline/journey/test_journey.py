"""The token's journey: the list, the formula and the clock agree."""

import itertools

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib import models, roofline
from stacklib.hardware import UnknownSpec, get
from stacklib.quantity import Quantity
from stacklib.roofline import Infeasible
from stacklib.roofline.count import readiness as ready
from stacklib.roofline.journey import layers as stack
from stacklib.roofline.journey.events import exchange_time
from stacklib.roofline.journey.layers import LAYERS
from stacklib.roofline.journey.token_journey import closed_form, journey, walk

DEVICES = ("h100_sxm", "h200_sxm", "b200_sxm", "a100_sxm_80gb")
MODELS = ("llama-3-8b", "llama-2-7b", "qwen3-8b", "llama-3-70b", "mixtral-8x7b-v0.1")
CASES = st.fixed_dictionaries(
    {
        "on": st.sampled_from(DEVICES),
        "tp": st.sampled_from([1, 2, 4, 8]),
        "context": st.integers(0, 8192),
        "exchange": st.sampled_from(["direct", "ring"]),
    }
)


@settings(max_examples=60, deadline=None)
@given(name=st.sampled_from(MODELS), case=CASES)
def test_list_formula_and_clock_agree(name, case):
    model = models.get(name)
    try:
        trip = journey(model, **case)
    except Infeasible:
        assert not roofline.fit_memory(
            model, on=case["on"], tp=case["tp"], context=case["context"]
        ).fits
        return
    formula = closed_form(model, **case).si
    *_, last = walk(trip, model)
    assert trip.time.si == pytest.approx(formula, rel=1e-12)
    assert last.stop == pytest.approx(formula, rel=1e-9)


@settings(max_examples=40, deadline=None)
@given(name=st.sampled_from(MODELS), case=CASES)
def test_memory_moves_the_bytes_of_the_decode_step_and_one_row(name, case):
    model = models.get(name)
    try:
        trip = journey(model, **case)
    except Infeasible:
        return
    beyond = trip.memory_bytes.si - trip.step.bytes.si
    assert beyond == pytest.approx(2 * model.hidden, abs=trip.step.bytes.si * 1e-12)
    arithmetic = [e.all("time").si for e in trip.events if e.layer == 3]
    assert sum(arithmetic) == pytest.approx(trip.step.t_compute.si, rel=1e-12)


def test_the_clock_never_runs_back_and_meets_every_layer():
    model = models.get("llama-3-70b")
    trip = journey(model)
    spans = list(walk(trip, model))
    assert len(spans) == sum(e.times for e in trip.events)
    for one, two in itertools.pairwise(spans):
        assert two.start >= one.start
        assert one.stop >= one.start


def test_unknown_events_have_no_time_and_name_their_chapter():
    trip = journey()
    waiting = [e for e in trip.events if e.time is None]
    assert len(waiting) == 4 and all(2 <= e.chapter <= 9 for e in waiting)
    assert all(e.all("time") is None for e in waiting)


def test_shares_of_the_trip_make_one():
    trip = journey()
    assert sum(trip.share(n).si for n in LAYERS) == pytest.approx(1)
    assert trip.share(2) > trip.share(5) > 0 and trip.share(7).si == 0


def test_one_chip_exchanges_nothing():
    trip = journey("llama-3-8b", on="h100-sxm", tp=1)
    added = [e for e in trip.events if "add up" in e.what]
    assert added and all(e.time.si == 0 and e.bytes.si == 0 for e in added)


def test_an_exchange_on_floats_quantities_and_arrays():
    size = Quantity(16384, "B", label="vector")
    rate, wait = Quantity(450, "GB/s"), Quantity(500, "ns")
    for ring in (False, True):
        plain = exchange_time(16384.0, 8, 450e9, 5e-7, ring)
        traced = exchange_time(size, 8, rate, wait, ring)
        swept = exchange_time(numpy.array([16384.0, 0.0]), 8, 450e9, 5e-7, ring)
        assert traced.si == pytest.approx(plain) and swept[0] == pytest.approx(plain)
        assert swept[1] == pytest.approx((14 if ring else 1) * 5e-7)


def test_a_ring_moves_fewer_bytes_and_waits_longer():
    direct, ring = journey(), journey(exchange="ring")
    (one,) = [e for e in direct.events if e.what.endswith("after attention")]
    (two,) = [e for e in ring.events if e.what.endswith("after attention")]
    assert two.bytes < one.bytes and two.time > one.time


def test_what_cannot_be_answered_is_refused():
    with pytest.raises(ValueError, match="exchange 'tree': one of direct, ring"):
        journey(exchange="tree")
    with pytest.raises(ValueError, match="do not all see the whole context"):
        journey("gemma-3-27b", on="h100-sxm", tp=8)
    with pytest.raises(Infeasible):
        journey("llama-3-70b", on="h100-sxm", tp=1)
    with pytest.raises(UnknownSpec):
        journey("llama-3-8b", on="tpu-v5p", tp=1)


def test_energy_is_known_only_where_it_was_fitted():
    trip = journey("llama-3-70b", on="h100-sxm", dtype="e4m3fn")
    assert all(e.energy is None for e in trip.events if e.layer == 3)
    full = journey("llama-3-70b", on="h100-sxm")
    assert full.energy < full.energy_ceiling
    device = get("h100-sxm")
    assert full.price.si == pytest.approx(
        8 * device.cloud_price.si * full.time.si, rel=1e-12
    )


# -- the stack -------------------------------------------------------------------


@pytest.mark.parametrize("document", stack.NUMBERINGS)
def test_there_and_back_is_the_same_layer(document):
    for level, word, _ in stack.NUMBERINGS[document]:
        layer = stack.here(document, level)
        assert f"L{level} {word}" in stack.there(layer.number, document)
    named = [there for n in stack.LAYERS for there in stack.there(n, document)]
    assert len(named) == len(stack.NUMBERINGS[document])


def test_layers_that_do_not_exist_are_refused():
    with pytest.raises(ValueError, match="document 001 has L1 to L6, no L7"):
        stack.here("001", 7)
    with pytest.raises(ValueError, match="layer 8: 1 to 7"):
        stack.there(8, "000")
    with pytest.raises(LookupError, match="document with layers"):
        stack.here("007", 1)


# -- the ten questions -----------------------------------------------------------

ANSWERS = {
    "loop_bytes": (12e6, "B"),
    "offset": (404, "B"),
    "page_faults": (262_144, "1"),
    "gibibytes": (74.505806, "1"),
    "strided_bytes": (64 * 2**20, "B"),
    "access_time": (14, "cycle"),
    "simd_flop": (32, "FLOP/cycle"),
    "product_flop": (268_435_456, "FLOP"),
    "whole_speedup": (10 / 7.3, "1"),
    "transfer_time": (0.32, "s"),
}


def test_the_answers():
    assert {q.key for q in ready.QUESTIONS} == set(ANSWERS)
    for question in ready.QUESTIONS:
        value, unit = ANSWERS[question.key]
        assert question.answer.to(unit).value == pytest.approx(value, rel=1e-6)
        assert question.answer.inputs, question.key


@settings(deadline=None)
@given(m=st.integers(1, 99), k=st.integers(1, 99), n=st.integers(1, 99))
def test_a_product_is_counted_as_the_roofline_counts_it(m, k, n):
    counted = roofline.matmul(m=m, n=n, k=k, dtype="bf16").operations.si
    assert ready.product_flop(m, k, n) == counted


@given(stride=st.integers(1, 64), lines=st.integers(1, 50))
def test_strided_reads_touch_the_lines_a_walk_touches(stride, lines):
    size, element, line = 64 * lines * 64, 4, 64
    walked = ready.count_strided(size, element, stride, line)
    assert ready.strided_bytes(size, element, stride, line) == pytest.approx(
        walked, abs=line
    )


def test_an_unknown_question_is_refused():
    with pytest.raises(LookupError, match="loop_bytes"):
        ready.question("loops")
