"""Messages that share links fairly: how long until each has passed.

Max-min fairness by progressive filling (D. Bertsekas and R. Gallager, *Data Networks*,
1992, section 6.5): the rates of all messages rise together; where a link is full, those
that cross it stop rising. When a message has passed, the rest is shared anew. Messages
are fluid: no packets, no order, no queue that loses any.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .paths import Pair

NEAR = 1e-9  # of a link or a message: rounding


@dataclass(frozen=True, slots=True)
class Flow:
    """Bytes that go over links, a share of them over each."""

    amount: float
    share: Mapping[Pair, float]


def rates(flows: Sequence[Flow], capacity: Mapping[Pair, float]) -> list[float]:
    """B/s of each flow, max-min fair."""
    using: dict[Pair, list[int]] = {}
    for at, flow in enumerate(flows):
        for pair in flow.share:
            using.setdefault(pair, []).append(at)
    left = {pair: capacity[pair] for pair in using}
    asked = {
        pair: sum(flows[at].share[pair] for at in users)
        for pair, users in using.items()
    }
    found = [0.0] * len(flows)
    rising = set(range(len(flows)))
    level = 0.0
    while rising:
        more = min(left[pair] / asked[pair] for pair in left)
        level += more
        full = [p for p in left if left[p] - more * asked[p] <= NEAR * capacity[p]]
        for pair in left:
            left[pair] -= more * asked[pair]
        stopped = {at for pair in full for at in using[pair] if at in rising}
        for at in stopped:
            found[at] = level
            for pair, share in flows[at].share.items():
                asked[pair] -= share
        rising -= stopped
        # links that no rising flow uses are done
        open_links = {p for at in stopped for p in flows[at].share}
        for pair in open_links:
            if pair in left and not any(at in rising for at in using[pair]):
                del left[pair]
    return found


def passed(flows: Sequence[Flow], capacity: Mapping[Pair, float]) -> list[float]:
    """Seconds after which each flow has passed; all begin together."""
    done = [0.0] * len(flows)
    left = {at: flow.amount for at, flow in enumerate(flows) if flow.amount > 0}
    now = 0.0
    while left:
        order = list(left)
        pace = rates([flows[at] for at in order], capacity)
        needs = [left[at] / rate for at, rate in zip(order, pace, strict=True)]
        step = min(needs)
        now += step
        for at, rate, need in zip(order, pace, needs, strict=True):
            if need <= step * (1 + NEAR):
                done[at] = now
                del left[at]
            else:
                left[at] -= rate * step
    return done
