"""A session of an agent: what it waits for, turn by turn.

A turn sends all that came before, waits for the prompt to be read, for the answer to be
written, and for the tools that the answer calls:

    session = sum over turns of (network + prefill + written x token + tools)
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any

from stacklib.cost.spans import Span, span
from stacklib.models import LanguageModel
from stacklib.paged_kv.session import prefilled
from stacklib.quantity import Quantity, chosen, quoted
from stacklib.quantity.bounds import at_least, whole_floats

from ..estimates.estimate import estimate
from .order import si
from .shares import CPU, GPU, NETWORK, Step

# What a turn waits for, in order, and whose time it is.
WHOSE = {"network": NETWORK, "prefill": GPU, "decode": GPU, "tools": CPU}
# Of one document's table: each wait, from the least to the most.
COMPONENTS = "network prefill kv_transfer first_token token tool".split()


@dataclass(frozen=True, slots=True)
class Turn:
    """One call of the model, and what is waited for until the next one.

    - ``context``: tokens of the prompt, all that came before among them
    - ``written``: tokens of the answer
    - ``tools``, ``network``: seconds
    - ``prefill``, ``token``: seconds to read the prompt and to write a token; both or
      none, and without them they are estimated
    """

    context: int
    written: Any
    tools: Any = 0.0
    network: Any = 0.0
    prefill: Any = None
    token: Any = None


@dataclass(frozen=True, slots=True)
class Part:
    """One wait of a turn; ``whose`` is cpu, gpu or network."""

    turn: int
    what: str
    start: float  # seconds from the session's beginning
    time: Any

    @property
    def whose(self) -> str:
        """The machine that works, or the network."""
        return WHOSE[self.what]


@dataclass(frozen=True, slots=True)
class Session:
    """Turns one after another, as parts of a waterfall."""

    turns: tuple[Turn, ...]
    parts: tuple[Part, ...]

    @property
    def total(self) -> Any:
        """Seconds of the whole session."""
        return _sum(part.time for part in self.parts)

    def time(self, what: str) -> Any:
        """Seconds of one of ``WHOSE``, in all turns."""
        return _sum(part.time for part in self.parts if part.what == what)

    def share(self, what: str) -> Any:
        """Of the whole session."""
        return self.time(what) / self.total

    def computed(self, *, found: bool = True) -> int:
        """Tokens of prompts that are computed; with ``found`` each of them once."""
        contexts = [turn.context for turn in self.turns]
        return sum(prefilled(contexts)) if found else sum(contexts)

    @property
    def steps(self) -> list[Step]:
        """The same as a workload of ``machine_share``."""
        return [Step(f"{p.what} {p.turn + 1}", p.whose, p.time) for p in self.parts]


def session(
    turns: Iterable[Turn],
    model: str | LanguageModel | None = None,
    on: str | None = None,
    *,
    found: bool = True,
    **given: Any,
) -> Session:
    """What a session waits for, part by part.

    Parameters
    ----------
    turns : iterable of Turn
        In order; each prompt begins with the one before.
    model, on : optional
        What serves the turns that bring no times of their own.
    found : bool
        Whether what came before is found in the cache: only the rest is computed then.
    given
        What else ``estimate`` takes: ``dtype``, ``tp``, ``batch``, ...

    Raises
    ------
    ValueError
        For no turns, prompts that shrink, lengths or times that are none, and times
        that are missing where no model is given.

    Examples
    --------
    >>> turns = [Turn(50_000, 400, 0.5, 0.2, prefill=0.4, token=0.03)] * 5
    >>> found = session(turns)
    >>> round(found.total, 1), round(found.share("decode"), 2)
    (65.5, 0.92)
    """
    held = tuple(turns)
    if not held:
        raise ValueError("no turns: a session has at least one")
    prefilled(contexts := [turn.context for turn in held])  # refuses those that shrink
    before = [0, *contexts] if found else [0] * len(held)
    waits = [
        (number, what, time)
        for number, turn in enumerate(held)
        for what, time in _waits(turn, before[number], model, on, given)
        if si(time)
    ]
    parts: list[Part] = []
    now = 0.0
    traced = any(isinstance(time, Quantity) for *_, time in waits)
    for number, what, time in waits:
        if traced:
            own = time if isinstance(time, Quantity) else chosen(time, "s", what)
            time = own.named(f"{what}, turn {number + 1}")
        parts.append(Part(number, what, now, time))
        now += si(time)
    return Session(held, tuple(parts))


def _waits(
    turn: Turn, before: int, model: Any, on: str | None, given: dict[str, Any]
) -> Iterable[tuple[str, Any]]:
    """The four waits of a turn; the longest prefix that is found leaves one token."""
    written = whole_floats(0, written=getattr(turn.written, "si", turn.written))
    at_least(0.0, tools=turn.tools, network=turn.network)
    prefill, token = turn.prefill, turn.token
    if (prefill is None) != (token is None):
        raise ValueError(f"{turn}: prefill and token are given together, or neither")
    if prefill is None:
        if model is None or on is None:
            raise ValueError(
                f"{turn}: no times; give prefill and token, or a model and what it "
                "runs on"
            )
        context, new = turn.context, max(1, int(written))
        asked = dict(given, context=context, prompt=context, new=new)
        hit = min(before, context - 1) / context
        quick = estimate(model, on, prefix_hit=hit, **asked)
        prefill, token = quick.ttft, quick.tpot
        # The first came with the prompt.
        writing = chosen(max(0, written - 1), label="tokens after the first") * token
    else:
        at_least(0.0, prefill=prefill, token=token)
        writing = turn.written * token
    times = (turn.network, prefill, writing, turn.tools)
    return zip(WHOSE, times, strict=True)


def told() -> list[Turn]:
    """The five turns that a document sums up to a session, by its own figures."""
    said = {
        what: quoted(f"session.{what}")
        for what in "turns written tools tool trips trip prefill token".split()
    }
    each = (said["written"] / said["turns"]).named("tokens of an answer")
    network = said["trip"] * (said["trips"] / said["turns"])
    times = {"network": network, "prefill": said["prefill"], "token": said["token"]}
    return [
        Turn(context, each, said["tool"] if n < said["tools"].si else 0.0, **times)
        for n in range(int(said["turns"].si))
        for context in [int(quoted(f"session.turn_{n + 1}").si)]
    ]


def components() -> dict[str, Span]:
    """What one document says each wait of a turn takes, from the least to the most."""
    return {
        name: span(quoted(f"session.{name}_least"), quoted(f"session.{name}_most"))
        for name in COMPONENTS
    }


def _sum(times: Iterable[Any]) -> Quantity | float:
    found = [*times]
    return reduce(add, found) if found else 0.0
