"""The engine: requests go in, steps are made, tokens come out."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from itertools import takewhile

from stacklib.serving.speculation.drafts import Draft
from stacklib.serving.tiers.chain import Chain
from stacklib.serving.tiers.held import BlockTier
from stacklib.tinylm import Sampling, TinyLM
from stacklib.tinylm.forward import Floats

from .batched import Segment, forward_batch
from .drafting import Chosen, Drafting, choose
from .pool import Pool
from .request import Asked, Mask, Piece, Request, possible
from .turns import Turns


class Engine(Turns[Request, Chosen]):
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
        tiers: Sequence[BlockTier] = (),
        draft: Draft | None = None,
        policy: str = "fcfs",
        clock: Callable[[], float] | None = None,
    ) -> None:
        self.model = model
        self._pool = Pool(model.config, blocks, block_size)
        self._drafting = Drafting(draft, model.config.vocab_size, model.tokenizer.end)
        sizes = blocks, block_size, max_batch, chunk, policy, clock
        whose = fingerprint(model) if tiers else b""
        super().__init__(*sizes, self._pool, Chain(tiers), whose, self._drafting.length)

    @property
    def room(self) -> int:
        """Tokens that one request can have, prompt and answer together."""
        allocator = self._memory.allocator
        # Nobody reads the last token, which takes no place in a block.
        held = allocator.blocks * allocator.block_size + 1
        return min(self.model.config.max_position_embeddings, held)

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
        given = Asked(tokens, sampling, most, stop, mask, seed, logprobs)
        wanted = possible(given, self.model.config)
        self._fits(len(wanted.tokens), most)
        spell = self.model.tokenizer.decode
        return self._lined_up(
            Request(self._counts.submitted, wanted, self._ledger(), spell)
        )

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

    def _drafted(self, request: Request) -> Sequence[int]:
        return self._drafting.proposal(request).tokens

    def _computed(self, given: dict[Request, int]) -> dict[Request, list[Chosen]]:
        """The model's pass, and the tokens of those whose last token it read."""
        segments = []
        for request, count in given.items():
            drafted = self._drafting.proposal(request).tokens
            tokens = [*request.known, *drafted]
            end = request.computed + count
            new, table = tokens[request.computed : end], request.held.blocks
            wanted = 1 + len(drafted) if end == len(tokens) else 0
            segments.append(Segment(new, request.computed, table, wanted))
        rows = forward_batch(self.model.weights, self._pool, segments)
        return {
            request: self._chosen(request, row)
            for request, row in zip(given, rows, strict=True)
            if len(row)
        }

    def _chosen(self, request: Request, rows: Floats) -> list[Chosen]:
        """Its next tokens; none where its grammar allows nothing, or fails."""
        if request.failed is not None:
            return []
        proposal = self._drafting.proposal(request)
        try:
            return choose(request, rows, proposal, self.model.tokenizer.end)
        except Exception as why:  # the others in the step go on
            request.failed = why
            return []

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

    def _deliver(self, request: Request, tokens: Sequence[Chosen], now: float) -> None:
        """Give a request its tokens; it may end with any of them."""
        if not tokens:
            self._end(request, "mask" if request.failed is None else "failed", now)
        for each in tokens:
            if each.token == self.model.tokenizer.end:
                self._end(request, "stop", now)
                return
            text = request.stream.feed(each.token)
            request.pieces.append(Piece(text, each.token, now, each.logprob, each.top))
            self._keep(request, each.token, now)
            try:
                request.advance(each.token)
            except Exception as why:
                request.failed = why
                self._end(request, "failed", now)
                return
            if request.stream.stopped is not None or not request.left:
                stopped = request.stream.stopped is not None
                self._end(request, "stop" if stopped else "length", now)
                return

    def _end(self, request: Request, reason: str, now: float) -> None:
        rest = request.stream.close()
        if rest:
            request.pieces.append(Piece(rest, None, now))
        self._drafting.ended(request)
        super()._end(request, reason, now)


def fingerprint(model: TinyLM) -> bytes:
    """Of a model by its numbers: one of other weights keeps other keys and values."""
    found = hashlib.sha256(repr(model.config).encode())
    for name, weight in sorted(model.weights.items()):
        found.update(name.encode())
        found.update(weight.tobytes())
    return found.digest()[:8]
