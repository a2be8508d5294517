"""Two pools: balance against the loop of events, turns, and two real processes."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib import tinylm
from stacklib.kernels.schedule.pipeline import steady_state
from stacklib.serving import Engine
from stacklib.serving.pools import balance, exchange, halves, turns
from stacklib.serving.simulation.simulate import simulate
from stacklib.serving.simulation.traffic import poisson

TIMES = st.floats(0, 10, allow_nan=False)
PROMPTS = [list(range(7 * tokens, 8 * tokens)) for tokens in (40, 16, 33)]


@pytest.mark.parametrize("readers, writers", [(1, 1), (1, 4), (1, 20), (2, 30)])
def test_the_full_pool_decides(readers, writers):
    # 64 tokens in 10 ms; 4 slots with one token in 10 ms, the first one read before.
    told = balance.capacity(readers, writers, 64, 49, 6400, 400)
    pools = {"prefill": readers, "decode": writers}
    asked = {"pools": pools, "chunk": 64, "max_batch": 4, "step_time": 0.01}
    rows = poisson(1e6, 800, prompt=64, new=50)
    done = 800e9 / simulate(None, traffic=rows, **asked).outcome.end
    assert done == pytest.approx(told, rel=0.12) and done <= told


def test_a_mix_that_fills_both():
    first, second, read, written = 3, 9, 52.3e3, 22.3e3
    new = 2000 * balance.mix(first, second, read, written)
    assert new == pytest.approx(2558, abs=1)
    assert balance.readers(2000, new, read, written) == pytest.approx(first / second)
    both = balance.capacity(first, second, 2000, new, read, written)
    assert both == pytest.approx(first * read / 2000)


def test_nothing_meets_the_limit():
    def served(rate):
        return simulate(None, traffic=poisson(rate, 20), step_time=0.01)

    assert balance.sustained(served, {"tpot": 0.001}) == 0
    with pytest.raises(ValueError, match="share = 2"):
        balance.sustained(served, {"tpot": 0.001}, share=2)


@settings(max_examples=40, deadline=None)
@given(TIMES, TIMES, TIMES, st.integers(1, 4))
def test_the_pace_is_the_pipeline_s(attention, mlp, crossing, many):
    told = turns.pace(attention, mlp, crossing, many)
    made = turns.stages(attention, mlp, crossing, many)
    assert steady_state(made) == pytest.approx(told)
    ran = turns.run_turns(attention, mlp, crossing, 60, many).time
    fill = attention + mlp + 2 * crossing
    assert 60 * many * told <= ran + 1e-9 <= 60 * many * told + fill + 2e-9


@pytest.mark.parametrize("wrong", [{"crossing": -1.0}, {"micro_batches": 0}])
def test_turns_refuse(wrong):
    with pytest.raises(ValueError):
        turns.run_turns(
            **{"attention": 1, "mlp": 1, "crossing": 1, "layers": 2} | wrong
        )


@pytest.fixture(scope="module")
def alone():
    engine = Engine(tinylm.load(), **exchange.SIZES)
    return [exchange.answered(engine, prompt, 4) for prompt in PROMPTS]


def test_two_pools_answer_as_one(alone):
    found = exchange.run_two_pools(PROMPTS, 4)
    assert found["outputs"] == alone
    assert found["first"] == [answer[0] for answer in alone]
    shape = tinylm.load().architecture
    # Full blocks: two of 40 tokens and two of 33. The one of 16 has the last token in
    # it, which is read again for what follows.
    assert found["bytes"] == 4 * shape.kv_bytes(16, "fp32").si
    assert found["found"] == 4


def test_two_halves_answer_as_one(alone):
    short = [PROMPTS[1], PROMPTS[1][:9]]
    found = halves.run_two_halves(short, 3)
    engine = Engine(tinylm.load(), **exchange.SIZES)
    assert found["outputs"] == [exchange.answered(engine, each, 3) for each in short]
    layers = tinylm.load().config.num_hidden_layers
    assert found["mlps"] == 3 * layers * len(short)
    assert found["crossings"] == turns.crossings(layers, 3 * len(short))


def test_a_prompt_too_long_for_a_socket():
    with pytest.raises(ValueError, match="33 tokens of a prompt: at most 32"):
        halves.run_two_halves([list(range(33))], 1)
