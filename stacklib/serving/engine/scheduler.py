"""Who is in the next step, and with how many tokens.

First everyone who has one token to read, as those who decode, then pieces of prompts,
the lowest rank first, then whoever is next in line; until ``chunk`` tokens are given
out. Where a block is missing the request of the highest rank goes back to the line. So
the lowest rank always runs: nobody takes its blocks, and ``chunk`` holds a token for
everyone.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from stacklib.quantity.bounds import whole
from stacklib.quantity.names import resolve

from .delay import Eviction, Waits
from .memory import Memory
from .metrics import Counts
from .place import Place


@dataclass(frozen=True, slots=True)
class Policy:
    """How a waiting line is ordered, and whether it waits for the batch to end.

    A request's rank is fixed when it comes and nobody who comes later without end can
    stand before it, so the one with the lowest rank is always served: nobody starves.
    """

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


R = TypeVar("R", bound=Place)


def _rank(request: Place) -> tuple[float, int]:
    return request.rank


@dataclass
class Scheduler(Generic[R]):
    """The line, the batch, and what moves requests between the two.

    - ``max_batch``: requests in a step.
    - ``chunk``: tokens in a step, drafted ones too.
    - ``drafted``: tokens proposed to a request that decodes, ``drafts`` at most.
    """

    memory: Memory
    policy: Policy
    max_batch: int
    chunk: int
    waits: Waits
    counts: Counts
    drafted: Callable[[R], Sequence[int]]
    drafts: int
    waiting: list[R] = field(default_factory=list)  # by rank
    running: list[R] = field(default_factory=list)  # by rank
    reason: str = "slot"  # that nobody else was let in, in this step

    def __post_init__(self) -> None:
        whole(max_batch=self.max_batch, chunk=self.chunk)
        each = 1 + self.drafts
        if self.chunk < self.max_batch * each:
            raise ValueError(
                f"chunk = {self.chunk} tokens a step for max_batch = {self.max_batch} "
                f"requests: at least {each} a request, {self.max_batch * each}"
            )

    def add(self, request: R, work: float) -> None:
        """Put a new request in line."""
        rank = self.policy.rank(work, len(request.tokens))
        request.rank = (rank, request.id)
        insort(self.waiting, request, key=_rank)

    def remove(self, request: R) -> None:
        """Take a request that ends out of line or batch; its blocks are free."""
        if request.sequence is None:
            self.waiting.remove(request)
        else:
            self.running.remove(request)
            self.memory.allocator.free(request.sequence)
            request.sequence = None

    def plan(self) -> dict[R, int]:
        """How many tokens of whom the next step reads."""
        given: dict[R, int] = {}
        alone = not self.running
        before = self.counts.preemptions
        for request in list(self.running):
            if request.sequence is not None and self._decodes(request):
                drafted = self.drafted(request)
                if self._appended(request, drafted):
                    given[request] = 1 + len(drafted)
        # The sort keeps ranks: of prompts, those with one token left come first.
        for request in sorted(self.running, key=lambda each: each.unread > 1):
            if request not in given:
                self._give(request, given)
        if self.counts.preemptions == before:
            self._admit(given, alone)
        else:  # nobody is let in where somebody had to leave
            self.reason = "blocks"
        return given

    def _decodes(self, request: R) -> bool:
        """Whether all of its tokens that have a place are computed."""
        return request.computed == len(request.held)

    def _appended(self, request: R, drafted: Sequence[int]) -> bool:
        """Make room for its newest token and drafts; False if that cost its place."""
        new = [request.known[-1], *drafted]
        while request.sequence is not None and new:
            if self.memory.allocator.append(request.sequence, new[0]):
                del new[0]
            else:
                self._preempt(self.running[-1], request)
        return request.sequence is not None

    def _give(self, request: R, given: dict[R, int]) -> None:
        """Some of its unread tokens, as many as the step has room for."""
        room = self.chunk - sum(given.values())
        count = min(room, request.unread)
        if count:
            given[request] = count

    def _admit(self, given: dict[R, int], alone: bool) -> None:
        """Let in who is next while there are slots, blocks and tokens."""
        open_ = alone or self.policy.joins
        while self.waiting:
            if len(self.running) == self.max_batch or not open_:
                self.reason = "slot"
                return
            # A batch that nobody joins later is filled at once.
            if self.policy.joins and sum(given.values()) == self.chunk:
                self.reason = "budget"
                return
            if not self._let_in(self.waiting[0]):
                self.reason = "blocks"
                return
            request = self.waiting.pop(0)
            insort(self.running, request, key=_rank)
            self._give(request, given)

    def _let_in(self, request: R) -> bool:
        # Who was in the middle of an answer goes on with a draft where it was cut off.
        again = self.drafts and request.output
        known = request.known[:-1] if again else request.known
        found = self.memory.take(known, request.id)
        if found is None:
            return False
        request.sequence = found.sequence
        request.computed = found.tokens
        request.highest = max(request.highest, found.tokens)
        request.state = "running"
        request.ledger.left()
        self.counts.tier_tokens += found.below
        if request.admitted:
            self.counts.restored_tokens += found.tokens
        else:
            request.admitted = True
            request.cached, request.why = found.tokens, found.why
            self.counts.prompt_tokens += len(request.tokens)
            self.counts.cached_tokens += found.tokens
        told = {"cached": found.tokens, "why": found.why, "found": found.blocks}
        self.memory.log.note("admitted", request.id, **told)
        return True

    def _preempt(self, victim: R, by: R) -> None:
        """Send a request back to the line; its full blocks stay findable until reused.

        So it is the tiers, where there are any, that spare it the recomputation.
        """
        self.memory.log.note("preempted", victim.id, by=by.id, lost=victim.computed)
        lost = Eviction(self.memory.log.step, by.id, victim.computed)
        victim.ledger.evictions.append(lost)
        victim.ledger.joined()
        self.memory.allocator.free(victim.held)
        self.running.remove(victim)
        victim.sequence, victim.computed, victim.state = None, 0, "preempted"
        insort(self.waiting, victim, key=_rank)
        self.counts.preemptions += 1
