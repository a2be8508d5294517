"""The plotting grammar, its digest, and where labels and ticks go."""

import copy
import itertools
import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stacklib.evidence import guard
from stacklib.plots import SpecError, layout, spec

from ..rows import refusals

LINE = {"kind": "line", "evidence": "predicted", "name": "a", "x": [1, 2], "y": [3, 4]}
GOOD = {
    "title": "A sentence.",
    "x": {"label": "Batch", "scale": "log"},
    "y": {"label": "Rate (TFLOP/s)", "scale": "log", "unit": "TFLOP/s"},
    "marks": [LINE],
}


def with_mark(**changes):
    return {**copy.deepcopy(GOOD), "marks": [{**LINE, **changes}]}


def test_a_good_spec_passes():
    spec.check(GOOD)


test_a_spec_outside_the_grammar_is_refused = refusals(
    ({**GOOD, "title": " "}, "title"),
    ({**GOOD, "x": {}}, "axis x"),
    ({**GOOD, "y": {"label": "y", "scale": "cubic"}}, "cubic"),
    (with_mark(kind="pie"), "pie"),
    (with_mark(evidence="felt"), "felt"),
    (with_mark(name=None), "name"),
    (with_mark(y=[]), "needs y"),
    (with_mark(y=[1]), "2 x and 1 y"),
    (with_mark(y=[1, 0]), "0 on a log axis"),
    (with_mark(y=[1, float("nan")]), "nan"),
    (with_mark(y=[1, "2"]), "'2'"),
    (with_mark(kind="dots", spread=[[1, 2]]), "spread"),
    (with_mark(kind="band", x=[1]), "pair"),
    (with_mark(kind="dots", evidence="impossible"), "hatched"),
    ({**GOOD, "marks": [LINE, {**LINE, "name": "b", "label_at": "none"}]}, "name"),
    ({**GOOD, "x": {"label": "Years after 2016"}}, "say the year"),
    ({**GOOD, "x": {"label": "Size", "scale": "log", "unit": "B"}}, "KiB"),
    (with_mark(kind="bar", y=[1, 1]), "rows"),
    by=spec.check,
    error=SpecError,
)


def test_a_line_without_a_name_goes_with_one_that_has_it():
    named = {**LINE, "series": 0}
    twin = {**named, "evidence": "simulated", "name": "a, run", "label_at": "none"}
    spec.check({**GOOD, "marks": [named, twin]})
    spec.check({**GOOD, "marks": [named, {**LINE, "series": 1, "label_at": "none"}]})
    with pytest.raises(SpecError, match="no name"):
        spec.check({**GOOD, "marks": [named, {**twin, "series": 1}]})


@given(st.integers(0, 40), st.integers(1, 30))
def test_ticks_of_bytes_are_powers_of_two_and_few(first, more):
    ticks = layout.byte_ticks(2.0**first, 2.0 ** (first + more))
    assert 1 <= len(ticks) <= 6
    assert all(math.log2(t) == int(math.log2(t)) for t in ticks)
    assert [layout.byte_text(v) for v in (1, 2048, 2**20, 3 * 2**30)] == [
        "1 B",
        "2 KiB",
        "1 MiB",
        "3 GiB",
    ]


def test_the_digest_changes_when_the_data_do():
    before = spec.digest(GOOD)
    for changed in (
        with_mark(y=[3, 4.001]),
        with_mark(evidence="measured"),
        with_mark(name="b"),
        {**GOOD, "x": {"label": "Chips", "scale": "log"}},
    ):
        assert spec.digest(changed) != before


def test_the_digest_ignores_order_colour_and_the_seventh_digit():
    shuffled = {k: GOOD[k] for k in reversed(GOOD)}
    shuffled["marks"] = [{k: LINE[k] for k in reversed(LINE)}]
    assert spec.digest(shuffled) == spec.digest(GOOD)
    assert spec.digest(with_mark(series=3)) == spec.digest(GOOD)
    wide = with_mark(y=[3.0, 4.0])
    assert spec.digest(wide) == spec.digest(with_mark(y=[3.0, 4.00000001]))


def test_a_mark_reaches_the_guard_with_its_device():
    impossible = with_mark(y=[3, 2000], device="h100_sxm", dtype="bf16")
    (fault,) = guard.faults([spec.guard_entry(impossible, "f")])
    assert "figure f, row a, point 2" in fault
    assert guard.faults([spec.guard_entry(with_mark(device="h100_sxm"), "f")]) == []


def test_an_entry_is_small_and_json():
    entry = spec.guard_entry(with_mark(y=[1 / 3, 2 / 3]), "f")
    assert len(json.dumps(entry)) < 400
    assert entry["rows"][0]["values"]["Rate (TFLOP/s)"][0] == [0.333333, 0.666667]


POSITIONS = st.lists(st.floats(0, 100), min_size=1, max_size=8)


@given(POSITIONS)
def test_labels_keep_their_distance_their_order_and_their_frame(wanted):
    placed = layout.spread(wanted, 10, 0, 100)
    order = sorted(range(len(wanted)), key=lambda i: wanted[i])
    heights = [placed[i] for i in order]
    assert all(b - a >= 10 - 1e-9 for a, b in itertools.pairwise(heights))
    assert min(placed) >= 0 and max(placed) <= 100 + 1e-9


@given(st.lists(st.integers(0, 9), min_size=1, max_size=5, unique=True))
def test_labels_that_have_room_stay_where_they_are(tens):
    wanted = [10.0 * t for t in tens]
    assert layout.spread(wanted, 10, 0, 100) == wanted


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(1, 20)), max_size=8))
def test_labels_of_one_row_do_not_touch(pairs):
    spans = [(float(left), float(left + size)) for left, size in pairs]
    rows = layout.rows(spans)
    for i, a in enumerate(spans):
        for j, b in enumerate(spans[:i]):
            assert rows[i] != rows[j] or a[1] <= b[0] or b[1] <= a[0]


@pytest.mark.rows(
    ("value", "text"),
    [
        (0, "0"),
        (0.001, "0.001"),
        (0.25, "0.25"),
        (1, "1"),
        (2.5, "2.5"),
        (50, "50"),
        (1000, "1,000"),
        (20000, "20,000"),
        (1e5, "10⁵"),
        (2e6, "2×10⁶"),
        (1e-4, "10⁻⁴"),
    ],
)
def test_tick_labels(value, text):
    assert layout.tick_text(value) == text


@given(st.floats(1e-6, 1e6), st.floats(1.5, 1e9))
def test_log_ticks_lie_inside_and_are_few(lo, ratio):
    ticks = layout.log_ticks(lo, lo * ratio)
    assert all(lo * 0.999 <= t <= lo * ratio * 1.001 for t in ticks)
    assert len(ticks) <= 8
