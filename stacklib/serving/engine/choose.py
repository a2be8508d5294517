"""From a request's logits to the tokens it is given."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from stacklib.serving.speculation.drafts import Proposal
from stacklib.serving.speculation.rule import Row, checked, distribution
from stacklib.tinylm.forward import Floats, log_softmax

from .drafting import allowed
from .request import Request


@dataclass(frozen=True, slots=True)
class Chosen:
    """A token, and what the model thought of it before any cut."""

    token: int
    logprob: float | None = None
    top: tuple[tuple[int, float], ...] = ()


def choose(
    request: Request, rows: Floats, proposal: Proposal, end: int
) -> list[Chosen]:
    """The next tokens of a request; none where its grammar allows nothing.

    - ``rows``: (1 + drafted, vocab), logits after its last token and after each draft.
    - ``proposal``: tokens that a draft proposed; none of them is kept yet.
    - ``end``: the token that ends a document
    """
    count, how = request.asked.logprobs, request.asked.sampling
    if how.temperature == 0 and len(rows) == 1 and request.asked.mask is None:
        token = int(rows[0].argmax())
        if rows[0, token] == rows[0, token]:  # NaN is left to `distribution`
            return [reported(token, rows[0], count)]
    target: list[Row] = []
    for place, row in enumerate(rows):
        may = allowed(request, proposal.tokens[:place], end)
        if may is not None and not may.any():
            break
        target.append(distribution(row, how, may))
    if not target:
        return []
    tokens = checked(target, proposal.rows, proposal.tokens, request.random)
    return [reported(*each, count) for each in zip(tokens, rows, strict=False)]


def reported(token: int, row: Floats, count: int | None) -> Chosen:
    """A token with its ln p and those of the ``count`` likeliest."""
    if count is None:
        return Chosen(token)
    log_p = log_softmax(row[None])[0]
    first = np.argsort(-log_p, kind="stable")[:count]
    top = tuple((int(each), float(log_p[each])) for each in first)
    return Chosen(token, float(log_p[token]), top)
