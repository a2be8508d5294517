"""Eleven versions of AWS's attention kernel on Trainium's engines."""

import pytest

from stacklib import hardware
from stacklib.kernels.schedule.nki import VERSIONS, engines, schedule, stages_of
from stacklib.kernels.schedule.pipeline import steady_state, verify


def test_there_are_eleven_versions():
    assert list(VERSIONS) == [f"v{n}" for n in range(1, 12)]


@pytest.mark.rows("name", VERSIONS)
def test_schedules_are_without_fault_and_below_the_peak(name):
    found = schedule(name)
    assert found.timeline is None or verify(found.timeline) == []
    device = hardware.get("trainium2")
    assert found.rate < device.peak("bf16").si / device.compute_units.si


def test_each_step_from_v3_on_is_no_slower_and_the_last_twice_v6():
    times = [schedule(f"v{n}").time for n in range(3, 11)]
    assert times == sorted(times, reverse=True)
    assert schedule("v6").time / schedule("v11").time > 2


def test_fusing_three_passes_leaves_one_on_the_scalar_engine():
    made = engines()
    before = [s for s in stages_of(VERSIONS["v5"], made) if s.unit == "VectorE"]
    after = [s for s in stages_of(VERSIONS["v6"], made) if s.unit == "VectorE"]
    passes = (sum(s.time for s in b) * made.vector / 2048 for b in (before, after))
    assert [round(p) for p in passes] == [3, 1]


def test_spilled_scores_bind_on_the_memory():
    assert schedule("v3").busiest == "DMA" and schedule("v10").busiest == "TensorE"


@pytest.mark.rows("name", [v for v in VERSIONS if VERSIONS[v].fused])
def test_the_pace_by_events_is_the_closed_form(name):
    """In program order it is reached; interleaved tiles are later."""
    pace = (schedule(name, tiles=48).time - schedule(name, tiles=16).time) / 32
    closed = steady_state(stages_of(VERSIONS[name], engines()))
    if VERSIONS[name].interleaved:
        assert closed < pace < 1.3 * closed
    else:
        assert pace == pytest.approx(closed, rel=1e-3)


def test_bad_input_is_refused():
    with pytest.raises(LookupError, match="v11"):
        schedule("v12")
    with pytest.raises(ValueError, match="tiles = 0"):
        schedule("v4", tiles=0)
