"""What a recorder writes down, and what it refuses."""

import dataclasses

import numpy as np
import pytest

from stacklib.gpu.issue.streams import KINDS, Recorder, Streams, checked

from ...rows import refusals


def two_warps() -> Streams:
    tape = Recorder()
    row = tape.ask(passes=1, memory=4)
    for _ in range(2):
        tape.warp(block=0)
        load = tape.add("load_global", line=3, request=row)
        tape.add("fp32", needs=[load], line=4, lanes=31)
    return tape.streams()


def test_a_recorder_writes_columns():
    found = two_warps()
    assert (found.warps, found.blocks, len(found)) == (2, 1, 4)
    assert [KINDS[k] for k in found.kind] == ["load_global", "fp32"] * 2
    assert found.needs[3] == (0, -1, -1, -1) and found.lanes[3] == 31
    assert list(found.of(1)) == [2, 3] and found.requests == [(1, 0, 0, 4, 0)]


def test_equal_requests_are_kept_once():
    tape = Recorder()
    assert tape.ask(l1=4) == tape.ask(l1=4) != tape.ask(l2=4)


def faulty(**columns):
    return lambda: checked(dataclasses.replace(two_warps(), **columns))


test_bad_input = refusals(
    (lambda: Recorder().streams(), "at least one warp"),
    (lambda: Recorder().add("fp32"), "call warp"),
    (lambda: Recorder().warp(1), "in order"),
    (lambda: Recorder().event(0), "arrivals = 0"),
    (faulty(line=[1]), "line: 1 rows of 4"),
    (faulty(kind=[0, 0, 0, len(KINDS)]), f"kind = {len(KINDS)}"),
    (faulty(wait=[-1, -1, -1, 0]), "wait = 0"),
    (faulty(arrive=[0, 0, 0, -1], events=[2]), "event 0: 3 arrivals, complete"),
    (faulty(first=[0, 0, 4]), "warp 0 has no instructions"),
    (faulty(block=[0, 2]), "warp 1 is of block 2"),
    (faulty(needs=[(-1,) * 4] * 3 + [(1, -1, -1, -1)]), "warp 1, instruction 1"),
    (faulty(needs=np.array([[-1] * 4] * 3 + [[1, 0, 0, 0]])), "needs"),
)


def test_an_unknown_kind_is_told_its_neighbours():
    tape = Recorder()
    tape.warp()
    with pytest.raises(Exception, match="load_local"):
        tape.add("warp_load")
