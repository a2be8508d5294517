"""The PTX of NVIDIA's compiler, interpreted: three ways to one result, bit by bit."""

import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib import gpu
from stacklib.gpu.code import compiled_kernels as twins
from stacklib.gpu.code import ptx_values
from stacklib.gpu.code.compiled import PTX_FOR, kernels, ptx_text
from stacklib.gpu.code.ptx import PtxError, parse
from stacklib.gpu.code.ptx_run import run_ptx

from ...rows import refusals

RNG = np.random.default_rng(7)


def floats(n: int) -> np.ndarray:
    return RNG.standard_normal(n).astype(np.float32)


def fma32(a, b, c):
    """One rounding: exact rationals, then the nearest FP32 number."""
    exact = [
        Fraction(float(x)) * Fraction(float(y)) + Fraction(float(z))
        for x, y, z in np.broadcast(a, b, c)
    ]
    return np.array([nearest(value) for value in exact], np.float32)


def nearest(value: Fraction) -> np.float32:
    """The FP32 number nearest to a rational, ties to even, without trusting FP64."""
    with np.errstate(over="ignore"):
        guess = np.float32(float(value))
    with np.errstate(over="ignore"):
        near = {
            guess,
            np.nextafter(guess, np.float32(np.inf)),
            np.nextafter(guess, np.float32(-np.inf)),
        }
    near = {n for n in near if np.isfinite(n)}
    odd = {n: int(n.view(np.uint32)) & 1 for n in near}
    return min(near, key=lambda n: (abs(Fraction(float(n)) - value), odd[n]))


def tree(block: np.ndarray) -> np.float32:
    s = block.copy()
    k = len(s) // 2
    while k:
        s[:k] += s[k : 2 * k]
        k //= 2
    return s[0]


def warp_tree(values: np.ndarray) -> np.float32:
    s = values.copy()
    for k in (16, 8, 4, 2, 1):
        s = s + np.concatenate([s[k:], s[32 - k :]])
    return s[0]


def horner(x, c):
    total = np.zeros(len(x), np.float32)
    for one in c:
        total = fma32(total, x, np.full(len(x), one))
    return total


def two_ways(x, period, steps):
    out = x.copy()
    first = np.arange(len(x)) // period % 2 == 0
    for _ in range(steps):
        out = np.where(first, fma32(out, 2.0, 1.0), fma32(out, 3.0, -1.0))
        out = out.astype(np.float32)
    return out


def cases():
    """Kernel, grid, block, arguments, name of the result, NumPy's result."""
    x, y, n = floats(192), floats(192), 150
    part = np.arange(192) < n
    yield "twice", 3, 64, (x, np.zeros(192, np.float32), n), 1, np.where(part, 2 * x, 0)
    a = np.float32(1.7)
    yield "saxpy", 3, 64, (a, x, y, n), 2, np.where(part, fma32(a, x, y), y)
    for period in (1, 3, 32):
        yield (
            "two_ways",
            2,
            96,
            (x, gpu.empty(192), period, 5),
            1,
            two_ways(x, period, 5),
        )
    r = floats(384)
    yield "reduce", 3, 128, (r, gpu.empty(3)), 1, [tree(b) for b in r.reshape(3, 128)]
    sums = [warp_tree(w) for w in x.reshape(6, 32)]
    yield "shuffled", 2, 96, (x, gpu.empty(6)), 1, sums
    m = floats(64 * 64)
    yield (
        "transpose",
        (2, 2),
        (32, 8),
        (m, gpu.empty(64 * 64), 64),
        1,
        m.reshape(64, 64).T.ravel(),
    )
    src = RNG.integers(0, 7, 256).astype(np.int32)
    yield (
        "histogram",
        4,
        64,
        (src, np.zeros(7, np.int32), 250),
        1,
        np.bincount(src[:250], minlength=7),
    )
    c = floats(4)
    yield ("polynomial", 2, 32, (x, c, gpu.empty(192), 4, 192), 2, horner(x, c))


@pytest.mark.rows("case", list(cases()))
@pytest.mark.rows("capability", PTX_FOR)
def test_three_ways_give_the_same_bits(case, capability):
    name, grid, block, args, at, wanted = case
    ran = run_ptx(ptx_text(name, capability), grid, block, *args)
    launched = gpu.launch(getattr(twins, name), grid, block, "h100-sxm", *args)
    found = ran.results[f"{name}_param_{at}"]
    python = list(launched.results.values())[at - (name == "saxpy")]
    assert found.tobytes() == np.asarray(wanted).astype(found.dtype).tobytes()
    assert found.tobytes() == python.tobytes()


