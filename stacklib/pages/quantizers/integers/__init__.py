"""Section 7.2: How many scales does a matrix need?"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np

from stacklib.evidence import ledger
from stacklib.pages.quantizers.integers import claims
from stacklib.quantity import Quantity, counted, counting
from stacklib.quantity.constants import case
from stacklib.quantizers import Format, dequantize, quantize
from stacklib.quantizers.scheme import fact

LAYER = 2
MATRIX = f"model.layers.{LAYER}.mlp.up_proj.weight"
FACTOR, CHANNELS = case("outliers"), (7, 100)  # of the channels made large
WAYS = {
    "one for the tensor": ("int8_tensor", False),
    "one for each token": ("int8_channel", False),
    "one for each channel": ("int8_channel", True),
    "FP8, one for 128 of a token": ("fp8_1x128", False),
    "FP8, one for a tile": ("fp8_128x128", False),
}


def claimed() -> Quantity:
    """The mean error that the guide prints beside its sample."""
    return ledger.get("int8-mean-error-0002").quantity()


def error(scheme: str) -> Quantity:
    """Mean absolute error of the guide's sample, run."""
    return counted(claims.mean_error, scheme, label=f"mean error, {scheme}")


def foretold() -> Quantity:
    """The same by row, as a quarter of the mean step."""
    return counted(claims.expected_error, label="a quarter of the mean step")


@counting(
    lambda by_row: "largest of a row, mean" if by_row else "largest of the sample"
)
def peak(by_row: bool) -> float:
    """The largest magnitude of the sample: of a row in the mean, or of all."""
    x = np.abs(claims.sample())
    return float(x.max(axis=1).mean() if by_row else x.max())


@counting("relative error in {bits} bits, foretold")
def lost(bits: int) -> float:
    """Relative error of a row of normal numbers in so many bits, as step over root 12.

    The largest of a row is that of the guide's sample.
    """
    return peak(True).si / (2 ** (bits - 1) - 1) / math.sqrt(12)


def bits(scheme: str) -> Quantity:
    """Bits that a scheme spends on the scale of a number."""
    share = fact(scheme, "scale_bits", "bit") / fact(scheme, "block")
    return share.named(f"bits of {scheme} for scales, of a number")


# -- a layer of the book's own model ---------------------------------------------------


@cache
def layer(outliers: bool) -> tuple[Any, Any]:
    """Inputs and weights of a matrix, as trained or with two channels made large."""
    from stacklib.tinylm import load, quantized
    from stacklib.tinylm.corpus import evaluation_text

    model = load()
    if outliers:
        model = quantized.with_outliers(model, FACTOR, CHANNELS)
    read = quantized.layer_inputs(model, [evaluation_text()[0].text])
    return read[MATRIX], model.weights[MATRIX]


@counting(
    lambda what, outliers: f"spread of {what}{(', outliers' if outliers else '')}"
)
def spread(what: str, *, outliers: bool = False) -> float:
    """Largest magnitude over the root mean square: inputs or weights."""
    x = layer(outliers)[what == "weights"]
    return float(np.abs(x).max() / np.sqrt((x**2).mean()))


def rounded(x: Any, way: str) -> Any:
    """An array after a way of ``WAYS``: tokens down, channels across."""
    scheme, turned = WAYS[way]
    given = np.ascontiguousarray(x.T) if turned else x
    found = dequantize(quantize(given, scheme))
    return found.T if turned else found


@counting(lambda way, outliers: f"product, {way}{', outliers' if outliers else ''}")
def off(way: str, *, outliers: bool) -> float:
    """How far the product is off when its inputs are rounded, relative."""
    x, w = layer(outliers)
    exact = x @ w.T
    return float(np.linalg.norm(rounded(x, way) @ w.T - exact) / np.linalg.norm(exact))


@counting(lambda scheme, clip: f"weights in {scheme}{', clipped' if clip else ''}")
def weights_off(scheme: str, clip: str | None = None) -> float:
    """Root of the squared error of the weights over that of their squares."""
    w = layer(False)[1]
    found = dequantize(quantize(w, scheme, clip=clip))
    return float(np.linalg.norm(found - w) / np.linalg.norm(w))


@counting("codes of symmetric INT8")
def codes() -> int:
    """Codes that a symmetric INT8 quantizer uses."""
    return int(2 * Format("int8").largest + 1)
