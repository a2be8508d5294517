"""Amdahl, Gustafson and their inverses, and the chunks that are handed out."""

import math

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib.quantity import Quantity
from stacklib.roofline.bound import scaling, scaling_run
from stacklib.roofline.bound.scaling import Chunk, ChunkRun, Slot

from ...rows import refusals

SHARE = st.floats(0, 1)
WORKERS = st.integers(1, 64)
GAIN = st.floats(1.01, 1e3)
CHUNKS = st.lists(
    st.builds(Chunk, st.floats(0.1, 10), st.booleans()), min_size=1, max_size=20
)


@settings(deadline=None)
@given(serial=SHARE, workers=WORKERS, rounds=st.integers(1, 4))
def test_counted_chunks_agree_with_amdahl(serial, workers, rounds):
    chunks = scaling.even_chunks(serial, 7.0, workers * rounds)
    run = scaling.run_chunks(chunks, workers)
    scaling.verify_chunks(run, chunks)
    assert run.speed_up == pytest.approx(scaling.amdahl(serial, workers), rel=1e-6)


@settings(deadline=None)
@given(serial=SHARE, workers=WORKERS)
def test_counted_chunks_agree_with_gustafson(serial, workers):
    """Each worker brings its own parallel piece; the time stays what it was."""
    first = [Chunk(serial, parallel=False)] if serial > 1e-9 else []
    chunks = first + ([Chunk(1 - serial)] * workers if serial < 1 - 1e-9 else [])
    run = scaling.run_chunks(chunks, workers)
    assert run.time == pytest.approx(1, abs=1e-6)
    assert run.work == pytest.approx(scaling.gustafson(serial, workers), abs=1e-6)


@settings(deadline=None)
@given(chunks=CHUNKS, workers=WORKERS)
def test_no_run_beats_the_law_nor_misses_it_by_more_than_a_chunk(chunks, workers):
    run = scaling.run_chunks(chunks, workers)
    scaling.verify_chunks(run, chunks)
    alone = math.fsum(c.work for c in chunks if not c.parallel)
    best = run.work / scaling.amdahl(min(alone / run.work, 1), workers)
    assert run.time >= best * (1 - 1e-9)
    stages = 1 + sum(not c.parallel for c in chunks)
    longest = max(c.work for c in chunks)
    assert run.time <= best + stages * longest * (1 - 1 / workers) + 1e-9


@settings(deadline=None)
@given(serial=st.floats(0.01, 1), workers=WORKERS)
def test_no_number_of_workers_exceeds_the_limit(serial, workers):
    assert scaling.amdahl(serial, workers) <= scaling.amdahl_limit(serial) * (1 + 1e-9)
    assert scaling.amdahl(serial, workers) <= workers * (1 + 1e-9)


@settings(deadline=None)
@given(serial=SHARE, workers=st.integers(2, 64))
def test_karp_and_flatt_undo_amdahl(serial, workers):
    found = scaling.karp_flatt(scaling.amdahl(serial, workers), workers)
    assert found == pytest.approx(serial, abs=1e-9)


@settings(deadline=None)
@given(share=st.floats(0.01, 0.99), gain=GAIN)
def test_the_inverses_undo_the_speed_up(share, gain):
    whole = scaling.speed_up_of_part(share, gain)
    assert scaling.share_from_speed_up(gain, whole) == pytest.approx(share, rel=1e-6)
    assert scaling.gain_from_speed_up(share, whole) == pytest.approx(gain, rel=1e-4)


@settings(deadline=None)
@given(serial=SHARE, workers=WORKERS)
def test_a_worker_more_is_a_part_made_faster(serial, workers):
    part = scaling.speed_up_of_part(1 - serial, workers)
    assert part == pytest.approx(scaling.amdahl(serial, workers), rel=1e-9)


@settings(deadline=None)
@given(
    parts=st.lists(
        st.tuples(st.floats(0.1, 10), st.floats(0.5, 20)), min_size=1, max_size=6
    )
)
def test_several_parts_are_one_after_the_other(parts):
    times, gains = zip(*parts, strict=True)
    left = list(times)
    for i, gain in enumerate(gains):
        left[i] = times[i] / gain
    whole = scaling.speed_up_of_parts(times, gains)
    assert whole == pytest.approx(sum(times) / sum(left), rel=1e-9)
    assert min(gains) * (1 - 1e-9) <= whole <= max(gains) * (1 + 1e-9)


def test_the_shares_of_the_source_document():
    layer = (25.96 + 59.17) / (9.45 + 17.04)
    assert layer == pytest.approx(3.21, abs=0.005)
    assert scaling.share_from_speed_up(layer, 1.5) == pytest.approx(0.48, abs=0.005)
    assert scaling.speed_up_of_part(0.36, layer) == pytest.approx(1.33, abs=0.005)


FORMS = [
    (scaling.amdahl, (0.25, 4.0)),
    (scaling.amdahl_limit, (0.25,)),
    (scaling.gustafson, (0.25, 4.0)),
    (scaling.karp_flatt, (2.0, 4.0)),
    (scaling.speed_up_of_part, (0.4, 3.0)),
    (scaling.share_from_speed_up, (3.0, 1.5)),
    (scaling.gain_from_speed_up, (0.5, 1.5)),
]


