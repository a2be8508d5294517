"""Claims on agents: a session's seconds, whose they are, calls, tails, and JSON."""

from __future__ import annotations

from typing import Any

from stacklib.evidence import Finding, claim
from stacklib.pages.serving import agents as page
from stacklib.pages.serving.agents import calls
from stacklib.pages.serving.fits import used
from stacklib.quantity import Quantity, chosen, counted, quoted
from stacklib.serving.agentic.offload import largest
from stacklib.serving.agentic.session import told
from stacklib.serving.agentic.shares import CPU, GPU
from stacklib.serving.estimates.room import room

SLOW = "its tools take the most of its own table, and its tokens the least"
SIXTY = chosen(60, "%", label="processors' share, as claimed")
PAIR = (23, 1, 110)  # sessions, cores, places in a batch


@claim("session-total-time", "whole")
@claim("session-decode-dominates", "decode")
def as_added(what: str) -> Finding:
    """The document's own session, event by event."""
    other, share = page.total(ours=True), page.of_it("decode", ours=True)
    return Finding(
        page.lasting(what),
        why=f"Its own arithmetic. Llama-3-70B on eight H100s, alone, takes {other:.3} "
        f"for the same turns, {share:.3} of it for writing.",
    )


def room_for() -> Quantity:
    """Sessions that fit the running case's memory."""
    context = told()[0].context
    asked: dict[str, Any] = {"tp": page.CHIPS, "context": context, "share": used()}
    return room(page.MODEL, page.DEVICE, **asked).conversations


@claim("session-decode-token")
def decoded() -> Finding:
    """A token with the context of the first turn: alone, and with all that fit."""
    most = room_for()
    return Finding(
        page.step_in(),
        to=page.step_in(int(most.si)),
        why="Llama-3-70B on eight H100s, alone. Every session brings a cache of its "
        f"own to be read, and {most.text()} of them fit. In another section the same "
        "document has a third of its time for as many tokens.",
    )


@claim("session-first-token")
def first_decoded() -> Finding:
    """A step like any other: alone, and with all sessions that fit."""
    later = [part.time for part in page.on_ours().parts if part.what == "prefill"]
    return Finding(
        page.step_in(),
        to=page.step_in(int(room_for().si)),
        why="The first token is written by a step like the rest. With the prompt "
        "before it, most of which the cache has, it comes after "
        f"{min(later, key=lambda q: q.si):.3 ms} or more; a line in front of it is "
        "not counted.",
    )


@claim("session-context-compression")
def summary() -> Finding:
    """A summary no longer than one of the session's answers, written by the model."""
    answer = quoted("session.written") / quoted("session.turns")
    return Finding(
        (answer * page.step_in()).to("s").named("a summary written"),
        why="A model that compresses has to write the summary, token by token; "
        f"{quoted('session.compression'):.3} are time for eight of them. Leaving turns "
        "out without a model takes no time at all.",
    )


@claim("session-tool-time")
def one_tool() -> Finding:
    """What the document's sum leaves to each of its tools."""
    least, most = (quoted(f"session.tool_{end}") for end in ("least", "most"))
    pairs = (("turns", "prefill"), ("written", "token"), ("trips", "trip"))
    others = [quoted(f"session.{n}") * quoted(f"session.{s}") for n, s in pairs]
    left = quoted("session.whole") - others[0] - others[1] - others[2]
    return Finding(
        (left / quoted("session.tools")).named("a tool, of the sum"),
        why=f"Of a table from {least:.3} to {most:.4}. The 60 % of the work that the "
        f"document gives to processors would need {page.tool_for(SIXTY):.3} for each.",
    )


@claim("session-network-rt")
def network() -> Finding:
    """The distance is not said."""
    return Finding.open(
        "Light in fibre takes a millisecond for each hundred kilometres and back; the "
        "rest is the user's last mile and handshakes. To settle it: a trace of round "
        "trips with the distances of its users."
    )


@claim("session-tool-loops")
def loops() -> Finding:
    """A statistic of use."""
    return Finding.open(
        "The session worked out beside it has five turns and four tools. To settle "
        "it: the tool calls of each session in a log of a coding agent's users."
    )


# -- whose time it is ------------------------------------------------------------------


VERIFIED = (
    "Source: buttondown.com/verified, The dawn of the AGI CPU, on Arm's announcement "
    "of 24 March 2026 (read 2026-11-29, secondary)"
)


@claim("cpu-share-chat")
def chat() -> Finding:
    """Told with a product; a bound of ours does not decide."""
    return Finding.cited(
        f"{VERIFIED}: chat runs to 90 to 95 % on GPUs, of no workload that is named. "
        f"Of a step of the running case {page.lost():.3} is lost between layers, and "
        "which part of that the processor is to blame for is not told apart."
    )


