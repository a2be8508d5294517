"""A model on chips without other memory: sums by hand, roofs, contexts, refusals."""

from math import ceil

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib import hardware, models, serving
from stacklib.accelerators import sram_machine
from stacklib.accelerators.sram.placed import placed_account, sent_bytes
from stacklib.accelerators.sram.plan import fewest, longest
from stacklib.quantity import chosen
from stacklib.roofline import Infeasible

LLAMA = "llama-3-70b"
# A device, a format, its byte a weight, the bytes of a chip: weights alone, by hand.
BY_HAND = [
    ("groq-lpu", "int8", 1, 230e6, 307),
    ("groq-3", "e4m3fn", 1, 500e6, 142),
    ("wse3", "fp16", 2, 44e9, 4),
]


@pytest.mark.rows("on, dtype, width, chip, chips", BY_HAND)
def test_the_chips_are_the_weights_over_the_memory(on, dtype, width, chip, chips):
    weights = models.get(LLAMA).parameters.si * width
    assert ceil(weights / chip) == chips
    assert sram_machine(LLAMA, on=on, dtype=dtype, context=0).chips == chips


def test_the_published_counts_are_of_seventy_billion_bytes():
    """304 and 140: seventy billion over the memory, the first rounded down."""
    assert fewest(70e9, 230e6) == 305 and int(70e9 / 230e6) == 304
    assert fewest(70e9, 500e6) == 140


def test_a_token_by_hand():
    """A stage reads a layer out of its share of the chips, eighty times."""
    plan = sram_machine(LLAMA, on="groq-3", dtype="e4m3fn", chips=240, context=0)
    read = models.get(LLAMA).read_bytes(1, "e4m3fn").si
    own = hardware.get("groq-3").memory_bandwidth.si * 240 / 80
    lines = [
        plan.account[name].t_bytes.si
        for name in ("products with the weights", "output matrix")
    ]
    assert sum(lines) == pytest.approx(read / own, rel=1e-4)
    held = models.get(LLAMA).weight_bytes("e4m3fn").si  # a table that is not read, too
    assert plan.reading.si == pytest.approx(held / own)
    row = 8192 * 2
    sent = row * (160 * 2 * 2 / 3 + 79)  # three chips add up twice a layer, then on
    assert plan.account["exchanges"].time.si == pytest.approx(sent / 1250e9)
    assert plan.account.missing() == ()


def test_one_stage_is_tensor_parallelism():
    """The same bytes over the same bandwidth as the account of eight GPUs."""
    placed = placed_account(LLAMA, "h100-sxm", "bf16", chips=8, stages=1)
    own = serving.account(LLAMA, "h100-sxm", "bf16", 8)
    for name in ("products with the weights", "attention over the cache"):
        assert placed[name].time.si == pytest.approx(own[name].time.si)
        assert placed[name].bound == own[name].bound


@settings(max_examples=20, deadline=None)
@given(st.integers(1, 80), st.integers(1, 400), st.integers(1, 300))
def test_more_stages_are_slower_for_one_and_no_slower_for_all(stages, chips, batch):
    asked = {"chips": chips, "context": 128}
    one = placed_account(LLAMA, "groq-3", "e4m3fn", stages=1, **asked)
    many = placed_account(LLAMA, "groq-3", "e4m3fn", stages=stages, **asked)
    name = "products with the weights"
    assert many[name].time.si == pytest.approx(stages * one[name].time.si)
    # With a batch, what a stage reads once serves all that pass together.
    full = placed_account(
        LLAMA, "groq-3", "e4m3fn", stages=stages, batch=batch, **asked
    )
    rows = ceil(batch / stages)
    assert full[name].t_arithmetic.si == pytest.approx(
        rows * many[name].t_arithmetic.si
    )
    assert full[name].t_bytes.si == pytest.approx(many[name].t_bytes.si)


def test_what_crosses_links():
    model = models.get(LLAMA)
    assert sent_bytes(model, 1, 80, 1) == 0  # all on one chip
    assert sent_bytes(model, 4, 80, 1) == 3 * 16384  # from wafer to wafer
    assert sent_bytes(model, 80, 80, 2) == 79 * 2 * 16384


