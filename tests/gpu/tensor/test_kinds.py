"""Every kind of product against two witnesses: MMA-Sim's vectors, exact fractions."""

import dataclasses
import sys
from pathlib import Path

import numpy as np
import pytest

from stacklib.gpu.issue.instructions import generations
from stacklib.gpu.tensor import cut_sums, kinds, scaled
from stacklib.gpu.tensor.kinds import floats
from stacklib.gpu.tensor.scaled import Operand, multiply
from stacklib.quantizers import Format

sys.path.insert(0, str(Path(__file__).parent))

import exact_twin as twin
from mma_vectors import KINDS, codes, operand, values

CASES = [*KINDS["scaled"], *KINDS["plain"]]
EIGHT = ("e4m3fn", "e5m2", "e3m2", "e2m3", "e2m1")


def written(d, accumulate="fp32"):
    """The bits in the accumulator's own width."""
    if accumulate == "fp32":
        return d.view(np.uint32).astype(int)
    halves = d.astype(np.float16).view(np.uint16).astype(int)
    return np.where(np.isnan(d), 0x7FFF, halves)


def computed(case):
    accumulate = case.get("accumulate", "fp32")
    d = multiply(
        operand(case, "a"),
        operand(case, "b"),
        values(case["c"], accumulate),
        generation=case["generation"],
        accumulate=accumulate,
        kind=case.get("kind", ""),
    )
    return written(d, accumulate)


def agree(case):
    return np.array_equal(
        computed(case), codes(case["d"], case.get("accumulate", "fp32"))
    )


def by_twin(a, b, c, **how):
    """The twin's bits for every output of two operands."""
    m, n = len(a.codes), b.codes.shape[1]
    accumulate = how.get("accumulate", "fp32")
    found = np.zeros((m, n), int)
    for i, j in np.ndindex(m, n):
        row, column, start = a.codes[i].tolist(), b.codes[:, j].tolist(), int(c[i, j])
        sides = None
        if a.scales is not None:
            sides = a.scales[i].tolist(), b.scales[:, j].tolist()
        if how.get("kind", "")[:4] == "mxf4":
            block = a.codes.shape[1] // a.scales.shape[1]
            found[i, j] = twin.grouped(
                row, column, start, *sides, scale=a.scale, block=block
            )
        else:
            found[i, j] = twin.plain(
                row,
                column,
                start,
                forms=(a.form, b.form),
                generation=how["generation"],
                accumulate=accumulate,
                scales=sides,
            )
    return found


@pytest.mark.parametrize("way", ["compiled", "numpy"])
def test_every_bit_is_that_of_mma_sim(way, monkeypatch):
    if way == "numpy":
        monkeypatch.setattr(cut_sums, "compiled", lambda: False)
    assert len(CASES) == 190
    assert [n for n, case in enumerate(CASES) if not agree(case)] == []


@pytest.mark.rows("case", CASES[::3])
def test_the_twin_says_the_same_of_mma_sims_vectors(case):
    a, b = operand(case, "a"), operand(case, "b")
    accumulate = case.get("accumulate", "fp32")
    how = {"generation": case["generation"], "kind": case.get("kind", "")}
    found = by_twin(a, b, codes(case["c"], accumulate), accumulate=accumulate, **how)
    assert np.array_equal(found, codes(case["d"], accumulate))


def drawn(rng, form, shape, hard, wild=False):
    """Codes: any at all, or few large ones among many that cancel or are tiny.

    Only if ``wild`` may they be NaN or infinite, which hides all that is beside them.
    """
    whole, row = 1 << Format(form).bits, Format(form).row
    found = rng.integers(0, whole, shape)
    if not wild:
        turned = found ^ (2 << row.significand)  # a bit of the exponent
        found = np.where(np.isfinite(Format(form).decode(found)), found, turned)
    if hard:
        tiny, large = rng.integers(0, 4, shape), Format(form).top
        top = large | rng.integers(0, 2, shape) << (Format(form).bits - 1)
        found = np.where(rng.random(shape) < 0.3, found, tiny)
        found = np.where(rng.random(shape) < 0.1, top, found)
    return found


def plain_pairs():
    for generation in generations():
        known = floats(generation)
        for form in known:
            yield generation, form, form
        if "e4m3fn" in known:
            yield generation, "e4m3fn", "e5m2"
        if "e2m1" in known:
            yield from ((generation, "e3m2", other) for other in EIGHT)


