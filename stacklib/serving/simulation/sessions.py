"""Requests that go on with one another: conversations, and the loops of agents.

Every request of a session begins with all that was read and written before, so that a
cache can have it. When the next one comes does not depend on how fast this one was
answered: the traffic is open. What a server's delay does to its callers is left out.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from stacklib.quantity.bounds import above_zero, whole

from .steps import nanoseconds
from .traffic import Length, Row, draws, lognormal

CHOSEN = "chosen"


@dataclass(frozen=True, slots=True)
class Moment:
    """A number that a generator reproduces, and where it is from."""

    value: float
    source: str


MOMENTS = {
    "chat turns": Moment(4, CHOSEN),
    "chat said": Moment(70, CHOSEN),
    "chat answered": Moment(215, CHOSEN),
    "chat pause": Moment(30, CHOSEN),
    # A coding agent's session, of which the document gives every context.
    "agent contexts": Moment(50_000, "document 000: 50, 52, 55, 56 and 58 thousand"),
    "agent pause": Moment(2, "document 000: a tool takes 10 ms to 5 s; the 2 s chosen"),
    "agent answered": Moment(400, CHOSEN),
}
CONTEXTS = (50_000, 52_000, 55_000, 56_000, 58_000)  # tokens, by turn: document 000
TAIL = 0.6  # of a lognormal length: its median over its mean; chosen


SAID, ANSWERED, WRITTEN = (
    lognormal(TAIL * MOMENTS[name].value, MOMENTS[name].value)
    for name in ("chat said", "chat answered", "agent answered")
)


def chat(
    rate: float,
    conversations: int,
    *,
    turns: float = MOMENTS["chat turns"].value,
    said: Length = SAID,
    answered: Length = ANSWERED,
    pause: float = MOMENTS["chat pause"].value,
    seed: int = 0,
) -> list[Row]:
    """Conversations: each turn begins with all turns before it.

    Parameters
    ----------
    rate : float
        Conversations a second that begin, by Poisson's law.
    conversations : int
        How many.
    turns : float
        Of a conversation, on average; their number has a geometric law.
    said, answered : int or callable
        New tokens of each turn, and tokens written. Means as ``MOMENTS`` has them,
        which says that they are chosen.
    pause : float
        Seconds between turns, on average: exponential.
    seed : int
        Of all draws, each by a stream of its own.

    Returns
    -------
    list of Row
        In the order of arrival.

    Raises
    ------
    ValueError
        For numbers that are not above zero, or fewer than one turn.
    """
    above_zero(rate=rate, pause=pause, turns=turns)
    whole(conversations=conversations)
    if turns < 1:
        raise ValueError(f"turns = {turns}: a conversation has one at least")
    draw = draws(seed, "turns")
    counts = []
    for _ in range(conversations):
        count = 1
        while draw.random() > 1 / turns:
            count += 1
        counts.append(count)
    return _sessions(rate, counts, said, answered, pause, "chat", seed)


def agents(
    rate: float,
    sessions: int,
    *,
    contexts: Sequence[int] = CONTEXTS,
    answered: Length = WRITTEN,
    pause: float = MOMENTS["agent pause"].value,
    seed: int = 0,
) -> list[Row]:
    """Sessions of a coding agent: long contexts that grow a little with every turn.

    Parameters
    ----------
    rate : float
        Sessions a second that begin, by Poisson's law.
    sessions : int
        How many.
    contexts : sequence of int
        Tokens read at each turn, growing: those of document 000's session.
    answered : int or callable
        Tokens written; no more than the next context has room for.
    pause : float
        Seconds between turns, on average: a tool at work.
    seed : int
        Of all draws, each by a stream of its own.

    Returns
    -------
    list of Row
        In the order of arrival.

    Raises
    ------
    ValueError
        For numbers that are not above zero, and contexts that do not grow.
    """
    above_zero(rate=rate, pause=pause)
    whole(sessions=sessions)
    for each in contexts:
        whole(context=each)
    short = any(after < before + 2 for before, after in pairwise(contexts))
    if not contexts or short:
        raise ValueError(
            f"contexts = {list(contexts)}: each has room for an answer and one token"
        )
    counts = [len(contexts)] * sessions
    return _sessions(rate, counts, contexts, answered, pause, "agent", seed)


def _sessions(
    rate: float,
    counts: Sequence[int],
    said: Length | Sequence[int],
    answered: Length,
    pause: float,
    kind: str,
    seed: int,
) -> list[Row]:
    """Rows of sessions with so many turns each, in the order of arrival."""
    streams = {name: draws(seed, f"{kind} {name}") for name in ("said", "answered")}
    arrive, wait = draws(seed, "arrivals"), draws(seed, "pauses")
    found, began = [], 0.0
    for session, turns in enumerate(counts):
        began += arrive.expovariate(rate)
        at, history = began, 0
        for turn in range(turns):
            new = _drawn(answered, streams["answered"], "answered")
            if isinstance(said, Sequence):
                prompt = said[turn]
                if turn + 1 < turns:
                    new = min(new, said[turn + 1] - prompt - 1)
            else:
                prompt = history + _drawn(said, streams["said"], "said")
            name = f"{kind} {session}"
            arrival = nanoseconds(at, 0)
            row = Row(f"{name}.{turn}", arrival, prompt, new, (name, history))
            found.append(row)
            history = prompt + new
            at += wait.expovariate(1 / pause)
    return sorted(found, key=lambda row: row.arrival)


def _drawn(given: Length, draw: random.Random, name: str) -> int:
    found = given(draw) if callable(given) else given
    whole(**{name: found})
    return int(found)
