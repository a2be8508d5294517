"""Published joules of a written token, beside what a journey explains."""

from dataclasses import replace

import pytest

from stacklib.frontier.meters import ALONE, BOTH, held, metered

ROWS = [row for row in held("mlenergy", "llama-3.1-70b") if row.batch < 200]


def test_the_rows_hold_together():
    """Power over the rate of written tokens is the figure that stands beside it."""
    assert len({row.id for row in metered()}) == len(metered()) == 86
    for row in metered():
        assert row.measured.si == row.joules and row.watts < 1000 * row.chips
        if row.of == "mlenergy":  # a steady window: the batch over the median pause
            by_time = row.watts * row.itl_ms / 1e3 / row.batch
            assert 0.5 < row.joules / by_time < 2.1, row.id


def test_joules_of_a_written_token_are_explained():
    for row in ROWS:
        assert row.measured in row.predicted, row.id
        assert row.measured in row.at_its_time
        assert row.phase == BOTH
    assert len(ROWS) == 6
    alone = {row.phase for row in metered() if row.written > 5000}
    assert alone == {ALONE}


@pytest.mark.parametrize("times", [0.3, 2.5])
def test_another_figure_would_be_missed(times):
    row = replace(ROWS[0], joules=ROWS[0].joules * times)
    predicted = row.predicted
    assert not predicted.low.si <= row.joules <= predicted.high.si


def test_a_longer_step_stands_still_for_longer():
    """Twice the time adds the chips' standing, and nothing else."""
    row = ROWS[0]
    step = row.journey.token
    exact, twice = (
        replace(row, itl_ms=step.time.si * 1e3 * times).at_its_time for times in (1, 2)
    )
    stood = step.by_part()["standing still"]
    assert exact.low.si == pytest.approx(row.predicted.low.si)
    assert twice.high.si - exact.high.si == pytest.approx(stood.high.si)
