"""What tensor cores themselves answered, to chosen questions and to random ones.

The questions are those of M. Fasi et al. for V100, T4 and A100: inputs and answers as
in their paper (PeerJ CS 7:e330, section 3) and in the programs beside it
(tensor-cores-numerical-behavior at 9dae3fc, a file for each chip). Outputs for random
numbers were published by F. A. Khattak and M. Mikaitis; ``device_outputs.json`` has the
first of each chip and format, ``device_outputs_fp16.json`` those with sums in FP16.
"""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from stacklib import gpu
from stacklib.quantizers import Format

OUTPUTS = json.loads((Path(__file__).parent / "device_outputs.json").read_text())[
    "cases"
]

TINY = math.ldexp(1, -24)
BELOW = 1 - TINY  # the float before one
CHIPS = [("volta", "fp16"), ("turing", "fp16")]
CHIPS += [("ampere", dtype) for dtype in ("fp16", "bf16", "tf32")]
LAST = {"fp16": 2**-11, "bf16": 2**-8, "tf32": 2**-11}  # one less this is a number
LEAST = {"fp16": (-24, -1), "bf16": (-133, 7), "tf32": (-136, 10)}


def asked(a, b, c, generation, dtype):
    """One output: the row ``a`` by the column ``b``, and ``c`` before it."""
    column = [[float(x)] for x in b]
    row = [[float(x) for x in a]]
    return gpu.mma(row, column, [[c]], dtype=dtype, generation=generation).item()


def answered(case, generation):
    """The bits that a case's product has by the rule of a generation."""
    form = Format(case["dtype"])
    a, b = (form.decode(np.array(case[name])) for name in "ab")
    c = np.array([[case["c"]]], np.uint32).view(np.float32)
    # Their program adds the sum so far to a B200's FP8 product afterwards.
    after = c if (case["chip"], form.bits) == ("B200", 8) else 0 * c
    how = {"dtype": case["dtype"], "generation": generation}
    d = gpu.mma(a[None], b[:, None], c - after, **how)
    return (d.astype(np.float32) + after).view(np.uint32).item()


@pytest.mark.rows("chip", CHIPS)
def test_subnormal_numbers_go_in_and_out(chip):
    least, scale = LEAST[chip[1]]
    assert asked([2.0**least], [2.0**scale], 0, *chip) == 2.0 ** (least + scale)
    assert asked([0], [0], 2.0**-149, *chip) == 2.0**-149


@pytest.mark.rows("chip", CHIPS)
def test_products_are_exact_and_sums_are_cut_toward_zero(chip):
    near = 1 - LAST[chip[1]]
    assert asked([near] * 4, [near] * 4, 0, *chip) == 4 * near**2
    for sign in (1, -1):
        small = sign * (2.0**-23 + TINY)
        assert asked([1, 1], [sign * 2, small], 0, *chip) == sign * 2


@pytest.mark.rows("chip", CHIPS)
def test_a_sum_starts_from_its_largest_number(chip):
    small = [0.5] * 4, [TINY] * 4
    assert asked(*small, 1, *chip) == 1
    for place in range(4):
        a, b = ([*column] for column in small)
        a[place] = b[place] = 1
        assert asked(a, b, TINY, *chip) == 1


@pytest.mark.rows("chip", CHIPS)
def test_a_bit_behind_the_last_is_kept_from_turing_on(chip):
    volta = chip[0] == "volta"
    assert asked([1], [1], -BELOW, *chip) == (2.0**-23 if volta else TINY)
    assert asked([1, 1], [1, -TINY], -BELOW, *chip) == (2.0**-23 if volta else 0)


@pytest.mark.rows("chip", CHIPS)
def test_bits_before_the_first_are_kept_until_the_end(chip):
    assert asked([1] * 4, [TINY] * 4, BELOW, *chip) == 1 + 2.0**-23
    odd = 1 + 2.0**-22 + 2.0**-23
    for place in range(4):
        b = [1] * 4
        b[place] = 2.0**-23
        assert asked([1] * 4, b, odd, *chip) == 4 + 2.0**-21
    assert asked([1] * 4, [1, 1.5, 1.75, 1.875], 1.875, *chip) == 8
    for sign in (1, -1):
        assert asked([1] * 4, [sign] * 4, sign * odd, *chip) == sign * 5


@pytest.mark.rows("chip", CHIPS)
def test_a_larger_accumulator_gives_a_smaller_sum(chip):
    if chip[0] == "volta":
        a, b = [1] * 4, [TINY] * 4
    else:
        a, b = [0.5] * 4, [TINY, TINY, TINY, 2.0**-23 + TINY]
    assert asked(a, b, 1, *chip) < asked(a, b, BELOW, *chip)


@pytest.mark.rows("case", OUTPUTS)
def test_every_bit_is_that_of_the_chip(case):
    assert answered(case, case["generation"]) == case["d"]


def test_the_rule_of_another_chip_gives_other_bits():
    """Four products an addition for eight or sixteen, a bit less behind the last."""
    later = [c for c in OUTPUTS if c["dtype"] == "fp16" and c["chip"] != "V100"]
    assert any(answered(c, "volta") != c["d"] for c in later)


# -- sums in FP16 ------------------------------------------------------------------

HALVES = json.loads((Path(__file__).parent / "device_outputs_fp16.json").read_text())
HALF = Format("fp16")
# With `mma.sync`, which their program uses, these chips answer as if they had no FP8:
# two products of FP16 one after the other, and the sum so far is added at the end.
REMADE = ("H100", "H200", "B200")
PAIRS = [[0, 1], [2, 3]]  # of every four, what the first product takes and the second


def in_halves(case, pairs=PAIRS):
    """The bits of FP16 that a case's product has."""
    form = Format(case["dtype"])
    a, b = (form.decode(np.array(case[name])) for name in "ab")
    c = HALF.decode(case["c"])
    how = {"generation": case["generation"], "accumulate": "fp16"}
    if form.bits == 16 or case["chip"] not in REMADE:
        d = gpu.mma(a[None], b[:, None], [[c]], dtype=form.name, **how).item()
        return HALF.encode(d)
    d = 0.0
    for part in pairs:
        taken = np.isin(np.arange(len(a)) % 4, part)
        row, column = a[None, taken], b[taken, None]
        d = gpu.mma(row, column, [[d]], dtype="fp16", **how).item()
    return HALF.encode(d + c)


@pytest.mark.rows("case", HALVES["cases"])
def test_every_bit_of_sums_in_fp16_is_that_of_the_chip(case):
    assert in_halves(case) == case["d"]


def test_another_order_of_the_remade_products_gives_other_bits():
    cases = [c for c in HALVES["cases"] if c["chip"] in REMADE and len(c["a"]) == 32]
    assert len(cases) == 36
    other = [in_halves(c, [[0, 2], [1, 3]]) != c["d"] for c in cases]
    assert any(other)
