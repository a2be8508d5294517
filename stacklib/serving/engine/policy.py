"""Who goes first, and who may join a batch: rows of a table.

A request's rank is fixed when it comes and nobody who comes later without end can
stand before it, so the one with the lowest rank is always served and nobody starves.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from stacklib.quantity.names import resolve


@dataclass(frozen=True, slots=True)
class Policy:
    """How a waiting line is ordered, and whether it waits for the batch to end."""

    # Work counted so far and tokens of the prompt -> rank, lowest first.
    rank: Callable[[float, int], float]
    joins: bool = True  # while others run


POLICIES = {
    "fcfs": Policy(lambda work, prompt: 0.0),  # ids then say who came first
    # A long prompt is passed only by what comes before as much work is done as it is
    # long: plain shortest first would starve it.
    "shortest": Policy(lambda work, prompt: work + prompt),
    "static": Policy(lambda work, prompt: 0.0, joins=False),
}


def policy_named(name: str) -> Policy:
    """A row of the table.

    - raises ``UnknownName``: the message ends in the nearest.
    """
    return POLICIES[resolve(name, POLICIES, "policy")]
