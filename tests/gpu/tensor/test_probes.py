"""What tensor cores themselves answered, to chosen questions and to random ones.

The questions are those of M. Fasi et al. for V100, T4 and A100: inputs and answers as
in their paper (PeerJ CS 7:e330, section 3) and in the programs beside it
(tensor-cores-numerical-behavior at 9dae3fc, a file for each chip). Outputs for random
numbers were published by F. A. Khattak and M. Mikaitis; ``device_outputs.json`` has the
first of each chip and format.
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


@pytest.mark.parametrize("chip", CHIPS, ids="-".join)
def test_subnormal_numbers_go_in_and_out(chip):
    least, scale = LEAST[chip[1]]
    assert asked([2.0**least], [2.0**scale], 0, *chip) == 2.0 ** (least + scale)
    assert asked([0], [0], 2.0**-149, *chip) == 2.0**-149


@pytest.mark.parametrize("chip", CHIPS, ids="-".join)
def test_products_are_exact_and_sums_are_cut_toward_zero(chip):
    near = 1 - LAST[chip[1]]
    assert asked([near] * 4, [near] * 4, 0, *chip) == 4 * near**2
    for sign in (1, -1):
        small = sign * (2.0**-23 + TINY)
        assert asked([1, 1], [sign * 2, small], 0, *chip) == sign * 2


@pytest.mark.parametrize("chip", CHIPS, ids="-".join)
def test_a_sum_starts_from_its_largest_number(chip):
    small = [0.5] * 4, [TINY] * 4
    assert asked(*small, 1, *chip) == 1
    for place in range(4):
        a, b = ([*column] for column in small)
        a[place] = b[place] = 1
        assert asked(a, b, TINY, *chip) == 1


@pytest.mark.parametrize("chip", CHIPS, ids="-".join)
def test_a_bit_behind_the_last_is_kept_from_turing_on(chip):
    volta = chip[0] == "volta"
    assert asked([1], [1], -BELOW, *chip) == (2.0**-23 if volta else TINY)
    assert asked([1, 1], [1, -TINY], -BELOW, *chip) == (2.0**-23 if volta else 0)


@pytest.mark.parametrize("chip", CHIPS, ids="-".join)
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


@pytest.mark.parametrize("chip", CHIPS, ids="-".join)
def test_a_larger_accumulator_gives_a_smaller_sum(chip):
    if chip[0] == "volta":
        a, b = [1] * 4, [TINY] * 4
    else:
        a, b = [0.5] * 4, [TINY, TINY, TINY, 2.0**-23 + TINY]
    assert asked(a, b, 1, *chip) < asked(a, b, BELOW, *chip)


@pytest.mark.parametrize("case", OUTPUTS, ids=lambda c: f"{c['chip']}-{c['dtype']}")
def test_every_bit_is_that_of_the_chip(case):
    assert answered(case, case["generation"]) == case["d"]


def test_the_rule_of_another_chip_gives_other_bits():
    """Four products an addition for eight or sixteen, a bit less behind the last."""
    later = [c for c in OUTPUTS if c["dtype"] == "fp16" and c["chip"] != "V100"]
    assert any(answered(c, "volta") != c["d"] for c in later)
