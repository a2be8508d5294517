"""What a client waits for, by hand."""

from __future__ import annotations

from dataclasses import fields

import pytest

from stacklib.serving.engine.latency import DEFINITIONS, Latency, latency


@pytest.mark.parametrize(
    ("times", "due"),
    [
        ((), Latency(None, None, None, (), 9.0, 0)),
        ((4.0,), Latency(3.0, None, 3.0, (), 9.0, 1)),
        # With the first token counted, TPOT is half as long again.
        ((4.0, 6.0, 6.0, 10.0), Latency(3.0, 2.0, 2.25, (2.0, 0.0, 4.0), 9.0, 4)),
    ],
)
def test_by_hand(times, due):
    assert latency(1.0, times, 10.0) == due


def test_time_does_not_go_back():
    with pytest.raises(ValueError, match="must not go back"):
        latency(5.0, (4.0,), 6.0)


def test_each_number_has_its_definition():
    assert set(DEFINITIONS) == {each.name for each in fields(Latency)} - {"tokens"}
