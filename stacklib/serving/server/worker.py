"""The engine in a thread of its own, and what it says to the server's loop.

Calls go in by a queue that is emptied between two steps; what a step made comes out by
one call of the loop. A step waits for no reader: each answer has a buffer, and one
that nobody empties ends the answer.
"""

from __future__ import annotations

import asyncio
import queue
import threading
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import Future
from typing import Any, NamedTuple, TypeVar

from stacklib.serving.engine.engine import Engine
from stacklib.serving.engine.request import Piece, Request

from .asked import Asked
from .metrics import Latencies
from .refused import Refused

T = TypeVar("T")
UNREAD = 256  # pieces of a choice that may wait for their reader


class Moved(NamedTuple):
    """What a step did for one choice: new pieces, and why it ended if it did."""

    choice: int
    pieces: tuple[Piece, ...]
    reason: str | None


class Answer:
    """The choices of one request while they are made, read by the server's loop.

    - ``requests``: of the engine, in the order of the choices.
    - ``cut``: set when the reader was too slow.
    """

    def __init__(self, choices: int, bound: int | None) -> None:
        self.requests: list[Request] = []
        self.cut = asyncio.Event()
        self.failed: str | None = None
        self._bound = bound
        self._moved: deque[Moved] = deque()
        self._arrived = asyncio.Event()
        self._alive = choices

    @property
    def alive(self) -> bool:
        """Whether a choice of it is still to end."""
        return self._alive > 0

    def push(self, moved: Moved) -> bool:
        """What a step did, from the loop; whether the reader keeps up."""
        self._alive -= moved.reason is not None
        self._moved.append(moved)
        self._arrived.set()
        return self._bound is None or len(self._moved) <= self._bound

    def fail(self, why: str) -> None:
        """No more will come."""
        self.failed, self._alive = why, 0
        self._arrived.set()

    async def read(self) -> AsyncIterator[Moved]:
        """Whatever moved, until all choices have ended."""
        while True:
            while self._moved:
                yield self._moved.popleft()
            if not self._alive:
                break
            self._arrived.clear()
            await self._arrived.wait()
        if self.failed is not None:
            raise Refused(503, self.failed)


