"""A session whose every turn sends all that came before: what a prompt cache saves."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

from stacklib.quantity.bounds import at_least, whole


def prefilled(
    contexts: Iterable[int], pauses: Sequence[float] | None = None, lives: float = 1e300
) -> list[int]:
    """Tokens that each turn computes, where what came before is found while it lives.

    - ``contexts``: tokens of each turn's prompt, which begins with the one before.
    - ``pauses``: seconds before each turn but the first; without, none is too long.
    - ``lives``: seconds that a cached prompt stays, counted from its last use.

    ValueError for contexts that are no whole numbers or shrink, and other pauses than
    one between each two turns.
    """
    turns = list(contexts)
    for context in turns:
        whole(context=context)
    if any(after < before for before, after in pairwise(turns)):
        raise ValueError(f"contexts = {turns}: a turn holds the one before, and more")
    between = [0.0] * (len(turns) - 1) if pauses is None else list(pauses)
    if len(between) != max(0, len(turns) - 1):
        raise ValueError(
            f"{len(between)} pauses, {len(turns)} turns: one between each two is needed"
        )
    at_least(0, lives=lives, **{f"pause_{n}": p for n, p in enumerate(between)})
    new = turns[:1]
    for (before, after), pause in zip(pairwise(turns), between, strict=True):
        new.append(after - before if pause <= lives else after)
    return new
