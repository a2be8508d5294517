"""Ways of messages over a network, and the messages of a schedule's steps.

A message is spread over all shortest paths alike, or takes one. All messages of a step
between one pair of nodes go as one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import NamedTuple

from stacklib.interconnect.schedules.schedule import Schedule, Send
from stacklib.quantity import resolve

from .paths import Pair, Routes
from .topology import Topology

ROUTINGS = ("spread", "single")


class Way(NamedTuple):
    """How messages get from one node to another."""

    share: Mapping[Pair, float]  # of what is sent, over each link
    latency: float  # s, of the slowest of the paths that are used


class Ways:
    """Ways of a network, each found once."""

    def __init__(self, on: Topology, routing: str = "spread") -> None:
        self.on, self.routing = on, resolve(routing, ROUTINGS, "routing")
        self.known: dict[Pair, Way] = {}

    def way(self, pair: Pair) -> Way:
        """From one node to another."""
        found = self.known.get(pair)
        if found is None:
            routes = self.on.routes(*pair)
            if self.routing == "single":
                share = dict.fromkeys(pairwise(routes.path), 1.0)
                routes = Routes(*pair, 1, routes.path, share)
            found = self.known[pair] = Way(routes.share, self._latency(routes))
        return found

    def _latency(self, routes: Routes) -> float:
        latest = {routes.source: 0.0}
        for one, other in routes.share:  # what flows in stands before what flows out
            came = latest[one] + self.on.latency[one, other]
            latest[other] = max(latest.get(other, 0.0), came)
        return latest[routes.destination]

    def loads(self, messages: Mapping[Pair, int]) -> dict[Pair, float]:
        """Chunks over each link, of messages of so many chunks."""
        found: dict[Pair, float] = {}
        for pair, count in messages.items():
            for link, share in self.way(pair).share.items():
                found[link] = found.get(link, 0.0) + count * share
        return found


def fitting(schedule: Schedule, topology: Topology) -> None:
    """Refuse a schedule that is not for as many chips, or for more switches."""
    if schedule.ranks != topology.ranks:
        raise ValueError(
            f"a schedule of {schedule.ranks} ranks on {topology.name}, which has "
            f"{topology.ranks} chips: make one for as many"
        )
    if schedule.switches > topology.switches:
        raise ValueError(
            f"the schedule reduces in {schedule.switches} switches, {topology.name} "
            f"has {topology.switches}"
        )
    for send in schedule.sends:
        if not (
            0 <= send.source < schedule.nodes and 0 <= send.destination < schedule.nodes
        ):
            raise ValueError(
                f"step {send.step}: {send.source} sends to {send.destination}, and "
                f"nodes are 0 to {schedule.nodes - 1}"
            )


def messages_of(sends: Iterable[Send]) -> dict[Pair, int]:
    """Chunks from each node to each other; what stays in a chip uses no link."""
    found: dict[Pair, int] = {}
    for send in sends:
        if send.source != send.destination:
            pair = send.source, send.destination
            found[pair] = found.get(pair, 0) + 1
    return found