@pytest.mark.rows("pair", list(plain_pairs()))
def test_products_equal_exact_fractions(pair):
    generation, left, right = pair
    sums = ("fp32", "fp16") if left not in ("bf16", "tf32") else ("fp32",)
    for seed, accumulate in enumerate(sums * 4):
        rng = np.random.default_rng(seed)
        k = int(rng.integers(1, 70))
        a = Operand(drawn(rng, left, (2, k), seed % 4 > 1, seed == 0), left)
        b = Operand(drawn(rng, right, (k, 2), seed % 4 > 1, seed == 0), right)
        c = drawn(rng, accumulate, (2, 2), False, seed < 2)
        if seed % 2:  # beside what the products are
            c = Format(accumulate).encode(rng.normal(size=(2, 2))).astype(int)
        d = multiply(
            a,
            b,
            Format(accumulate).decode(c),
            generation=generation,
            accumulate=accumulate,
        )
        exact = by_twin(a, b, c, generation=generation, accumulate=accumulate)
        assert np.array_equal(written(d, accumulate), exact)


SCALED = [("mxf8f6f4", form, other, "e8m0", 32) for form in EIGHT for other in EIGHT]
SCALED += [
    ("mxf4", "e2m1", "e2m1", "e8m0", 32),
    ("mxf4nvf4", *["e2m1"] * 2, "e8m0", 16),
]
SCALED += [("mxf4nvf4", "e2m1", "e2m1", "e4m3fn", 16)]


@pytest.mark.rows("row", SCALED)
def test_scaled_products_equal_exact_fractions(row):
    kind, left, right, scale, block = row
    for seed in range(4):
        rng = np.random.default_rng(seed)
        k = 32 * int(rng.integers(1, 6))
        near = (118, 137) if scale == "e8m0" else (30, 90)
        low, high = near if seed % 2 else (0, 256 if scale == "e8m0" else 128)
        a = Operand(
            drawn(rng, left, (2, k), seed > 1),
            left,
            rng.integers(low, high, (2, k // block)),
            scale,
        )
        b = Operand(
            drawn(rng, right, (k, 2), seed > 1),
            right,
            rng.integers(low, high, (k // block, 2)),
            scale,
        )
        c = Format("fp32").encode(rng.normal(size=(2, 2)) * 2.0 ** rng.integers(-9, 9))
        d = multiply(a, b, Format("fp32").decode(c), kind=kind)
        exact = by_twin(a, b, c.astype(int), generation="blackwell", kind=kind)
        assert np.array_equal(written(d), exact)


def test_the_fast_way_and_the_slow_are_the_same_bits():
    rng = np.random.default_rng(1)
    rule = kinds.arithmetic("hopper", "fp16")
    a, b = (
        (rng.normal(size=s) * 2.0 ** rng.integers(-9, 9, s)).astype(np.float16)
        for s in ((48, 64), (64, 40))
    )
    c = rng.normal(size=(48, 40)).astype(np.float32)
    b[3, 5], a[7, 9] = np.inf, np.nan
    fast = cut_sums.dot_tiles(a, b, c, rule)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cut_sums, "compiled", lambda: False)
        slow = cut_sums.dot_tiles(a, b, c, rule)
    assert np.array_equal(fast.view(np.uint32), slow.view(np.uint32))
    assert np.isnan(fast[7]).all() and not np.isfinite(fast[:, 5]).any()


# -- faults that must be caught ----------------------------------------------------


def rules(**change):
    """`arithmetic` with a field of every rule changed by a function."""
    (name, new), *_ = change.items()

    def changed(generation, form):
        rule = true_rule(generation, form)
        return dataclasses.replace(rule, **{name: new(getattr(rule, name))})

    return changed


true_rule = kinds.arithmetic
FAULTS = {
    "a bit more": rules(fraction=lambda bits: bits + 1),
    "a bit less": rules(fraction=lambda bits: bits - 1),
    "half the products a step": rules(terms=lambda terms: max(terms // 2, 1)),
    "a wider result": rules(result=lambda bits: bits + 1),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_rule_is_caught_by_both_witnesses(fault, monkeypatch):
    monkeypatch.setattr(kinds, "arithmetic", FAULTS[fault])
    assert not all(map(agree, KINDS["plain"]))
    with pytest.raises(AssertionError):
        for pair in (("hopper", "e4m3fn", "e5m2"), ("ampere", "fp16", "fp16")):
            test_products_equal_exact_fractions(pair)


def rounded(values, bits):
    power = np.frexp(values)[1] - 1
    return np.ldexp(np.round(np.ldexp(values, bits - power)), power - bits)


def test_a_planted_rounding_is_caught_by_both_witnesses(monkeypatch):
    monkeypatch.setattr(cut_sums, "compiled", lambda: False)
    monkeypatch.setattr(cut_sums, "cut", rounded)
    assert not all(map(agree, KINDS["plain"]))
    assert not all(map(agree, KINDS["scaled"]))
    with pytest.raises(AssertionError):
        test_products_equal_exact_fractions(("ampere", "fp16", "fp16"))


def test_a_scale_that_comes_too_early_is_caught(monkeypatch):
    """FP4's sixteen products are added before the scale, not after."""
    monkeypatch.setattr(scaled, "GROUP", 8)
    fours = [case for case in KINDS["scaled"] if case["a_form"] == "e2m1"]
    assert not all(map(agree, fours))
