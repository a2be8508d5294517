"""Requests go in and steps are made; what a step computes is left to others."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Generic, TypeVar

from stacklib.paged_kv import BlockView

from .delay import Delay, Ledger, Rows, Waits, rows_of
from .events import STEP_WORK, Clock, Event, Log
from .latency import Latency, latency
from .memory import Memory
from .metrics import Counts, Metrics
from .place import Place
from .scheduler import Scheduler, policy_named

if TYPE_CHECKING:
    from stacklib.serving.tiers.chain import Chain

    from .pool import Pool

KEPT = 1024  # ended requests that can still be asked about
R = TypeVar("R", bound=Place)
M = TypeVar("M")  # a token that was made


class Turns(ABC, Generic[R, M]):
    """Who is in each step, on which blocks, and where everyone's time goes.

    - ``blocks``, ``block_size``, ``max_batch``, ``chunk``, ``policy``, ``clock``: as of
      `Engine`.
    - ``pool``, ``tiers``, ``whose``: as of `Memory`.
    - ``drafts``: tokens that may be proposed to a request at once.
    """

    def __init__(
        self,
        blocks: int,
        block_size: int,
        max_batch: int,
        chunk: int,
        policy: str = "fcfs",
        clock: Callable[[], float] | None = None,
        pool: Pool | None = None,
        tiers: Chain | None = None,
        whose: bytes = b"",
        drafts: int = 0,
    ) -> None:
        self._clock = Clock(clock)
        self._log = Log(self._clock)
        self._counts = Counts()
        self._waits = Waits(self._clock.now())
        self._memory = Memory(
            blocks, block_size, self._clock, self._log, pool, tiers, whose
        )
        who = policy_named(policy), max_batch, chunk, self._waits, self._counts
        self._scheduler: Scheduler[R] = Scheduler(
            self._memory, *who, self._drafted, drafts
        )
        self._ended: deque[int] = deque()
        self._latencies: deque[Latency] = deque(maxlen=KEPT)
        self.requests: dict[int, R] = {}

    def now(self) -> float:
        """The time by its clock."""
        return self._clock.now()

    @property
    def log(self) -> deque[Event]:
        """The newest events, oldest first."""
        return self._log.events

    @property
    def waiting(self) -> tuple[R, ...]:
        """Requests in line, next first."""
        return tuple(self._scheduler.waiting)

    @property
    def running(self) -> tuple[R, ...]:
        """Requests in the batch."""
        return tuple(self._scheduler.running)

    @property
    def busy(self) -> bool:
        """Whether a step would do anything."""
        return bool(self._scheduler.waiting or self._scheduler.running)

    def step(self) -> tuple[R, ...]:
        """One pass of the model; the requests that got tokens or ended.

        An engine without requests does nothing.
        """
        if not self.busy:
            return ()
        start = self._clock.now()
        self._waits.add("between", start)
        self._log.step += 1
        self._memory.allocator.step = self._log.step
        self._memory.copying = 0.0
        given = self._scheduler.plan()
        made = self._computed(given)
        back = {each: self._rolled_back(each, new) for each, new in made.items()}
        rows = {
            each: self._read(each, count, back.get(each, 0))
            for each, count in given.items()
        }
        self._clock.work += STEP_WORK + sum(given.values())
        end = self._clock.now()
        self._account(rows, end - start)
        self._waits.add(self._scheduler.reason, end)
        for request, tokens in made.items():
            self._deliver(request, tokens, end)
        return tuple(made)

    def cancel(self, id: int) -> bool:
        """End a request and free its blocks; False if it had ended.

        Parameters
        ----------
        id : int
            The request's number.

        Raises
        ------
        KeyError
            For a number that no request has, or that was forgotten.
        """
        request = self._known(id)
        if request.done:
            return False
        self._end(request, "cancelled", self._clock.now())
        return True

    def explain(self, id: int) -> Delay:
        """Where a request's time went; up to now while it is alive.

        Parameters
        ----------
        id : int
            The request's number.

        Raises
        ------
        KeyError
            For a number that no request has, or that was forgotten.
        """
        request = self._known(id)
        now = self._clock.now() if request.finished is None else request.finished
        ledger = request.ledger
        parts = ledger.parts if request.done else ledger.parts_at(now)
        lost = tuple(copy.copy(each) for each in ledger.evictions)
        return Delay(
            id, now - request.submitted, dict(parts), lost, request.cached, request.why
        )

    def metrics(self) -> Metrics:
        """Counters since the start and gauges of now."""
        counts = copy.copy(self._counts)
        counts.blocks_swapped_out = self._memory.out
        counts.blocks_swapped_in = self._memory.back
        held = self._memory.allocator.stats()
        blocks = held.blocks, held.owned, held.cached, held.free
        there = len(self._scheduler.running), len(self._scheduler.waiting)
        return Metrics(counts, *there, *blocks, tuple(self._latencies))

    def blocks(self) -> tuple[BlockView, ...]:
        """Every block with its owners, hash and age."""
        allocator = self._memory.allocator
        return tuple(allocator.table(block) for block in range(allocator.blocks))

    def _known(self, id: int) -> R:
        if id not in self.requests:
            raise KeyError(
                f"request {id!r}: not among the {len(self.requests)} known; of ended "
                f"ones the last {KEPT} are kept"
            )
        return self.requests[id]

    def _fits(self, tokens: int, most: int) -> None:
        """Refuse what the pool can never hold; nobody reads the last token."""
        allocator, longest = self._memory.allocator, tokens + most - 1
        need = allocator.needed(longest)
        if need > allocator.blocks:
            raise ValueError(
                f"{tokens} + {most} - 1 = {longest} tokens need {need} "
                f"blocks of {allocator.block_size}: the pool has {allocator.blocks}"
            )

    def _ledger(self) -> Ledger:
        """A new request's."""
        return Ledger(self._waits, self._clock.now())

    def _lined_up(self, request: R) -> R:
        """Put a new request in line."""
        self._counts.submitted += 1
        self.requests[request.id] = request
        self._scheduler.add(request, self._clock.work)
        self._log.note(
            "submitted", request.id, tokens=len(request.tokens), most=request.most
        )
        return request

    @abstractmethod
    def _computed(self, given: dict[R, int]) -> dict[R, list[M]]:
        """Read so many tokens of each; new ones of whom the last token was read."""

    @abstractmethod
    def _deliver(self, request: R, tokens: Sequence[M], now: float) -> None:
        """Give a request its tokens; it may end with any of them."""

    def _drafted(self, request: R) -> Sequence[int]:
        """Tokens proposed to a request that decodes."""
        return ()

    def _rolled_back(self, request: R, tokens: Sequence[M]) -> int:
        """How many of the tokens that were read are not in its text after all."""
        return 0

    def _keep(self, request: R, token: int, now: float) -> None:
        """One more token of an answer."""
        request.output.append(token)
        request.known.append(token)
        request.times.append(now)
        self._counts.generated_tokens += 1
        self._log.note("token", request.id, token=token)

    def _read(self, request: R, count: int, gone: int) -> Rows:
        """Note that so many more of its tokens are computed, less those rolled back."""
        at = request.computed
        rows = rows_of(at, count, len(request.tokens), request.highest)
        request.computed += count - gone
        request.highest = max(request.highest, request.computed)
        size = self._memory.allocator.block_size
        if request.computed // size > at // size:
            self._memory.allocator.publish(request.held, request.computed)
        self._counts.recomputed_tokens += rows.recomputed
        if rows.all > rows.decode:
            self._log.note("read", request.id, tokens=count, of=len(request.known))
        return rows

    def _account(self, rows: dict[R, Rows], time: float) -> None:
        """Split the step's time among the requests in it."""
        prompts = sum(each.prompt + each.recomputed for each in rows.values())
        decodes = sum(each.decode for each in rows.values())
        swap = self._memory.copying
        for request in self._scheduler.running:
            own = rows.get(request, Rows())
            others = prompts - own.prompt - own.recomputed
            request.ledger.ran(own, others, decodes - own.decode, time - swap, swap)
        self._counts.steps += 1
        self._counts.rows += prompts + decodes
        self._log.note(
            "step", prompts=prompts, decodes=decodes, seconds=time, swap=swap
        )

    def _end(self, request: R, reason: str, now: float) -> None:
        request.ledger.closed(now)
        self._scheduler.remove(request)
        request.state, request.reason, request.finished = "finished", reason, now
        if reason == "cancelled":
            self._counts.cancelled += 1
        else:
            self._counts.finished += 1
        self._latencies.append(latency(request.submitted, request.times, now))
        self._log.note("finished", request.id, reason=reason)
        self._ended.append(request.id)
        if len(self._ended) > KEPT:
            del self.requests[self._ended.popleft()]