def test_every_recorded_kernel_has_a_case():
    assert {case[0] for case in cases()} == set(kernels())


@settings(deadline=None, max_examples=300)
@given(*[st.floats(width=32, allow_nan=False, allow_infinity=False)] * 3)
def test_fma_rounds_once(a, b, c):
    bits = [ptx_values.to_bits(v) for v in (a, b, c)]
    got = ptx_values.to_float(ptx_values.fma(*bits))
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    limit = Fraction(2) ** 128 - Fraction(2) ** 103  # rounds to infinity from here
    if abs(exact) >= limit:
        assert math.isinf(got)
    else:
        assert got == float(nearest(exact))


def test_rounding_twice_is_caught():
    """The square ends in a tie; the addend lifts it, and FP64 does not see that."""
    side, addend = 1 + 2.0**-12, 2.0**-80
    bits, little = ptx_values.to_bits(side), ptx_values.to_bits(addend)
    once, twice = 1 + 2.0**-11 + 2.0**-23, np.float32(side * side + addend)
    assert ptx_values.to_float(ptx_values.fma(bits, bits, little)) == once
    assert twice == 1 + 2.0**-11  # what rounding in FP64 first would give


@given(st.integers(-(2**31), 2**31 - 1), st.integers(-(2**31), 2**31 - 1))
def test_integers_wrap_as_numpy_does(a, b):
    with np.errstate(over="ignore"):
        for name, same in (("add", np.add), ("sub", np.subtract), ("mul", np.multiply)):
            wanted = int(same(np.int32(a), np.int32(b)))
            got = ptx_values.INTEGER[name](a, b) & 0xFFFFFFFF
            assert ptx_values.signed(got, 32) == wanted
    if b:
        assert ptx_values.divide(a, b) == int(a / b) or abs(a) > 2**52
        assert ptx_values.divide(a, b) * b + ptx_values.remainder(a, b) == a


# -- counts ----------------------------------------------------------------------


@settings(deadline=None, max_examples=25)
@given(st.integers(1, 3), st.integers(1, 70), st.integers(0, 220))
def test_bounds_check_in_closed_form(grid, block, n):
    n = min(n, grid * block)
    kernel = parse(ptx_text("twice"))
    x = np.zeros(grid * block, np.float32)
    ran = run_ptx(kernel, grid, block, x, x.copy(), n)
    threads = grid * block
    told = kernel.count({"entry": threads, "entry+1": n, "BB0_2": threads})
    assert ran.instructions == told == sum(ran.opcodes.values())


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 6), st.integers(1, 80))
def test_nested_loops_in_closed_form(terms, n):
    kernel = parse(ptx_text("polynomial"))
    ran = run_ptx(kernel, 2, 16, floats(80), floats(8), gpu.empty(80), terms, n)
    assert ran.instructions == polynomial_count(kernel, terms, n, 32)


def polynomial_count(kernel, terms, n, threads):
    """Executions by block, from the source alone: who enters, how often it turns."""
    started = min(n, threads)  # threads with an element of their own
    runs = {"entry": threads, "BB0_7": threads, "entry+1": started}
    if terms:
        runs |= {
            "BB0_3": started,
            "BB0_4": n,
            "BB0_5": n * terms,
            "BB0_5+1": n,
            "BB0_5+2": started,
        }
    else:
        runs |= {"entry+2": started, "BB0_2": n}
    return kernel.count(runs)


def test_a_block_that_is_not_there():
    kernel = parse(ptx_text("twice"))
    with pytest.raises(PtxError, match="'BB9': 1 times; blocks of twice are entry"):
        kernel.count({"BB9": 1})


def test_warps_part_and_meet_again():
    x = floats(64)
    apart = run_ptx(ptx_text("two_ways"), 1, 64, x, gpu.empty(64), 1, 9)
    together = run_ptx(ptx_text("two_ways"), 1, 64, x, gpu.empty(64), 32, 9)
    assert apart.instructions < 1.1 * together.instructions
    assert apart.warp_instructions > 1.4 * together.warp_instructions
    assert together.active_lanes == 32 > apart.active_lanes
    launched = [
        gpu.launch(twins.two_ways, 1, 64, "h100-sxm", x, gpu.empty(64), p, 9)
        for p in (1, 32)
    ]
    assert launched[0].report.counters.divergent > 0
    assert launched[1].report.counters.divergent == 0


