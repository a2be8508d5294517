"""Behaviour in rows: who joins a batch, where a request goes, what a machine does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .machine import Machine
    from .request import Request


@dataclass(frozen=True, slots=True)
class Scheduler:
    """Who is let into a batch, and how much of a prompt a step reads.

    Under each, who decodes goes first. Then come prompts in the order of arrival while
    slots, blocks and the step's ``chunk`` tokens last. A request is given the blocks of
    all its tokens when it is let in, and one more whenever it has filled the last.
    Where that one is missing the request that was let in last goes back to the head of
    the line and is read again, with its answer so far; nobody is let in in that step.
    """

    joins: bool  # while others run; else a batch is filled at once and ends together
    splits: bool  # a prompt over steps; else it is read whole, alone if it is too long


SCHEDULERS = {
    "static": Scheduler(joins=False, splits=True),
    "continuous": Scheduler(joins=True, splits=False),
    "chunked": Scheduler(joins=True, splits=True),
}


def _next(machines: Sequence[Machine], request: Request, turn: int) -> Machine:
    return machines[turn % len(machines)]


def _least(machines: Sequence[Machine], request: Request, turn: int) -> Machine:
    return min(machines, key=lambda each: (each.load, each.index))


def _shortest(machines: Sequence[Machine], request: Request, turn: int) -> Machine:
    """Where it is read soonest: what others have to read there, and what is new."""
    return min(
        machines,
        key=lambda each: (each.backlog + each.new_to(request), each.load, each.index),
    )


@dataclass(frozen=True, slots=True)
class Router:
    """Which machine a request goes to.

    - ``holds``: a request waits at the router for a free slot
    - ``looks``: it looks at what is cached
    """

    choose: Callable[[Sequence[Machine], Request, int], Machine]
    holds: bool = False
    looks: bool = False


ROUTERS = {
    "round-robin": Router(_next),
    "least-loaded": Router(_least, holds=True),
    "prefix-aware": Router(_shortest, looks=True),
}


@dataclass(frozen=True, slots=True)
class Role:
    """What a machine does with a request: read its prompt, write its answer."""

    reads: bool = True
    writes: bool = True


ROLES = {"both": Role(), "prefill": Role(writes=False), "decode": Role(reads=False)}
