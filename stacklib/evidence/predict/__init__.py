"""Predictors: from a row of published measurements to what the models say.

One module a family, which enters itself in the table of ``registry``.
"""

from ..measurements import Measurement, Refusal
from . import (
    attention,  # noqa: F401
    collectives,  # noqa: F401
    gemm,  # noqa: F401
    inference,  # noqa: F401
    memory,  # noqa: F401
    prices,  # noqa: F401
    quality,  # noqa: F401
    rigs,  # noqa: F401
    serving,  # noqa: F401
    training,  # noqa: F401
)
from .registry import PREDICTORS, Forecast, Predict, Prepare, predictor, regime

__all__ = [
    "Forecast",
    "Measurement",
    "PREDICTORS",
    "Predict",
    "Prepare",
    "Refusal",
    "predictor",
    "regime",
]
