"""Two pools: what crosses between them, by hand and in closed form."""

import pytest

from stacklib.serving import poisson, simulate
from stacklib.serving.simulation.pools import Turns, pools_of
from stacklib.serving.simulation.setup import served
from stacklib.serving.simulation.steps import Work

STEP, CROSS = 10, 25  # ns
MODEL = ("llama-2-7b", "h100-sxm")


def split(rows, **options):
    pools = {"prefill": 1, "decode": 1, "crossing": CROSS * 1e-9}
    return simulate(
        None, traffic=rows, step_time=STEP * 1e-9, **{"pools": pools, **options}
    )


def test_a_cache_crosses_before_its_second_token():
    found = split([(0, 0, 4, 3)])
    (done,) = found.requests
    assert (done.first, done.finished, done.machine) == (10, 55, 1)
    assert +found.outcome.gaps == {35: 1, 10: 1}


def test_two_caches_cross_one_after_the_other():
    found = split([(0, 0, 4, 3), (1, 0, 4, 3)])
    # Both are read by 10; the second arrives at 60, when the first has gone at 55.
    assert [each.finished for each in found.requests] == [55, 80]


def test_one_token_never_crosses():
    found = split([(0, 0, 4, 1)])
    assert (found.requests[0].finished, found.requests[0].machine) == (10, 0)


def test_a_cache_is_held_here_until_it_is_there():
    # Two blocks for each: the second prompt waits until the first cache is over.
    found = split([(0, 0, 20, 2), (1, 0, 20, 2)], blocks=2)
    assert [each.admitted for each in found.requests] == [0, 35]


def test_what_crosses_is_the_prompts_cache_over_the_link():
    rows = [(0, 0, 1000, 2)]
    slow, fast = (
        simulate(*MODEL, rows, pools={"prefill": 1, "decode": 1, "link": rate})
        for rate in (1e9, 2e9)
    )
    bytes_ = 1000 * 2 * 32 * 4096 * 2  # keys and values of 32 layers in 16 bits
    gone = slow.requests[0].finished - fast.requests[0].finished
    assert gone / 1e9 == pytest.approx(bytes_ / 2e9, rel=1e-6)


def test_others_prompts_leave_the_decode_pool_alone():
    rows = poisson(6, 200, prompt=2048, new=64)
    one = simulate(*MODEL, rows, replicas=2, router="least-loaded")
    two = simulate(*MODEL, rows, pools={"prefill": 1, "decode": 1})
    assert two.percentiles("itl")[99] < 0.5 * one.percentiles("itl")[99]


@pytest.mark.parametrize("work", [Work(16, 16 * 700), Work(64, 64 * 1500)])
def test_turns_take_the_longer_side_or_the_whole_way(work):
    law = served(*MODEL, 1, 1, "bf16", None, "engine").law(None, 1.0)
    for many, crossing in ((2, 0.0), (4, 1e-5), (1, 1e-4)):
        asked = {"attention": 1, "mlp": 1, "crossing": crossing, "micro_batches": many}
        turns = Turns(law, pools_of(asked))
        attention, mlp = turns.sides(work)
        way = attention + mlp + 64 * crossing  # both ways in 32 layers
        longest = max(many * attention, many * mlp, way)
        assert turns.parts(work)["layers"] == pytest.approx(longest)
    # One of each, at once, and nothing to cross: as if one chip did both in turn.
    alone = Turns(law, pools_of({**asked, "crossing": 0.0, "micro_batches": 1}))
    assert alone.mixed(work) == pytest.approx(law.mixed(work), rel=1e-6)
