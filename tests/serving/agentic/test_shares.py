"""Shares of machines: against enumeration, bounds, and an exact closed network."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib.memory.dram.in_flight import closed_rate
from stacklib.quantity import UnknownName
from stacklib.serving import machine_share
from stacklib.serving.agentic.order import longest, ordered, run
from stacklib.serving.agentic.shares import Step


@st.composite
def workloads(draw):
    kinds, steps = st.sampled_from(["cpu", "gpu", "network"]), []
    for n in range(draw(st.integers(1, 6))):
        earlier = st.sets(st.sampled_from(range(n))) if n else st.just(())
        after = tuple(f"s{each}" for each in draw(earlier))
        seconds = float(draw(st.integers(0, 5)))
        steps.append(Step(f"s{n}", draw(kinds), seconds, after))
    return [*steps, Step("end", "gpu", 1.0)]


def test_two_tools_at_once_and_only_one_on_the_path():
    found = machine_share(
        [
            Step("ask", "gpu", 4.0),
            Step("grep", "cpu", 1.0),
            Step("test", "cpu", 3.0, after=("ask",)),
            Step("answer", "gpu", 4.0, after=("grep", "test")),
        ]
    )
    assert found.path == ("ask", "test", "answer") and found.length == 11
    assert found.share("cpu") == 4 / 12


@given(workloads(), st.integers(1, 4), st.integers(1, 3), st.integers(1, 3))
@settings(max_examples=60)
def test_a_run_stays_below_its_bound(steps, sessions, cpu, gpu):
    found = machine_share(steps)
    places = {"cpu": cpu, "gpu": gpu}
    most = found.utilisation_bound(sessions, places)
    busy = found.utilisation(sessions, places, rounds=3)
    assert all(busy[kind] <= most[kind] + 1e-9 for kind in places)
    # One session and machines enough: the longest path, exactly.
    whose = found.whose
    took, work = run(found.before, found.seconds.__getitem__, whose, {})
    assert took == pytest.approx(found.length)
    assert work == {kind: found.work(kind) for kind in work}
    # Graham's bound: on one machine of a kind never longer than path and all work.
    alone, _ = run(found.before, found.seconds.__getitem__, whose, {"cpu": 1, "gpu": 1})
    assert found.length - 1e-9 <= alone
    assert alone <= found.length + found.work("cpu") + found.work("gpu") + 1e-9


@pytest.mark.parametrize("sessions", [1, 3, 8])
def test_one_gpu_behind_tools_is_a_closed_network(sessions):
    """With drawn times it is the network that mean value analysis solves exactly."""
    steps = [Step("tool", "cpu", 3.0), Step("model", "gpu", 1.0)]
    busy = machine_share(steps).utilisation(sessions, {"gpu": 1}, rounds=1500, seed=2)
    exact = closed_rate(sessions, 1, 1.0, 3.0) * 1.0
    assert busy["gpu"] == pytest.approx(exact, rel=0.04)


def test_a_planted_fault_is_seen():
    """A path by the fewest steps instead of the most seconds is not the run's time."""
    before = ordered(["a", "b", "c"], [("a", "c"), ("b", "c")])
    seconds = {"a": 1.0, "b": 9.0, "c": 1.0}
    wrong = seconds["a"] + seconds["c"]
    took, _ = run(before, seconds.__getitem__, dict.fromkeys(before, "cpu"), {})
    assert longest(before, seconds)[0] == took == 10 != wrong


@pytest.mark.parametrize(
    ("steps", "words"),
    [
        ([], "at least one"),
        ([Step("a", "cpu", 1.0), Step("a", "gpu", 1.0)], "two steps are called 'a'"),
        ([Step("a", "cpu", -1.0)], "seconds of a = -1.0"),
        ([Step("a", "cpu", math.nan)], "seconds of a = nan"),
        ([Step("a", "cpu", True)], "seconds of a = True"),
        ([Step("a", "network", 1.0)], "no step takes a processor or a GPU"),
        ([Step("a", "cpu", 1.0, ("b",)), Step("b", "cpu", 1.0)], "a circle never ends"),
        ([Step("a", "cpu", 1.0), Step("b", "cpu", 1.0, "a")], "a tuple of names"),
    ],
)
def test_bad_workloads_are_refused(steps, words):
    with pytest.raises(ValueError, match=words):
        machine_share(steps)


def test_unknown_names_are_refused():
    with pytest.raises(UnknownName, match="known: cpu, gpu, network"):
        machine_share([Step("a", "tpu9", 1.0)])
    with pytest.raises(UnknownName, match="did you mean: fetch"):
        machine_share([Step("fetch", "cpu", 1.0), Step("b", "gpu", 1.0, ("fetsh",))])
    found = machine_share([Step("a", "cpu", 1.0)])
    with pytest.raises(UnknownName):
        found.utilisation(1, {"network": 1})
    for sessions, places in ((0, {"cpu": 1}), (1, {"cpu": 0}), (True, {"cpu": 1})):
        with pytest.raises(ValueError, match="a whole number from 1"):
            found.utilisation_bound(sessions, places)
