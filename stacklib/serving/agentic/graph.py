"""A graph of calls: what is read again at every hop, and what routing gives back.

A call's prompt is what it is handed and its own:

    prompt(call) = prompt and answer of the call it goes on from
                   + answers of the other calls it waits for + its own tokens

so a document that one call fetched is read again by all that go on from it. A cache
has it where that call ran: in the same machine, of the same model. Keys and values of
one model are nothing to another, whatever the router does.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import product
from operator import add
from statistics import mean
from typing import Any

from stacklib.models import LanguageModel
from stacklib.models.work import operations
from stacklib.quantity.bounds import at_least, whole, whole_floats
from stacklib.roofline.work.fit import model_of

from .order import Before, longest, ordered, si

ANSWER, ALL = "answer", "all"  # what an edge hands on
ENUMERATED, DRAWN = 4096, 2000  # ways to place calls: all of so many, else as many


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a model.

    - ``own``: tokens of its prompt that no other call hands on
    - ``written``: tokens of its answer
    - ``model``: whose cache it reads and leaves
    """

    own: Any
    written: Any = 0
    model: str = "model"


@dataclass(frozen=True, slots=True)
class CallGraph:
    """Calls, in an order in which they may run, and the tokens that each reads."""

    calls: Mapping[str, Call]
    before: Before
    goes_on: Mapping[str, str | None]  # the call whose context it begins with
    prompts: Mapping[str, Any]  # tokens

    @property
    def prefill(self) -> Any:
        """Tokens that all calls read, nothing found in a cache."""
        return reduce(add, self.prompts.values())

    def operations(self, model: str | LanguageModel) -> float:
        """FLOP of reading all prompts: attention grows with the square of a prompt."""
        held = model_of(model)
        asked = (
            operations(held, "prefill", context=int(si(tokens)), logits="last")
            for tokens in self.prompts.values()
        )
        return sum(one.flops for each in asked for one in each)

    def longest(self, seconds: Mapping[str, Any]) -> tuple[Any, tuple[str, ...]]:
        """What the graph takes at least, and the calls on the way.

        - ``seconds``: of each call; ``ValueError`` where one is missing, or no time
        """
        missing = [name for name in self.before if name not in seconds]
        if missing:
            raise ValueError(f"no seconds of {', '.join(missing)}")
        at_least(0.0, **{f"seconds of {name}": seconds[name] for name in self.before})
        return longest(self.before, seconds)

    def held(self, name: str) -> int:
        """Tokens in the cache when a call has ended."""
        return int(si(self.prompts[name]) + si(self.calls[name].written))

    def computed(self, placed: Sequence[int]) -> int:
        """Tokens that are read where the calls run on these replicas, in their order.

        A call finds what it has in common with any earlier one of its model there: all
        of the last call that both go on from.
        """
        lines: dict[str, list[str]] = {}  # each call and all it goes on from, backwards
        ran: list[tuple[str, tuple[str, int]]] = []
        total = 0
        for name, replica in zip(self.before, placed, strict=True):
            on, here = self.goes_on[name], (self.calls[name].model, replica)
            lines[name] = [name, *(lines[on] if on else ())]
            common = (
                next((each for each in lines[name] if each in lines[other]), None)
                for other, where in ran
                if where == here
            )
            found = max((self.held(each) for each in common if each), default=0)
            total += int(si(self.prompts[name])) - found
            ran.append((name, here))
        return total


@dataclass(frozen=True, slots=True)
class Routing:
    """Tokens that a graph reads under two routers."""

    anywhere: float  # any replica, as likely as another: the mean
    aware: int  # where most of a prompt is found

    @property
    def recovered(self) -> float:
        """Share of what chance reads that the aware router need not."""
        return 1 - self.aware / self.anywhere


def call_graph(
    nodes: Mapping[str, Call], edges: Iterable[Sequence[str]] = ()
) -> CallGraph:
    """A graph of calls with the tokens that each reads.

    Parameters
    ----------
    nodes : mapping of str to Call
        Calls by name.
    edges : iterable
        ``(from, to)``: the answer goes into the prompt; ``(from, to, "all")``: the
        prompt begins with the whole context and the answer.

    Raises
    ------
    ValueError
        For a circle, naming it; an edge given twice or that hands on something else;
        a call that goes on from two; tokens that are no whole numbers.
    UnknownName
        For an edge from or to a call that is not there.

    Examples
    --------
    >>> graph = call_graph(
    ...     {"plan": Call(2000, 100), "search": Call(500), "answer": Call(300, 200)},
    ...     [("plan", "search"), ("plan", "answer", "all"), ("search", "answer")],
    ... )
    >>> graph.prefill, graph.prompts["answer"]
    (5000, 2400)
    """
    calls = dict(nodes)
    for name, call in calls.items():
        for what, tokens in (("own", call.own), ("written", call.written)):
            whole_floats(
                0, **{f"{what} tokens of {name}": getattr(tokens, "si", tokens)}
            )
    given = [_edge(edge) for edge in edges]
    before = ordered(calls, ((source, target) for source, target, _ in given))
    goes_on: dict[str, str | None] = dict.fromkeys(before)
    for source, target, what in given:
        if what not in (ANSWER, ALL):
            raise ValueError(f"{source} to {target} hands on {what!r}: answer or all")
        if what == ALL and goes_on[target] is not None:
            raise ValueError(
                f"{target} goes on from {goes_on[target]} and from {source}: a prompt "
                "begins with one of them; hand on the other's answer"
            )
        goes_on[target] = source if what == ALL else goes_on[target]
    prompts: dict[str, Any] = {}
    for name, earlier in before.items():
        read = calls[name].own
        for each in earlier:
            written = calls[each].written
            whole_of_it = goes_on[name] == each
            read = read + (prompts[each] + written if whole_of_it else written)
        if not si(read):
            raise ValueError(f"{name} reads no tokens: give it some of its own")
        prompts[name] = read
    return CallGraph({name: calls[name] for name in before}, before, goes_on, prompts)


def routing(graph: CallGraph, replicas: int, *, seed: int = 0) -> Routing:
    """What a router gives back that sends a call where its prompt's beginning is.

    Nothing is evicted and no replica is full; every model has as many replicas. All
    ways to place the calls are weighed alike, or a sample where they are too many.
    """
    whole(replicas=replicas)
    many, draw = len(graph.before), random.Random(seed)
    places: Iterable[Sequence[int]] = product(range(replicas), repeat=many)
    if replicas**many > ENUMERATED:
        places = (draw.choices(range(replicas), k=many) for _ in range(DRAWN))
    return Routing(mean(map(graph.computed, places)), graph.computed([0] * many))


def _edge(edge: Sequence[str]) -> tuple[str, str, str]:
    if isinstance(edge, str) or len(edge) not in (2, 3):
        raise ValueError(f"edge {edge!r}: from, to, and all where it is not an answer")
    source, target, what = (*edge, ANSWER)[:3]
    return source, target, what
