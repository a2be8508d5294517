"""An answer held against the model alone, token by token.

A product over a batch rounds otherwise than one over a row. Where two tokens are
closer than that, either is right: such a tie is counted.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass

import numpy as np

from stacklib.tinylm import TinyLM
from stacklib.tinylm.sampling import draw, probabilities

from .request import Request

ROUNDING = 1e-4  # of logits; of sums of probabilities a tenth


@dataclass(frozen=True, slots=True)
class Replay:
    """How an answer compares with what the model alone would have said."""

    tokens: int
    ties: int  # tokens that differ, closer than rounding
    wrong: int  # tokens that differ otherwise

    @property
    def equal(self) -> int:
        """Tokens that are the model's own."""
        return self.tokens - self.ties - self.wrong


def replay(model: TinyLM, request: Request) -> Replay:
    """Draw every token of an answer again from `tinylm`'s own pass over it.

    - ``request``: without mask and draft: their draws are others.
    """
    asked = request.asked
    ids = [*asked.tokens, *request.output]
    if request.reason == "stop" and request.stream.stopped is None:
        ids.append(model.tokenizer.end)
    logits = model.logits(ids[:-1])[len(asked.tokens) - 1 :]
    random = np.random.default_rng(request.id if asked.seed is None else asked.seed)
    ties = wrong = 0
    made = ids[len(asked.tokens) :]
    for token, row in zip(made, logits, strict=True):
        p = probabilities(row, asked.sampling)
        number = copy.deepcopy(random).random()
        if token == draw(p, random):
            continue
        if asked.sampling.temperature == 0:
            close = row.max() - row[token] < ROUNDING
        else:
            # The number that was drawn lies at the edge of the token's share.
            edges = np.cumsum(p)[[token - 1, token]] if token else np.cumsum(p)[:1]
            close = np.abs(edges - number).min() < ROUNDING / 10
        ties, wrong = ties + bool(close), wrong + (not close)
    return Replay(len(made), ties, wrong)
