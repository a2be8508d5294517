"""Section 8.11: What does an agent wait for?"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import pairwise
from typing import Any

from stacklib.pages import chain
from stacklib.quantity import Quantity, chosen, counted, counting, quoted
from stacklib.serving import (
    call_graph,
    estimate,
    machine_share,
    offload,
    session,
    tail,
)
from stacklib.serving.agentic.graph import ALL, Call, CallGraph, routing
from stacklib.serving.agentic.offload import Offload
from stacklib.serving.agentic.order import run, si
from stacklib.serving.agentic.session import WHOSE, Session, Turn, components, told
from stacklib.serving.agentic.shares import CPU, GPU
from stacklib.serving.agentic.tails import (
    Hop,
    Tail,
    drawn,
    exponential_tail,
    replayed,
)
from stacklib.serving.engine.dry import DryRun
from stacklib.serving.prices.contexts import decode_share
from stacklib.serving.slots.batches import drawn_lengths
from stacklib.serving.token.work import HOST

MODEL, DEVICE, CHIPS, CONTEXT = chain.MODEL, chain.DEVICE, chain.TP, chain.CONTEXT
HERE = "08-serving/agents"
HOPS = 7  # as a document has them
CHAINS, TOKENS = 300, 20.0  # that an engine answers; mean tokens of an answer
DRAWN = 4000  # chains of a law
PROMPT = 1000  # tokens of a question that is thought about
REPLICAS = (2, 4, 8)
ADDED = 1000  # tokens that a call adds to what it goes on from
WORDS = {
    "network": "network",
    "prefill": "reading prompts",
    "decode": "writing tokens",
    "tools": "tools",
}

# -- a session -------------------------------------------------------------------------


@cache
def as_told() -> Session:
    """Five turns as a document sums them up."""
    return session(told())


@cache
def on_ours(found: bool = True) -> Session:
    """The same turns with the running case's times, alone on its eight chips."""
    turns = [replace(turn, prefill=None, token=None) for turn in told()]
    return session(turns, MODEL, DEVICE, dtype="bf16", tp=CHIPS, found=found)


def lasts(
    turns: float, written: float, each: float, token: Any, *waits: Any
) -> dict[str, float]:
    """Seconds of a session event by event, whole and by what is waited for.

    - ``turns``, ``written``: calls of the model, and tokens of all answers
    - ``each``: tools called, one after each of the first answers
    - ``token``, then ``waits``: seconds of a token, a prompt, a tool, a turn's network
    """
    prefill, tool, network = map(si, waits)
    answer, one = round(written / turns), si(token)
    own = [
        Turn(1, answer, tool if n < each else 0.0, network, prefill, one)
        for n in range(int(turns))
    ]
    steps = session(own).steps
    shares = machine_share(steps)
    names = {step.name: step.name.split()[0] for step in steps}
    took, work = run(shares.before, lambda n: si(shares.seconds[n]), names, {})
    return {"whole": took, **dict.fromkeys(WHOSE, 0.0), **work}


def lasting(what: str, token: Quantity | None = None, tool: Any = None) -> Quantity:
    """A part of it by the document's own figures; another token, another tool."""
    trips = quoted("session.trips") / quoted("session.turns")
    return counted(
        lasts,
        quoted("session.turns"),
        quoted("session.written"),
        quoted("session.tools"),
        quoted("session.token") if token is None else token,
        quoted("session.prefill"),
        quoted("session.tool") if tool is None else tool,
        quoted("session.trip") * trips,
        unit="s",
        take=lambda found: found[what],
        label=f"{what} of the session",
    )


@counting("{what} of the session on eight chips", unit="s", family="E_decode")
def running(what: str, found: bool = True) -> float:
    """Seconds of one of the waits, or of the ``whole``: turns of five accounts."""
    held = on_ours(found)
    return si(held.total if what == "whole" else held.time(what))


def waited(what: str, ours: bool = False) -> Quantity:
    """Seconds of one of the waits, as told or as computed."""
    estimated = ours and WHOSE[what] == GPU
    found = running(what) if estimated else _kept(as_told().time(what))
    return found.named(f"{WORDS[what]}, {'computed' if ours else 'as told'}")


def total(ours: bool = False, found: bool = True) -> Quantity:
    """Seconds of the whole session."""
    held = running("whole", found) if ours else _kept(as_told().total)
    return held.named(f"session, {'computed' if ours else 'as told'}")