@claim("cpu-share-rag")
def retrieval() -> Finding:
    """No workload."""
    return Finding.open(
        "No index, no number of passages and no prompt are given. To settle it: times "
        "of embedding, search, ranking, prompt and answer in one deployment."
    )


@claim("cpu-share-multiagent")
def several() -> Finding:
    """The same."""
    return Finding.cited(
        f"{VERIFIED}: many agents keep processors at 60 to 70 %. The only session that "
        f"the document works out has one agent, and processors take "
        f"{page.processors():.2} of it."
    )


@claim("cpu-share-agentic")
def work() -> Finding:
    """The same, and the only session that the document describes."""
    each, slow = page.tool_for(SIXTY), page.processors(slow=True)
    return Finding.cited(
        f"{VERIFIED}: 60 to 70 % for many agents, 80 to 90 % with most tools. "
        "Among five agents that were measured, tools took at most "
        f"{quoted('raj.tools'):.3} of the time (arXiv 2511.00739). The document's own "
        f"session has {page.processors():.2}, and {slow:.3} if {SLOW}: for 60 % each "
        f"of its four tools would take {each:.3}."
    )


def at_work(kind: str, pair: tuple[int, ...]) -> Quantity:
    """Utilisation at most, with so many cores and places."""
    names = ("sessions", "cores", "places in a batch")
    given = (chosen(n, label=name) for n, name in zip(pair, names, strict=True))
    label = f"share of {kind} at work"
    turns = quoted("session.turns")
    return counted(page.busy, kind, *given, turns, label=label).to("%")


@claim("agent-cpu-util")
@claim("agent-gpu-util")
def utilised() -> Finding:
    """One session with a core and a GPU of its own, and a core shared to fit."""
    alone, shared = page.alone(CPU), at_work(CPU, PAIR)
    return Finding.open(
        "No session is described. Another document's keeps a core of its own busy for "
        f"{alone:.2} of its time and its GPUs for {page.alone(GPU):.3}; {PAIR[0]} on "
        f"one core keep it busy for {shared:.2}. How busy either is depends on how "
        "many cores are rented for a batch, and any pair of figures can be had. To "
        "settle it: the machine, the sessions on it, and what both counters read."
    )


# -- calls and tails -------------------------------------------------------------------


@claim("agent-prefill-158x")
def seven_hops() -> Finding:
    """Six calls that read the request, and one that reads the document."""
    asked = chosen(page.CONTEXT, label="tokens of the request")
    return Finding.open(
        f"For a request of {page.CONTEXT:,} tokens it is {calls.over(asked):.3}. How "
        "long the user's is, is not said, and the ratio is nearly the inverse of it. "
        "By operations it is more, because attention grows with the square. To settle "
        "it: the tokens of the request that is meant."
    )


@claim("topology-routing-gain")
def routed() -> Finding:
    """What a router saves that sends a call where its beginning is."""
    two, four, eight = (calls.saved(n).text("%", 2) for n in (2, 4, 8))
    return Finding.open(
        "Where every hop is another model, as elsewhere in the same document, there is "
        "nothing to find: keys and values of one are nothing to another. Where all ask "
        f"one model, a router saves {two} with two replicas that forget nothing, "
        f"{four} with four and {eight} with eight. To settle it: which models the hops "
        "ask, on how many replicas."
    )


@claim("sum-of-p99")
def summed() -> Finding:
    """Exponential hops that know nothing of one another, in closed form."""
    return Finding(
        calls.ratio(),
        why=f"Lognormal hops give {calls.drawn_ratio('lognormal'):.3}, and the "
        f"engine's scheduler {calls.engine_ratio(1):.2}, where forty chains stand in "
        f"one line {calls.engine_ratio(40):.3}. The sum is the tail only where all "
        "hops of a chain are slow together.",
    )


# -- JSON ------------------------------------------------------------------------------


@claim("dpu-json-rate")
def checked() -> Finding:
    """A bound, and no measurement."""
    found = calls.check()
    return Finding.open(
        f"A port of 400 Gb/s brings so many answers only if none is larger than "
        f"{largest():.3}; one core of this machine parses {found.core:.3} answers of "
        f"{found.size:.4}. An automaton without a stack checks JSON to a depth that "
        "is fixed beforehand. To settle it: a run of the card's engine."
    )


@claim("dpu-json-power")
def watts() -> Finding:
    """An engine's power beside a whole core's."""
    return Finding.open(
        "The part of a card that works is held against a whole core, and the card "
        "draws tens of watts before it begins. To settle it: the card's power with "
        "and without the load."
    )
