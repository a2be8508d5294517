"""The bubble in closed form: three kinds of numbers, schedules against each other."""

import numpy as np
import pytest

from stacklib.interconnect.pipelines.closed import SCHEDULES, bubble, in_flight
from stacklib.quantity import UnknownName, chosen


@pytest.mark.rows("schedule", SCHEDULES)
def test_floats_quantities_and_arrays_agree(schedule):
    first = 2 if schedule == "dualpipe" else 1  # which pairs them
    stages, batches = np.array([first, 2, 8.0]), np.array([4, 4, 32.0])
    rows = bubble(stages, batches, schedule)
    held = in_flight(stages, batches, schedule)
    for p, m, row, most in zip(stages, batches, rows, held, strict=True):
        assert bubble(p, m, schedule) == row
        parts = chosen(p, label="stages"), chosen(m, label="microbatches")
        assert bubble(*parts, schedule).si == pytest.approx(row)
        assert in_flight(*parts, schedule).si == in_flight(p, m, schedule) == most


def test_what_the_papers_say():
    assert bubble(8, 8) == bubble(8, 8, "gpipe") == 7 / 8
    assert bubble(8, 8, interleave=2) == 7 / 16
    equal = [bubble(4, 12, name) for name in ("1f1b", "zb-h1", "zb-h2")]
    assert equal == pytest.approx([3 / 12, 1 / 12, 0])
    slow = {"forward": 1.0, "inputs": 1.2, "weights": 0.8}
    assert bubble(4, 12, "zb-h1", **slow) == pytest.approx(3 * 1.4 / 36)
    assert bubble(4, 12, "zb-h2", **slow) == pytest.approx(3 * 0.6 / 36)
    assert in_flight(8, 64) == 8 and in_flight(8, 64, "gpipe") == 64
    assert in_flight(8, 64, interleave=2) == 8 * (1 + 7 / (8 * 2))


def test_bad_input_is_named():
    with pytest.raises(UnknownName, match="dualpipv"):
        bubble(8, 8, "dualpipv")
    with pytest.raises(ValueError, match="stages = 0"):
        bubble(0, 8)
    with pytest.raises(ValueError, match="microbatches = nan"):
        bubble(8, float("nan"))
    with pytest.raises(ValueError, match="interleave = 2: zb-h1"):
        bubble(8, 8, "zb-h1", interleave=2)
    with pytest.raises(ValueError, match="weights = 0"):
        bubble(8, 8, "zb-h1", weights=0)
