"""All pairs' traffic as packets: queues before links, one packet a link and slot.

Every chip has as many packets for every other one, all at the start. A packet at a node
chooses its next link among those that bring it nearer, and waits there, first come
first served. ``spread`` draws the link by how many shortest paths go on over it, so
that links are loaded as ``loads`` says, on the average; ``queue`` takes the shortest
queue. Links are of one bandwidth, and buffers have no end. No run takes fewer slots
than its busiest link carries packets.
"""

from __future__ import annotations

import random
from collections import Counter, deque
from collections.abc import Mapping
from dataclasses import dataclass

from stacklib.quantity import resolve
from stacklib.quantity.bounds import whole

from .paths import Pair
from .topology import Topology

CHOICES = ("spread", "queue")
Packet = tuple[int, int]  # its destination, and links passed so far


@dataclass(frozen=True, slots=True)
class PacketRun:
    """How long all packets took."""

    slots: int  # until the last was there; a slot is a packet's time on a link
    delivered: int
    hops: int  # links that packets passed, in all
    loads: Mapping[Pair, int]  # packets over each link
    longest_queue: int


def run_packets(
    net: Topology, each: int = 1, *, choice: str = "spread", seed: int = 0
) -> PacketRun:
    """Send ``each`` packets from every chip to every other one.

    - ``choice``: how a packet chooses among links that bring it nearer.
    - raises ``ValueError`` for links of more than one bandwidth.
    """
    whole(each=each)
    choice = resolve(choice, CHOICES, "choice")
    if len(set(net.capacity.values())) > 1:
        raise ValueError(f"{net.name}: links of one bandwidth are needed")
    return _Queues(net, choice, random.Random(seed)).run(each)


class _Queues:
    """Packets that wait before each link."""

    def __init__(self, net: Topology, choice: str, drawn: random.Random) -> None:
        self.net, self.choice, self.drawn = net, choice, drawn
        self.waiting: dict[Pair, deque[Packet]] = {
            pair: deque() for pair in net.capacity
        }
        self.ways: dict[Pair, tuple[list[Pair], list[int]]] = {}
        self.longest = 0

    def run(self, each: int) -> PacketRun:
        """Slot by slot until nothing waits."""
        for source in range(self.net.ranks):
            to = [d for d in range(self.net.ranks) if d != source] * each
            self.drawn.shuffle(to)
            for destination in to:
                self._join(source, (destination, 0))
        slots = delivered = hops = 0
        loads: Counter[Pair] = Counter()
        busy = [pair for pair, queue in self.waiting.items() if queue]
        while busy:
            slots += 1
            came = [(pair[1], self.waiting[pair].popleft()) for pair in busy]
            loads.update(busy)
            for node, (destination, passed) in came:
                if node == destination:
                    delivered += 1
                    hops += passed + 1
                else:
                    self._join(node, (destination, passed + 1))
            busy = [pair for pair, queue in self.waiting.items() if queue]
        return PacketRun(slots, delivered, hops, dict(loads), self.longest)

    def _join(self, node: int, packet: Packet) -> None:
        pairs, weights = self._way(node, packet[0])
        if len(pairs) == 1:
            pair = pairs[0]
        elif self.choice == "queue":
            pair = min(pairs, key=lambda one: len(self.waiting[one]))
        else:
            pair = self.drawn.choices(pairs, cum_weights=weights)[0]
        self.waiting[pair].append(packet)
        self.longest = max(self.longest, len(self.waiting[pair]))

    def _way(self, node: int, destination: int) -> tuple[list[Pair], list[int]]:
        """Links that bring nearer, and the paths over each, summed up one by one."""
        found = self.ways.get((node, destination))
        if found is None:
            pairs, sums, total = [], [], 0
            for other, count in self.net.nearer(node, destination):
                total += count
                pairs.append((node, other))
                sums.append(total)
            found = self.ways[node, destination] = pairs, sums
        return found
