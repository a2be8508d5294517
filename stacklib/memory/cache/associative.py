"""What limited associativity costs: the chance that a line survives in its set.

Between two touches of a line D other lines were touched. In a fully associative LRU
cache only D counts. With sets, what counts is how many of the D fell into the line's
own set; if lines land in sets by chance, that number is binomial, and the line is
still there when it is below the ways (Smith, 1978; Hill and Smith, 1989).
"""

from __future__ import annotations

from math import exp, lgamma, log

from stacklib.quantity.bounds import at_least, whole


def hit_chance(distance: float, sets: int, ways: int) -> float:
    """Chance that an access hits a set-associative LRU cache, by its reuse distance."""
    at_least(0, distance=distance)
    whole(sets=sets, ways=ways)
    if distance < ways:
        return 1.0
    if sets == 1:
        return 0.0
    here, elsewhere = log(1 / sets), log(1 - 1 / sets)
    total = 0.0
    for same in range(ways):  # so many of the others are in the line's set
        choices = lgamma(distance + 1) - lgamma(same + 1) - lgamma(distance - same + 1)
        total += exp(choices + same * here + (distance - same) * elsewhere)
    return min(total, 1.0)
