"""Claims on the ridge and on what is reached of the peak."""

import pytest

from stacklib import pages
from stacklib.evidence import measurements
from stacklib.pages.roofline.roofline import claims as ridge


def test_published_shares_are_the_rows_of_the_measurements():
    shares = ridge.published_training_shares()
    rows = [r for r in measurements.public() if r.family == "F" and r.metric == "mfu"]
    assert len(shares) == len(rows) > 20
    lowest = min(r.value for r in rows)
    judgement = pages.judge("real-workloads-30-70")
    assert judgement.computed.to("%").value == pytest.approx(lowest)
    assert all(s.source is not None and s.kind == "measured" for s in shares)
