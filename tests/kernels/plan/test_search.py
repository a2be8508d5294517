"""Searches for a kernel's parameters: what they may do, and what they find."""

import itertools
import json
import math
from pathlib import Path
from statistics import mean, median

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib.kernels.plan.search import (
    METHODS,
    Measured,
    SearchError,
    bands,
    expected_best,
    search,
)
from stacklib.kernels.plan.tile_profile import MOVES, Core, bottleneck, tile_terms
from stacklib.quantity import UnknownName

RESULT = Path(__file__).parents[3] / "benchmarks" / "results" / "kernel_search.json"
STORED = json.loads(RESULT.read_text(encoding="utf-8"))
CORE = Core(1e11, 1e-8, 32768, 2**20, 2e11, 1e11)


def stored(point):
    """The stored time of a tile, and what its profile says."""
    key = "x".join(str(point[axis]) for axis in STORED["space"])
    row = TABLE[key]
    return Measured(median(row["times_s"]), row["bottleneck"])


TABLE = {row["id"]: row for row in STORED["rows"]}
SPACES = st.dictionaries(
    st.sampled_from("abc"),
    st.lists(st.integers(), min_size=1, max_size=5, unique=True),
    min_size=1,
)


@settings(deadline=None, max_examples=60)
@given(
    space=SPACES,
    method=st.sampled_from(METHODS),
    budget=st.integers(1, 40),
    seed=st.integers(0, 9),
)
def test_a_search_pays_for_no_point_twice_and_ends(space, method, budget, seed):
    paid = []

    def measure(point):
        paid.append(tuple(point.items()))
        return Measured(float(hash(paid[-1]) % 97), "left")

    moves = {"left": [(name, -1) for name in space], "other": []}
    found = search(space, measure, method=method, budget=budget, seed=seed, moves=moves)
    points = math.prod(len(values) for values in space.values())
    assert len(set(paid)) == len(paid) == len(found.trials) == min(budget, points)
    assert found.curve == sorted(found.curve, reverse=True)
    assert found.curve[-1] == found.best.seconds
    again = search(space, measure, method=method, budget=budget, seed=seed, moves=moves)
    assert [t.point for t in again.trials] == [t.point for t in found.trials]


@settings(deadline=None)
@given(seconds=st.lists(st.integers(1, 50), min_size=1, max_size=6), data=st.data())
def test_the_expected_best_is_the_mean_over_all_draws(seconds, data):
    budget = data.draw(st.integers(1, len(seconds)))
    draws = itertools.combinations(seconds, budget)
    assert expected_best(seconds, budget) == pytest.approx(mean(map(min, draws)))


def test_random_search_on_the_stored_timings_is_its_closed_form():
    times = [stored(row).seconds for row in STORED["rows"]]
    for budget in (4, 16, 64):
        seen = [
            search(
                STORED["space"], stored, method="random", budget=budget, seed=seed
            ).best.seconds
            for seed in range(200)
        ]
        sigma = np.std(seen) / 200**0.5
        assert mean(seen) == pytest.approx(expected_best(times, budget), abs=4 * sigma)


def test_the_stored_curves_are_what_the_searches_give():
    found = bands(STORED["space"], stored, budget=64, seeds=20, moves=MOVES)
    least = min(stored(row).seconds for row in STORED["rows"])
    told = {row["id"]: row for row in STORED["curves"]}
    for band in found:
        parts = band.low, band.middle, band.high
        for after in (4, 64):
            line = [part[after - 1] / least for part in parts]
            assert line == pytest.approx(told[band.method][str(after)], rel=1e-3)
        assert all(a <= b <= c for a, b, c in zip(*parts, strict=True))


