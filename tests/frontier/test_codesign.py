"""Single gains, greedy and the joint optimum, held to plain enumeration."""

import json
import math
from itertools import permutations, product

import numpy as np
import pytest
from _tools import tree
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib import hardware
from stacklib.frontier import codesign, hardening
from stacklib.frontier.moe_layer import (
    SPACE,
    START,
    ExpertLayer,
    activated,
    layer_time,
)
from stacklib.kernels.plan.search import SearchError
from stacklib.quantity import Quantity
from stacklib.roofline.work.fit import Infeasible

GRIDS = st.tuples(st.integers(1, 4), st.integers(1, 3), st.integers(1, 3)).flatmap(
    lambda sizes: st.tuples(
        st.just(sizes),
        st.lists(
            st.integers(1, 50).map(float),
            min_size=math.prod(sizes),
            max_size=math.prod(sizes),
        ),
    )
)


@settings(max_examples=40, deadline=None)
@given(GRIDS)
def test_any_space_by_plain_enumeration(grid):
    sizes, times = grid
    places = list(product(*map(range, sizes)))
    table = dict(zip(places, times, strict=True))
    space = {name: list(range(n)) for name, n in zip("abc", sizes, strict=True)}
    found = codesign(space, lambda p: table[p["a"], p["b"], p["c"]], budget=8)
    start = table[0, 0, 0]
    assert found.best.seconds == min(times) and found.seconds == start

    def along(place, axis):
        line = [(*place[:axis], i, *place[axis + 1 :]) for i in range(sizes[axis])]
        return min(line, key=lambda p: (table[p], p != place))

    single = [start / table[along((0, 0, 0), axis)] for axis in range(3)]
    assert found.product == pytest.approx(math.prod(single))
    for order in permutations(range(3)):
        place = (0, 0, 0)
        for axis in order:
            place = along(place, axis)
        assert (
            found.greedy[tuple("abc"[axis] for axis in order)].seconds == table[place]
        )
    stuck = {p for p in places if all(table[along(p, a)] == table[p] for a in range(3))}
    told = {tuple(point.values()) for point, _ in found.stuck}
    assert told == stuck
    assert found.settled.seconds in {table[p] for p in stuck}
    for each in (*found.searches.values(), found.settled):
        assert found.best.seconds <= each.seconds <= start or each.seconds in times


@given(st.lists(st.floats(1, 9), min_size=2, max_size=4))
def test_independent_gains_multiply_and_nobody_loses(gains):
    """Where no axis has to do with another, layers multiply, in any order."""
    space = {f"axis {i}": (0, 1) for i in range(len(gains))}

    def measure(point):
        return math.prod(
            1 / g for g, on in zip(gains, point.values(), strict=True) if on
        )

    found = codesign(space, measure)
    assert found.ratio == pytest.approx(1) and found.loss == pytest.approx(0)


def test_a_sum_of_parts_gives_less_than_the_product():
    """Amdahl: two halves, each four times as fast."""
    space = {"left": (1, 4), "right": (1, 4)}
    found = codesign(space, lambda p: 1 / p["left"] + 1 / p["right"])
    assert found.gain == 4 and found.product == pytest.approx(1.6**2)
    alone = codesign({"left": (1, 4)}, lambda p: 1 / p["left"] + 1)
    assert alone.gain == alone.product == pytest.approx(1.6)


def test_the_layers_space_is_what_was_found():
    """Every number of the stored result, by asking again and by brute force."""
    path = tree.ROOT / "benchmarks" / "results" / "codesign.json"
    stored = json.loads(path.read_text("utf-8"))
    found = codesign()
    rows = {row["id"]: row["value"] for row in stored["rows"]}
    assert found.ratio == pytest.approx(rows["ratio"], rel=1e-5) and found.ratio > 1.1
    assert found.loss == pytest.approx(rows["greedy_loss"], rel=1e-4)
    assert list(found.worst) == stored["worst_order"]
    least = min(
        layer_time(dict(zip(SPACE, point, strict=True))).seconds
        for point in product(*SPACE.values())
    )
    assert found.best.seconds == least and found.best.paid == 594
    assert found.settled.seconds == least and len(found.stuck) == 1
    experts, best = found.alone["experts"].value, found.best.point["experts"]
    assert experts < best  # small experts pay where the network is fast


def test_a_layer_by_hand():
    """At the start: weights once from memory, tokens over ports and back."""
    found = layer_time(START).seconds
    width = activated(1)
    weights = 3 * 7168 * width * 2 / hardware.get("b200-sxm").memory_bandwidth.si
    tokens = 2 * 128 * 7168 * 2 * 24 / 32 / 50e9  # three nodes of four are others'
    assert weights + tokens < found < 1.6 * (weights + tokens)
    assert activated(8) == 16384
    widths = [activated(n) for n in SPACE["experts"]]
    assert widths == sorted(widths, reverse=True)
    slow, fast = (layer_time({"network": n}) for n in ("nodes of 8", "switch"))
    assert fast.seconds < slow.seconds and fast.bottleneck == "products"


