"""Section 8.11: What does an agent wait for?"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

from stacklib.pages import chain
from stacklib.quantity import Quantity, counted, counting, quoted
from stacklib.serving import estimate, machine_share, session
from stacklib.serving.agentic.order import run, si
from stacklib.serving.agentic.session import WHOSE, Session, Turn, components, told
from stacklib.serving.agentic.shares import CPU, GPU
from stacklib.serving.prices.contexts import decode_share
from stacklib.serving.token.work import HOST

MODEL, DEVICE, CHIPS, CONTEXT = chain.MODEL, chain.DEVICE, chain.TP, chain.CONTEXT
HERE = "08-serving/agents"
PROMPT = 1000  # tokens of a question that is thought about
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
        take=f"[{what!r}]",
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


def _kept(found: Any) -> Quantity:
    assert isinstance(found, Quantity)
    return found
