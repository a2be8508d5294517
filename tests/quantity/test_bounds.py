"""Numbers at the boundary: what formulas of several rooms refuse."""

import math

import numpy as np
import pytest

from stacklib import cost, gpu
from stacklib.cost.packages import implied_bond, link_rate
from stacklib.cost.wafers import dies_exponential, dies_less_edge
from stacklib.cost.yields import harvested, murphy, negative_binomial, seeds, thrown
from stacklib.gpu.chip import slices, streams
from stacklib.gpu.chip.placement import deal_blocks
from stacklib.gpu.issue import divergence, hiding
from stacklib.gpu.tensor import tile_copies
from stacklib.quantity import Quantity
from stacklib.quantity.bounds import above_zero, at_least, whole, whole_floats
from stacklib.roofline.host import branching as simd

BAD = [math.nan, -1, -math.inf, math.inf, None, "4"]
FORMULAS = [
    (gpu.utilisation, {"warps": 4, "ilp": 1, "work": 4, "latency": 20, "issue": 1}),
    (gpu.warps_needed, {"ilp": 1, "work": 4, "latency": 20, "issue": 1, "ahead": 1}),
    (gpu.fill, {"threads": 256, "blocks": 10, "units": 3, "at_once": 2}),
    (deal_blocks, {"blocks": 10, "units": 3, "at_once": 2}),
    (gpu.tile_waves, {"m": 512, "n": 512, "rows": 128, "columns": 128, "units": 9}),
    (slices.cluster_bytes, {"tile_m": 128, "k": 64, "tile_n": 64, "rows": 2}),
    (tile_copies.slots, {"tile_bytes": 4096}),
    (tile_copies.step_cycles, {"copy_slots": 1, "compute_slots": 2, "load_cycles": 3}),
    (streams.pipeline_time, {"chunks": 4, "fixed": 0.1}),
    (streams.best_chunks, {"fixed": 0.1}),
    (simd.expected_divergent, {"p": 0.5, "width": 32, "steps": 4}),
    (divergence.instructions, {"ways": 2, "work": 3}),
    (hiding.request_interval, {"width": 4}),
    (cost.bumps, {"pitch": 50e-6}),
    (link_rate, {"edge": 0.03, "depth": 0.001, "rate": 1e9, "share": 0.5}),
    (dies_less_edge, {"area": 814e-6, "diameter": 0.3, "coefficient": 0.58}),
    (dies_exponential, {"area": 814e-6, "diameter": 0.3, "coefficient": 0.58}),
    (cost.poisson, {"defects": 1.0}),
    (murphy, {"defects": 1.0}),
    (seeds, {"defects": 1.0}),
    (negative_binomial, {"defects": 1.0, "alpha": 2.0}),
    (harvested, {"defects": 1.0}),
    (thrown, {"defects": 1.0, "dies": 10, "wafers": 10}),
    (implied_bond, {"parts": 100.0, "lost": 1.0}),
]
REST = {
    slices.cluster_bytes: {"columns": 2},
    tile_copies.slots: {"way": "TMA"},
    streams.pipeline_time: {"times": (1.0, 2.0, 1.0)},
    streams.best_chunks: {"times": (1.0, 2.0, 1.0)},
    divergence.instructions: {"paths": [0] * 32},
    hiding.request_interval: {"device": "h100-sxm"},
    link_rate: {"pitch": 50e-6},
    harvested: {"units": 144, "needed": 132},
    thrown: {"law": "poisson"},
    implied_bond: {"placements": 6},
}


@pytest.mark.rows("formula", FORMULAS)
def test_formulas_refuse_what_is_no_number(formula):
    function, given = formula
    rest = REST.get(function, {})
    function(**given, **rest)  # with these it works
    for name in given:
        for bad in BAD:
            with pytest.raises((ValueError, TypeError)):
                function(**{**given, name: bad}, **rest)


def test_bounds_of_every_kind_of_number():
    at_least(1, a=1, b=2.5, c=Quantity(3, "mm2").si + 1, d=np.array([1, 2]))
    above_zero(a=Quantity(3, "mm2"), b=np.float32(1e-9))
    for bad in (0, True, math.nan, np.array([1.0, 0.0]), Quantity(0), "1", None, 1j):
        with pytest.raises(ValueError, match=r"value = .*above zero is needed"):
            above_zero(value=bad)
    with pytest.raises(ValueError, match=r"p = 0.5: a number from 1 up is needed"):
        at_least(1, p=0.5)


@pytest.mark.rows("spare", [{"units": 0}, {"needed": 0}, {"share": math.nan}])
def test_a_die_with_no_units(spare):
    with pytest.raises(ValueError, match=f"{next(iter(spare))} = "):
        cost.die(Quantity(814, "mm2"), node="n5", **spare)


@pytest.mark.rows("size", [0, -1, True, 1.5])
def test_clusters_of_no_blocks(size):
    """Zero blocks a cluster once ran for ever."""
    with pytest.raises(ValueError, match="size"):
        slices.place_clusters([16, 18], size)


@pytest.mark.rows("bad", [*BAD, 0, 3.0, True, np.bool_(True), "4", [4], 2**0.5])
def test_a_count_is_a_whole_number_from_its_least(bad):
    whole(1, warps=4, ilp=np.int64(1))
    with pytest.raises(ValueError, match="a whole number from 1 is needed"):
        whole(1, warps=bad)


def test_whole_numbers_come_back_as_floats():
    for given in (3, 3.0, np.int32(3), np.array(3)):
        found = whole_floats(n=given)
        assert type(found) is float and found == 3
    many = whole_floats(0, n=np.array([0, 1 << 40]))
    assert many.dtype == float and list(many * many) == [0, 2.0**80]
    for bad in (2.5, np.array([1, 2.5]), np.array([2, 3, 0]), 0, -1, math.nan, True):
        with pytest.raises(ValueError, match=r"n = .*from 1 (up is|are) needed"):
            whole_floats(n=bad)
    assert at_least(0, a=0) is None and whole(0, a=0) is None
    with pytest.raises(ValueError, match="from 2 is needed"):
        whole(2, a=1)


def test_a_long_bad_value_is_cut_short():
    with pytest.raises(ValueError, match=r"^x = \[0, 0, .*\.\.\.: a number above zero"):
        above_zero(x=[0] * 10_000)
