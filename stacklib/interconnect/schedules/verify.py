"""Whether a schedule does what its collective promises, by the algebra of chunks.

Of every chunk at every node stands which ranks' contributions are in it, one bit for
each. A reduction joins two such sets, which must not meet; a copy replaces one. Sends
of a step read what stood before it. At the end each rank's chunks must hold what is
wanted. Nothing is computed on numbers: a proof holds for all arrays.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from stacklib.interconnect.schedules.schedule import Schedule, Send

SHOWN = 100  # faults that are told; a first one brings many
HALTING = (
    "rank out of range",
    "chunk out of range",
    "sends to itself",
    "sent what was not there",
    "deadlock",
)
FEW = 4  # ranks that a message lists


class Fault(NamedTuple):
    """What is wrong, where and when."""

    step: int
    node: int
    chunk: int
    kind: str  # missing, reduced twice, overwritten before it was sent, ...
    says: str


@dataclass(frozen=True, slots=True)
class Proof:
    """What was found about a schedule; it holds where no fault was."""

    steps: int
    sends: int
    found: tuple[Fault, ...]  # in order of steps, what is missing at the end last
    ranks: int

    @property
    def holds(self) -> bool:
        """Whether the schedule does what its collective promises."""
        return not self.found

    @property
    def faults(self) -> tuple[str, ...]:
        """Each fault with its step, rank and chunk; of very many the first."""
        told = tuple(_told(fault, self.ranks) for fault in self.found[:SHOWN])
        more = len(self.found) - SHOWN
        return (*told, f"and {more} more") if more > 0 else told

    @property
    def halts(self) -> str:
        """The first fault with which a schedule cannot be run at all, if it has one."""
        halting = (f for f in self.found if f.kind in HALTING)
        return next((_told(fault, self.ranks) for fault in halting), "")

    def __str__(self) -> str:
        if self.holds:
            return f"holds: {self.sends} sends in {self.steps} steps"
        return "\n".join(self.faults)


def verify(schedule: Schedule) -> Proof:
    """Prove that a schedule does what its collective promises, or name what is wrong.

    Kinds of fault: rank out of range, chunk out of range, sends to itself, sent what
    was not there, deadlock (waits for what arrives in the same step), two arrive in one
    step where one is a copy, reduced twice, overwritten before it was sent; and at the
    end missing, and mixed (a contribution that does not belong there).

    Parameters
    ----------
    schedule : Schedule
        From ``all_reduce`` and the others, or written by hand.

    Returns
    -------
    Proof
        ``.holds``, ``.faults`` as text, ``.found`` as step, node, chunk and kind.

    Raises
    ------
    TypeError
        For what is no schedule.

    Examples
    --------
    >>> from stacklib.interconnect.schedules.schedule import Schedule
    >>> both = [(0, 0, 1, 0, True), (0, 1, 0, 0, True)]
    >>> print(verify(Schedule("all_reduce", "mine", 2, 1, both)))
    holds: 2 sends in 1 steps
    >>> print(verify(Schedule("all_reduce", "mine", 2, 1, both[:1])))
    step 0, rank 0, chunk 0: missing: rank 1
    """
    if not isinstance(schedule, Schedule):
        raise TypeError(f"{schedule!r} is no Schedule")
    run = _Run(schedule)
    for step, sends in enumerate(schedule.by_step()):
        run.take(step, sends)
    run.end()
    return Proof(
        schedule.steps,
        len(schedule.sends),
        tuple(run.faults),
        schedule.ranks,
    )


class _Run:
    """What each node holds, and when each chunk was last written and sent."""

    def __init__(self, schedule: Schedule) -> None:
        self.schedule = schedule
        nodes = range(schedule.nodes)
        self.holds: list[dict[int, int]] = [{} for _ in nodes]
        self.written: list[dict[int, int]] = [{} for _ in nodes]
        self.sent: list[dict[int, int]] = [{} for _ in nodes]
        self.faults: list[Fault] = []
        for rank in range(schedule.ranks):
            self.holds[rank] = dict.fromkeys(schedule.begins(rank), 1 << rank)

    def fault(
        self, step: int, node: int, chunk: int, kind: str, says: str = ""
    ) -> None:
        """Note one."""
        self.faults.append(Fault(step, node, chunk, kind, says))

    def take(self, step: int, sends: Iterable[Send]) -> None:
        """All sends of a step: read first, then write."""
        arriving = [(send, self._read(send)) for send in sends if self._fits(send)]
        if not all(mask for _, mask in arriving):
            self._absent(arriving)
        came: dict[tuple[int, int], Send] = {}
        for send, mask in arriving:
            _, _, node, chunk, reduce = send
            if mask:
                before = came.setdefault((node, chunk), send)
                if before is not send and not (reduce and before.reduce):
                    says = f"from {self._name(before.source)} and {self._from(send)}"
                    self.fault(step, node, chunk, "two arrive in one step", says)
                self._write(send, mask)

    def _fits(self, send: Send) -> bool:
        """Whether a send is between two nodes and of a chunk that there are."""
        step, source, destination, chunk, _ = send
        nodes, chunks = len(self.holds), self.schedule.chunks
        for node in (source, destination):
            if not 0 <= node < nodes:
                says = f"{source} to {destination}, nodes are 0 to {nodes - 1}"
                self.fault(step, node, chunk, "rank out of range", says)
                return False
        if not 0 <= chunk < chunks:
            says = f"chunks are 0 to {chunks - 1}"
            self.fault(step, source, chunk, "chunk out of range", says)
            return False
        if source == destination:
            self.fault(step, source, chunk, "sends to itself")
        return source != destination

    def _read(self, send: Send) -> int:
        """What a sender holds of a chunk; it counts as sent."""
        step, source, _, chunk, _ = send
        self.sent[source][chunk] = step
        return self.holds[source].get(chunk, 0)

    def _absent(self, arriving: Iterable[tuple[Send, int]]) -> None:
        """Senders that hold nothing of a chunk; it may come in this very step."""
        coming = {(s.destination, s.chunk): self._name(s.source) for s, _ in arriving}
        for send, mask in arriving:
            if mask:
                continue
            step, source, _, chunk, _ = send
            if (origin := coming.get((source, chunk))) is not None:
                says = f"waits for what {origin} sends in the same step"
                self.fault(step, source, chunk, "deadlock", says)
            else:
                self.fault(step, source, chunk, "sent what was not there")

    def _write(self, send: Send, mask: int) -> None:
        """A chunk arrives, with the contributions of ``mask``."""
        step, _, node, chunk, reduce = send
        holds = self.holds[node]
        held = holds.get(chunk, 0)
        if reduce:
            if held & mask:
                says = f"{_ranks(held & mask)}, again {self._from(send)}"
                self.fault(step, node, chunk, "reduced twice", says)
            holds[chunk] = held | mask
        else:
            lost = held & ~mask
            if lost and self._unsent(node, chunk):
                says = f"{_ranks(lost)}, by a copy {self._from(send)}"
                self.fault(step, node, chunk, "overwritten before it was sent", says)
            holds[chunk] = mask
        self.written[node][chunk] = step

    def _unsent(self, node: int, chunk: int) -> bool:
        """Whether nothing was sent of a chunk since it was last written."""
        return self.sent[node].get(chunk, -1) <= self.written[node].get(chunk, -1)

    def end(self) -> None:
        """What each rank holds against what it should."""
        schedule = self.schedule
        last = max(0, schedule.steps - 1)
        for rank in range(schedule.ranks):
            holds, written = self.holds[rank], self.written[rank]
            for chunk in schedule.ends(rank):
                held, wanted = holds.get(chunk, 0), schedule.wanted(chunk)
                if wanted & ~held:  # more than that no send can bring there
                    step = written.get(chunk, last)
                    self.fault(step, rank, chunk, "missing", _ranks(wanted & ~held))

    def _name(self, node: int) -> str:
        return _name(node, self.schedule.ranks)

    def _from(self, send: Send) -> str:
        return f"from {self._name(send.source)}"


def _told(fault: Fault, ranks: int) -> str:
    nobody = fault.kind == "rank out of range"
    node = f"rank {fault.node}" if nobody else _name(fault.node, ranks)
    where = f"step {fault.step}, {node}, chunk {fault.chunk}"
    return f"{where}: {fault.kind}{': ' if fault.says else ''}{fault.says}"


def _name(node: int, ranks: int) -> str:
    """A node as a reader calls it."""
    return f"rank {node}" if node < ranks else f"switch {node - ranks}"


def _ranks(mask: int) -> str:
    """Ranks of a set, by their bits."""
    listed = [str(i) for i in range(mask.bit_length()) if mask >> i & 1]
    if len(listed) == 1:
        return f"rank {listed[0]}"
    if len(listed) > FEW:
        rest = len(listed) - FEW + 1
        return f"ranks {', '.join(listed[: FEW - 1])} and {rest} more"
    return f"ranks {', '.join(listed[:-1])} and {listed[-1]}"