@pytest.mark.parametrize(
    ("space", "measure", "says"),
    [
        ({}, None, "an axis at the least"),
        ({"a": []}, None, "'a' has no values"),
        ({"a": [1, 1]}, None, "'a' has 1 twice"),
        ({c: [0, 1] for c in "abcdefg"}, lambda p: 1.0, "7 axes"),
        ({c: range(70) for c in "abc"}, lambda p: 1.0, "343,000"),
        ({"a": [0]}, lambda p: 0.0, "seconds, above zero"),
        ({"a": [0]}, lambda p: True, "seconds, above zero"),
        ({"a": [0]}, lambda p: float("nan"), "seconds, above zero"),
        ({"tile": [(3, 5)]}, None, "tile"),
        ({"network": ["ring"]}, None, "ring"),
        ({"format": ["fp3"]}, None, "fp3"),
        ({"experts": [0]}, None, "experts = 0"),
        ({"experts": [1, True]}, None, "experts = True"),
        ({"tiel": [(128, 128)]}, None, "did you mean: tile"),
        ({"tile": [128]}, None, "tile = 128"),
        ({"a": range(10**12)}, None, "1,000,000,000,000 points"),
        ({"a": "xyz"}, lambda p: 1.0, "a list of values"),
        ({"a": {1, 2}}, lambda p: 1.0, "a list of values"),
        ({"a": 3}, lambda p: 1.0, "'a' = 3"),
        ([("a", [0, 1])], lambda p: 1.0, "names with values"),
        ({"a": [0]}, lambda p: {}[p["a"]], "failed at {'a': 0}"),
        ({"a": [0]}, lambda p: Quantity(1, "J"), "failed at {'a': 0}"),
        ({"a": [0]}, lambda p: 10**400, "failed at {'a': 0}"),
    ],
)
def test_what_is_no_space_is_refused(space, measure, says):
    with pytest.raises((ValueError, LookupError), match=says):
        codesign(space, measure)


def test_what_does_not_fit_is_never_chosen():
    space = {"a": (0, 1, 2)}
    found = codesign(space, lambda p: math.inf if p["a"] == 2 else 3 - p["a"])
    assert found.best.point == {"a": 1}
    with pytest.raises(Infeasible, match="does not fit"):
        codesign(space, lambda p: math.inf)
    with pytest.raises(SearchError, match="'a': 0"):
        codesign(space, lambda p: 1 / p["a"])


def short_of_room(point):
    if point["a"] == 2:
        raise Infeasible("3 GB > 2 GB")
    return np.float32(3 - point["a"]) if point["a"] else Quantity(3000, "ms")


def test_a_measure_says_it_in_any_of_our_ways():
    """Quantities of an estimate, NumPy's numbers, and Infeasible with its sum."""
    found = codesign({"a": np.arange(3)}, short_of_room)
    assert found.best.point == {"a": 1} and found.gain == 1.5
    with pytest.raises(Infeasible, match="3 GB > 2 GB"):
        codesign({"a": [2, 0]}, short_of_room)
    kinds = codesign({"a": [[1], {"x": 2}, np.zeros(2)]}, lambda p: float(len(p["a"])))
    assert kinds.gain == 1 and len(kinds.stuck) == 2


def test_a_long_axis_is_enumerated_once():
    """Was: each point asked its whole line, each value all before it."""
    asked = []
    space = {"a": range(20_000), "b": (0, 1)}
    found = codesign(space, lambda p: asked.append(1) or 1 + abs(p["a"] - 777))
    assert len(asked) == found.best.paid == 40_000
    assert found.best.point == {"a": 777, "b": 0} and len(found.stuck) == 2


@pytest.mark.parametrize(
    ("point", "layer", "says"),
    [
        ({"experts": 10**6}, {}, "1,000,000 of a chip are"),
        ({}, {"chips": 64}, "experts = 32 do not divide over ranks = 64"),
        ({}, {"tokens": 0}, "tokens = 0"),
    ],
)
def test_what_is_no_layer_says_so_in_its_own_words(point, layer, says):
    with pytest.raises(ValueError, match=says):
        layer_time(point, ExpertLayer(**layer))
    few, one = ({"experts": kind(32)} for kind in (np.int8, int))
    assert layer_time(few) == layer_time(one)  # int8: 32 experts of 64 numbers


def test_circuits_that_waited_for_their_programs():
    rows = {row.technique: row for row in hardening()}
    late, early = rows["prefill apart from decode"], rows["FP4 training"]
    assert late.waited() < 0 < early.waited()
    v3 = rows["FP8 training"].use_date  # DeepSeek-V3 in December, FP4 in March
    assert v3 == "2024-12" and early.waited(v3) == 12 - 3
    assert sum(row.first == "hardware" for row in rows.values()) == 6
    for row in rows.values():
        assert row.paper_source and row.chip_source and row.use_source
        assert row.lead > 0 and row.announced < (row.shipped or "9")
    assert [row.technique for row in rows.values() if not row.shipped] == [
        "prefill apart from decode"
    ]
