"""A request's time is split by cause, and nothing is left over."""

from __future__ import annotations

from dataclasses import fields
from itertools import accumulate

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib.paged_kv import allocator
from stacklib.serving import Engine
from stacklib.serving.engine.delay import PARTS, Rows, rows_of
from stacklib.serving.engine.dry import DryRun
from stacklib.serving.engine.latency import DEFINITIONS, Latency, latency
from stacklib.tinylm import Sampling


class Ticking:
    """A clock on which every reading is later by another while."""

    def __init__(self, seed):
        draw = np.random.default_rng(seed)
        self.times = accumulate(draw.uniform(0, 1, 1 << 16))

    def __call__(self):
        return float(next(self.times))


def workload(engine, seed, operations):
    """Random submissions, steps and cancellations, then to the end."""
    draw = np.random.default_rng(seed)
    room = engine._memory.allocator.blocks * engine._memory.allocator.block_size
    for _ in range(operations):
        dice = draw.random()
        if dice < 0.25:
            length = int(draw.integers(1, min(30, room - 6)))
            most = int(draw.integers(1, 1 + min(20, room - length)))
            tokens = draw.integers(0, 3, length).tolist()
            engine.submit(tokens, Sampling(0.0), most=most)
        elif dice < 0.3 and engine.requests:
            engine.cancel(int(draw.choice(list(engine.requests))))
        else:
            engine.step()
            yield
    while engine.busy:
        engine.step()
        yield


@given(
    seed=st.integers(0, 999),
    blocks=st.integers(8, 30),
    batch=st.integers(1, 5),
    chunk=st.integers(5, 20),
    policy=st.sampled_from(["fcfs", "shortest", "static"]),
    counted=st.booleans(),
)
@settings(max_examples=12, deadline=None)
def test_parts_sum_to_what_the_client_saw(
    small, seed, blocks, batch, chunk, policy, counted
):
    clock = None if counted else Ticking(seed)
    engine = Engine(
        small,
        blocks=blocks,
        block_size=4,
        max_batch=batch,
        chunk=chunk,
        policy=policy,
        clock=clock,
    )
    for _ in workload(engine, seed, 60):
        for one in engine.requests:
            told = engine.explain(one)
            assert list(told.parts) == list(PARTS)
            assert sum(told.parts.values()) == pytest.approx(told.total, abs=1e-9)
            assert min(told.parts.values()) >= -1e-9
    again = 0
    for one in engine.requests.values():
        told = engine.explain(one.id)
        assert told.total == one.finished - one.submitted
        again += sum(each.recomputed for each in told.evictions)
        assert bool(told.parts["recomputed"]) == any(
            each.recomputed for each in told.evictions
        )
        time = sum(each.time for each in told.evictions)
        assert told.parts["recomputed"] == pytest.approx(time)
    counts = engine.metrics().counts
    assert again == counts.recomputed_tokens
    lost = sum(e.lost for one in engine.requests for e in engine.explain(one).evictions)
    assert lost >= counts.recomputed_tokens
    assert counts.preemptions == sum(
        len(engine.explain(one).evictions) for one in engine.requests
    )


def test_causes_by_hand(small):
    """One slot: the second waits for it; the first is read alone, in work units."""
    engine = Engine(small, blocks=9, block_size=4, max_batch=1, chunk=8)
    first = engine.submit(range(10), Sampling(0.0), most=2)
    second = engine.submit([1, 2], Sampling(0.0), most=1)
    while engine.busy:
        engine.step()
    parts = {k: v for k, v in engine.explain(first.id).parts.items() if v}
    # Eight rows and two in two steps of eight units each; then one row.
    assert parts == {"prompt": 26.0, "decode": 9.0}
    parts = {k: v for k, v in engine.explain(second.id).parts.items() if v}
    assert parts == {"slot": 35.0, "prompt": 10.0}


def test_a_step_is_shared_by_rows():
    """Two prompts in a step of 16 units, two decode rows and a prompt in one of 13."""
    engine = DryRun(blocks=20, block_size=4, max_batch=3, chunk=8)
    first = engine.submit([1] * 6, most=2)
    second = engine.submit([2] * 2, most=2)
    engine.step()
    third = engine.submit([3] * 3, most=1)
    engine.step()
    assert not engine.busy
    for one, due in (
        (first, {"others": 4 + 7.8, "prompt": 12, "decode": 5.2}),
        (second, {"others": 12 + 7.8, "prompt": 4, "decode": 5.2}),
        (third, {"prompt": 13}),  # decode rows go along
    ):
        parts = {k: v for k, v in engine.explain(one.id).parts.items() if v}
        assert parts == pytest.approx(due)


def test_why_no_more_was_found_is_asked_once_however_long_one_waits(small, monkeypatch):
    asked, why = [], allocator.why
    monkeypatch.setattr(allocator, "why", lambda *on: asked.append(on) or why(*on))
    engine = Engine(small, blocks=6, block_size=4, max_batch=2, chunk=32)
    for first in (0, 20, 40):  # blocks for one at a time
        engine.submit(range(first, first + 13), Sampling(0.0), most=8)
    while engine.busy:
        engine.step()
    assert len(asked) == 3


def test_an_eviction_names_who_needed_the_block(small):
    engine = Engine(small, blocks=6, block_size=4, max_batch=2, chunk=32)
    old = engine.submit(range(11), Sampling(0.0), most=12)
    young = engine.submit(range(20, 31), Sampling(0.0), most=12)
    while engine.busy:
        engine.step()
    told = engine.explain(young.id)
    (lost,) = told.evictions
    assert (lost.by, lost.lost) == (old.id, 12)
    assert 0 < lost.recomputed <= lost.lost
    assert told.parts["blocks"] > 0 < told.parts["recomputed"]
    assert not engine.explain(old.id).evictions
    assert young.cached == 0  # tokens computed again are no prefix hits
    assert engine.metrics().hit_rate == 0


@given(*(st.integers(0, 12) for _ in range(4)))
def test_rows_by_what_they_are(start, count, prompt, highest):
    """Against a look at every row; ``highest`` is never below the start."""
    highest += start
    due = Rows()
    for at in range(start, start + count):
        if at < highest:
            due.recomputed += 1
        elif at < prompt:
            due.prompt += 1
        else:
            due.decode += 1
    assert rows_of(start, count, prompt, highest) == due


@pytest.mark.parametrize(
    ("times", "due"),
    [
        ((), Latency(None, None, None, (), 9.0, 0)),
        ((4.0,), Latency(3.0, None, 3.0, (), 9.0, 1)),
        # With the first token counted, TPOT is half as long again.
        ((4.0, 6.0, 6.0, 10.0), Latency(3.0, 2.0, 2.25, (2.0, 0.0, 4.0), 9.0, 4)),
    ],
)
def test_what_a_client_waits_for_by_hand(times, due):
    assert latency(1.0, times, 10.0) == due


def test_time_does_not_go_back():
    with pytest.raises(ValueError, match="must not go back"):
        latency(5.0, (4.0,), 6.0)


def test_each_number_has_its_definition():
    assert set(DEFINITIONS) == {each.name for each in fields(Latency)} - {"tokens"}
