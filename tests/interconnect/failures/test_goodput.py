"""Best interval, repeated steps in closed form, by replay, and by killed processes."""

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib.interconnect.failures import goodput, processes, worker
from stacklib.memory.tiers.checkpoint import (
    daly_interval,
    expected_time,
    run_failures,
    young_interval,
)

from ...rows import refusals


@settings(max_examples=60, deadline=None)
@given(st.floats(1e-3, 1e4), st.floats(10.0, 1e7))
def test_no_interval_beats_the_best(cost, mean):
    best = goodput.best_interval(cost, mean)

    def time(interval):
        return expected_time(interval, cost=cost, restart=0, between_failures=mean)

    assert 0 < best <= mean
    if cost < 50 * mean:  # beyond, exp of it overflows
        for off in (0.9, 0.99, 1.01, 1.1):
            assert time(best) <= time(best * off) * (1 + 1e-12)


def test_dalys_interval_is_close_where_saving_is_cheap_and_youngs_less_so():
    for cost in (1.0, 30.0, 300.0):
        best = goodput.best_interval(cost, 11_000.0)
        assert daly_interval(cost, 11_000.0) == pytest.approx(best, rel=1e-3)
        assert young_interval(cost, 11_000.0) > best


def test_useful_share_is_drawn_too():
    given_ = {"cost": 30.0, "restart": 300.0, "between_failures": 11_000.0}
    share = goodput.useful_share(800.0, **given_)
    assert 1 / run_failures(800.0, **given_) == pytest.approx(share, rel=0.01)


@settings(max_examples=12, deadline=None)
@given(st.integers(1, 12), st.floats(0.0, 0.15))
def test_steps_of_a_segment_are_those_of_a_long_replay(every, fails):
    segments = 3000
    kills = goodput.draw_kills(fails, seed=every)
    counts = goodput.replay(segments * every, every, kills)
    mean = goodput.steps_for_a_segment(every, fails)
    assert counts.executed / segments == pytest.approx(mean, rel=0.1)
    assert counts.repeated == counts.executed - segments * every


def test_killed_processes_do_what_the_replay_says_and_end_as_if_nothing_had_been():
    steps, every, fails = 40, 6, 0.12
    kills = list(itertools.islice(goodput.draw_kills(fails, seed=4), 400))
    run = processes.run_killed(steps, every, kills)
    assert run.counts == goodput.replay(steps, every, kills)
    assert run.counts.restarts >= 3
    assert worker.first() == [1, 2, 3, 4, 5, 6, 7, 8]
    assert run.state == processes.undisturbed(steps)


def test_a_kill_while_saving_costs_that_interval_and_nothing_else():
    run = processes.run_killed(12, 4, [], kill_saving=8)
    assert run.counts.resumed_at == (4,)
    assert run.counts.repeated == 4
    assert run.state == processes.undisturbed(12)


def test_a_checkpoint_written_over_the_old_one_is_lost_with_the_process():
    """The planted fault: without the move, a kill while saving leaves half a file."""
    with pytest.raises(RuntimeError, match="cut off after"):
        processes.run_killed(12, 4, [], kill_saving=8, torn=True)


def test_a_worker_that_hangs_ends_within_its_limit(monkeypatch, tmp_path):
    sleeper = tmp_path / "sleeper.py"
    sleeper.write_text("import time\ntime.sleep(60)\n")
    monkeypatch.setattr(worker, "__file__", str(sleeper))
    with pytest.raises(TimeoutError, match=r"longer than 0\.2 s"):
        processes.run_killed(4, 2, [], limit_s=0.2)


test_bad_input_is_named = refusals(
    (lambda: goodput.replay(0, 3, []), "steps = 0"),
    (lambda: goodput.steps_for_a_segment(3, 1.0), "fails = 1.0"),
    (lambda: goodput.best_interval(0, 5.0), "cost = 0"),
    (lambda: processes.run_killed(4, 2, [], limit_s=-1), "limit_s = -1"),
)
