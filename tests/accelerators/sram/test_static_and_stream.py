"""Timetables without variance, lines with it, streamed weights, the turn of cost."""

from dataclasses import replace
from statistics import mean, pvariance

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib import hardware, models
from stacklib.accelerators import stream, timetable
from stacklib.accelerators.sram.static import check, latencies, run_line
from stacklib.accelerators.sram.turn import held_price, token_price, turning_capacity
from stacklib.interconnect.switches.closed import mean_wait

LLAMA = "llama-3-70b"


@settings(max_examples=20, deadline=None)
@given(st.integers(1, 9), st.integers(1, 9), st.integers(0, 9), st.integers(1, 30))
def test_a_timetable_has_no_variance(stages, busy, hop, tokens):
    table = timetable(stages, busy, hop, tokens)
    assert pvariance(latencies(table)) == 0
    assert latencies(table)[0] == stages * busy + (stages - 1) * hop
    last = max(slot.end for slot in table)
    assert last == latencies(table)[0] + (tokens - 1) * busy  # nobody waits


def test_two_tokens_in_one_stage_are_named():
    table = timetable(3, 4, 1, 2)
    late = [
        replace(s, start=s.start - 1, end=s.end - 1) if s.token else s for s in table
    ]
    with pytest.raises(ValueError, match="stage 0 has tokens 0 and 1 in cycle 3"):
        check(late)
    early = [replace(s, start=4, end=8) if s.stage == 1 else s for s in table[:2]]
    check(early)
    early[1] = replace(early[1], start=3, end=7)
    with pytest.raises(ValueError, match="token 0 enters stage 1 in cycle 3"):
        check(early)
    with pytest.raises(ValueError, match="stage 0 has tokens 0 and 1"):
        timetable(3, 4, 1, 2, every=3)


@pytest.mark.rows("spread, c2", [("fixed", 0.0), ("exponential", 1.0)])
def test_a_line_waits_as_pollaczek_and_khinchine_say(spread, c2):
    spent = run_line(0.6, 60_000, spread)
    assert mean(spent) == pytest.approx(1 + mean_wait(0.6, 1.0, c2), rel=0.04)


def test_streamed_weights_by_hand():
    found = stream(LLAMA, "wse3", "fp16", rows=10)
    model, device = models.get(LLAMA), hardware.get("wse3")
    read = model.streamed_parameters.si * 2
    assert found.sending.si == pytest.approx(read / 150e9, rel=1e-4)
    peak = device.peak("fp16").si
    assert found.computing.si == pytest.approx(10 * read / peak, rel=1e-4)
    enough = round(found.hidden_from.si)
    assert enough == pytest.approx(peak / 150e9, rel=1e-4)  # whatever the model
    for rows, bound in ((enough - 1, "sending"), (enough + 1, "computing")):
        full = stream(LLAMA, "wse3", "fp16", rows=rows)
        assert full.time.si == getattr(full, bound).si
    two = stream(LLAMA, "wse3", "fp16", rows=10, wafers=2)
    assert two.computing.si == pytest.approx(found.computing.si / 2)


@settings(max_examples=20, deadline=None)
@given(st.integers(1, 500), st.floats(1e6, 1e9), st.floats(1e9, 1e12))
def test_the_price_of_a_token_is_that_of_the_whole_machine(batch, cache, weights):
    """Chips that hold everything, their price over the tokens that they make."""
    price, capacity, time, life = 2e4, 230e6, 3e-3, 1e8
    chips = (weights + batch * cache) / capacity
    machine = chips * price / life / (batch / time)
    held = held_price(price, capacity, time)
    assert token_price(held, weights, cache, batch, life) == pytest.approx(machine)
    # A full HBM reads all of itself for a token, so its factor has no capacity.
    full = held_price(3e4, 80e9, 80e9 / 3.35e12)
    assert full == pytest.approx(3e4 / 3.35e12)
    turn = turning_capacity(price, time, 3e4, 3.35e12)
    assert held_price(price, turn, time) == pytest.approx(full)


BAD = [
    (timetable, (0, 1, 0, 1)),
    (timetable, (1, 1.5, 0, 1)),
    (timetable, (1, 1, -1, 1)),
    (run_line, (1.0, 10)),
    (run_line, (0.5, 10, "normal")),
    (held_price, (0, 1, 1)),
    (held_price, (1, float("nan"), 1)),
    (token_price, (1, 1, -1, 1, 1)),
]


@pytest.mark.rows("call, given", BAD)
def test_bad_input_gives_no_number(call, given):
    with pytest.raises((ValueError, LookupError)):
        call(*given)


def test_a_stream_needs_a_link():
    with pytest.raises(hardware.UnknownSpec, match="host_link"):
        stream(LLAMA, "groq-3", "fp8")
    with pytest.raises(ValueError, match="rows = 0"):
        stream(LLAMA, "wse3", "fp16", rows=0)
