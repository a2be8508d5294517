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
from typing import Any

from stacklib.models import LanguageModel
from stacklib.models.work import operations
from stacklib.paged_kv import PrefixTree
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

    def over(self, tokens: Any) -> Any:
        """All that is read, over some tokens: those of the user's request."""
        return self.prefill / tokens

    def operations(self, model: str | LanguageModel) -> float:
        """FLOP of reading all prompts: attention grows with the square of a prompt."""
        held = model_of(model)
        return sum(prefill_operations(held, int(si(n))) for n in self.prompts.values())

    def longest(self, seconds: Mapping[str, Any]) -> tuple[Any, tuple[str, ...]]:
        """What the graph takes at least, and the calls on the way.

        - ``seconds``: of each call; ``ValueError`` where one is missing, or no time
        """
        self._all("seconds", seconds)
        return longest(self.before, seconds)

    def held(self, name: str) -> int:
        """Tokens in the cache when a call has ended."""
        return int(si(self.prompts[name]) + si(self.calls[name].written))

    def computed(self, placed: Mapping[str, int]) -> int:
        """Tokens that are read where each call runs on its replica, in closed form.

        A call finds what it has in common with any earlier one of its model there: all
        of the last call that both go on from.
        """
        self._all("replica", placed)
        lines = {name: self._line(name) for name in self.before}
        total = 0
        ran: list[str] = []
        for name in self.before:
            common = (
                next((a for a in lines[name] if a in lines[other]), None)
                for other in ran
                if placed[other] == placed[name]
                and self.calls[other].model == self.calls[name].model
            )
            found = max((self.held(each) for each in common if each), default=0)
            total += int(si(self.prompts[name])) - found
            ran.append(name)
        return total

    def _all(self, what: str, given: Mapping[str, Any]) -> None:
        missing = [name for name in self.before if name not in given]
        if missing:
            raise ValueError(f"no {what} of {', '.join(missing)}")
        at_least(0, **{f"{what} of {name}": given[name] for name in self.before})

    def _line(self, name: str) -> list[str]:
        """A call and all it goes on from, the nearest first."""
        line: list[str] = []
        at: str | None = name
        while at is not None:
            line.append(at)
            at = self.goes_on[at]
        return line

    def replayed(self, placed: Mapping[str, int]) -> int:
        """The same counted: a prefix tree for each model and replica."""
        self._all("replica", placed)
        trees: dict[tuple[str, int], PrefixTree] = {}
        texts: dict[str, list[int]] = {}
        used, total = 0, 0
        for name in self.before:
            source = self.goes_on[name]
            text = list(texts[source]) if source is not None else []
            prompt, end = int(si(self.prompts[name])), self.held(name)
            # What others wrote is another text wherever it stands.
            text += range(used, used + end - len(text))
            used += end
            tree = trees.setdefault(
                (self.calls[name].model, placed[name]), PrefixTree()
            )
            total += prompt - tree.match(text[:prompt]).tokens
            tree.insert(text)
            texts[name] = text
        return total


@dataclass(frozen=True, slots=True)
class Routing:
    """Tokens that a graph reads under three routers."""

    anywhere: float  # any replica, as likely as another: the mean
    aware: int  # where most of a prompt is found
    nothing: int  # no cache at all

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
        _tokens(f"own tokens of {name}", call.own)
        _tokens(f"tokens written by {name}", call.written)
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
    names = list(graph.before)
    places: Iterable[Sequence[int]]
    if replicas ** len(names) <= ENUMERATED:
        places = list(product(range(replicas), repeat=len(names)))
    else:
        draw = random.Random(seed)
        places = [draw.choices(range(replicas), k=len(names)) for _ in range(DRAWN)]
    tokens = [graph.computed(dict(zip(names, each, strict=True))) for each in places]
    return Routing(
        sum(tokens) / len(tokens),
        graph.computed(dict.fromkeys(names, 0)),
        int(si(graph.prefill)),
    )


def chain_computed(steps: Sequence[int], replicas: int) -> float:
    """Mean tokens read by calls that each go on from the last, placed by chance.

    With r replicas a call finds the context of j calls before it, and not a later one,
    with probability (1/r) (1 - 1/r)^(j - 1).

    - ``steps``: tokens that each call adds to the context
    """
    whole(replicas=replicas, **{f"step {n}": step for n, step in enumerate(steps)})
    total, context = 0.0, [0]
    for step in steps:
        miss = 1.0
        found = 0.0
        for earlier in reversed(context[1:]):
            found += miss / replicas * earlier
            miss *= 1 - 1 / replicas
        context.append(context[-1] + step)
        total += context[-1] - found
    return total


def prefill_operations(model: LanguageModel, tokens: int) -> float:
    """FLOP of reading one prompt, by the model's own counting."""
    asked = operations(model, "prefill", context=tokens, logits="last")
    return sum(one.flops for one in asked)


def _edge(edge: Sequence[str]) -> tuple[str, str, str]:
    if isinstance(edge, str) or len(edge) not in (2, 3):
        raise ValueError(f"edge {edge!r}: from, to, and all where it is not an answer")
    source, target, what = (*edge, ANSWER)[:3]
    return source, target, what


def _tokens(what: str, value: Any) -> None:
    whole_floats(0, **{what: getattr(value, "si", value)})