@pytest.mark.rows(("form", "values"), FORMS)
def test_floats_quantities_and_arrays_agree(form, values):
    plain = form(*values)
    assert form(*(Quantity(v) for v in values)).si == pytest.approx(plain)
    swept = form(*(numpy.array([v, v]) for v in values))
    assert swept == pytest.approx([plain, plain])


def test_parts_may_be_times():
    times = [Quantity(3, "ms"), Quantity(1, "ms")]
    assert scaling.speed_up_of_parts(times, [3, 1]).si == pytest.approx(2)
    swept = scaling.speed_up_of_parts([3.0, 1.0], [numpy.array([1.0, 3.0]), 1])
    assert swept == pytest.approx([1, 2])


BAD = [
    (lambda: scaling.amdahl(1.1, 2), "serial share 1.1: give 0 to 1"),
    (lambda: scaling.amdahl(-0.1, 2), "serial share -0.1"),
    (lambda: scaling.amdahl(math.nan, 2), "serial share nan"),
    (lambda: scaling.amdahl(0.5, 0), "workers 0: give 1 or more"),
    (lambda: scaling.amdahl("0.5", 2), "no number"),
    (lambda: scaling.amdahl(numpy.array([0.5, 2.0]), 2), "0.5 to 2"),
    (lambda: scaling.amdahl(numpy.array([]), 2), "empty array"),
    (lambda: scaling.amdahl(Quantity(2), 2), "serial share 2"),
    (lambda: scaling.amdahl_limit(0), "no limit"),
    (lambda: scaling.gustafson(2, 2), "serial share 2"),
    (lambda: scaling.karp_flatt(0, 2), "speed-up 0"),
    (lambda: scaling.karp_flatt(1.5, 1), "workers 1"),
    (lambda: scaling.speed_up_of_part(0.5, 0), "gain 0"),
    (lambda: scaling.share_from_speed_up(2, 3), "look for a second cause"),
    (lambda: scaling.share_from_speed_up(2, 0.9), "look for a second cause"),
    (lambda: scaling.share_from_speed_up(1, 1), "gain 1"),
    (lambda: scaling.gain_from_speed_up(0.5, 2), "however fast"),
    (lambda: scaling.gain_from_speed_up(0, 1), "share 0"),
    (lambda: scaling.speed_up_of_parts([], []), "0 times"),
    (lambda: scaling.speed_up_of_parts([1, 2], [1]), "1 gains"),
    (lambda: scaling.speed_up_of_parts([1, -1], [1, 1]), "time 1 is -1"),
    (lambda: scaling.speed_up_of_parts([1], [0]), "gain 0 0"),
    (lambda: scaling.speed_up_of_parts([0.0], [2]), "no time at all"),
    (lambda: Chunk(0), "chunk of work 0"),
    (lambda: Chunk(math.nan), "chunk of work nan"),
    (lambda: scaling.run_chunks([Chunk(1)], 0), "workers = 0"),
    (lambda: scaling.run_chunks([Chunk(1)], True), "workers = True"),
    (lambda: scaling.run_chunks([], 2), "no chunks"),
    (lambda: scaling.even_chunks(0.5, 1, 0), "pieces=0"),
    (lambda: scaling.even_chunks(0.5, 0, 1), "work 0"),
    (lambda: scaling_run.time_chunks([Chunk(1)], 0), "workers=0"),
    (lambda: scaling_run.time_chunks([Chunk(0.01)], 1), "less than one call"),
]


test_bad_input_never_gives_a_number = refusals(
    *BAD,
)


SERIAL, FREE = Chunk(2, parallel=False), Chunk(1)
PLANTED = [
    ([SERIAL, FREE], [Slot(0, 0, 0, 2)], "must run once"),
    ([FREE], [Slot(0, 0, 0, 3)], "runs for 3"),
    ([FREE, FREE], [Slot(0, 0, 0, 1), Slot(1, 0, 0.5, 1.5)], "worker 0 runs 0 and 1"),
    ([SERIAL, FREE], [Slot(0, 0, 0, 2), Slot(1, 1, 1, 2)], "does not wait"),
    ([FREE, SERIAL], [Slot(0, 0, 2, 3), Slot(1, 1, 0, 2)], "does not wait"),
]


test_a_planted_fault_is_seen = refusals(
    *PLANTED,
    by=lambda chunks, slots: scaling.verify_chunks(ChunkRun(2, tuple(slots)), chunks),
)


def test_real_threads_run_every_chunk(monkeypatch):
    kept = []
    monkeypatch.setattr(scaling_run.os, "sched_setaffinity", lambda *a: kept.append(a))
    chunks = scaling.even_chunks(0.25, 4, 2)
    assert scaling_run.operations(chunks) == 4 * 8 * scaling_run.ELEMENTS
    times = scaling_run.time_chunks(chunks, 2, samples=2)
    assert len(times) == 2 and all(t > 0 for t in times)
    assert {thread for thread, _ in kept} <= {0}  # each keeps itself to a core
    assert scaling_run.time_chunks(chunks, 1, samples=1, pinned=False)[0] > 0
    assert min(scaling_run.time_unit(samples=2, units=1)) > 0
