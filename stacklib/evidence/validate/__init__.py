"""Predictions held against published measurements, row by row and by family.

>>> from stacklib.evidence import measurements, validate
>>> validate.validate(measurements.public()).families["A"]    # doctest: +SKIP
Score(predicted=..., refused=..., median_error=..., p90_error=..., bias=...)
"""

from .explanations import ExplanationError, explanations
from .figures import ratio_spec, spread_spec
from .limits import Beyond, beyond, impossible
from .readback import read_back
from .report import Validation, device_name, outcome, source_of, validate
from .score import (
    BARS,
    KEYS,
    PART_TITLES,
    PARTS,
    TITLES,
    Bar,
    Outcome,
    Score,
    key_of,
    part_of,
    quantile,
    score,
)

__all__ = [
    "BARS", "Bar", "Beyond", "ExplanationError", "KEYS", "Outcome", "PARTS",
    "PART_TITLES", "Score", "TITLES",
    "Validation", "beyond", "device_name", "explanations", "impossible", "key_of",
    "outcome", "part_of", "quantile", "ratio_spec", "read_back", "score", "source_of",
    "spread_spec", "validate",
]  # fmt: skip
