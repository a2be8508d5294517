"""A line through times: what was planted comes back, and intervals hold it."""

import random
from statistics import NormalDist

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib.interconnect.selection.line import fit_line, student

from ...rows import refusals

SIZES = [float(1 << k) for k in range(6, 31, 2)]


@settings(deadline=None, max_examples=80)
@given(
    st.floats(1e-7, 1e-2),
    st.floats(1e-13, 1e-6),
    st.lists(st.integers(0, 1 << 34), min_size=3, max_size=20, unique=True),
)
def test_what_was_planted_comes_back(alpha, beta, sizes):
    line = fit_line(sizes, [alpha + beta * size for size in sizes])
    for size in sizes:
        assert line.time(size) == pytest.approx(alpha + beta * size, rel=1e-6)
    assert line.spread < 1e-6


def planted(seed, noise=0.05, alpha=12e-6, beta=1 / 40e9):
    draw = random.Random(seed)
    times = [(alpha + beta * s) * (1 + draw.gauss(0, noise)) for s in SIZES]
    return fit_line(SIZES, times)


def test_intervals_hold_the_truth_in_95_of_100_repetitions():
    lines = [planted(seed) for seed in range(1000)]
    for name, truth in (("alpha_interval", 12e-6), ("beta_interval", 1 / 40e9)):
        held = sum(getattr(x, name)[0] < truth < getattr(x, name)[1] for x in lines)
        # Four standard deviations of a thousand draws at 0.95 are 28.
        assert 950 - 28 <= held <= 950 + 28, name
    mean = sum(line.alpha for line in lines) / len(lines)
    assert mean == pytest.approx(12e-6, rel=0.003)  # the fit leans neither way


def test_plain_least_squares_would_lose_alpha():
    """Small times weigh as much as large ones: alpha is found to a few per cent."""
    line = planted(3)
    assert line.alpha == pytest.approx(12e-6, rel=0.1)
    assert line.alpha_error < 0.05 * line.alpha
    assert line.half_size == pytest.approx(line.alpha * line.bandwidth)
    assert line.spread == pytest.approx(0.05, rel=0.6)


def test_more_points_and_a_lower_level_make_intervals_narrower():
    times = [
        (12e-6 + s / 40e9) * (1.05 if i % 2 else 0.95) for i, s in enumerate(SIZES)
    ]
    wide, narrow = fit_line(SIZES, times), fit_line(SIZES, times, level=0.5)
    twice = fit_line(SIZES * 2, times * 2)
    assert narrow.factor < wide.factor
    assert twice.alpha_error < wide.alpha_error
    assert wide.alpha_interval[0] < narrow.alpha_interval[0]


def test_a_flat_line_has_no_bandwidth_to_speak_of():
    line = fit_line([1, 2, 3], [1e-6, 1e-6, 1e-6])
    assert line.alpha == pytest.approx(1e-6) and abs(line.beta) < 1e-20


@pytest.mark.rows(
    ("free", "factor"),
    [(1, 12.706), (2, 4.303), (3, 3.182), (4, 2.776), (10, 2.228), (30, 2.042)],
)
def test_students_table(free, factor):
    assert student(free, 0.95) == pytest.approx(factor, abs=5e-4)


def test_student_is_normal_in_the_end():
    assert student(2001, 0.95) == pytest.approx(NormalDist().inv_cdf(0.975), rel=1e-3)


test_bad_input_is_refused = refusals(
    ([1, 2], [1, 2], 0.95, "2 points"),
    ([1, 2, 3], [1, 2], 0.95, "3 sizes and 2 times"),
    ([1, 1, 1], [1, 2, 3], 0.95, "every size is 1"),
    ([1, 2, -3], [1, 2, 3], 0.95, r"sizes\[2\] = -3"),
    ([1, float("nan"), 3], [1, 2, 3], 0.95, r"sizes\[1\] = nan"),
    ([1, 2, 3], [1, 0, 3], 0.95, r"times\[1\] = 0"),
    ([1, 2, 3], [1, 2, float("nan")], 0.95, r"times\[2\] = nan"),
    ([1, 2, 3], [1, 2, float("inf")], 0.95, r"times\[2\] = inf"),
    ([1, 2, 3], [1, 2, 3], 1.0, "level = 1.0"),
    by=lambda sizes, times, level: fit_line(sizes, times, level=level),
)
