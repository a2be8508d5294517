"""Who comes back takes his blocks out of the tiers before others are put there."""

from stacklib import tinylm
from stacklib.serving import Engine, HostTier
from stacklib.tinylm import Sampling

SIZE, FULL = 8, 3  # tokens of a block, full blocks of each prompt


def test_blocks_that_make_room_do_not_push_out_those_they_make_room_for():
    model, host = tinylm.load(), HostTier(FULL)
    engine = Engine(
        model, blocks=FULL + 1, block_size=SIZE, max_batch=1, chunk=64, tiers=(host,)
    )
    prompts = {who: [who] * (FULL * SIZE) + [model.tokenizer.end] for who in (3, 5)}
    told = []
    for who in (3, 5, 3, 5):
        request = engine.submit(prompts[who], Sampling(0), most=1)
        while engine.busy:
            engine.step()
        told.append((request.cached, request.output))
    first, second = told[0][1], told[1][1]
    assert told == [(0, first), (0, second), (24, first), (24, second)]
    assert host.moved.dropped == host.moved.misses == 0
    assert host.moved.gets == 2 * FULL
