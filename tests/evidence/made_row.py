"""A row of measurements, made up."""

from stacklib.evidence.measurements import Measurement
from stacklib.evidence.predict import PREDICTORS


def row(family: str, config: str = "", **changes: str) -> Measurement:
    """One of a family, its other texts changed by name."""
    texts = dict.fromkeys(("software", "source", "date", "notes"), "") | {
        "id": "x",
        "system": "NVIDIA H100 80GB HBM3",
        "subject": "GEMM",
        "settings": config,
        "metric": "latency",
        "unit": "ms",
        "confidence": "saw",
    }
    return Measurement(family=family, value=1.0, fault="", **(texts | changes))


def predict(made: Measurement):
    """What is predicted for it."""
    return PREDICTORS[made.family](made)()
