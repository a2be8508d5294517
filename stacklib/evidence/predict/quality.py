"""Family G: bits a weight are counted; a perplexity is measured, and refused.

The bits of a mixture follow from the format of each tensor. What a text costs a model
follows from its trained weights: a format says how far they are moved, not what that
does to answers. The book measures it on its own model, and predicts nobody else's.
"""

from __future__ import annotations

from stacklib import models
from stacklib.quantity import UnknownName

from ..measurements import Measurement, Refusal
from .registry import PREDICTORS, Forecast, Predict


def prepare(row: Measurement) -> Predict:
    """Bits a weight of a mixture, ready to be predicted."""
    if row.metric != "bits_per_weight":
        raise Refusal(
            f"{row.metric} follows from trained weights and a text, not from a format: "
            "it is measured"
        )
    try:
        model = models.get(row.subject)
        bits = 8 * model.weight_bytes(row.text("quant").lower()).si
    except (UnknownName, ValueError) as unknown:
        raise Refusal(str(unknown).splitlines()[0]) from None
    found = Forecast(bits / model.parameters.si, "bit", "tensors")
    return lambda: found


PREDICTORS["G"] = prepare
