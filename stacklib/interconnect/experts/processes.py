"""The exchange of experts between real processes: dispatch, experts' work, combine.

Each process is a rank with its tokens and experts. It sends each token's numbers to
those who hold its experts, in one of ``count.ONCE``'s ways, receives others', applies
its experts and sends back the sums, which the token's rank adds up. An expert's work is
a product with a whole number of its own, so that what comes back is exact and any
token lost, doubled or led astray shows. Combine goes straight back, whatever the way
there. A process of Python is no GPU: what is counted here is copies, not time.
"""

from __future__ import annotations

import random
import time
from array import array
from collections.abc import Iterable
from dataclasses import dataclass
from multiprocessing import get_context
from typing import Any

from stacklib.quantity import resolve
from stacklib.quantity.bounds import above_zero, whole

from .count import ONCE, Copies
from .route import Routing

Packet = tuple[
    int, dict[int, tuple[int, ...]], bytes
]  # token, experts by rank, numbers


@dataclass(frozen=True, slots=True)
class DispatchRun:
    """What came back, and what moved on the way there."""

    results: tuple[tuple[int, ...], ...]  # of each token
    copies: Copies  # a token, a mean
    received: tuple[int, ...]  # copies that ended at a rank
    bytes_network: int


def token(index: int, hidden: int) -> array:
    """The numbers of a token, the same wherever they are made."""
    draw = random.Random(index)
    return array("q", (draw.randrange(1 << 20) for _ in range(hidden)))


def expected(routing: Routing, hidden: int) -> tuple[tuple[int, ...], ...]:
    """What each token comes back as: its numbers times the sum of its experts'."""
    return tuple(
        tuple(x * sum(e + 1 for e in experts) for x in token(t, hidden))
        for t, experts in enumerate(routing.chosen)
    )


def run_dispatch(
    routing: Routing,
    *,
    ranks: int,
    ranks_per_node: int,
    once: str = "expert",
    hidden: int = 8,
    dies: int | None = None,
    limit_s: float = 20.0,
) -> DispatchRun:
    """Send tokens to their experts and back between ``ranks`` processes.

    - token ``t`` starts at rank ``t % ranks``, as in ``count``.
    - ``dies``: a rank that ends before it sends anything.
    - raises ``RuntimeError`` naming a rank that died, ``TimeoutError`` after
      ``limit_s``; either way no process is left.
    """
    once = resolve(once, ONCE, "way of sending")
    whole(ranks=ranks, ranks_per_node=ranks_per_node, hidden=hidden)
    above_zero(limit_s=limit_s)
    if ranks % ranks_per_node or routing.experts % ranks:
        raise ValueError(
            f"ranks = {ranks}: a multiple of ranks_per_node = {ranks_per_node} that "
            f"divides the {routing.experts} experts is needed"
        )
    context = get_context("spawn")
    boxes = [context.Queue() for _ in range(ranks + 1)]  # the last is the caller's
    case = (routing, ranks, ranks_per_node, once, hidden)
    people = []
    for rank in range(ranks):
        args = (rank, boxes, case, rank == dies)
        people.append(context.Process(target=_rank, args=args, daemon=True))
    try:
        for person in people:
            person.start()
        return _gather(boxes[-1], people, case, time.monotonic() + limit_s)
    finally:
        for person in people:
            person.terminate()
            person.join()
        for box in boxes:
            box.close()
            box.cancel_join_thread()


def _gather(box: Any, people: list[Any], case: Any, end: float) -> DispatchRun:
    routing, ranks, _, _, hidden = case
    found: dict[int, Any] = {}
    while len(found) < ranks:
        if not box.empty():
            rank, *rest = box.get()
            found[rank] = rest
            continue
        for rank, person in enumerate(people):
            if person.exitcode:
                raise RuntimeError(f"rank {rank} died (exit {person.exitcode})")
        if time.monotonic() > end:
            missing = [rank for rank in range(ranks) if rank not in found]
            raise TimeoutError(f"time was up; ranks {missing} had not ended")
        time.sleep(0.002)
    n = len(routing.chosen)
    results = tuple(found[t % ranks][0][t] for t in range(n))
    own, near, far = (
        sum(found[rank][1][kind] for rank in range(ranks)) for kind in range(3)
    )
    nodes = sum(found[rank][3] for rank in range(ranks))
    copies = Copies(own / n, near / n, far / n, nodes / n)
    received = tuple(found[rank][2] for rank in range(ranks))
    return DispatchRun(results, copies, received, far * hidden * 8)


