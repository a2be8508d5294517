"""Speculation for one sequence: draft, check in one pass, keep, roll back.

The slow and obvious way. ``serving.Engine`` does the same for many sequences at once,
and must give the same tokens.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from stacklib.quantity.bounds import whole
from stacklib.tinylm.forward import KVCache
from stacklib.tinylm.model import TinyLM
from stacklib.tinylm.sampling import Sampling

from .drafts import Draft, Way
from .rule import checked, distribution


@dataclass(frozen=True, slots=True)
class Pass:
    """What one pass of the large model yielded."""

    tokens: tuple[int, ...]  # of the text
    drafted: int

    @property
    def kept(self) -> int:
        """Drafted tokens that are in the text."""
        return len(self.tokens) - 1


def passes(
    model: TinyLM,
    draft: Draft,
    ids: Sequence[int],
    how: Sampling,
    random: np.random.Generator,
    *,
    most: int,
) -> Iterator[Pass]:
    """Passes until there are ``most`` tokens, or the context is full.

    - ``ids``: what is read first; the model's own end of a document is a token here
    - a pass drafts no more than can still be used
    """
    whole(most=most)
    text, cache = list(ids), KVCache(model.config)
    way = Way(how, random)
    context = model.config.max_position_embeddings
    end = min(len(text) + most, context)
    while len(text) < end:
        proposal = draft.propose(0, text, end - len(text) - 1, way)
        unread = [*text[cache.length :], *proposal.tokens]
        logits = model.logits(unread, cache)[-1 - len(proposal.tokens) :]
        rows = [distribution(row, how) for row in logits]
        tokens = checked(rows, proposal.rows, proposal.tokens, random)
        text += tokens
        # Of what was read, the rejected tokens go; the last token is not read yet.
        cache.truncate(len(text) - 1)
        yield Pass(tuple(tokens), len(proposal.tokens))
    draft.forget(0)