# -- refusals --------------------------------------------------------------------

BODY = """.target sm_80
.visible .entry k(.param .u64 k_param_0)
{{
\t.reg .b32 %r<9>;
\t.shared .align 4 .b8 s[8];
\tld.param.u64 %rd1, [k_param_0];
{}
\tret;
}}
"""


@pytest.mark.rows(
    ("line", "says"),
    [
        ("\tsin.approx.f32 %f1, %f2;", r"line 7, 'sin.approx.f32 %f1, %f2'.*subset"),
        ("\tadd.s32 %r1, %r2, 1;", r"line 7.*%r2 is read before it is written"),
        ("\tld.global.u32 %r1, [%rd1+16];", "outside every array"),
        ("\tld.global.u32 %r1, [%rd1+2];", "no multiple of 4"),
        ("\tst.shared.u32 [s+8], 1;", "shared address 0x8: outside"),
        ("\tbra $nowhere;", "no label"),
        ("$again:\n\tbra $again;", "does this loop end"),
        ("\tmov.u32 %r1, what;", "operand 'what' is not known"),
        ("\twhat is this", "is no instruction"),
        ("\tld.local.u32 %r1, [0];", "address space"),
        ("\tbar.sync 1;", "only bar.sync 0"),
        ("\tatom.global.exch.b32 %r1, [%rd1], 1;", "integer add is"),
    ],
)
def test_what_it_does_not_know_is_refused_by_line(line, says):
    data = np.zeros(4, np.int32)
    with pytest.raises(PtxError, match=says):
        run_ptx(BODY.format(line), 1, 1, data, budget=1000)


def test_threads_at_different_barriers():
    body = """\tmov.u32 %r1, %tid.x;
\tsetp.ne.s32 %p1, %r1, 0;
\t@%p1 bra $b;
\tbar.sync 0;
\tret;
$b:
\tbar.sync 0;"""
    with pytest.raises(PtxError, match="different barriers"):
        run_ptx(BODY.format(body), 1, 2, np.zeros(1, np.int32))


def test_a_lane_of_the_mask_is_missing():
    body = """\tmov.u32 %r1, %tid.x;
\tsetp.ne.s32 %p1, %r1, 0;
\t@%p1 shfl.sync.down.b32 %r2, %r1, 1, 31, -1;"""
    with pytest.raises(PtxError, match=r"lanes \[0\] of the mask are not here"):
        run_ptx(BODY.format(body), 1, 32, np.zeros(1, np.int32))


test_arguments = refusals(
    ((), "1 kernel|takes .u64"),
    ((np.zeros(3),), "float64"),
    ((True,), "whole number"),
    ((1.5,), "whole number"),
    by=lambda args: run_ptx(BODY.format(""), 1, 1, *args),
    error=TypeError,
)


def test_one_kernel():
    with pytest.raises(PtxError, match="0 kernels"):
        parse("ret;")
    with pytest.raises(ValueError, match="2,048 threads"):
        run_ptx(BODY.format(""), 1, 2048, np.zeros(1, np.int32))


def test_arguments_are_copied():
    x = floats(32)
    kept = x.copy()
    run_ptx(ptx_text("twice"), 1, 32, x, x, 32)
    assert np.array_equal(x, kept)


def test_narrow_indices_with_lanes_off():
    """Indices of 32 bits, lanes partly off: it once made addresses below zero."""
    src = np.arange(64, dtype=np.int32) % 7
    ran = gpu.launch(twins.histogram, 1, 64, "h100-sxm", src, np.zeros(7, np.int32), 50)
    assert ran.results["bins"].tolist() == np.bincount(src[:50]).tolist()


def test_opcodes_add_up():
    ran = run_ptx(ptx_text("reduce"), 2, 64, floats(128), gpu.empty(2))
    assert isinstance(ran.opcodes, Counter)
    assert ran.opcodes["bar.sync"] == 2 * 64 * (1 + 6)
    assert ran.opcodes["st.shared.f32"] == 2 * (64 + 63)
