"""Section 7.4: Can rounding one weight repair another?"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

from stacklib.pages.quantizers import quality
from stacklib.quantity import Quantity, counting
from stacklib.quantity.constants import case

LAYER = 2
MATRIX = f"model.layers.{LAYER}.mlp.up_proj.weight"
SCHEME = "int4_g128"
METHODS = ("round", "awq", "gptq")
NARROW = ("int4_g128", "q3_k", "q2_k")
TOKENS = 16  # of a sample
COUNTS = (1, 2, 4, 8, 16, 32, 64, 128, 256)  # samples
FACTOR, CHANNELS = case("outliers"), (7, 100)  # of the outliers


# -- a layer of the book's own model ---------------------------------------------------


@cache
def _model(outliers: bool) -> Any:
    from stacklib.tinylm import load, quantized

    model = load()
    return quantized.with_outliers(model, FACTOR, CHANNELS) if outliers else model


@cache
def inputs(outliers: bool = False) -> tuple[Any, Any]:
    """What the layer reads: of calibration texts, and of a text not among them."""
    from stacklib.tinylm import quantized
    from stacklib.tinylm.corpus import evaluation_text

    model = _model(outliers)
    seen = quantized.layer_inputs(model, quantized.calibration())[MATRIX]
    fresh = [doc.text for doc in evaluation_text()[:4]]
    return seen, quantized.layer_inputs(model, fresh)[MATRIX]


def width() -> Quantity:
    """Inputs of the layer."""
    from stacklib.tinylm.config import architecture

    return architecture("tiny").size("hidden", "hidden size").named("inputs")


def _weights(outliers: bool = False) -> Any:
    return _model(outliers).weights[MATRIX]


def rounded(method: str, scheme: str, samples: int = max(COUNTS)) -> Any:
    """The layer's weights after a method that saw so many samples."""
    from stacklib.quantizers import awq, dequantize, gptq, hessian, quantize

    w, seen = _weights(), inputs()[0][: samples * TOKENS]
    if method == "round":
        return dequantize(quantize(w, scheme))
    if method == "awq":
        return awq(w, seen, scheme).weights
    return dequantize(gptq(w, hessian(seen), scheme))


@counting("product off, {method}, {scheme}, {samples} samples")
@cache
def off(method: str, scheme: str = SCHEME, samples: int = max(COUNTS)) -> float:
    """How far the layer's product is off on a text nobody saw, relative."""
    import numpy as np

    fresh, w = inputs()[1], _weights()
    exact = fresh @ w.T
    off = fresh @ rounded(method, scheme, samples).T - exact
    return float(np.linalg.norm(off) / np.linalg.norm(exact))


@counting("weights off, {method}, {scheme}")
@cache
def weights_off(method: str, scheme: str = SCHEME) -> float:
    """How far its weights are off, relative."""
    import numpy as np

    w = _weights()
    return float(np.linalg.norm(rounded(method, scheme) - w) / np.linalg.norm(w))


@counting("correlation of two inputs, median")
def correlation() -> float:
    """Median magnitude of the correlation of two inputs of the layer."""
    import numpy as np

    from stacklib.quantizers import hessian

    h = hessian(inputs()[0])
    size = np.sqrt(np.diag(h))
    found = np.abs(h / np.outer(size, size))
    middle = float(np.median(found[np.triu_indices(len(h), 1)]))
    return round(middle, 4)  # the inputs are fp32: later digits are the BLAS's


# -- whole models ----------------------------------------------------------------------


def loss(scheme: str, method: str = "round") -> Quantity:
    """Bits a byte that the book's own model loses."""
    return quality.of(scheme, method=method).named(f"loss, {scheme}, {method}")


def schemes_run(method: str) -> list[str]:
    """Schemes whose whole models were run with a method."""
    from stacklib.tinylm.quantized import measured

    return [row.scheme for row in measured() if row.method == method]


def bits(scheme: str) -> Quantity:
    """Bits of a weight, scales counted, of the whole model as it was packed."""
    return quality.bits(scheme).named(f"bits of a weight, model in {scheme}")


# -- outliers --------------------------------------------------------------------------


@counting("W8A8 with outliers, alpha {alpha}")
def smoothed(alpha: float | None) -> float:
    """Product off with weights and inputs in INT8, one scale for the inputs.

    With outliers in two channels of the inputs; ``alpha`` of SmoothQuant, or none.
    """
    import numpy as np

    from stacklib.quantizers import dequantize, quantize, smoothquant

    seen, fresh = inputs(True)
    w = _weights(True)
    exact = fresh @ w.T
    x = fresh
    if alpha is not None:
        done = smoothquant(w, seen, alpha)
        w, x = done.weights, fresh / done.scales
    left = dequantize(quantize(x, "int8_tensor"))
    right = dequantize(quantize(w, "int8_channel"))
    return float(np.linalg.norm(left @ right.T - exact) / np.linalg.norm(exact))


# -- two weights -----------------------------------------------------------------------


def two_columns(w: tuple[float, float], c: float, step: float) -> dict[str, Any]:
    """Two weights whose inputs correlate by ``c``: rounding's and GPTQ's point.

    The loss is ``e H e`` with ones on the diagonal of ``H`` and ``c`` beside it. GPTQ
    rounds the first weight and moves the second by ``-c`` times the first's error: the
    row of the inverse over its diagonal, with the sign of the error taken in.
    """
    near = [step * math.floor(x / step + 0.5) for x in w]
    error = near[0] - w[0]
    moved = w[1] - c * error
    passed = [near[0], step * math.floor(moved / step + 0.5)]
    cost = [_cost(w, point, c) for point in (near, passed)]
    return {"round": near, "gptq": passed, "cost": cost, "moved": moved}


PAIR, TOGETHER = (0.45, 0.3), 0.9  # two weights in steps, correlation of their inputs


@counting("two weights, {what}")
def pair(what: str) -> float:
    """Squared error, ``rounded`` or ``passed`` on, or where the second ``aim``s."""
    found = two_columns(PAIR, TOGETHER, 1.0)
    if what == "aim":
        return float(found["moved"])
    return float(found["cost"][("rounded", "passed").index(what)])


def _cost(w: tuple[float, float], point: list[float], c: float) -> float:
    a, b = point[0] - w[0], point[1] - w[1]
    return a * a + 2 * c * a * b + b * b
