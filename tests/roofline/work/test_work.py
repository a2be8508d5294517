"""Counting work: matmul and attention against loops that count."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib import hardware, roofline
from stacklib.roofline import attention, gemv, matmul

from ...rows import refusals

small = st.integers(1, 7)


@given(small, small, small)
@settings(deadline=None)
def test_matmul_equals_a_triple_loop(m, n, k):
    macs, touched = 0, set()
    for i in range(m):
        for j in range(n):
            touched.add(("c", i, j))
            for p in range(k):
                macs += 1
                touched |= {("a", i, p), ("b", p, j)}
    work = matmul(m=m, n=n, k=k, dtype="bf16")
    assert work.operations.si == 2 * macs
    assert work.bytes.si == 2 * len(touched)


@given(small, small, st.sampled_from([(1, 1), (2, 1), (4, 2)]), small, st.booleans())
@settings(deadline=None)
def test_attention_equals_a_loop_over_pairs(queries, extra, heads, dim, causal):
    keys = queries + extra
    macs = 0
    for _ in range(heads[0]):
        for i in range(queries):
            seen = keys - queries + i + 1 if causal else keys
            macs += 2 * seen * dim  # scores, then values
    work = attention(
        queries=queries,
        keys=keys,
        heads=heads[0],
        kv_heads=heads[1],
        head_dim=dim,
        causal=causal,
    )
    assert work.operations.si == 2 * macs
    moved = 2 * heads[0] * dim * queries + 2 * heads[1] * dim * keys
    assert work.bytes.si == 2 * moved


def test_square_matmul_intensity_is_two_thirds_n_over_bytes():
    assert matmul(m=4096, n=4096, k=4096).intensity.si == pytest.approx(2 * 4096 / 6)


def test_gemv_is_one_flop_a_byte():
    assert gemv(n=8192, k=28672).intensity.si == pytest.approx(1, rel=1e-3)


@pytest.mark.rows("name", ["h100", "h200", "b200", "rtx-4090", "tpu-v5p"])
def test_ridge_is_where_both_bounds_meet(name):
    device = hardware.get(name)
    peak, bandwidth = device.peak("bf16"), device.memory_bandwidth
    point = roofline.ridge(name, "bf16")
    assert (point * bandwidth).si == pytest.approx(peak.si)
    assert roofline.attainable(point * 2, peak, bandwidth).si == peak.si
    assert roofline.attainable(point / 2, peak, bandwidth).si == pytest.approx(
        peak.si / 2
    )


@pytest.mark.rows("name, ridge", [("h100", 295), ("h200", 206), ("b200", 292)])
def test_ridges(name, ridge):
    assert roofline.ridge(name, "bf16").si == pytest.approx(ridge, rel=0.005)


def test_integer_formats_count_operations_not_flop():
    work = matmul(m=8, n=8, k=8, dtype="int8")
    assert work.operations.unit == "OP"
    bound = roofline.bound_on(work, "h100")
    assert bound.time.si > 0


test_bad_sizes_raise = refusals(
    (lambda: matmul(m=0, n=1, k=1), "m = 0"),
    (lambda: matmul(m=1, n=-1, k=1), "n = -1"),
    (lambda: matmul(m=1, n=1, k=2.5), r"k = 2\.5"),
    (lambda: matmul(m=1, n=1, k=1, dtype="f16x"), "unknown number format"),
    (
        lambda: attention(queries=1, keys=1, heads=3, kv_heads=2, head_dim=1),
        "no multiple",
    ),
    (
        lambda: attention(
            queries=2, keys=1, heads=1, kv_heads=1, head_dim=1, causal=True
        ),
        "exceed keys",
    ),
    (lambda: roofline.bound_on(matmul(m=1, n=1, k=1), "h100", chips=0), "chips"),
    error=(ValueError, LookupError),
)