# Attention of four kinds, each with the longest context found by trying.
KINDS = ["llama-3-8b", "deepseek-v3", "gemma-3-27b", "qwen3-30b-a3b"]


@pytest.mark.rows("name", KINDS)
def test_the_longest_context_fits_and_one_more_token_does_not(name):
    model, room = models.get(name), 3e9
    tokens = longest(model, room, "bf16")
    assert model.kv_bytes(tokens, "bf16").si <= room
    assert model.kv_bytes(tokens + 1, "bf16").si > room


def test_what_keeps_a_window_or_nothing_has_no_longest():
    model = models.get("llama-3-8b")
    assert longest(model, 0.0, "bf16") == 0
    mistral = models.get("mistral-7b-v0.1")
    assert longest(mistral, 1e12, "bf16") is None


@settings(max_examples=10, deadline=None)
@given(st.sampled_from(KINDS), st.integers(1, 4), st.integers(0, 20_000))
def test_a_plan_holds_what_it_says(name, batch, context):
    plan = sram_machine(name, on="wse3", dtype="fp16", batch=batch, context=context)
    assert plan.weights.si + plan.cache.si <= plan.have.si * (1 + 1e-12)
    assert plan.free.si == pytest.approx(plan.have.si - plan.weights.si)
    assert plan.longest is None or plan.longest >= context
    if plan.chips > 1:
        with pytest.raises(Infeasible, match="does not fit"):
            asked = {"batch": batch, "context": context, "chips": plan.chips - 1}
            sram_machine(name, on="wse3", dtype="fp16", **asked)


def test_a_plan_has_a_timetable_without_variance():
    plan = sram_machine(LLAMA, on="groq-3", dtype="e4m3fn")
    table = plan.static(3)
    assert {slot.stage for slot in table} == set(range(80)) and plan.variance == 0
    assert table[79].end * 1e-12 == pytest.approx(plan.time.si, rel=1e-3)
    alone = sram_machine("llama-3-8b", on="wse3", dtype="fp16", stages=1)
    assert len(alone.static()) == 8 and alone.variance == 0


def test_energy_and_price_by_hand():
    plan = sram_machine(LLAMA, on="wse3", dtype="fp16")
    seconds = plan.time.si
    assert plan.joules.si == pytest.approx(4 * 23e3 * seconds)
    year = 365.25 * 86400
    hand = 4 * 2.5e6 / (5 * year) * seconds
    assert plan.dollars().to("USD/Mtoken").value == pytest.approx(hand * 1e6, rel=1e-3)
    own = plan.dollars(chosen(1e6, "USD", label="a price"))
    assert own.si == pytest.approx(plan.dollars().si / 2.5)
    unknown = sram_machine(LLAMA, on="groq-3", dtype="e4m3fn")
    assert unknown.joules is None and unknown.dollars() is None


REFUSED = [
    ({"on": "h100-sxm"}, "its memory is HBM3"),
    ({"on": "groq-3", "dtype": "e4m3fn", "chips": 100}, "100 = 712.2 MB > 500 MB"),
    (
        {"on": "groq-3", "dtype": "e4m3fn", "batch": 100},
        "chips > 256 that can be joined",
    ),
    ({"on": "wse3", "stages": 81}, "has 80 layers"),
    ({"on": "wse3", "batch": 0}, "batch = 0"),
    ({"on": "wse3", "batch": True}, "batch = True"),
    ({"on": "wse3", "context": 4096.0}, "context = 4096.0"),
    ({"on": "wse3", "chips": float("nan")}, "chips = nan"),
    ({"on": "wse3", "chips": -1}, "chips = -1"),
    ({"on": "groq-1000"}, "groq"),
]


@pytest.mark.rows("asked, words", REFUSED)
def test_refusals_say_the_sum_or_the_value(asked, words):
    with pytest.raises((ValueError, LookupError), match=words):
        sram_machine(LLAMA, **asked)


def test_narrow_numbers_of_numpy_do_not_run_over():
    asked = {"on": "groq-lpu", "dtype": "int8"}
    wide = sram_machine(LLAMA, **asked, context=4096)
    narrow = sram_machine(LLAMA, **asked, batch=np.int8(1), context=np.int32(4096))
    assert narrow.account == wide.account
