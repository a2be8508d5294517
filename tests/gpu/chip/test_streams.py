"""Streams against the closed form, the checker against planted faults."""

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stacklib.gpu.chip.streams import (
    ORDERS,
    Command,
    best_chunks,
    chunked,
    fed_in_turn,
    pipeline_time,
    run_streams,
    stream_faults,
)

from ...rows import refusals

times = st.tuples(*[st.integers(0, 40)] * 3)


def total(commands):
    return max(r.end for r in run_streams(commands))


@given(times, st.integers(1, 12), st.sampled_from(ORDERS), st.integers(0, 3))
def test_with_streams_enough_the_closed_form_is_exact(t, chunks, order, fixed):
    made = chunked(t, chunks, streams=chunks, fixed=fixed, order=order)
    assert total(made) == pytest.approx(pipeline_time(t, chunks, fixed))


@given(
    times,
    st.integers(1, 9),
    st.integers(1, 9),
    st.sampled_from(ORDERS),
    st.sampled_from([1, 2]),
    st.booleans(),
)
def test_nothing_beats_its_busiest_engine_or_one_stream(t, n, streams, order, ce, pin):
    made = chunked(t, n, streams=streams, order=order, copy_engines=ce, pinned=pin)
    ran = run_streams(made)
    assert stream_faults(made, ran) == []
    busiest = max(t) if ce == 2 else max(t[0] + t[2], t[1])
    end = max(r.end for r in ran)
    assert busiest - 1e-9 <= end <= sum(t) + 1e-9
    if streams == 1 or not pin:
        assert end >= t[0] + t[2] - 1e-9
    if streams == 1:
        assert end == pytest.approx(sum(t))


def test_pinning_is_what_makes_copies_overlap():
    job = {"chunks": 8, "streams": 4}
    assert total(chunked((4, 8, 4), pinned=True, **job)) == 9.0
    assert total(chunked((4, 8, 4), pinned=False, **job)) == pytest.approx(16)


def test_one_copy_engine_makes_the_order_matter():
    job = {"chunks": 4, "streams": 4, "copy_engines": 1}
    deep = total(chunked((8, 8, 8), order="chunk by chunk", **job))
    wide = total(chunked((8, 8, 8), order="stage by stage", **job))
    assert (deep, wide) == (24.0, 16.0)


@given(times.filter(lambda t: sorted(t)[1] > 0), st.integers(1, 4))
def test_the_best_number_of_chunks_is_the_root(t, fixed):
    best = best_chunks([float(x) for x in t], fixed)
    around = [max(1, int(best)), int(best) + 1]
    least = min(pipeline_time(t, n, fixed) for n in range(1, 60))
    assert min(pipeline_time(t, n, fixed) for n in around) == pytest.approx(least)


def test_events():
    first = [Command(0, "copy in", 3.0), Command(1, "kernel", 2.0)]
    assert total(first) == 3.0
    waits = [first[0], dataclasses.replace(first[1], after=(0,))]
    assert total(waits) == 5.0


def test_the_checker_sees_planted_faults():
    made = chunked((4, 8, 4), 4, streams=2)
    good = run_streams(made)
    for at, word in ((1, "stream 0"), (3, "engine 'copy in'")):
        bad = list(good)
        bad[at] = dataclasses.replace(bad[at], start=0.0, end=made[at].seconds)
        assert any(word in fault for fault in stream_faults(made, bad))
    assert "commands ran" in stream_faults(made, good[:-1])[0]
    short = [*good[:-1], dataclasses.replace(good[-1], end=good[-1].start)]
    assert "does not take" in stream_faults(made, short)[0]
    event = [Command(0, "copy in", 3.0), Command(1, "kernel", 2.0, (0,))]
    early = [
        dataclasses.replace(r, start=0.0, end=2.0 + (1 - i))
        for i, r in enumerate(run_streams(event))
    ]
    assert "its event" in stream_faults(event, early)[0]
    loose = chunked((4, 8, 4), 2, streams=2, pinned=False)
    pinned = run_streams([dataclasses.replace(c, blocks=False) for c in loose])
    assert any("not pinned" in fault for fault in stream_faults(loose, pinned))


test_bad_input = refusals(
    (lambda: run_streams([Command(0, "kernel", -1.0)]), "-1.0 s"),
    (lambda: run_streams([Command(0, "kernel", float("nan"))]), "nan s"),
    (lambda: run_streams([Command(0, "kernel", 1.0, (0,))]), "earlier ones"),
    (lambda: chunked((1, 1, 1), 0, streams=1), "chunks = 0"),
    (lambda: chunked((1, 1, 1), 1, streams=True), "streams = True"),
    (lambda: chunked((1, 1), 1, streams=1), "times"),
    (lambda: chunked((1, 1, 1), 1, streams=1, copy_engines=3), "1 or 2"),
    (lambda: chunked((1, 1, 1), 1, streams=1, order="deep"), "'deep'"),
)


def kernel_by_kernel(turns, pieces, kernels, queue, copies):
    """``fed_in_turn`` with each kernel in a queue of its own place."""
    host, ended = 0.0, [[] for _ in turns]
    last = []  # when each piece was done
    for piece in range(pieces):
        host = max(host, last[piece - copies] if piece >= copies else 0.0)
        before = 0.0
        for done, seconds, many in zip(ended, turns, kernels, strict=True):
            for _ in range(many):
                if len(done) >= queue:
                    host = max(host, done[-queue])
                begin = max(host, before, done[-1] if done else 0.0)
                done.append(begin + seconds / many)
            before = done[-1]
        last.append(before)
    return last[-1]


device = st.tuples(st.integers(1, 40), st.integers(3, 60))


@given(
    st.lists(device, min_size=1, max_size=4),
    st.integers(1, 9),
    st.integers(2, 150),
    st.integers(1, 5),
)
def test_pieces_in_turn_are_their_kernels_in_queues(devices, pieces, queue, copies):
    turns, kernels = zip(*devices, strict=True)
    ahead = [queue / many for many in kernels]
    found = fed_in_turn(turns, pieces, ahead, copies)
    assert found == pytest.approx(
        kernel_by_kernel(turns, pieces, kernels, queue, copies)
    )


def test_queues_decide_how_many_devices_work():
    """Long queues: the closed form of a pipeline; short ones: one after another."""
    assert fed_in_turn([2.0] * 4, 8, [9.0] * 4, 8) == (8 + 4 - 1) * 2
    assert fed_in_turn([2.0] * 4, 8, [9.0] * 4, 1) == 8 * 4 * 2
    assert fed_in_turn([2.0] * 4, 8, [1e-9] * 4, 8) == pytest.approx(8 * 4 * 2)


@pytest.mark.parametrize(
    "asked",
    [
        ([1.0], 0, [1.0], 4),
        ([1.0], 2, [1.0], 0),
        ([1.0], 2, [-1.0], 4),
        ([float("nan")], 2, [1.0], 4),
        ([1.0, 1.0], 2, [1.0], 4),
    ],
)
def test_no_time_of_no_pieces_or_queues(asked):
    with pytest.raises(ValueError):
        fed_in_turn(*asked)