def of_it(what: str, ours: bool = False) -> Quantity:
    """Share of the session that one of the waits takes."""
    share = (waited(what, ours) / total(ours)).to("%")
    return share.named(f"share of {WORDS[what]}, {'computed' if ours else 'as told'}")


def token() -> Quantity:
    """What the chapter has made of a token so far."""
    return chain.account(HERE, after=True).total().named("a token so far")


def written() -> Quantity:
    """Tokens of all answers."""
    return quoted("session.written", "tokens of the session")


def with_ours() -> Quantity:
    """The document's tokens at the chapter's pace."""
    return (written() * token()).named("its tokens at this pace")


def rest() -> Quantity:
    """What the document's session waits for besides tokens."""
    return (total() - waited("decode")).named("all but tokens")


def share_with_ours() -> Quantity:
    """Their share of a session of which the rest stays as it is."""
    return (with_ours() / (with_ours() + rest())).to("%").named("share at this pace")


def thinking(new: int) -> Quantity:
    """Share of writing where a question of a thousand tokens gets so many back."""
    found = decode_share(MODEL, DEVICE, PROMPT, new, dtype="bf16", tp=CHIPS)
    return found.named(f"share of writing, {new:,} tokens")


def step_in(sessions: int = 1) -> Quantity:
    """A token with the context of the first turn, among so many sessions."""
    context = told()[0].context
    return estimate(MODEL, DEVICE, "bf16", CHIPS, sessions, context).tpot


def rows() -> list[dict[str, Any]]:
    """A row a wait: as told, as computed, and what the document's table allows."""
    found = {"network": "network", "prefill": "prefill", "tools": "tool"}
    spans = components()
    return [
        {
            "waiting for": WORDS[what],
            "as told": waited(what),
            "computed": waited(what, ours=True),
            "share of it": of_it(what, ours=True),
            "once, from": spans[found.get(what, "token")].low.to("ms"),
            "to": spans[found.get(what, "token")].high.to("ms"),
        }
        for what in WHOSE
    ]


# -- whose time it is ------------------------------------------------------------------


def processors(slow: bool = False) -> Quantity:
    """Processors' share of the work; ``slow``: the table's slowest tools, its fastest
    tokens."""
    spans = components()
    given = (spans["token"].low, spans["tool"].high) if slow else ()
    tools = lasting("tools", *given)
    return (tools / (tools + gpu_time(*given))).to("%").named("processors' share")


def gpu_time(*given: Any) -> Quantity:
    """Seconds of prompts and tokens; ``given``: as ``lasting`` takes them."""
    return lasting("prefill", *given) + lasting("decode", *given)


def alone(kind: str) -> Quantity:
    """Share of the session in which its processors, or GPUs, are at work."""
    work = lasting("tools") if kind == CPU else gpu_time()
    return (work / lasting("whole")).to("%").named(f"share of {kind} at work")


def tool_for(share: Quantity, ours: bool = False) -> Quantity:
    """Seconds of each tool for which processors have such a share of the work."""
    gpu = waited("prefill", ours) + waited("decode", ours) if ours else gpu_time()
    each = gpu * share / (1 - share) / quoted("session.tools")
    return each.to("s").named("a tool's time for that share")


def lost() -> Quantity:
    """Share of a step of the running case that an engine loses between layers."""
    found = estimate(MODEL, DEVICE, "bf16", CHIPS, context=CONTEXT)
    host = next(line.time for line in found.parts if line.name == HOST)
    return (host / found.tpot).to("%").named("lost between layers")


def busy(kind: str, sessions: float, cores: float, slots: float, turns: float) -> float:
    """Utilisation at most of cores, or of places in a batch, with so many sessions.

    - ``kind``: cpu or gpu; ``turns``: of each session, the first of those told
    """
    steps = [step for step, part in _parts() if part < turns]
    found = machine_share(steps)
    places = {CPU: int(cores), GPU: int(slots)}
    return found.utilisation_bound(int(sessions), places)[kind]


def _parts() -> list[tuple[Any, int]]:
    held = as_told()
    return [(s, p.turn) for s, p in zip(held.steps, held.parts, strict=True)]


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


def at_once(hops: float) -> float:
    """The same of hops that are slow together: one draw for all of a chain's."""
    return of_law("exponential", int(hops), True).ratio


@cache
def of_law(law: str, hops: int = HOPS, together: bool = False) -> Tail:
    """Chains drawn from a law."""
    return tail(drawn([Hop(1.0)] * hops, DRAWN, law=law, together=together))


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


def _kept(found: Any) -> Quantity:
    assert isinstance(found, Quantity)
    return found
