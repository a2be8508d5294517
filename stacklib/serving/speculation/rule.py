"""Which drafted tokens are kept, so that the text is the large model's own.

Leviathan et al. (2023), algorithm 1: a token x that was drawn from q is kept with
probability min(1, p(x) / q(x)), where p is what the large model would have drawn from.
The first one that is not kept is replaced by a draw from what p has more of than q,

    residual(x) = max(0, p(x) - q(x)) / sum over y of max(0, p(y) - q(y)),

and all after it are dropped. Where all are kept, one more token comes from the row of p
after the last of them. Then each token is distributed as p, whatever q was:

    q(x) min(1, p(x) / q(x)) + (1 - sum min(p, q)) residual(x) = p(x).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stacklib.tinylm.sampling import Sampling, draw, probabilities

Row: TypeAlias = NDArray[np.float64]  # (vocab,), sums to one


def checked(
    target: Sequence[Row],
    draft: Sequence[Row],
    drafted: Sequence[int],
    random: np.random.Generator,
) -> list[int]:
    """The tokens that a pass yields: drafted ones that are kept, and one more.

    - ``target``: p after each of 0, 1, ... drafted tokens: one row more than drafted,
      or as many where nothing may follow the last of them
    - ``draft``: q that each was drawn from
    - raises ``ValueError`` for rows that do not fit, or a token that q never draws
    """
    more = len(target) - len(drafted)
    if more not in (0, 1) or len(draft) != len(drafted):
        raise ValueError(
            f"{len(drafted)} drafted tokens with {len(draft)} rows of the draft and "
            f"{len(target)} of the target: as many, and at most one more, are needed"
        )
    tokens: list[int] = []
    for p, q, token in zip(target, draft, drafted, strict=False):
        if not q[token] > 0:
            raise ValueError(f"token {token}: drafted, and its q is {q[token]}")
        if random.random() * q[token] < p[token]:
            tokens.append(token)
            continue
        return [*tokens, draw(residual(p, q), random)]
    return [*tokens, draw(target[-1], random)] if more else tokens


def residual(p: Row, q: Row) -> Row:
    """What p has more of than q, scaled to one."""
    left = np.maximum(p - q, 0)
    total = left.sum()
    # Rows that differ by rounding alone leave nothing; then either is p.
    return left / total if total > 0 else p


def overlap(p: Row, q: Row) -> float:
    """Chance that a token drawn from q is kept: the sum of min(p, q)."""
    return float(np.minimum(p, q).sum())


def distribution(
    logits: ArrayLike, how: Sampling, allowed: NDArray[np.bool_] | None = None
) -> Row:
    """What a token is drawn from, where a mask may forbid some tokens.

    Both p and q are masked: then what is not allowed is never drafted, and never kept.
    """
    if allowed is not None:
        if not np.any(allowed):
            raise ValueError("a mask that allows no token: nothing can be drawn")
        logits = np.where(allowed, np.asarray(logits, dtype=np.float64), -np.inf)
    return probabilities(logits, how)


def certain(token: int, vocab: int) -> Row:
    """The q of a draft that does not draw: all on one token."""
    row = np.zeros(vocab)
    row[token] = 1.0
    return row
