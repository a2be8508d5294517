"""Ten thousand random operations with memory too small: nothing leaks or starves."""

from __future__ import annotations

import numpy as np

from stacklib.serving import Engine
from stacklib.tinylm import Sampling


def without_products(weights, pool, segments):
    """Logits that say the same of every token; blocks and turns are what is tested."""
    return [np.zeros((each.wanted, 8), np.float32) for each in segments]


def test_nothing_leaks(small, monkeypatch):
    monkeypatch.setattr(
        "stacklib.serving.engine.engine.forward_batch", without_products
    )
    engine = Engine(small, blocks=10, block_size=2, max_batch=4, chunk=6)
    allocator = engine._memory.allocator
    draw = np.random.default_rng(4)
    for operation in range(10_000):
        dice = draw.random()
        if dice < 0.3 and len(engine.waiting) < 12:
            length = int(draw.integers(1, 14))
            engine.submit(
                draw.integers(0, 2, length).tolist(),
                Sampling(0.0),
                most=int(draw.integers(1, 8)),
            )
        elif dice < 0.4 and engine.requests:
            engine.cancel(int(draw.choice(list(engine.requests))))
        elif engine.busy:
            alive = [*engine.running, *engine.waiting]
            oldest = min(alive, key=lambda each: each.rank)
            before = oldest.computed
            engine.step()
            assert oldest.computed > before or oldest.done  # it always progresses
        if not operation % 100:
            allocator.check()
            held = {s.owner for s in allocator.sequences}
            assert held == {each.id for each in engine.running}
    while engine.busy:
        engine.step()
    allocator.check()
    found = engine.metrics()
    assert found.blocks_used == 0
    assert found.counts.preemptions > 50
    assert found.counts.finished + found.counts.cancelled == found.counts.submitted
