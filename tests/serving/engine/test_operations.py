"""Ten thousand random operations with memory too small: nothing leaks or starves."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib.serving import Engine
from stacklib.serving.engine.dry import DryRun
from stacklib.tinylm import Sampling


@pytest.mark.parametrize(
    ("policy", "operations"), [("fcfs", 10_000), ("shortest", 1_000)]
)
def test_nothing_leaks(policy, operations):
    engine = DryRun(blocks=10, block_size=2, max_batch=4, chunk=6, policy=policy)
    allocator = engine._memory.allocator
    draw = np.random.default_rng(4)
    for operation in range(operations):
        dice = draw.random()
        if dice < 0.3 and len(engine.waiting) < 12:
            length = int(draw.integers(1, 14))
            tokens = draw.integers(0, 2, length).tolist()
            engine.submit(tokens, most=int(draw.integers(1, 8)))
        elif dice < 0.4 and engine.requests:
            engine.cancel(int(draw.choice(list(engine.requests))))
        elif engine.busy:
            alive = [*engine.running, *engine.waiting]
            oldest = min(alive, key=lambda each: each.rank)
            before = oldest.computed
            engine.step()
            if policy == "fcfs":  # it always progresses
                assert oldest.computed > before or oldest.done
        if not operation % 100:
            allocator.check()
            held = {s.owner for s in allocator.sequences}
            assert held == {each.id for each in engine.running}
    while engine.busy:
        engine.step()
    allocator.check()
    found = engine.metrics()
    assert found.blocks_used == 0
    assert found.counts.preemptions > operations / 200
    assert found.counts.finished + found.counts.cancelled == found.counts.submitted


def test_a_long_prompt_does_not_starve_behind_short_ones():
    engine = DryRun(blocks=20, block_size=2, max_batch=1, chunk=8, policy="shortest")
    engine.submit([1, 2], most=3)
    long = engine.submit(range(30), most=2)
    for step in range(60):
        engine.submit([step], most=1)  # one more in every step, and each is shorter
        engine.step()
    assert long.done


@given(st.integers(0, 999), st.integers(8, 30), st.integers(1, 4), st.integers(4, 20))
@settings(max_examples=6)
def test_without_a_model_the_turns_are_the_same(small, seed, blocks, batch, chunk):
    sizes = {"blocks": blocks, "block_size": 4, "max_batch": batch, "chunk": chunk}
    wet, dry = Engine(small, **sizes), DryRun(**sizes)
    draw = np.random.default_rng(seed)
    for _ in range(6):
        tokens = draw.integers(0, 3, draw.integers(1, 14)).tolist()
        most = int(draw.integers(1, 15))
        wet.submit(tokens, Sampling(0.0), most=most)
        dry.submit(tokens, most=most)
    while wet.busy:
        wet.step()
        dry.step()
        assert [r.id for r in wet.running] == [r.id for r in dry.running]
    for one, other in zip(wet.requests.values(), dry.requests.values(), strict=True):
        if one.reason == "length":
            mine, due = wet.explain(one.id), dry.explain(other.id)
            assert (mine.parts, mine.evictions) == (due.parts, due.evictions)
