"""The engine: requests go in, steps are made, tokens come out."""

from __future__ import annotations

import copy
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from itertools import takewhile

from stacklib.paged_kv import BlockView
from stacklib.serving.speculation.drafts import Draft
from stacklib.serving.tiers.chain import Chain
from stacklib.serving.tiers.held import Tier
from stacklib.tinylm import Sampling, TinyLM

from .batched import Segment, forward_batch
from .choose import Chosen, choose
from .delay import Delay, Ledger, Rows, Waits, rows_of
from .drafting import Drafting
from .events import STEP_WORK, Clock, Event, Log
from .latency import Latency, latency
from .memory import Memory
from .metrics import Counts, Metrics
from .policy import policy_named
from .request import Mask, Piece, Request, asked
from .scheduler import Scheduler

KEPT = 1024  # ended requests that can still be asked about


class Engine:
    """Serves many requests of one model at once, and says why each took its time.

    One thread uses one engine. Continuous batching, prompts in pieces beside others'
    decode steps, paged memory with prefixes found again, preemption when blocks run
    out, a random generator a request.

    Parameters
    ----------
    model : TinyLM
        A loaded model.
    blocks, block_size : int
        Blocks of the pool, tokens in one.
    max_batch, chunk : int
        Most requests in a step, most tokens in a step.
    tiers : sequence of tiers
        Where blocks go that leave the pool: ``HostTier``, ``FileTier``, nearest first.
    draft : optional
        What proposes tokens that the model then checks in one pass: a ``ModelDraft``,
        ``CountedDraft`` or ``LookUpDraft`` of ``serving.speculation.drafts``.
    policy : str
        ``fcfs``, ``shortest`` or ``static``: rows of ``POLICIES``.
    clock : callable, optional
        Seconds, such as ``time.perf_counter``; without it time is counted in work, the
        same on every machine.

    Raises
    ------
    ValueError
        For sizes that are not whole and positive, and a chunk that does not hold a
        token and its drafts for each of ``max_batch`` requests.
    UnknownName
        For another policy.

    Examples
    --------
    >>> from stacklib import tinylm
    >>> from stacklib.serving import Engine
    >>> engine = Engine(tinylm.load(), blocks=8, block_size=16, max_batch=2, chunk=16)
    >>> one = engine.submit([2047], tinylm.Sampling(0), most=3)
    >>> while engine.busy:
    ...     moved = engine.step()
    >>> len(one.output), one.reason, sum(engine.explain(one.id).parts.values())
    (3, 'length', 27.0)
    """

    def __init__(
        self,
        model: TinyLM,
        *,
        blocks: int,
        block_size: int,
        max_batch: int,
        chunk: int,
        tiers: Sequence[Tier] = (),
        draft: Draft | None = None,
        policy: str = "fcfs",
        clock: Callable[[], float] | None = None,
    ) -> None:
        self.model = model
        self._clock = Clock(clock)
        self._log = Log(self._clock)
        self._counts = Counts()
        self._waits = Waits(self._clock.now())
        self._memory = Memory(
            model.config, blocks, block_size, Chain(tiers), self._clock, self._log
        )
        self._drafting = Drafting(draft, model.tokenizer.end)
        self._scheduler = Scheduler(
            self._memory,
            policy_named(policy),
            max_batch,
            chunk,
            self._drafting,
            self._waits,
            self._counts,
            self._log,
        )
        self._ended: deque[int] = deque()
        self._latencies: deque[Latency] = deque(maxlen=KEPT)
        self.requests: dict[int, Request] = {}

    @property
    def log(self) -> deque[Event]:
        """The newest events, oldest first."""
        return self._log.events

    @property
    def waiting(self) -> tuple[Request, ...]:
        """Requests in line, next first."""
        return tuple(self._scheduler.waiting)

    @property
    def running(self) -> tuple[Request, ...]:
        """Requests in the batch."""
        return tuple(self._scheduler.running)

    @property
    def busy(self) -> bool:
        """Whether a step would do anything."""
        return bool(self._scheduler.waiting or self._scheduler.running)

    def submit(
        self,
        tokens: Sequence[int],
        sampling: Sampling,
        *,
        most: int,
        stop: Sequence[str] = (),
        mask: Mask | None = None,
        seed: int | None = None,
        logprobs: int | None = None,
    ) -> Request:
        """Put a request in line.

        Parameters
        ----------
        tokens : sequence of int
            What the model reads; a document starts with ``model.tokenizer.end``.
        sampling : Sampling
            How tokens are drawn.
        most : int
            Most tokens to make.
        stop : sequence of str
            Texts that end the answer and are not part of it.
        mask : optional
            A grammar that says what may follow.
        seed : int, optional
            The same seed gives the same answer, whoever else is served; without one
            the request's number is the seed.
        logprobs : int, optional
            Report ln p of each token, and of so many of the likeliest.

        Raises
        ------
        ValueError
            For what the model cannot do or the pool can never hold, with the sum.

        Returns
        -------
        Request
        """
        wanted = asked(
            self.model.config, tokens, sampling, most, stop, mask, seed, logprobs
        )
        allocator = self._memory.allocator
        longest = len(wanted.tokens) + most - 1  # nobody reads the last one
        need = allocator.needed(longest)
        if need > allocator.blocks:
            raise ValueError(
                f"{len(wanted.tokens)} + {most} - 1 = {longest} tokens need {need} "
                f"blocks of {allocator.block_size}: the pool has {allocator.blocks}"
            )
        ledger = Ledger(self._waits, self._clock.now())
        spell = self.model.tokenizer.decode
        request = Request(self._counts.submitted, wanted, ledger, spell)
        self._counts.submitted += 1
        self.requests[request.id] = request
        self._scheduler.add(request, self._clock.work)
        self._log.note("submitted", request.id, tokens=len(wanted.tokens), most=most)
        return request

    def step(self) -> tuple[Request, ...]:
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
        chosen = self._computed(given)
        back = {each: self._rolled_back(each, new) for each, new in chosen.items()}
        rows = {
            each: self._read(each, count, back.get(each, 0))
            for each, count in given.items()
        }
        self._clock.work += STEP_WORK + sum(given.values())
        end = self._clock.now()
        self._account(rows, end - start)
        self._waits.add(self._scheduler.reason, end)
        for request, tokens in chosen.items():
            self._deliver(request, tokens, end)
        return tuple(chosen)

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

    def stream(self, id: int) -> Iterator[Piece]:
        """The pieces of an answer as they come; steps the engine while it waits.

        Parameters
        ----------
        id : int
            The request's number.
        """
        request = self._known(id)
        seen = 0
        while True:
            while seen < len(request.pieces):
                yield request.pieces[seen]
                seen += 1
            if request.done:
                return
            self.step()

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
        return Metrics(
            counts,
            len(self._scheduler.running),
            len(self._scheduler.waiting),
            held.blocks,
            held.owned,
            held.cached,
            held.free,
            tuple(self._latencies),
        )

    def blocks(self) -> tuple[BlockView, ...]:
        """Every block with its owners, hash and age."""
        allocator = self._memory.allocator
        return tuple(allocator.table(block) for block in range(allocator.blocks))

    def _known(self, id: int) -> Request:
        if id not in self.requests:
            raise KeyError(
                f"request {id!r}: not among the {len(self.requests)} known; of ended "
                f"ones the last {KEPT} are kept"
            )
        return self.requests[id]

    def _computed(self, given: dict[Request, int]) -> dict[Request, list[Chosen]]:
        """The model's pass, and the tokens of those whose last token it read."""
        segments = []
        for request, count in given.items():
            drafted = self._drafting.proposal(request).tokens
            tokens = [*request.known, *drafted]
            end = request.computed + count
            segments.append(
                Segment(
                    tokens[request.computed : end],
                    request.computed,
                    request.held.blocks,
                    1 + len(drafted) if end == len(tokens) else 0,
                )
            )
        rows = forward_batch(self.model.weights, self._memory.pool, segments)
        return {
            request: choose(
                request,
                row,
                self._drafting.proposal(request),
                self.model.tokenizer.end,
            )
            for request, row in zip(given, rows, strict=True)
            if len(row)
        }

    def _rolled_back(self, request: Request, tokens: Sequence[Chosen]) -> int:
        """Drafted tokens that are not in its text: gone, and their blocks are free."""
        drafted = self._drafting.proposal(request).tokens
        self._drafting.checked(request)
        if not drafted:
            return 0
        pairs = zip(drafted, tokens, strict=False)
        kept = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1].token, pairs))
        # The last of the new tokens is read in the next step.
        gone = len(drafted) + 1 - len(tokens)
        before = len(request.held.blocks)
        self._memory.allocator.truncate(request.held, len(request.held) - gone)
        freed = before - len(request.held.blocks)
        self._counts.drafted_tokens += len(drafted)
        self._counts.accepted_tokens += kept
        self._counts.rolled_back_blocks += freed
        self._log.note(
            "checked", request.id, drafted=len(drafted), kept=kept, freed=freed
        )
        return gone

    def _read(self, request: Request, count: int, gone: int) -> Rows:
        """Note that so many more of its tokens are computed, less those rolled back."""
        at = request.computed
        rows = rows_of(at, count, len(request.tokens), request.highest)
        request.computed += count - gone
        request.highest = max(request.highest, request.computed)
        self._memory.allocator.publish(request.held, request.computed)
        self._counts.recomputed_tokens += rows.recomputed
        if rows.all > rows.decode:
            self._log.note("read", request.id, tokens=count, of=len(request.known))
        return rows

    def _account(self, rows: dict[Request, Rows], time: float) -> None:
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

    def _deliver(self, request: Request, tokens: list[Chosen], now: float) -> None:
        """Give a request its tokens; it may end with any of them."""
        if not tokens:
            self._end(request, "mask", now)
        for each in tokens:
            if each.token == self.model.tokenizer.end:
                self._end(request, "stop", now)
                return
            text = request.stream.feed(each.token)
            request.output.append(each.token)
            request.known.append(each.token)
            request.times.append(now)
            request.pieces.append(Piece(text, each.token, now, each.logprob, each.top))
            self._counts.generated_tokens += 1
            self._log.note("token", request.id, token=each.token)
            if request.asked.mask is not None:
                request.at = request.asked.mask.advance(request.at, each.token)
            if request.stream.stopped is not None or not request.left:
                stopped = request.stream.stopped is not None
                self._end(request, "stop" if stopped else "length", now)
                return

    def _end(self, request: Request, reason: str, now: float) -> None:
        rest = request.stream.close()
        if rest:
            request.pieces.append(Piece(rest, None, now))
        request.ledger.closed(now)
        self._scheduler.remove(request)
        self._drafting.ended(request)
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
