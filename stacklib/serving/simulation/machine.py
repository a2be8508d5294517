"""One replica: a line, a batch, a pool of blocks, and the step that it is in.

A batch that nobody enters or leaves needs no look at its requests. All of them grow by
a token a step, so that one sum holds their contexts, one list the steps at which blocks
are due, and one heap who ends when: a run of such steps is a few sums.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import count
from typing import NamedTuple

from .pool import Below, Held, Pool
from .request import Request
from .rows import Role, Scheduler
from .steps import Law, Work
from .writers import Plain


class Limits(NamedTuple):
    """What a replica has room for.

    - ``blocks``, ``size``: of its pool, and tokens in each
    - ``max_batch``, ``chunk``: requests in a step, and tokens
    """

    blocks: int
    size: int
    max_batch: int
    chunk: int


class Ran(NamedTuple):
    """Steps of one kind, one after another; times in nanoseconds."""

    machine: int
    start: int
    end: int
    steps: int
    decodes: int
    prompt: int  # tokens of prompts read
    waiting: int


@dataclass(eq=False, repr=False)
class Machine:
    """A replica; ``plan`` starts steps, ``end`` applies them.

    - ``gaps``: times between tokens of one request, each with how often
    - ``reach``: of each text, whole blocks that some row asks for
    - ``jump``: whether it passes over steps in which the batch does not change
    - ``writer``, ``below``: make what counts how answers grow, and the tiers
    """

    index: int
    law: Law
    role: Role
    limits: Limits
    scheduler: Scheduler
    reach: dict[object, int]
    gaps: Counter[int]
    jump: bool
    writer: Callable[[], Plain]
    below: Callable[[], Below | None]

    def __post_init__(self) -> None:
        self.jump = self.jump and self.law.steady and self.writer().width == 1
        self.up = True
        self.steps = self.busy = self.preempted = self.lives = 0
        self.log: list[Ran] | None = None
        self._ranks = count()
        self.clear()

    def clear(self) -> None:
        """An empty machine."""
        self.pool = Pool(self.limits.blocks, self.limits.size, self.below())
        self.waiting: deque[Request] = deque()
        self.running: dict[Request, None] = {}  # in the order of their ranks
        self.reading: list[Request] = []
        self.decoding = self.context = self.tick = self.backlog = 0
        self.writes = self.writer()
        self.ends: list[tuple[int, int, Request]] = []
        self.late: list[Request] = []  # whose last token is not of the step before
        self.pieces: list[tuple[Request, int]] = []
        self.segments: list[tuple[int, int]] = []  # steps, and nanoseconds of each
        self.start = self.version = self.taken = 0  # steps whose blocks are taken

    @property
    def load(self) -> int:
        """Requests here."""
        return len(self.running) + len(self.waiting)

    def new_to(self, request: Request) -> int:
        """Tokens of a request that would have to be read here."""
        shared = request.shared // self.limits.size
        most = (request.tokens - 1) // self.limits.size
        found = self.pool.find(request.text, min(shared, most)) if shared else []
        return request.tokens - len(found) * self.limits.size

    def join(self, request: Request, now: int) -> bool:
        """Put a request in line; whether the steps under way were cut short for it."""
        request.rank = next(self._ranks)
        cut = self._open and not self.waiting
        self.waiting.append(request)
        self.backlog += 0 if request.ready else request.tokens
        return cut and self._cut(now)

    @property
    def _open(self) -> bool:
        """Whether a request that comes now would be in the next step."""
        return self.scheduler.joins and len(self.running) < self.limits.max_batch

    def settle(self, now: int) -> None:
        """Blocks of the steps that began by now, for who looks into the pool."""
        begun, at = 0, self.start
        for steps, time in self.segments:
            begun += min(steps, -(-(now - at) // time))
            at += steps * time
            if at >= now:
                break
        self._taken(begun)

    def _taken(self, steps: int) -> None:
        """Blocks of so many steps are taken."""
        if steps > self.taken:
            first, more = self.tick + self.taken - 1, steps - self.taken + 1
            self.pool.take(self.writes.later(first, more))
            self.taken = steps

    def _cut(self, now: int) -> bool:
        """End the steps under way with the one that ends now or later."""
        at = self.start
        for place, (steps, time) in enumerate(self.segments):
            done = max(1, -(-(now - at) // time))
            if done <= steps:
                if done == steps and place == len(self.segments) - 1:
                    return False
                self.segments[place:] = [(done, time)]
                return True
            at += steps * time
        return False

    @property
    def until(self) -> int:
        """When the steps under way end."""
        return self.start + sum(steps * time for steps, time in self.segments)

    # -- a step ------------------------------------------------------------------------

    def plan(self, now: int) -> bool:
        """Start the next steps; False where there is nothing to do."""
        alone = not self.running
        squeezed = self._grow(now)
        self.pieces = self._continued() if self.reading else []
        if self.waiting and not squeezed:
            self._admit(now, alone)
        if not self.running:
            return False
        self.start, self.taken = now, 1
        decodes = self.decoding
        if self.pieces:
            spans, ends = [], 0
            for request, tokens in self.pieces:
                start = request.tokens - request.unread
                spans.append((start, start + tokens))
                ends += tokens == request.unread
            work = Work(decodes, self.context, tuple(spans), ends)
            time = self.law.mixed(work) + self.pool.copying
            self.segments, self.pool.copying = [(1, time)], 0
        else:
            self._pass_over(1 if squeezed or not self.jump else self._unchanged())
        return True

    def _unchanged(self) -> int:
        """Steps until somebody ends or blocks are short."""
        steps = self.ends[0][0] - self.tick
        free = self.pool.free
        if self.writes.later(self.tick, steps) <= free:
            return steps
        taken, done = 0, 1  # those of the first step are taken
        while done < steps:
            taken += self.writes.now(self.tick + done)
            if taken > free:
                break
            done += 1
        return done

    def _pass_over(self, steps: int) -> None:
        """So many steps of decodes, as long as the context makes each."""
        decodes, context, decode = self.decoding, self.context, self.law.decode
        found = []
        while steps:
            time, same = decode(decodes, context)
            same = min(same, steps)
            found.append((same, time))
            context += same * decodes
            steps -= same
        self.segments = found

    def _grow(self, now: int) -> bool:
        """Blocks for the tokens of this step; whether somebody lost his place."""
        if self.pool.take(self.writes.now(self.tick)):
            return False
        before = self.preempted
        for request in list(self.running):
            if request.unread or request not in self.running:
                continue
            need = self.writes.needs(request, self.tick)
            while request in self.running and not self.pool.take(need):
                self._preempt(next(reversed(self.running)), now)
        return self.preempted > before

    def _preempt(self, request: Request, now: int) -> None:
        """Back to the head of the line; what it has read may be found again."""
        self.preempted += 1
        request.preempted += 1
        self._drop(request, now)
        del self.running[request]
        self.waiting.appendleft(request)
        self.backlog += request.tokens

    def _drop(self, request: Request, now: int) -> None:
        """It holds no blocks any more; how far it was is kept."""
        if request.unread:
            self.reading.remove(request)
            self.backlog -= request.unread
            computed, blocks = request.tokens - request.unread, request.tokens
        else:
            computed = blocks = self._stop(request)
            request.ends = -1  # what the heap still says is void
            if request not in self.late:
                request.last = now
        request.unread, request.read = 0, max(request.read, computed)
        self.pool.release(request.held, -(-blocks // self.limits.size), computed)

    def _stop(self, request: Request) -> int:
        """No more decodes of it; the tokens that it has a place for."""
        place = self.writes.stop(request, self.tick)
        self.decoding -= 1
        self.context -= place
        return place

    def _decode(self, request: Request) -> None:
        """It decodes from the next step on."""
        self.context += self.writes.begin(request, self.tick)
        self.decoding += 1
        heappush(self.ends, (request.ends, request.rank, request))

    def _continued(self) -> list[tuple[Request, int]]:
        """Pieces of prompts that were begun, those of one token first."""
        room, found = self.limits.chunk - self.writes.width * self.decoding, []
        for request in sorted(self.reading, key=lambda each: each.unread > 1):
            tokens = min(room, request.unread)
            if tokens:
                found.append((request, tokens))
                room -= tokens
        return found

    def _admit(self, now: int, alone: bool) -> None:
        """Let in who is next while there are slots, blocks and tokens."""
        joins, splits = self.scheduler.joins, self.scheduler.splits
        given = sum(tokens for _, tokens in self.pieces)
        while self.waiting and (alone or joins):
            if len(self.running) == self.limits.max_batch:
                return
            room = self.limits.chunk - self.writes.width * self.decoding - given
            request = self.waiting[0]
            if joins and not room and not request.ready:
                return
            if not splits and given and self._unseen(request) > room:
                return
            if not self._let_in(request, now):
                return
            if request.unread:
                tokens = min(room, request.unread) if splits else request.unread
                if tokens:
                    self.pieces.append((request, tokens))
                    given += tokens

    def _unseen(self, request: Request) -> int:
        if request.ready:
            return 0
        return self.new_to(request) - request.held.kept * self.limits.size

    def _let_in(self, request: Request, now: int) -> bool:
        """Its blocks, and a place in the batch; False where blocks are short."""
        tokens = request.tokens
        reach = 0 if request.ready else self.reach.get(request.text, 0)
        # Who was here before has more of the text in common with what he left.
        shared = reach if request.preempted else request.shared // self.limits.size
        shared = min(shared, reach)
        if request.ready and self._widest(request) > self.pool.free:
            return False
        found = self.pool.admit(request.held, request.text, reach, shared, tokens)
        if found is None:
            return False
        self.waiting.popleft()
        self.running[request] = None
        if request.admitted < 0:
            request.admitted, request.found = now, found
        if request.ready:
            request.ready = False
            self._decode(request)
            self.late.append(request)
            # It has a block for its newest token; a draft may need more at once.
            size, place = self.limits.size, tokens - 1
            given = -(-tokens // size) - -(-place // size)
            self.pool.take(self.writes.needs(request, self.tick) - given)
            return True
        request.unread = tokens - found
        self.backlog -= found
        request.again += max(0, request.read - found)
        self.reading.append(request)
        return True

    def _widest(self, request: Request) -> int:
        """Blocks that its first pass here may need."""
        most = request.tokens + self.writes.width - 1
        return -(-min(most, request.prompt + request.new - 1) // self.limits.size)

    # -- its end -----------------------------------------------------------------------

    def end(self, now: int) -> tuple[list[Request], list[Request]]:
        """Apply the steps that end now: who is done, and who goes on elsewhere."""
        decodes, gaps, steps = self.decoding, self.gaps, 0
        if self.log is not None:
            self._noted()
        for many, time in self.segments:
            steps += many
            if decodes:
                gaps[time] += many * decodes
        self.steps += steps
        self.busy += now - self.start
        if self.late:
            self._corrected()
        self._taken(steps)
        written = self.writes.grown(self.tick, steps)
        if written > steps * decodes:  # those of one pass come at once
            gaps[0] += written - steps * decodes
        self.tick += steps
        self.context += written
        pieces, self.pieces, self.segments = self.pieces, [], []
        for request, tokens in pieces:
            request.unread -= tokens
            self.backlog -= tokens
            if request.held.copies:
                computed = request.tokens - request.unread
                self.pool.publish(request.held, computed)
        done: list[Request] = []
        ends = self.ends
        while ends and ends[0][0] <= self.tick:
            at, _, request = heappop(ends)
            if request.ends == at and request in self.running:  # not one that is void
                self._finish(request, self._stop(request), now)
                done.append(request)
        parted: list[Request] = []
        for request, _ in pieces:
            if not request.unread:
                self._first(request, now, done, parted)
        return done, parted

    def _first(
        self, request: Request, now: int, done: list[Request], parted: list[Request]
    ) -> None:
        """All of it is read: it gets a token."""
        self.reading.remove(request)
        read = request.tokens
        request.made += 1
        if request.first < 0:
            request.first = now
        else:
            self.gaps[now - request.last] += 1
        if request.made == request.new:
            self._finish(request, read, now)
            done.append(request)
        elif self.role.writes:
            self._decode(request)
        else:
            request.last = now
            del self.running[request]
            parted.append(request)

    def _finish(self, request: Request, place: int, now: int) -> None:
        """It leaves; its text may be asked for again."""
        request.finished, request.machine = now, self.index
        del self.running[request]
        self.leave(request, place)

    def leave(self, request: Request, place: int) -> None:
        """Its blocks are free; ``place``: tokens in them, all computed."""
        if reach := self.reach.get(request.text):
            self.pool.name(request.held, request.text, reach, place)
        self.pool.release(request.held, -(-place // self.limits.size), place)

    def stop(self, now: int) -> list[Request]:
        """Lose all caches and the step under way: whom it had, in their order."""
        at, whole = self.start, []
        for steps, time in self.segments:
            done = min(steps, (now - at) // time)
            if done:
                whole.append((done, time))
                at += done * time
            if done < steps:
                break
        under_way, self.segments = bool(self.segments), whole
        if whole:
            self.end(at)
        if under_way:
            self.busy += now - at
        self.pieces = []
        for request in self.running:
            self._drop(request, at if under_way else now)
        lost = [*self.running, *self.waiting]
        for request in lost:
            request.held, request.ready = Held(), False
        self.lives += 1
        self.clear()
        return lost

    def _corrected(self) -> None:
        """Gaps of those whose last token came before the step that ended."""
        time = self.segments[0][1]
        for request in self.late:
            self.gaps[time] -= 1
            self.gaps[self.start + time - request.last] += 1
        self.late = []

    def _noted(self) -> None:
        """Steps for a drawing."""
        at, log = self.start, self.log
        assert log is not None
        read = sum(tokens for _, tokens in self.pieces)
        for many, time in self.segments:
            end, line = at + many * time, len(self.waiting)
            log.append(Ran(self.index, at, end, many, self.decoding, read, line))
            at = end
