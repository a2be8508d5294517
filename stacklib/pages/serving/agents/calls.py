"""Section 8.11's calls: what a graph reads, how late a chain is, and JSON between."""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from typing import Any

from stacklib.quantity import Quantity, chosen, counted, counting, quoted
from stacklib.serving import call_graph, offload, tail
from stacklib.serving.agentic.graph import ALL, Call, CallGraph, routing
from stacklib.serving.agentic.offload import Offload
from stacklib.serving.agentic.tails import Hop, Tail, drawn, exponential_tail, replayed
from stacklib.serving.engine.dry import DryRun
from stacklib.serving.slots.batches import drawn_lengths

HOPS = 7  # as a document has them
CHAINS, TOKENS = 300, 20.0  # that an engine answers; mean tokens of an answer
DRAWN = 4000  # chains of a law
REPLICAS = (2, 4, 8)
ADDED = 1000  # tokens that a call adds to what it goes on from

# -- a graph of calls ------------------------------------------------------------------


def hops() -> Quantity:
    """Calls of the pipeline."""
    return quoted("agent_graph.hops", "hops of the pipeline")


def pipeline(user: Quantity) -> CallGraph:
    """Calls that each read the user's request, but for one that reads a document."""
    document = quoted("agent_graph.retrieved", "tokens of the document")
    calls = {f"hop {n}": Call(user) for n in range(1, int(hops().si))}
    return call_graph({**calls, "retrieval": Call(document)})


def over(user: Quantity) -> Quantity:
    """Tokens that the pipeline reads over those of the request."""
    found: Quantity = pipeline(user).prefill / user
    return found.named("read over asked")


@cache
def chained(calls: int = HOPS, models: int = 1, step: int = ADDED) -> CallGraph:
    """Calls of which each goes on from the last, of models that take turns."""
    names = [f"hop {n}" for n in range(calls)]
    own = {name: Call(step, model=f"{n % models}") for n, name in enumerate(names)}
    return call_graph(own, [(a, b, ALL) for a, b in pairwise(names)])


def recovered(calls: float, replicas: float, models: float = 1) -> float:
    """Share of what chance computes that a router which knows the caches saves."""
    return routing(chained(int(calls), int(models)), int(replicas)).recovered


def saved(replicas: int, apart: bool = False) -> Quantity:
    """The same of the document's hops, all of one model or each of its own."""
    many, models = chosen(replicas, label="replicas"), hops() if apart else 1
    found = counted(recovered, hops(), many, models, label=f"saved, {replicas}")
    return found.to("%")


def routes() -> list[dict[str, Any]]:
    """A row for each number of replicas: one model for all calls, or each its own."""
    return [
        {
            "replicas": chosen(many, label="replicas"),
            "one model": saved(many),
            "each its own model": saved(many, apart=True),
        }
        for many in REPLICAS
    ]


@counting("thousand tokens read, {how}")
def read(how: str, replicas: int = 4) -> float:
    """Tokens that the chain computes: ``nothing`` found, ``anywhere``, ``aware``."""
    found = routing(chained(), replicas)
    tokens = {"nothing": chained().prefill, "anywhere": found.anywhere}
    return float(tokens.get(how, found.aware)) / 1000


# -- tails -----------------------------------------------------------------------------


def overstated(hops: float) -> float:
    """Sum of exponential hops' 99th percentiles over the chain's, in closed form."""
    return exponential_tail([Hop(1.0)] * int(hops)).ratio


def ratio() -> Quantity:
    """The same of the document's seven hops."""
    return counted(overstated, hops(), label="sum of p99s over p99 of the sum")


@cache
def of_law(law: str, hops: int = HOPS) -> Tail:
    """Chains drawn from a law."""
    return tail(drawn([Hop(1.0)] * hops, DRAWN, law=law))


@counting("ratio of {hops} drawn {law} hops")
def drawn_ratio(law: str, hops: int = HOPS) -> float:
    """Sum of the hops' 99th percentiles over that of drawn chains."""
    return of_law(law, hops).ratio


@cache
def served(at_once: int) -> Tail:
    """Chains through the engine's own scheduler, some at once."""
    flat = drawn_lengths(CHAINS * HOPS, TOKENS)
    chains = [flat[HOPS * n : HOPS * (n + 1)] for n in range(CHAINS)]
    engine = DryRun(blocks=2048, block_size=16, max_batch=8, chunk=128)

    def submit(tokens: list[int], most: int) -> Any:
        return engine.submit(tokens, most=most)

    return tail(replayed(submit, engine.step, chains, at_once=at_once))


@counting("ratio of {at_once} chains at once")
def engine_ratio(at_once: int, end: int | None = None) -> float:
    """The same of the engine; or an end of the interval in which it lies."""
    found = served(at_once)
    chain = {None: found.chain, 0: found.high, 1: found.low}[end]
    if chain is None:
        raise ValueError(f"{CHAINS} chains are too few for an interval")
    return found.summed / chain


def hop_p99(hops: float = 1) -> float:
    """The 99th percentile of a hop, in its own mean time; of several, their sum."""
    return exponential_tail([Hop(1.0)] * int(hops)).summed


@counting("99th percentile of {hops} hops in a row")
def last_of(hops: int = HOPS) -> float:
    """In mean times of a hop."""
    return exponential_tail([Hop(1.0)] * hops).chain


# -- the text between the calls --------------------------------------------------------


@cache
def check(how: str = "parser", size: int = 1024) -> Offload:
    """JSON checked on a core, and by an engine on a network card."""
    return offload(size, check=how)
