"""How often a large model accepts what a small one drafts (Leviathan et al., 2023).

A token drafted from q is kept with probability min(1, p / q), where p is the large
model's. Over all tokens that keeps the overlap of the two distributions,

    acceptance = sum over tokens of min(p, q),

(their Theorem 3.5 and corollary), which needs no drawing. `accepted` draws all the
same, as an engine does, and must agree.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .model import TinyLM
from .sampling import Sampling, draw, probabilities


@dataclass(frozen=True, slots=True)
class Acceptance:
    """Of a draft model by a larger one, over the positions of a text."""

    rate: float  # mean overlap of the two next-token distributions
    error: float  # its standard error over positions
    greedy: float  # share of positions where both have the same most likely token
    positions: int  # how many were compared


def _distributions(
    model: TinyLM, ids: Sequence[int], how: Sampling
) -> NDArray[np.float64]:
    return np.stack([probabilities(row, how) for row in model.logits(ids)])


def acceptance(
    target: TinyLM,
    draft: TinyLM,
    texts: Sequence[Sequence[int]],
    how: Sampling | None = None,
) -> Acceptance:
    """Overlap of target and draft after every prefix of some texts."""
    if target.tokenizer.vocab != draft.tokenizer.vocab:
        raise ValueError(
            f"vocabularies of {target.tokenizer.vocab} and {draft.tokenizer.vocab} ids"
        )
    if not texts:
        raise ValueError("no texts: acceptance is measured on at least one")
    overlaps, same = [], []
    for ids in texts:
        p = _distributions(target, ids, how or Sampling())
        q = _distributions(draft, ids, how or Sampling())
        overlaps.append(np.minimum(p, q).sum(axis=1))
        same.append(p.argmax(axis=1) == q.argmax(axis=1))
    overlap = np.concatenate(overlaps)
    error = float(overlap.std() / np.sqrt(len(overlap)))
    greedy = float(np.concatenate(same).mean())
    return Acceptance(float(overlap.mean()), error, greedy, len(overlap))


def accepted(
    target: TinyLM, draft: TinyLM, ids: Sequence[int], random: np.random.Generator
) -> int:
    """How many of the drafts after each prefix of a text are kept, by drawing."""
    kept = 0
    everything = Sampling()
    p_rows = _distributions(target, ids, everything)
    q_rows = _distributions(draft, ids, everything)
    for p, q in zip(p_rows, q_rows, strict=True):
        # Two random numbers a position.
        token = draw(q, random)
        kept += random.random() * q[token] < p[token]
    return kept
