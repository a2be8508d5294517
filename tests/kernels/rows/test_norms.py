"""The guide's layer norm, its fix, and what both move."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib import gpu
from stacklib.gpu.lang.values import KernelError
from stacklib.kernels.launch.fuse import fuse
from stacklib.kernels.launch.fuse_graphs import layernorm_graph
from stacklib.kernels.launch.fuse_run import execute
from stacklib.kernels.rows import norms
from stacklib.kernels.rows.norm_tiles import (
    layernorm,
    layernorm_reference,
    run_layernorm,
)
from stacklib.roofline.count.passes import moved

from ...rows import refusals


def rows(count, columns, mean=1.0, seed=0):
    """Rows of exactly this mean, and of variance 1."""
    x = np.random.default_rng(seed).standard_normal((count, columns))
    x -= x.mean(-1, keepdims=True)
    return x / np.sqrt((x**2).mean(-1, keepdims=True)) + mean


def test_the_guides_sample_finds_a_third_too_much_at_768():
    x, ones = rows(8, 768), np.ones(768)
    wrong = run_layernorm(x, ones, 0 * ones, masked=False).results
    right = run_layernorm(x, ones, 0 * ones).results
    assert wrong["var"] == pytest.approx(4 / 3, rel=1e-5)
    assert right["var"] == pytest.approx(1, rel=1e-5)
    assert norms.unmasked_variance(1.0, 1.0, 768, 1024) == pytest.approx(4 / 3)
    # Its rows come out with a deviation of sqrt(3/4), and nobody sees a wrong shape.
    assert wrong["y"].std(-1) == pytest.approx(0.75**0.5, rel=1e-4)


@settings(deadline=None, max_examples=12)
@given(
    columns=st.sampled_from([3, 31, 64, 97, 1000, 1024, 1025]),
    mean=st.floats(-3, 3),
    count=st.integers(1, 5),
)
def test_the_fix_is_the_reference_and_the_sample_errs_by_the_formula(
    columns, mean, count
):
    x = rows(count, columns, mean, seed=columns)
    weight, bias = np.random.default_rng(1).standard_normal((2, columns))
    right = run_layernorm(x, weight, bias)
    assert np.allclose(
        right.results["y"], layernorm_reference(x, weight, bias), atol=2e-5
    )
    wrong = run_layernorm(x, weight, bias, masked=False)
    told = norms.unmasked_variance(1.0, mean, columns, norms.next_power(columns))
    assert wrong.results["var"] == pytest.approx(told, rel=1e-3)


def test_the_sample_is_right_where_the_row_fills_its_tile_or_has_no_mean():
    assert norms.unmasked_variance(1.0, 5.0, 1024, 1024) == 1.0
    assert norms.unmasked_variance(1.0, 0.0, 768, 1024) == 1.0


def test_bytes_by_formula_by_the_machine_and_by_the_graph():
    m, n = 32, 768
    x, w = rows(m, n), np.ones(n)
    report = run_layernorm(x, w, w).report
    variances = 4 * m  # an output of its own, to look at
    assert report.levels.read == m * n * 4 + 2 * n * 4
    assert report.traffic.asked["store"] == m * n * 4 + variances
    told = norms.layernorm_bytes(m, n, 4)
    assert report.levels.read + report.traffic.asked["store"] - variances == told
    graph = layernorm_graph(m, n, "fp32")
    given_ = {"x": x, "w": w, "b": w}
    assert execute(graph, fuse(graph), given_).moved == told
    apart = execute(graph, fuse(graph, ()), given_).moved
    # Seven calls, twelve crossings of the array, and some rows besides.
    assert moved("layernorm", m, n, 4) == 12 * m * n * 4
    assert apart == 12 * m * n * 4 + 4 * m * 4 + 2 * n * 4


def test_waste_of_the_next_power_of_two():
    assert norms.next_power(768) == 1024 and norms.lane_waste(768) == 0.25
    assert norms.lane_waste(1024) == 0
    assert norms.lane_waste(1025) == pytest.approx(0.4995, abs=1e-4)
    assert max(norms.lane_waste(n) for n in range(1, 4097)) < 0.5
    for n in range(1, 300):
        assert norms.next_power(n) == 1 << (n - 1).bit_length()


def test_no_lane_writes_past_the_last_row():
    x = np.ones((2, 5), np.float32)
    out = np.full(2 * 5 + 16, 7, np.float32)  # canaries behind
    var, w = gpu.empty(2), np.ones(5, np.float32)
    args = (x, w, w, out, var, 5)
    ran = gpu.launch_tiles(layernorm, 2, *args, BLOCK=8, MASKED=True)
    assert (ran.results["y"][10:] == 7).all()


def test_a_tile_too_small_for_its_row_leaves_numbers_unwritten():
    x, w = np.ones((1, 12), np.float32), np.ones(12, np.float32)
    args = (x, w, w, np.full((1, 12), 9, np.float32), gpu.empty(1), 12)
    ran = gpu.launch_tiles(layernorm, 1, *args, BLOCK=8, MASKED=True)
    assert (ran.results["y"][0, 8:] == 9).all()


test_bad_input_is_named = refusals(
    (lambda: run_layernorm(np.ones((2, 4)), np.ones(3), np.ones(3)), r"\(3,\)"),
    (lambda: run_layernorm(np.ones(4), np.ones(4), np.ones(4)), r"x \(4,\)"),
    (lambda: run_layernorm(np.ones((0, 4)), np.ones(4), np.ones(4)), r"\(0, 4\)"),
    (lambda: norms.next_power(0), "n = 0"),
    (lambda: norms.unmasked_variance(1.0, 1.0, 8, 4), "block = 4"),
    (lambda: norms.layernorm_bytes(0, 4, 4), "rows = 0"),
)


def test_the_machine_finds_a_mask_that_was_left_out():
    from stacklib.gpu import tiles as tl

    def unmasked(x, y, n, BLOCK: tl.constexpr):
        at = tl.arange(0, BLOCK)
        tl.store(y + at, tl.load(x + at))

    x = np.ones(5, np.float32)
    with pytest.raises(KernelError):
        gpu.launch_tiles(unmasked, 1, x, gpu.empty(5), 5, BLOCK=8)
