"""Whether a schedule does what its collective promises, by the algebra of chunks.

Of every chunk at every node stands which ranks' contributions are in it, one bit for
each, and a second bit for those that are in it more than once. A reduction joins two
such sets; a copy replaces one. Sends of a step read what stood before it. At the end
each rank's chunks must hold what is wanted, each contribution once. Nothing is computed
on numbers: a proof holds for all arrays.

What went amiss on the way and does not reach the end is no fault: a sum that is spoilt
and then overwritten by the right one is work for nothing. Of a schedule that is right,
sends are named as *waste* whose bytes reach no result, or were there already, and as
*races* chunks that are sent and received in one step, which is right as long as a step
reads before it writes: by a barrier, or from a buffer.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from operator import itemgetter
from typing import NamedTuple

from stacklib.interconnect.schedules.schedule import Schedule, Send

SHOWN = 100  # faults that are told; a first one brings many
HALTING = (
    "rank out of range",
    "chunk out of range",
    "sent what was not there",
    "deadlock",
)
LOST, AGAIN = "overwritten before it was sent", "there already"
RACE = "sent and received in one step"
FEW = 4  # ranks that a message lists


class Fault(NamedTuple):
    """What is wrong or wasted, where and when."""

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
    least: int = 0  # sends with which no schedule of this collective does with fewer
    # Sends that change no result; of a wrong schedule slips that no result shows.
    waste: tuple[Fault, ...] = ()
    races: tuple[Fault, ...] = ()  # of a right schedule: right in steps alone

    @property
    def holds(self) -> bool:
        """Whether the schedule does what its collective promises."""
        return not self.found

    @property
    def faults(self) -> tuple[str, ...]:
        """Each fault with its step, rank and chunk; of very many the first."""
        return _listed(self.found, self.ranks)

    @property
    def notes(self) -> tuple[str, ...]:
        """What is wasted, and what is right in steps alone, told in the same way."""
        return _listed(self.waste, self.ranks) + _listed(self.races, self.ranks)

    @property
    def halts(self) -> str:
        """The first fault with which a schedule cannot be run at all, if it has one."""
        halting = (f for f in self.found if f.kind in HALTING)
        return next((_told(fault, self.ranks) for fault in halting), "")

    def __str__(self) -> str:
        if not self.holds:
            return "\n".join(self.faults)
        told = f"holds: {self.sends} sends in {self.steps} steps"
        if self.sends > self.least:
            told += f"; {self.least} sends would do"
        return "\n".join((told, *self.notes))


def verify(schedule: Schedule) -> Proof:
    """Prove that a schedule does what its collective promises, or name what is wrong.

    Kinds of fault: rank out of range, chunk out of range, sent what was not there,
    deadlock (waits for what arrives in the same step); and where it spoils a result two
    arrive in one step where one is a copy, reduced twice, overwritten before it was
    sent; and at the end missing. Kinds of waste: sends to itself, there already, and
    sent for nothing (overwritten unread, or nobody's result).

    Parameters
    ----------
    schedule : Schedule
        From ``all_reduce`` and the others, or written by hand.

    Returns
    -------
    Proof
        ``.holds``, ``.faults`` as text, ``.found`` as step, node, chunk and kind;
        ``.waste`` and ``.races``, both as text in ``.notes``; and ``.least``, with
        fewer sends than which ranks cannot do it.

    Raises
    ------
    TypeError
        For what is no schedule.

    Examples
    --------
    >>> from stacklib.interconnect.schedules.schedule import Schedule
    >>> two = [(0, 0, 1, 0, True), (1, 1, 0, 0, False)]
    >>> print(verify(Schedule("all_reduce", "mine", 2, 1, two)))
    holds: 2 sends in 2 steps
    >>> print(verify(Schedule("all_reduce", "mine", 2, 1, two[:1])))
    step 0, rank 0, chunk 0: missing: rank 1
    >>> print(verify(Schedule("all_reduce", "mine", 2, 1, [*two, (2, 0, 1, 0, False)])))
    holds: 3 sends in 3 steps; 2 sends would do
    step 2, rank 1, chunk 0: there already: from rank 0
    """
    if not isinstance(schedule, Schedule):
        raise TypeError(f"{schedule!r} is no Schedule")
    run = _Run(schedule)
    for sends in schedule.by_step():
        run.take(sends)
    run.end()
    right = not run.faults
    return Proof(
        schedule.steps,
        len(schedule.sends),
        tuple(run.faults),
        schedule.ranks,
        least_sends(schedule),
        tuple(run.waste() if right else run.mended),
        tuple(run.races) if right else (),
    )


def least_sends(schedule: Schedule) -> int:
    """Sends that ranks need at least: each other one a chunk, in or out.

    An all-reduce needs both. Switches that reduce need a send more for each rank.
    """
    others, chunks = schedule.ranks - 1, schedule.chunks
    if schedule.switches and schedule.sends:
        return 0  # which of them are of use is not known
    if schedule.collective == "all_to_all":
        return others * schedule.ranks
    return others * chunks * (1 + (schedule.collective == "all_reduce"))


class _Run:
    """What each node holds, and when each chunk was last written and sent.

    Bits of what is held: n of the ranks whose contributions are in it, n of those that
    are in it more than once, and one where it depends on what arrived first.
    """

    def __init__(self, schedule: Schedule) -> None:
        self.schedule = schedule
        nodes = range(schedule.nodes)
        self.holds: list[dict[int, int]] = [{} for _ in nodes]
        self.written: list[dict[int, int]] = [{} for _ in nodes]
        self.sent: list[dict[int, int]] = [{} for _ in nodes]
        self.faults: list[Fault] = []
        self.slips: list[tuple[Fault, int]] = []  # and the bits that tell of them
        self.mended: list[Fault] = []  # slips that no result has
        self.again: dict[int, Fault] = {}  # by place of the send: nothing new came
        self.races: list[Fault] = []
        self.unread = False  # whether something written was overwritten unread
        self.at = 0
        self.low = (1 << schedule.ranks) - 1
        for rank in range(schedule.ranks):
            self.holds[rank] = dict.fromkeys(schedule.begins(rank), 1 << rank)

    def fault(
        self, step: int, node: int, chunk: int, kind: str, says: str = ""
    ) -> None:
        """Note one that nothing later mends."""
        self.faults.append(Fault(step, node, chunk, kind, says))

    def slip(self, send: Send, bits: int, kind: str, says: str) -> None:
        """Note what is a fault if its bits are at the end, or missing there."""
        fault = Fault(send.step, send.destination, send.chunk, kind, says)
        self.slips.append((fault, bits))

    def take(self, sends: Iterable[Send]) -> None:
        """All sends of a step: read first, then write."""
        arriving = [(send, self._read(send)) for send in sends if self._fits(send)]
        if not all(mask for _, mask in arriving):
            self._absent(arriving)
        came: dict[tuple[int, int], Send] = {}
        for send, mask in arriving:
            if mask:
                before = came.setdefault((send.destination, send.chunk), send)
                self._write(send, mask, None if before is send else before)
            self.at += 1

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
        return True

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

    def _write(self, send: Send, mask: int, before: Send | None) -> None:
        """A chunk arrives, after another of the same step if there was one."""
        step, source, node, chunk, reduce = send
        holds = self.holds[node]
        held = holds.get(chunk, 0)
        if held == mask and not reduce and (before is None or not before.reduce):
            own = source == node
            kind, says = ("sends to itself", "") if own else (AGAIN, self._from(send))
            self.again[self.at] = Fault(step, node, chunk, kind, says)
            return
        written = self.written[node]
        read, wrote = self.sent[node].get(chunk, -1), written.get(chunk, -1)
        if before is not None and not (reduce and before.reduce):
            says = f"from {self._name(before.source)} and {self._from(send)}"
            first = 1 << 2 * self.schedule.ranks
            self.slip(send, first, "two arrive in one step", says)
            holds[chunk] = (held if reduce else 0) | mask | first
        elif reduce:
            holds[chunk] = held | mask
            if twice := held & mask & self.low:
                says = f"{_ranks(twice)}, again {self._from(send)}"
                self.slip(send, twice << self.schedule.ranks, "reduced twice", says)
                holds[chunk] |= twice << self.schedule.ranks
        else:
            holds[chunk] = mask
            if read <= wrote:
                self.unread |= wrote >= 0
                if lost := held & ~mask & self.low:
                    says = f"{_ranks(lost)}, by a copy {self._from(send)}"
                    self.slip(send, lost, LOST, says)
        if read == step:
            says = "its old value needs a barrier or a buffer"
            self.races.append(Fault(step, node, chunk, RACE, says))
        written[chunk] = step

    def end(self) -> None:
        """What each rank holds against what it should, and which slip is to blame."""
        schedule = self.schedule
        last = max(0, schedule.steps - 1)
        lacks: dict[int, int] = {}
        spoilt: dict[int, int] = {}
        missing: list[Fault] = []
        for rank in range(schedule.ranks):
            holds, written = self.holds[rank], self.written[rank]
            for chunk in schedule.ends(rank):
                held, wanted = holds.get(chunk, 0), schedule.wanted(chunk)
                if held == wanted:
                    continue
                spoilt[chunk] = spoilt.get(chunk, 0) | held & ~self.low
                if absent := wanted & ~held:  # more than is wanted no send can bring
                    lacks[chunk] = lacks.get(chunk, 0) | absent
                    step = written.get(chunk, last)
                    missing.append(Fault(step, rank, chunk, "missing", _ranks(absent)))
        for fault, bits in self.slips:
            amiss = lacks if fault.kind == LOST else spoilt
            hurts = bits & amiss.get(fault.chunk, 0)
            (self.faults if hurts else self.mended).append(fault)
        self.faults.sort(key=itemgetter(0))
        self.faults += missing

    def waste(self) -> list[Fault]:
        """Sends of a right schedule that change no result, in their order."""
        found = dict(self.again)
        if (
            self.again
            or self.unread
            or any(map(self._left, range(self.schedule.nodes)))
        ):
            found |= self._for_nothing()
        return [found[at] for at in sorted(found)]

    def _left(self, node: int) -> bool:
        """Whether something came to a node that it neither needs nor passes on."""
        schedule, sent = self.schedule, self.sent[node]
        ends = schedule.ends(node) if node < schedule.ranks else range(0)
        return len(ends) < schedule.chunks and any(
            chunk not in ends and sent.get(chunk, -1) <= step
            for chunk, step in self.written[node].items()
        )

    def _for_nothing(self) -> dict[int, Fault]:
        """Sends whose bytes reach no result, followed from the end to the beginning."""
        schedule = self.schedule
        ends = map(schedule.ends, range(schedule.ranks))
        wanted = {(rank, chunk) for rank, some in enumerate(ends) for chunk in some}
        found: dict[int, Fault] = {}
        at = len(schedule.sends)
        for sends in reversed(schedule.by_step()):
            at -= len(sends)
            read: set[tuple[int, int]] = set()
            over: set[tuple[int, int]] = set()
            for place, send in enumerate(sends, at):
                step, source, node, chunk, reduce = send
                if place in self.again:
                    continue
                if (node, chunk) not in wanted:
                    says = self._from(send)
                    found[place] = Fault(step, node, chunk, "sent for nothing", says)
                    continue
                read.add((source, chunk))
                if not reduce:
                    over.add((node, chunk))
            wanted = wanted - over | read
        return found

    def _name(self, node: int) -> str:
        return _name(node, self.schedule.ranks)

    def _from(self, send: Send) -> str:
        return f"from {self._name(send.source)}"


def _listed(found: tuple[Fault, ...], ranks: int) -> tuple[str, ...]:
    """The first of them as text, and how many more there are."""
    told = tuple(_told(fault, ranks) for fault in found[:SHOWN])
    more = len(found) - SHOWN
    return (*told, f"and {more} more") if more > 0 else told


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
