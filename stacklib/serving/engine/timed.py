"""Steps of an engine, timed: what this machine takes for which work.

Requests are drawn, so many at once are kept in the engine, and every step is noted. No
request of it is one that somebody asks later.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

from stacklib.tinylm import Sampling, TinyLM

from ..simulation.pace import Timed
from ..simulation.steps import Work
from .drafting import Chosen
from .engine import Engine
from .request import Request

LONGEST, MOST = 192, 48  # tokens of a prompt, and of an answer
ROUNDS, STEPS = 4, 64  # of each number of requests at once
KEPT = 1 << 14  # steps


class Noted(Engine):
    """An engine that keeps what its newest steps had in them and how long they took.

    - ``made``: with each the time at its end
    """

    def __init__(self, model: TinyLM, **sizes: Any) -> None:
        super().__init__(model, **sizes)
        self.work = Work(0, 0)
        self.made: deque[tuple[float, Work, float]] = deque(maxlen=KEPT)

    def step(self) -> tuple[Request, ...]:
        """As of `Engine`."""
        if not self.busy:
            return ()
        began = self.now()
        moved = super().step()
        self.made.append((self.now(), self.work, self.now() - began))
        return moved

    def _computed(self, given: dict[Request, int]) -> dict[Request, list[Chosen]]:
        self.work = work_of(given)
        return super()._computed(given)


def work_of(given: dict[Any, int]) -> Work:
    """What a step has to do, by tokens of each request."""
    decodes = context = ends = 0
    pieces = []
    for request, count in given.items():
        end = request.computed + count
        if request.output and count == 1:
            decodes, context = decodes + 1, context + end
        else:
            pieces.append((request.computed, end))
            ends += end == len(request.known)
    return Work(decodes, context, tuple(pieces), ends)


def timed_steps(
    model: TinyLM,
    *,
    clock: Callable[[], float] = time.perf_counter,
    rounds: int = ROUNDS,
    steps: int = STEPS,
    seed: int = 0,
    **sizes: Any,
) -> list[Timed]:
    """Seconds of steps with one request at once, with two, four, up to ``max_batch``.

    - ``clock``: seconds
    - ``rounds``, ``steps``: of each number of requests, so many times so many
    - ``sizes``: of the engine
    """
    draw, found = Random(f"timed {seed}"), []
    for turn in range(rounds):
        for many in _powers(sizes["max_batch"]):
            engine = Noted(model, clock=clock, **sizes)
            for _ in range(steps):
                new = many - len(engine.waiting) - len(engine.running)
                asked = [_drawn(engine, draw) for _ in range(new)]
                began = clock()
                for prompt, most in asked:
                    engine.submit(prompt, Sampling(0), most=most)
                engine.step()
                found.append(Timed(turn, engine.work, clock() - began))
    return found


def _powers(most: int) -> Iterator[int]:
    many = 1
    while many < most:
        yield many
        many *= 2
    yield most


def _drawn(engine: Engine, draw: Random) -> tuple[list[int], int]:
    """A prompt of tokens that nobody had, and how many to write."""
    room = min(LONGEST, engine.room - MOST)
    words = range(engine.model.config.vocab_size)
    return draw.choices(words, k=draw.randint(1, room)), draw.randint(1, MOST)
