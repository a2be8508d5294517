"""Claims on 8-bit and 4-bit integers with one scale for a row."""

from typing import Any

import numpy as np

from stacklib.evidence import Finding, claim
from stacklib.quantity import counted
from stacklib.quantizers import Format, dequantize, quantize

SIDE, SEED = 1024, 0  # of the document's sample


def sample() -> Any:
    """The document's matrix: square, standard normal, NumPy's first generator."""
    return np.random.RandomState(SEED).randn(SIDE, SIDE).astype(np.float32)


def mean_error(scheme: str, side: int = SIDE) -> float:
    """Mean absolute error of the sample's first rows and columns in a scheme."""
    x = sample()[:side, :side]
    return float(np.abs(x - dequantize(quantize(x, scheme))).mean(dtype=np.float64))


def expected_error(side: int = SIDE) -> float:
    """A quarter of the mean step: what rounding to an even grid leaves."""
    step = np.abs(sample()[:side, :side]).max(axis=1) / Format("int8").largest
    return float(step.mean(dtype=np.float64)) / 4


@claim("int8-mean-error-0002")
def row_error() -> Finding:
    """The sample run: a normal matrix, INT8, one scale for each row."""
    return Finding(
        counted(mean_error, "int8_channel", label="mean error, a scale for each row"),
        why=f"Rounding leaves a quarter of a step, and a row of {SIDE:,} normal "
        f"numbers has its largest so far out that this is {expected_error():.2g}; with "
        f"one scale for the matrix it is {mean_error('int8_tensor'):.2g}. The "
        "sample's code is right; the comment beside it is no output of it.",
    )


@claim("symmetric-clamp-128")
def clamp() -> Finding:
    """The least code that the sample's scheme gives."""
    codes = np.asarray(quantize(sample(), "int8_channel").codes).astype(np.int8)
    low, high = int(codes.min()), int(codes.max())
    least = int(Format("int8").values[0])
    return Finding.true(
        f"Source: the document's own sample. It does clamp at {least}, but a scale of "
        f"the largest magnitude over {Format('int8').largest:g} leaves nothing to "
        f"clamp: the codes of its matrix run from {low} to {high}. "
        f"{high - low + 1} of {len(Format('int8').values)} codes are used, and the "
        "clamp never acts."
    )


@claim("int-ranges")
def ranges() -> Finding:
    """Least and largest of two's complement."""
    eight, four = Format("int8").values, Format("int4").values
    return Finding.true(
        "Source: two's complement, as NumPy and ml_dtypes hold these types: INT8 from "
        f"{eight[0]:g} to {eight[-1]:g}, INT4 from {four[0]:g} to {four[-1]:g}. A "
        "symmetric quantizer leaves the lowest code out."
    )
