"""Waves explain published products: a part of their error, and only where few."""

import pytest

from stacklib import hardware
from stacklib.evidence import measurements, validate
from stacklib.pages.gpu.tensor_cores import waves


def test_waves_explain_part_of_the_error_where_they_matter():
    assert len(waves.matter()) > 50
    none, fitted, full = (row["median error"].si for row in waves.wave_rows())
    assert fitted < min(none, full)


def test_only_rows_that_change_are_counted():
    free, paid = waves.predicted(waves.NONE), waves.predicted(1.0)
    assert set(free) == set(paid) and len(free) > 400
    for id, outcome in free.items():
        changed = abs(paid[id].predicted / outcome.predicted - 1)
        assert (changed > waves.MATTERS) == (id in waves.matter())


def test_the_fitted_factor_is_the_one_in_force():
    tail = hardware.efficiency(waves.FACTOR)
    own = {o.row.id: o.predicted for o in waves.predicted(tail).values()}
    rows = [row for row in measurements.fitted() if row.family == "A"]
    assert {o.row.id: o.predicted for o in validate.validate(rows).predicted} == own


@pytest.mark.parametrize("tail", [0.0, 1.5, float("nan")])
def test_a_share_that_cannot_be(tail):
    with pytest.raises(ValueError, match="a share from"):
        waves.predicted(tail)