@pytest.mark.rows("method", ["hill-climb", "evolutionary", "guided"])
def test_on_a_smooth_valley_every_method_beats_chance(method):
    axis = list(range(16))
    space = {"x": axis, "y": axis}

    def measure(point):
        x, y = abs(point["x"] - 11), abs(point["y"] - 3)
        side = "x" if x > y else "y"
        more = {"x": point["x"] < 11, "y": point["y"] < 3}[side]
        return Measured(1 + x + y, f"{side}{'+' if more else '-'}")

    moves = {"x+": [("x", 1)], "x-": [("x", -1)], "y+": [("y", 1)], "y-": [("y", -1)]}
    best = [
        search(
            space, measure, method=method, budget=40, seed=seed, moves=moves
        ).best.seconds
        for seed in range(20)
    ]
    chance = expected_best(
        [measure({"x": x, "y": y}).seconds for x in axis for y in axis], 40
    )
    assert mean(best) < chance
    if method == "guided":  # whom the bottleneck tells the way
        assert best == [1] * 20


def test_what_does_not_fit_is_never_the_best():
    found = search(
        {"x": [1, 2, 3]},
        lambda p: math.inf if p["x"] < 3 else 5.0,
        method="random",
        budget=3,
        seed=1,
    )
    assert found.best.point == {"x": 3}


def fails(point):
    if point["x"] == 2:
        raise RuntimeError("out of registers")
    return 1.0


@pytest.mark.rows(
    ("space", "measure", "more", "error", "words"),
    [
        ({}, fails, {}, ValueError, "no parameter"),
        ({"x": []}, fails, {}, ValueError, "'x' has no values"),
        ({"x": [2]}, fails, {}, SearchError, r"at \{'x': 2\}.*out of registers"),
        ({"x": [7]}, lambda p: math.nan, {}, SearchError, r"nan at \{'x': 7\}"),
        ({"x": [7]}, lambda p: -1, {}, SearchError, "-1"),
        ({"x": [7]}, lambda p: None, {}, SearchError, "None"),
        ({"x": [1]}, fails, {"budget": 0}, ValueError, "budget = 0"),
        ({"x": [1]}, fails, {"method": "rnadom"}, UnknownName, "random"),
        ({"x": [1]}, fails, {"method": "guided"}, ValueError, "needs moves"),
        (
            {"tile": [1]},
            fails,
            {"method": "guided", "moves": {"W": [("tail", 1)]}},
            UnknownName,
            "tile",
        ),
    ],
)
def test_bad_input_names_the_point(space, measure, more, error, words):
    options = {"method": "random", "budget": 3, "seed": 0} | more
    with pytest.raises(error, match=words):
        search(space, measure, **options)


def test_too_large_a_budget_has_no_expectation():
    with pytest.raises(ValueError, match="budget = 3: there are 2"):
        expected_best([1.0, 2.0], 3)


def test_the_profile_names_what_it_should():
    def tile(m, n, k):
        return {"tile_m": m, "tile_n": n, "tile_k": k}

    assert bottleneck(768, tile(256, 16, 64), CORE) == "short rows"
    assert bottleneck(768, tile(4, 384, 768), CORE) == "W tiles"
    assert bottleneck(768, tile(768, 768, 768), CORE) == "W rows"
    assert bottleneck(768, tile(256, 384, 4), CORE) == "Y"
    # Every name has its moves, and they go somewhere.
    assert set(tile_terms(768, tile(4, 16, 4), CORE)) == set(MOVES)


def test_the_profiles_sum_orders_the_stored_tiles():
    told = json.loads(
        (RESULT.parents[1] / "predictions" / RESULT.name).read_text(encoding="utf-8")
    )
    core = Core(**told["core"])
    times = [stored(row).seconds for row in STORED["rows"]]
    sums = [
        sum(tile_terms(STORED["size"], row, core).values()) for row in STORED["rows"]
    ]
    ranks = [np.argsort(np.argsort(a)) for a in (times, sums)]
    assert np.corrcoef(*ranks)[0, 1] > 0.5


def test_a_core_without_a_rate_is_refused():
    with pytest.raises(ValueError, match="rate = 0"):
        Core(0, 1e-8, 1, 1, 1, 1)