class Worker:
    """An engine's thread.

    - ``engine``: nobody else calls it.
    - ``most``: choices alive at a time; more are told to come again.
    - ``said``: is told in a sentence what happened to a reader.
    """

    def __init__(self, engine: Engine, most: int, said: Callable[[str], Any]) -> None:
        self.engine = engine
        self.latencies = Latencies()
        self.slow = 0
        self.refused = 0
        self.failed: str | None = None
        self._most = most
        self.said = said
        self._loop = asyncio.get_running_loop()
        self._calls: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._answers: dict[int, tuple[Answer, int, int]] = {}  # the thread's own
        self._alive: dict[Answer, int] = {}  # the loop's own: choices
        self._thread = threading.Thread(target=self._run, name="engine", daemon=True)
        self._thread.start()

    async def call(self, what: Callable[[], T]) -> T:
        """What a call returns that the engine's thread makes between two steps."""
        if self.failed is not None:
            raise Refused(503, self.failed)
        done: Future[T] = Future()

        def made() -> None:
            try:
                done.set_result(what())
            except Exception as why:
                done.set_exception(why)

        self._calls.put(made)
        return await asyncio.wrap_future(done)

    async def submit(self, asked: Asked) -> Answer:
        """Put the choices of a request in line.

        ``Refused`` with 429 where too many are alive, with 400 where the engine says
        that they can never be served.
        """
        choices = asked.choices
        if len(choices) > self._most:
            raise Refused(400, f"{len(choices)} answers: {self._most} at a time", "n")
        if sum(self._alive.values()) + len(choices) > self._most:
            self.refused += 1
            raise Refused(
                429, f"{self._most} answers are being made: come again", retry=1
            )
        arrived = self.engine.now()
        bound = UNREAD * len(choices) if asked.stream else None
        answer = Answer(len(choices), bound)
        self._alive[answer] = len(choices)
        try:
            await self.call(lambda: self._submit(asked, answer, arrived))
        except ValueError as why:
            answer.fail(str(why))
            longest = max(map(len, asked.prompts)) + (asked.most or 1)
            long = longest > self.engine.room
            code = "context_length_exceeded" if long else None
            raise Refused(400, str(why), code=code) from None
        finally:
            if not answer.alive:
                self._alive.pop(answer, None)
        return answer

    def abandon(self, answer: Answer) -> None:
        """Nobody waits for the answer any more: what is not made is cancelled."""
        if self._alive.pop(answer, None) and answer.alive:
            self._calls.put(lambda: self._cancel(answer))

    def close(self) -> None:
        """End the thread, and every answer with it."""
        self._calls.put(None)
        self._thread.join()

    def _submit(self, asked: Asked, answer: Answer, arrived: float) -> None:
        """All choices or, where the engine refuses one, none."""
        try:
            for at, (prompt, seed) in enumerate(asked.choices):
                request = self._submit_one(asked, prompt, seed)
                request.arrived = arrived
                answer.requests.append(request)
                self._answers[request.id] = (answer, at, 0)
        except ValueError:
            self._cancel(answer)
            raise

    def _submit_one(self, asked: Asked, prompt: Sequence[int], seed: int) -> Request:
        return self.engine.submit(
            prompt,
            asked.sampling,
            most=asked.most or max(1, self.engine.room - len(prompt)),
            stop=asked.stop,
            mask=asked.mask() if asked.mask is not None else None,
            seed=seed,
            logprobs=asked.logprobs,
        )

    def _cancel(self, answer: Answer) -> None:
        for request in answer.requests:
            if self._answers.pop(request.id, None) is not None:
                self.engine.cancel(request.id)
                self.latencies.forget(request.id)

    def _run(self) -> None:
        """Calls and steps, one after the other, until the queue says to end."""
        why = "the server ends"
        try:
            while self._called():
                self._report(self.engine.step())
        except Exception as broken:
            why = f"the engine failed: {broken!r}"
            self.said(why)
        self.failed = why
        while not self._calls.empty():  # those that came too late
            call = self._calls.get()
            if call is not None:
                call()
        held = {id(answer): answer for answer, _, _ in self._answers.values()}
        for answer in held.values():
            self._loop.call_soon_threadsafe(answer.fail, why)

    def _called(self) -> bool:
        """Make the calls that wait; with nothing to do wait for one. False: the end."""
        while not self.engine.busy or not self._calls.empty():
            call = self._calls.get()
            if call is None:
                return False
            call()
        return True

    def _report(self, moved: Sequence[Request]) -> None:
        """Hand the loop what a step made."""
        batch = []
        for request in moved:
            answer, choice, seen = self._answers[request.id]
            pieces = tuple(request.pieces[seen:])
            self._answers[request.id] = (answer, choice, len(request.pieces))
            self.latencies.add(request, seen)
            if request.done:
                del self._answers[request.id]
            batch.append((answer, Moved(choice, pieces, request.reason)))
        if batch:
            self._loop.call_soon_threadsafe(self._deliver, batch)

    def _deliver(self, batch: Sequence[tuple[Answer, Moved]]) -> None:
        """In the loop: each answer gets its own; one that is not read is cut off."""
        for answer, moved in batch:
            if not answer.push(moved) and not answer.cut.is_set():
                answer.cut.set()
                self.slow += 1
                ids = [request.id for request in answer.requests]
                self.said(f"requests {ids}: their reader is too slow, cancelled")
                self.abandon(answer)
            elif moved.reason == "failed":
                why = answer.requests[moved.choice].failed
                self.said(f"request {answer.requests[moved.choice].id}: {why!r}")
                self.abandon(answer)
                answer.fail(f"the request failed: {why!r}")
            elif not answer.alive:
                self._alive.pop(answer, None)
