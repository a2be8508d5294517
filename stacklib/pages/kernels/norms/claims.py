"""Claims on layer norm as one kernel."""

from functools import cache
from typing import Any

import numpy as np

from stacklib.evidence import Finding, claim
from stacklib.kernels.rows.norm_tiles import run_layernorm
from stacklib.kernels.rows.norms import lane_waste, next_power, unmasked_variance
from stacklib.quantity import counted

ROWS, COLUMNS = 64, 768


@cache
def run(masked: bool) -> Any:
    """The kernel on the tile machine, over rows of mean one and variance one."""
    random = np.random.default_rng(0)
    x = random.standard_normal((ROWS, COLUMNS))
    x -= x.mean(axis=1, keepdims=True)
    x = x / x.std(axis=1, keepdims=True) + 1
    return run_layernorm(x, np.ones(COLUMNS), np.zeros(COLUMNS), masked=masked)


def variance(masked: bool) -> float:
    """Mean variance that the kernel finds of rows that have one."""
    return float(np.mean(run(masked).results["var"]))


def crossed() -> int:
    """Bytes that came from memory, and those that were changed, by the cache."""
    levels = run(True).report.levels
    return int(levels.read + levels.dirtied)


def of_rows() -> int:
    """Bytes of all rows."""
    return ROWS * COLUMNS * 4


@claim("layernorm-kernel-bytes")
def passes() -> Finding:
    """Bytes to and from memory over those of the rows, in a run."""
    moved = counted(crossed, unit="B", label="bytes that cross")
    once = counted(of_rows, unit="B", label="bytes of the rows")
    return Finding.true(
        computed=(moved / once).named("passes over the rows"),
        why=f"{ROWS} rows of {COLUMNS}: each is read once and written once, with "
        "weight and bias beside them. A row must fit a block; the tile of "
        f"{next_power(COLUMNS):.0f} lanes leaves {lane_waste(COLUMNS):.0%} of them "
        "idle.",
    )


@claim("layernorm-sample-correct")
def printed_sample() -> Finding:
    """Variance found over the true one, for rows of mean and variance one."""
    found = counted(variance, False, label="variance by the sample")
    true = counted(variance, True, label="variance with lanes masked")
    worst = 513
    told = unmasked_variance(1, 1, worst, next_power(worst))
    return Finding.false(
        computed=(found / true).named("variance over the true one"),
        why=f"Rows of {COLUMNS}. Lanes beyond a row hold minus the mean when they "
        "are squared. Right only for a power of two or a mean of zero: with "
        f"{worst} numbers it finds {told:.3g}, and it grows with the square of the "
        "mean. The fix is one where.",
    )
