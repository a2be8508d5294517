"""What leaves the pool comes back from a tier, bit for bit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from stacklib.serving import Engine
from stacklib.serving.engine.replay import replay
from stacklib.serving.tiers.file import FileTier
from stacklib.serving.tiers.host import HostTier
from stacklib.tinylm import Sampling

SIZES = {"blocks": 12, "block_size": 4, "max_batch": 4, "chunk": 16}


def served(model, tiers, damage=None):
    """Four that do not fit together, each asked again afterwards."""
    engine = Engine(model, **SIZES, tiers=tiers)
    draw = np.random.default_rng(3)
    # Of whole blocks, too: the last token is computed again all the same.
    prompts = [draw.integers(0, 2047, n).tolist() for n in (9, 8, 9, 12)]
    for _ in range(2):
        for seed, tokens in enumerate(prompts):
            how = Sampling(0.8) if seed % 2 else Sampling(0.0)
            engine.submit(tokens, how, most=20, seed=seed)
        while engine.busy:
            engine.step()
            if damage:
                damage(engine)
        engine._memory.allocator.check()
    return engine


@pytest.mark.parametrize("kind", ["host", "file", "both"])
def test_preempted_by_swap(small, tmp_path, kind):
    without = served(small, ())
    with FileTier(40, tmp_path / "blocks") as drive:
        tiers = {"host": (HostTier(40),), "file": (drive,)}
        engine = served(small, tiers.get(kind, (HostTier(4), drive)))
        for mine, other in zip(
            engine.requests.values(), without.requests.values(), strict=True
        ):
            assert mine.output == other.output
            assert replay(small, mine).wrong == 0
            told = engine.explain(mine.id)
            assert sum(told.parts.values()) == pytest.approx(told.total)
        found, due = engine.metrics().counts, without.metrics().counts
        assert found.blocks_swapped_in > 0 and due.blocks_swapped_in == 0
        assert found.preemptions > 0
        # Only what did not fill a block is computed again.
        assert found.recomputed_tokens <= 4 * found.preemptions < due.recomputed_tokens
        # The second time a prompt is asked for, it comes from the tier.
        assert found.cached_tokens > due.cached_tokens
        assert found.tier_tokens == 4 * found.blocks_swapped_in
        swaps = sum(engine.explain(one).parts["swap"] for one in engine.requests)
        assert swaps > 0
        came = [e.detail for e in engine.log if e.what == "swapped_in"]
        tiers = {e["tier"] for e in came}
        assert tiers == ({"host", "file"} if kind == "both" else {kind})
        went = {e.detail["key"] for e in engine.log if e.what == "swapped_out"}
        assert {e["key"] for e in came} <= went


def test_a_block_changed_in_the_tier_is_seen(small):
    """The answers stand on the bytes that come back."""
    tier = HostTier(40)

    def damage(engine):
        for key in tier.keys:
            k, v = tier.get(key)
            tier.put(key, -k, v)

    engine = served(small, (tier,), damage)
    assert sum(replay(small, each).wrong for each in engine.requests.values()) > 0


def test_models_share_a_tier_and_no_block(small):
    tier = HostTier(80)
    served(small, (tier,))
    name = "model.layers.1.self_attn.k_proj.weight"
    other = replace(small, weights={**small.weights, name: -small.weights[name]})
    again, alone = served(other, (tier,)), served(other, (HostTier(80),))
    for mine, due in zip(again.requests.values(), alone.requests.values(), strict=True):
        assert (mine.output, mine.cached) == (due.output, due.cached)


def test_blocks_that_make_room_do_not_push_out_those_they_make_room_for(small):
    host = HostTier(3)
    engine = Engine(small, **SIZES | {"blocks": 4, "max_batch": 1}, tiers=(host,))
    told = []
    for who in (3, 5, 3, 5):  # three full blocks, and a token
        request = engine.submit([who] * 13, Sampling(0), most=1)
        while engine.busy:
            engine.step()
        told.append((request.cached, request.output))
    first, second = told[0][1], told[1][1]
    assert told == [(0, first), (0, second), (12, first), (12, second)]
    assert host.moved.dropped == host.moved.misses == 0
    assert host.moved.gets == 2 * 3
