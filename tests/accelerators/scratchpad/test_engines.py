"""Engines side by side: maximum against sum, limits of shape, sparsity's worth."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib.accelerators import engines
from stacklib.accelerators.scratchpad.engines import ENGINES, Instruction
from stacklib.accelerators.scratchpad.sparsity import bits_per_weight, sparse_gain
from stacklib.gpu.tensor.sparsity import compress, prune
from stacklib.hardware import UnknownSpec
from stacklib.kernels.schedule import nki
from stacklib.kernels.schedule.pipeline import verify
from stacklib.quantity import UnknownName

from ...rows import refusals

rows = st.lists(
    st.tuples(st.sampled_from(ENGINES), st.integers(1, 512), st.integers(1, 3)),
    min_size=1,
    max_size=6,
)


@settings(deadline=None, max_examples=40)
@given(rows, st.integers(1, 12))
def test_between_the_busiest_engine_and_the_sum(drawn, tiles):
    program = [
        Instruction(f"r{at}", engine, columns, pieces=pieces)
        for at, (engine, columns, pieces) in enumerate(drawn)
    ]
    run = engines(program, tiles=tiles)
    assert verify(run.timeline) == []
    assert run.most * (1 - 1e-9) <= run.time <= run.sum * (1 + 1e-9)
    assert run.pace == pytest.approx(run.most / tiles)


def test_the_tutorial_s_kernel_as_rows_takes_what_its_schedule_says():
    """nki's version 7 of attention: the same stages, times and rate."""
    version = nki.VERSIONS["v7"]
    columns, narrow = version.keys // 4, {"pieces": 4}
    program = [
        Instruction(
            "QK", "tensor", columns, dtype="fp32", needs=(("PV", 1),), **narrow
        ),
        Instruction("max", "vector", columns, **narrow),
        Instruction("exp", "scalar", columns, **narrow),
        Instruction("transpose", "tensor", columns, **narrow),
        Instruction("copy", "scalar", columns, **narrow),
        Instruction("PV", "tensor", columns, **narrow),
        Instruction("divide", "vector", 128),
        Instruction("store", "dma", 128, dtype="fp32"),
    ]
    told = nki.schedule("v7")
    run = engines(program, tiles=nki.QUERY_TILES)
    assert run.time == pytest.approx(told.time)
    freed = [replace(program[0], needs=()), *program[1:]]
    assert engines(freed, tiles=16).time < run.time


def program(**changes):
    engines(
        [Instruction(**({"name": "x", "engine": "tensor", "columns": 8} | changes))]
    )


test_shapes_that_do_not_fit = refusals(
    ({"partitions": 129}, "x: partitions = 129, the SBUF has 128"),
    ({"columns": 513}, "x: columns = 513, a bank of the PSUM holds 512 fp32 sums"),
    ({"contract": 256}, "x: contract = 256, the array has 128 rows"),
    ({"columns": 0}, "columns = 0"),
    ({"pieces": 1.5}, "pieces = 1.5"),
    ({"engine": "warp"}, "unknown engine 'warp'"),
    ({"dtype": "int3"}, "unknown format 'int3'"),
    ({"needs": ("y",)}, "stage 'x' needs 'y'"),
    ({"engine": "dma", "columns": 114689}, "x: columns = 114689 of 2 B, a partition"),
    by=lambda wrong: program(**wrong),
    error=(ValueError, UnknownName),
)
test_what_is_no_program = refusals(
    ([], "program is empty"),
    ([("x", "tensor")], r"row \('x', 'tensor'\)"),
    (["tensor"], "row 'tensor'"),
    ([None], "row None"),
    ([("x", "dma", 4), ("x", "dma", 4)], "stage 'x' is given 2 times"),
    by=engines,
)


def test_a_chip_without_partitions_is_refused():
    with pytest.raises(UnknownSpec, match="partitions of the scratchpad is unknown"):
        engines([("x", "tensor", 8)], on="h100-sxm")


def test_other_engines_may_take_wider_rows():
    assert engines([("x", "vector", 4096)]).busiest == "vector"


@pytest.mark.rows(("bits", "stored"), [(16, 9.0), (8, 5.0), (4, 3.0)])
def test_places_are_what_is_stored_beside_half_the_weights(bits, stored):
    assert bits_per_weight(bits) == stored
    kept = compress(prune(np.arange(64.0).reshape(4, 16)))
    numbers, places = kept.values.size, 2 * kept.values.size  # two bits each
    assert (numbers * bits + places) / 64 == stored


def test_amdahl_leaves_little_of_a_factor_of_two():
    assert sparse_gain(1.0) == 2.0 and sparse_gain(0.0) == 1.0
    assert sparse_gain(0.5) == pytest.approx(4 / 3)
    assert sparse_gain(1.0, 4, "memory") == pytest.approx(4 / 3)


test_what_no_gain_can_be_of = refusals(
    (1.5, 16, "compute", "1.5"),
    (float("nan"), 16, "compute", "nan"),
    (0.5, 0, "memory", "bits = 0"),
    (0.5, 16, "latency", "bound = 'latency'"),
    by=sparse_gain,
)
