"""The two ends that a claim states."""

import pytest

from stacklib.evidence import ranges


@pytest.mark.rows(
    ("text", "value", "ends"),
    [
        ("It takes 28-39 cycles", 28, (28, 39)),
        ("It takes 28-39 cycles", 39, (28, 39)),
        ("It takes 1,500 to 2,000 cycles", 1500, (1500, 2000)),
        ("It takes 1,500 to 2,000 cycles", 1700, None),  # not its end
        ("FP16 covers 1e-5 to 1e5", 1e5, (1e-5, 1e5)),
        ("0.08–0.15 dollars", 0.15, (0.08, 0.15)),
        ("GPU 30-40, CPU 60-70 percent", 60, (60, 70)),
        ("cuts 29 to 69% at batch 8 to 64", 29, (29, 69)),
        ("two to three times the ports", 2, (2, 3)),
        ("grows from 50 to 126 MB", 50, None),  # a step, not a range
        ("Rises 32x (29 to 931 MB)", 32, None),
        ("in 2026-27", 2, None),
        ("a 26 by 33 mm field", 26, None),
        ("1e-38 to 1e38", 38, None),
        ("400+ cycles", 400, None),
    ],
)
def test_the_ends_are_those_around_the_value(text, value, ends):
    assert ranges.stated(text, value) == ends
