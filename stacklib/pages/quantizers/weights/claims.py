"""A claim on what AWQ does with the weights that matter."""

from functools import cache
from typing import Any

import numpy as np

from stacklib.evidence import Finding, claim
from stacklib.quantizers import awq, hessian
from stacklib.quantizers.weight_methods import Awq

SCHEME, OUTPUTS, INPUTS, SAMPLES = "int4_g128", 64, 256, 512
LARGE, TIMES = 4, 30  # input channels with large numbers, and how much larger


def layer() -> tuple[Any, Any]:
    """Weights, and inputs of which a few channels are much larger."""
    random = np.random.default_rng(7)
    inputs = random.standard_normal((SAMPLES, INPUTS))
    inputs[:, :: INPUTS // LARGE] *= TIMES
    return random.standard_normal((OUTPUTS, INPUTS)), inputs


@cache
def scaled() -> Awq:
    """AWQ of that layer."""
    return awq(*layer(), SCHEME)


def errors() -> tuple[float, float]:
    """Relative error of the large channels' weights, by plain rounding and by AWQ."""
    weights, inputs = layer()
    plain = awq(weights, inputs, SCHEME, alphas=(0.0,))
    at = np.s_[:, :: INPUTS // LARGE]
    size = np.abs(weights[at]).mean()
    told = [
        float(np.abs(found.weights[at] - weights[at]).mean() / size)
        for found in (plain, scaled())
    ]
    return told[0], told[1]


def output_gain() -> float:
    """Squared error of the layer's output by plain rounding, over that by AWQ."""
    losses = scaled().losses
    return losses[0.0] / losses[scaled().alpha]


def weighs_inputs() -> float:
    """Share of the Hessian's diagonal that the large channels hold."""
    diagonal = np.diag(hessian(layer()[1]))
    return float(diagonal[:: INPUTS // LARGE].sum() / diagonal.sum())


@claim("awq-higher-precision")
def same_precision() -> Finding:
    """What AWQ stores for the channels that matter: the same bits as for all."""
    plain, better = errors()
    found = scaled().quantized
    return Finding.false(
        "Source: Lin et al., AWQ, arXiv 2306.00978, section 3: a mix "
        "of precisions is what AWQ sets out to avoid. It multiplies the channels that "
        "see large inputs by a factor before rounding and divides their inputs by it. "
        f"Run on a drawn layer whose {LARGE} large channels hold "
        f"{weighs_inputs():.1%} of the input's energy: every weight has "
        f"{found.row.code_bits} bits ({found.bits:.4g} with scales), the relative "
        f"error of those channels falls from {plain:.1%} to {better:.1%}, and the "
        f"squared error of the output {output_gain():.1f} times. Only the effect is "
        "that of a higher precision."
    )
