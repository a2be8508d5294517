"""A router that draws: which experts each token goes to, with skew and node limits.

Each expert's affinity for a token is ``u ** (1 / popularity)``, u uniform: the largest
``top_k`` are then a weighted draw without repetition (P. Efraimidis and P. Spirakis,
2006), and all are alike where popularity is. Popularity of the n-th expert is
``n ** -skew``. With groups, a token takes the groups whose best expert is best, then
its experts within them (DeepEP's test; DeepSeek-V3 itself adds a group's two best).
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from heapq import nlargest

from stacklib.quantity.bounds import at_least, whole


@dataclass(frozen=True, slots=True)
class Routing:
    """The experts of each token, in ascending order."""

    chosen: tuple[tuple[int, ...], ...]  # tokens x top_k
    experts: int
    top_k: int

    def loads(self) -> list[int]:
        """Tokens that each expert receives."""
        found = [0] * self.experts
        for experts in self.chosen:
            for expert in experts:
                found[expert] += 1
        return found

    @property
    def imbalance(self) -> float:
        """Tokens of the busiest expert over those of the mean one."""
        loads = self.loads()
        return max(loads) * self.experts / sum(loads)


def route_experts(
    tokens: int,
    *,
    experts: int = 256,
    top_k: int = 8,
    skew: float = 0.0,
    groups: int = 1,
    top_groups: int | None = None,
    seed: int = 0,
) -> Routing:
    """Draw the experts that each token is sent to.

    Parameters
    ----------
    tokens : int
        How many are routed, each on its own.
    experts, top_k : int
        How many there are, and how many a token goes to.
    skew : float
        Popularity of the n-th expert is ``n ** -skew``; 0 makes all alike.
    groups, top_groups : int
        Groups of experts, one a node, and of how many a token may take experts.
    seed : int
        Of the draw.

    Returns
    -------
    Routing
        ``.chosen`` by token, ``.loads()`` by expert, ``.imbalance``.

    Raises
    ------
    ValueError
        For more chosen than there are, groups that do not divide the experts, or a skew
        below zero.

    Examples
    --------
    >>> even = route_experts(1000, experts=16, top_k=2)
    >>> skewed = route_experts(1000, experts=16, top_k=2, skew=1.0)
    >>> even.imbalance < 1.3 < 3 < skewed.imbalance
    True
    >>> len(even.chosen), sum(even.loads())
    (1000, 2000)
    """
    whole(tokens=tokens, experts=experts, top_k=top_k, groups=groups)
    at_least(0, skew=skew)
    take = groups if top_groups is None else top_groups
    whole(top_groups=take)
    if experts % groups:
        raise ValueError(f"experts = {experts} do not divide into groups = {groups}")
    if take > groups:
        raise ValueError(f"top_groups = {take} of {groups} groups")
    if top_k > experts // groups * take:
        raise ValueError(
            f"top_k = {top_k} of the {experts // groups * take} experts that a token "
            "may take"
        )
    draw = random.Random(seed)
    powers = [(n + 1) ** skew for n in range(experts)]
    order = list(range(experts))
    if skew:
        draw.shuffle(order)  # so that the popular ones are not all on the first rank
    rows = []
    for _ in range(tokens):
        scores = [0.0] * experts
        for place, power in zip(order, powers, strict=True):
            scores[place] = draw.random() ** power
        rows.append(_best(scores, top_k, groups, take))
    return Routing(tuple(rows), experts, top_k)


def _best(scores: list[float], top_k: int, groups: int, take: int) -> tuple[int, ...]:
    among = range(len(scores))
    if take < groups:
        size = len(scores) // groups
        best = [max(scores[g * size : (g + 1) * size]) for g in range(groups)]
        kept = nlargest(take, range(groups), key=best.__getitem__)
        places = [g * size + e for g in kept for e in range(size)]
        return tuple(sorted(nlargest(top_k, places, key=scores.__getitem__)))
    return tuple(sorted(nlargest(top_k, among, key=scores.__getitem__)))
