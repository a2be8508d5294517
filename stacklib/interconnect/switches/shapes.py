"""Fabrics to run: switches in a row, two tiers, and a ring."""

from __future__ import annotations

import random
from collections.abc import Iterable
from itertools import pairwise

from stacklib.quantity.bounds import above_zero, at_least, whole

from .fabric import Flow, Port, Wire

Wires = dict[Port, Wire]


def both_ways(ends: Iterable[Port], wire: Wire) -> Wires:
    """A wire in each direction between the given ends."""
    made: Wires = {}
    for one, other in ends:
        made[one, other] = made[other, one] = wire
    return made


def row(
    hops: int, wire: Wire, *, sources: int = 0
) -> tuple[Wires, tuple[str, ...], list[list[tuple[str, ...]]]]:
    """Switches in a row: wires, the way through all, and ways of others.

    - ``sources``: hosts at each switch whose way shares just its next wire of the row.
    """
    whole(hops=hops)
    whole(0, sources=sources)
    way = ("here", *(f"s{i}" for i in range(hops)), "there")
    ends = list(pairwise(way))
    others: list[list[tuple[str, ...]]] = []
    for i in range(hops):
        mine, last = f"s{i}", i == hops - 1
        aside = f"aside{i}"
        if not last:
            ends.append((way[i + 2], aside))
        found = []
        for k in range(sources):
            ends.append((f"other{i}.{k}", mine))
            end = (way[i + 2],) if last else (way[i + 2], aside)
            found.append((f"other{i}.{k}", mine, *end))
        others.append(found)
    return both_ways(ends, wire), way, others


def crowd(
    others: list[list[tuple[str, ...]]],
    *,
    load: float,
    rate: float,
    size: int,
    until: float,
    seed: int = 0,
    frame: int = 4096,
) -> list[Flow]:
    """Messages of others, coming at random, that load each wire of a row.

    - ``load``: share of a wire's ``rate``; ``size``: bytes of a message.
    """
    at_least(0, load=load)
    above_zero(rate=rate, until=until)
    drawn, made = random.Random(seed), []
    for paths in others if load else ():
        now = drawn.expovariate(load * rate / size)
        while now < until:
            made.append(Flow((drawn.choice(paths),), size, now, frame))
            now += drawn.expovariate(load * rate / size)
    return made


def two_tiers(
    hosts: int, spines: int, wire: Wire
) -> tuple[Wires, list[tuple[tuple[str, ...], ...]]]:
    """Two leaves with hosts, joined over spines: wires, and each pair's paths.

    The k-th host of one leaf sends to the k-th of the other, over any spine.
    """
    whole(hosts=hosts, spines=spines)
    ends = [(leaf, f"spine{s}") for leaf in ("left", "right") for s in range(spines)]
    for k in range(hosts):
        ends += [(f"a{k}", "left"), (f"b{k}", "right")]
    paths: list[tuple[tuple[str, ...], ...]] = [
        tuple((f"a{k}", "left", f"spine{s}", "right", f"b{k}") for s in range(spines))
        for k in range(hosts)
    ]
    return both_ways(ends, wire), paths


def ring(switches: int, wire: Wire) -> tuple[Wires, list[tuple[str, ...]]]:
    """A ring of switches, a host at each, and the way from each two switches on."""
    whole(3, switches=switches)
    ends = [(f"s{i}", f"s{(i + 1) % switches}") for i in range(switches)]
    ends += [(f"h{i}", f"s{i}") for i in range(switches)]
    paths = []
    for i in range(switches):
        passed = [(i + k) % switches for k in range(3)]
        paths.append((f"h{i}", *(f"s{k}" for k in passed), f"h{passed[-1]}"))
    return both_ways(ends, wire), paths


def behind(many: int, wire: Wire) -> tuple[Wires, list[tuple[str, ...]]]:
    """A flow to a free host, behind an incast: wires, its way, and the incast's ways.

    The first of ``many`` senders to one host comes over the same two switches, whose
    cable has room for both.
    """
    whole(many=many)
    ways: list[tuple[str, ...]] = [("here", "s", "t", "there")]
    ways.append(("a0", "s", "t", "crowded"))
    ways += [(f"a{k}", "t", "crowded") for k in range(1, many)]
    ends = [port for way in ways for port in pairwise(way) if port != ("s", "t")]
    wires = both_ways(ends, wire)
    return wires | both_ways([("s", "t")], wire._replace(rate=2 * wire.rate)), ways
