"""The pipeline model: events, steady state, the checker and its planted faults."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib.gpu.tensor.tile_feed import Feed, feed_time, run_feed
from stacklib.kernels.schedule.pipeline import (
    Stage,
    Timeline,
    pipeline,
    steady_state,
    verify,
)

from ...rows import refusals

times = st.floats(0.1, 20).map(lambda x: round(x, 3))


@settings(deadline=None, max_examples=60)
@given(times, st.floats(0, 30), times, st.integers(1, 6), st.integers(1, 40))
def test_a_producer_and_a_consumer_three_ways(load, latency, mma, buffers, steps):
    feed = Feed(load, latency, mma, buffers)
    ran = pipeline(
        [Stage("load", load, "way", (), latency), Stage("mma", mma, "tensor")],
        steps,
        buffers,
    )
    assert ran.time == pytest.approx(feed_time(feed, steps))
    starts = [step.start for step in run_feed(feed, steps)]
    assert [e.start for e in ran.of("mma")] == pytest.approx(starts)
    pace = max(load, mma, (load + latency + mma) / buffers)
    assert steady_state(ran.stages, buffers) == pytest.approx(pace, rel=1e-6)
    assert verify(ran) == []


@st.composite
def chains(draw):
    count = draw(st.integers(1, 5))
    units = draw(st.lists(st.sampled_from("abc"), min_size=count, max_size=count))
    return [Stage(f"s{i}", draw(times), units[i]) for i in range(count)]


@settings(deadline=None, max_examples=60)
@given(chains(), st.integers(1, 12), st.one_of(st.none(), st.integers(1, 4)))
def test_every_run_is_without_fault_and_no_faster_than_the_closed_form(
    stages, tiles, buffers
):
    ran = pipeline(stages, tiles, buffers)
    assert verify(ran) == []
    assert len(ran.events) == tiles * len(stages)
    once = sum(stage.time for stage in stages)
    assert ran.time >= (tiles - 1) * steady_state(stages, buffers) - 1e-6
    assert once - 1e-9 <= ran.time <= once * tiles + 1e-9


@settings(deadline=None, max_examples=40)
@given(chains(), st.integers(2, 10), st.integers(1, 3), st.data())
def test_a_planted_fault_is_named(stages, tiles, buffers, data):
    ran = pipeline(stages, tiles, buffers)
    place = data.draw(st.integers(0, len(ran.events) - 1))
    event = ran.events[place]

    def planted(*others):
        kept = [e for i, e in enumerate(ran.events) if i != place]
        return verify(replace(ran, events=(*kept, *others)))

    named = f"{event.stage} of tile {event.tile}"
    assert any(f"{named} is never done" in f for f in planted())
    assert any("twice" in f for f in planted(event, event))
    short = replace(event, end=event.start + (event.end - event.start) / 2)
    assert any(named in f and "less than" in f for f in planted(short))
    early = replace(event, start=-1.0)
    assert any(named in f and "begins at" in f for f in planted(early))
    moved = replace(event, unit="z")
    assert any("runs on z" in f for f in planted(moved))


def _two(load=2.0, mma=3.0, buffers=2, tiles=4) -> Timeline:
    return pipeline([("load", load), ("mma", mma)], tiles, buffers)


def _with(ran: Timeline, stage: str, tile: int, start: float) -> Timeline:
    def at(event):
        if (event.stage, event.tile) != (stage, tile):
            return event
        length = event.end - event.start
        return replace(event, start=start, end=start + length, there=start + length)

    return replace(ran, events=tuple(at(e) for e in ran.events))


def test_a_unit_at_two_things_is_named():
    ran = _two(buffers=4)
    (second,) = [e for e in ran.events if e.stage == "mma" and e.tile == 1]
    faults = verify(_with(ran, "mma", 1, second.start - 1))
    assert faults == ["mma does mma of tile 1 while it does mma of tile 0"]


def test_a_tile_before_its_input_is_named():
    ran = _two(load=5.0, mma=1.0, buffers=4)
    (first,) = [e for e in ran.events if e.stage == "mma" and e.tile == 2]
    (fault,) = verify(_with(ran, "mma", 2, first.start - 0.5))
    assert fault == "mma of tile 2 begins before load of tile 2 is there"


def test_a_slot_taken_too_early_is_named():
    ran = _two(buffers=1)
    (late,) = [e for e in ran.events if e.stage == "load" and e.tile == 3]
    (fault,) = verify(_with(ran, "load", 3, late.start - 1))
    assert "load of tile 3 overwrites the slot that mma of tile 2 still reads" in fault


def test_who_waits_for_what_is_recorded():
    ran = _two(load=2.0, mma=3.0, buffers=2)
    assert [e.waited_for for e in ran.of("load")] == ["", "unit", "slot", "slot"]
    assert ran.of("load")[2].who == "mma of tile 0"
    assert ran.of("mma")[0].waited_for == "input"
    assert ran.busy("mma") == pytest.approx(12 / 14)


def test_an_epilogue_beside_the_next_tile_is_an_input():
    serial = [("mma", 4.0, "tensor"), ("store", 2.0, "out")]
    assert pipeline(serial, 8, 1).time == 8 * 6
    assert pipeline(serial, 8, 2).time == 8 * 4 + 2


def test_two_warp_groups_take_turns_and_one_does_not():
    def group(n):
        return [
            Stage(f"mma {n}", 2.0, "tensor", ((f"exp {n}", 1),)),
            Stage(f"exp {n}", 2.0, "exp", (f"mma {n}",)),
        ]

    assert pipeline(group(0), 10).busy("tensor") == pytest.approx(0.5)
    both = pipeline(group(0) + group(1), 10)
    assert both.busy("tensor") > 0.9
    assert steady_state(both.stages) == pytest.approx(4.0, rel=1e-6)


test_bad_input_is_refused = refusals(
    ([], 1, None, "at least one stage"),
    ([("a", 1), ("a", 2)], 1, None, "'a' is given 2 times"),
    ([("a", -1)], 1, None, "time = -1"),
    ([("a", float("nan"))], 1, None, "time = nan"),
    ([("a",)], 1, None, r"\(name, time\)"),
    ([("a", "b")], 1, None, "no number"),
    ([("a", 1)], 0, None, "tiles = 0"),
    ([("a", 1), ("b", 1)], 2, 0, "buffers of a = 0"),
    ([("a", 1), ("b", 1)], 2, {"c": 1}, "buffers of 'c'"),
    ([("a", 1), ("b", 1)], 2, {"b": 1}, "no stage needs"),
    ([Stage("a", 1, "u", ("b",)), ("b", 1)], 1, None, "each other"),
    ([Stage("a", 1, "u", ("x",))], 1, None, "needs 'x'"),
    ([Stage("a", 1, "u", (("a", -1),))], 1, None, "later tile"),
    by=pipeline,
)


def test_slots_that_never_come_free_are_said():
    late = [Stage("a", 1, "u", ()), Stage("b", 1, "v", ("a", ("a", 2)))]
    assert verify(pipeline(late, 4, 3)) == []
    with pytest.raises(ValueError, match="never come"):
        pipeline(late, 4, 1)
