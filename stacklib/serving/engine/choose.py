"""From a request's logits to the tokens it is given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from stacklib.tinylm.forward import Floats, log_softmax
from stacklib.tinylm.sampling import draw, probabilities

from .request import Request


@dataclass(frozen=True, slots=True)
class Chosen:
    """A token, and what the model thought of it before any cut."""

    token: int
    logprob: float | None = None
    top: tuple[tuple[int, float], ...] = ()


def choose(request: Request, rows: Floats, drafted: Sequence[int]) -> list[Chosen]:
    """The next tokens of a request; none where its grammar allows nothing.

    - ``rows``: (1 + drafted, vocab), logits after its last token and after each draft.
    - ``drafted``: tokens that a draft proposed; none of them is kept yet.
    """
    row = rows[0]
    if request.asked.mask is not None:
        allowed = request.asked.mask.allowed(request.at, request.left)
        if not allowed.any():
            return []
        row = np.where(allowed, row, np.float32(-np.inf))
    how = request.asked.sampling
    if how.temperature == 0:  # nothing is drawn
        token = int(row.argmax())
    else:
        token = draw(probabilities(row, how), request.random)
    return [reported(token, rows[0], request.asked.logprobs)]


def reported(token: int, row: Floats, count: int | None) -> Chosen:
    """A token with its ln p and those of the ``count`` likeliest."""
    if count is None:
        return Chosen(token)
    log_p = log_softmax(row[None])[0]
    first = np.argsort(-log_p, kind="stable")[:count]
    top = tuple((int(each), float(log_p[each])) for each in first)
    return Chosen(token, float(log_p[token]), top)