def _rank(rank: int, boxes: list[Any], case: Any, dies: bool) -> None:
    """One rank's life; runs in a process of its own."""
    if dies:
        raise SystemExit(1)
    _Rank(rank, boxes, *case).run()


class _Rank:
    """A rank's tokens, what has reached it, and what it has sent."""

    def __init__(
        self,
        rank: int,
        boxes: list[Any],
        routing: Routing,
        ranks: int,
        local: int,
        once: str,
        hidden: int,
    ) -> None:
        self.rank, self.boxes, self.routing = rank, boxes, routing
        self.ranks, self.local, self.once, self.hidden = ranks, local, once, hidden
        self.held = routing.experts // ranks
        self.moved = [0, 0, 0]  # own, NVLink, network
        self.nodes = self.received = 0
        self.early: list[Any] = []

    def run(self) -> None:
        """Dispatch, hand on within the node where that is the way, work, combine."""
        arrived = self.exchange("there", self.outward())
        if self.once == "node":
            arrived = self.exchange("on", self.onward(arrived))
        self.received = len(arrived)
        back: dict[int, list[Any]] = {}
        for packet in arrived:
            back.setdefault(packet[0] % self.ranks, []).append(self.work(packet))
        total: dict[int, list[int]] = {}
        for which, row in self.exchange("back", back):
            mine = total.setdefault(which, [0] * self.hidden)
            for place, x in enumerate(row):
                mine[place] += x
        results = {which: tuple(row) for which, row in total.items()}
        self.boxes[-1].put((self.rank, results, self.moved, self.received, self.nodes))

    def outward(self) -> dict[int, list[Packet]]:
        """Packets of one's own tokens, by the rank they go to first."""
        found: dict[int, list[Packet]] = {}
        for which in range(self.rank, len(self.routing.chosen), self.ranks):
            holders: dict[int, tuple[int, ...]] = {}
            for expert in self.routing.chosen[which]:
                holder = expert // self.held
                holders[holder] = (*holders.get(holder, ()), expert)
            numbers = token(which, self.hidden).tobytes()
            self.nodes += len({holder // self.local for holder in holders})
            for target, part in self.parts(holders):
                self.note(target, self.rank)
                found.setdefault(target, []).append((which, part, numbers))
        return found

    def parts(
        self, holders: dict[int, tuple[int, ...]]
    ) -> Iterable[tuple[int, dict[int, tuple[int, ...]]]]:
        """Where a token goes first, and the experts it is for from there."""
        if self.once == "node":
            for node in sorted({holder // self.local for holder in holders}):
                part = {h: e for h, e in holders.items() if h // self.local == node}
                yield node * self.local + self.rank % self.local, part
            return
        for holder, experts in holders.items():
            rows = [(e,) for e in experts] if self.once == "expert" else [experts]
            for row in rows:
                yield holder, {holder: row}

    def note(self, target: int, source: int) -> None:
        """Count a copy by the way it takes; handing on is counted when it happens."""
        far = target // self.local != source // self.local
        if self.once != "node" or far:
            self.moved[2 if far else target != source] += 1

    def onward(self, packets: list[Packet]) -> dict[int, list[Packet]]:
        """Packets handed on within the node, by the rank that holds the experts."""
        found: dict[int, list[Packet]] = {}
        for which, holders, numbers in packets:
            for holder, experts in holders.items():
                self.moved[holder != self.rank] += 1
                found.setdefault(holder, []).append((which, {holder: experts}, numbers))
        return found

    def work(self, packet: Packet) -> tuple[int, list[int]]:
        """The sum of this rank's experts' results for a token."""
        which, holders, numbers = packet
        factor = sum(expert + 1 for expert in holders[self.rank])
        return which, [x * factor for x in array("q", numbers)]

    def exchange(self, phase: str, out: dict[int, list[Any]]) -> list[Any]:
        """Send to all, receive from all; what is early for a later phase is kept."""
        for to in range(self.ranks):  # a queue's own thread sends: nobody is held up
            self.boxes[to].put((phase, out.get(to, [])))
        came = [rows for kind, rows in self.early if kind == phase]
        self.early = [item for item in self.early if item[0] != phase]
        while len(came) < self.ranks:
            kind, rows = self.boxes[self.rank].get()
            if kind == phase:
                came.append(rows)
            else:
                self.early.append((kind, rows))
        return [row for rows in came for row in rows]
