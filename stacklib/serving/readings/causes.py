"""Why a server is slow or idle: each cause, what it was read from, what moves it.

A rule looks at readings and at the account of a token; where it finds nothing of its
kind it says nothing. No cause stands without a line that speaks for it. What is said of
each stands in ``data/causes.toml``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from stacklib.models.weights.kept import way_of
from stacklib.roofline.work.fit import Infeasible

from ..token.lines import Line
from ..token.shape import PRODUCTS
from ..token.work import EXCHANGES, HOST
from .checks import weights_of
from .gains import Gain, Setting, gain, seconds
from .lines import toml
from .load import EVEN, FULL, Load
from .readings import Reading, Readings

LARGE = 0.2  # of a step, or of the time, that is worth a cause
IDLE = 0.5  # of the cache or the places: below it, the client asks for too little
RARE = 0.2  # of prompt tokens found: fewer, and prompts are computed again
LONG = 256  # tokens of a block that many prompts do not fill
NARROW = "fp8_128x128"  # 8 bits, as releases keep them
TABLE = toml("causes")
MEMORY = "memory"  # the cell of a product that its bytes bind
RATE, GAP = "tokens/s", "longest gap between tokens"
Brought = tuple[Gain | None, str]


@dataclass(frozen=True, slots=True)
class Cause:
    """One reason, what speaks for it, and how to find out.

    - ``evidence``: readings it stands on
    - ``refute``: the measurement that would show it wrong
    - ``flag``: what to move
    - ``gain``: what that would bring; None, and ``why`` not, where nothing can be told
    """

    name: str
    evidence: tuple[Reading, ...]
    because: str
    refute: str
    flag: str
    gain: Gain | None
    why: str = ""


@dataclass(frozen=True, slots=True)
class Case:
    """A server's readings beside an estimate of its steps."""

    readings: Readings
    load: Load
    setting: Setting
    lines: tuple[Line, ...] | None  # None: there is no estimate of the case
    prompt_share: float | None  # of the time that goes to prompts
    factor: float  # high end of the estimate's band

    def cause(
        self, key: str, evidence: list[Reading | None], brings: Brought, **words: Any
    ) -> Cause | None:
        """A row of the table, filled in; None where this server has no such option."""
        row, load, engine = TABLE["causes"][key], self.load, self.readings.engine
        if engine not in row["flag"]:
            return None
        words |= {name: by[engine] for name, by in TABLE["watch"].items()}
        words |= {"batch": load.batch, "queue": load.queue, "full": load.full}
        words |= {"free": 1 - load.full, "context": self.setting.context}
        return Cause(
            row["name"],
            tuple(one for one in evidence if one is not None),
            row["because"].format(**words),
            row["refute"].format(**words),
            row["flag"][engine],
            *brings,
        )

    def changed(self, **changes: Any) -> Brought:
        """Tokens a second that another setting brings, or why that cannot be told."""
        if self.lines is None:
            return None, "there is no estimate of the case"
        new = replace(self.setting, **changes)
        try:
            lines = new.estimate().parts
        except (Infeasible, ValueError, LookupError) as refused:
            return None, str(refused)
        return gain(RATE, self.lines, lines, new.batch / self.setting.batch), ""

    def filled(self, wanted: float) -> float:
        """Sequences of a step, of so many wanted, for which the cache has room."""
        load = self.load
        room = load.batch / load.full * FULL if load.full else float("inf")
        return max(float(round(min(wanted, room))), self.setting.batch)

    def share(self, name: str) -> float:
        """A line's share of a step."""
        lines = self.lines or ()
        mine = sum(x.time for x in lines if x.name == name and x.time is not None)
        return float(mine / seconds(lines)) if mine else 0.0


def layers_outside(case: Case) -> Cause | None:
    """Part of the model lies in the host's memory."""
    there, layers = (case.readings.last(f"layers_{w}") for w in ("there", "all"))
    if there is None or layers is None or there.value >= layers.value:
        return None
    words = {"outside": layers.value - there.value, "layers": layers.value}
    why = "it depends on the host's memory, which the log does not name"
    return case.cause("layers", [there], (None, why), **words)


def cache_small(case: Case) -> Cause | None:
    """Preemptions, or a queue before a full cache."""
    load = case.load
    if not load.preempted and not (load.queue and load.full >= EVEN):
        return None
    batch = 2.0 * load.batch
    if load.most:
        batch = min(batch, max(load.most.value, load.batch))
    if load.waiting:
        batch = min(batch, load.batch + load.queue)
    brings: Brought = (None, "the cache is in 8 bits already")
    if case.setting.kv_dtype != "e4m3fn":
        brings = case.changed(kv_dtype="e4m3fn", batch=round(batch) * 1.0)
    lost = f"preemptions: {load.preempted:,.0f}; "
    words = {"lost": lost if load.preempted else ""}
    return case.cause("cache", [load.lost, load.usage, load.waiting], brings, **words)


def places_few(case: Case) -> Cause | None:
    """A queue before a cache that has room: no places, or SGLang's care."""
    load = case.load
    if not load.queue or load.full >= EVEN or not load.usage:
        return None
    key = "caution" if load.most and not load.no_place else "places"
    limit = f"of {load.most.value:,.0f}" if load.most else "(of how many is not said)"
    brings = case.changed(batch=case.filled(load.batch + load.queue))
    evidence = [load.running, load.waiting, load.usage, load.most]
    return case.cause(key, evidence, brings, limit=limit)


def prompts_between(case: Case) -> Cause | None:
    """Prompts take a large part of the time in which tokens could be made."""
    share, chunk = case.prompt_share, case.readings.last("chunk")
    if share is None or share < LARGE or case.lines is None:
        return None
    brings: Brought = (None, "the log names no chunk")
    if chunk and chunk.value >= 2:
        sizes = (int(chunk.value) // 2, int(chunk.value))
        try:
            half, full = ((*case.lines, *case.setting.prompt(n)) for n in sizes)
            brings = gain(GAP, half, full), ""
        except Infeasible as much:  # no prompt of a whole chunk can be there
            brings = None, str(much)
    return case.cause("prompts", [case.load.prompt_rate, chunk], brings, share=share)


def prefixes_missed(case: Case) -> Cause | None:
    """Prompts are computed although the cache could have them."""
    load, share = case.load, case.prompt_share or 0.0
    if load.hit_rate is None or load.hit_rate >= RARE or share < LARGE / 2:
        return None
    size, less = case.readings.value("block", 0), share / 2
    block = f"; a block has {size:,.0f} tokens, and shorter prompts never fill one"
    words = {"hit_rate": load.hit_rate, "block": block if size >= LONG else ""}
    ends = 1 / (1 - less), 1.0, 1 / (1 - min(less * case.factor, 0.9))
    brings = Gain(RATE, *ends), "if half of the tokens were found"
    evidence = [load.found, load.prompt_rate]
    return case.cause("prefix", evidence, brings, share=share, **words)


def exchanges_bind(case: Case) -> Cause | None:
    """Chips wait for each other."""
    share, tp = case.share(EXCHANGES), case.readings.last("tp")
    if share < LARGE or tp is None or case.setting.tp < 2:
        return None
    batch = float(max(case.load.batch // 2, 1))
    found, why = case.changed(tp=case.setting.tp // 2, batch=batch)
    if found:  # two servers of half the size
        found = Gain(RATE, 2 * found.ratio, 2 * found.low, 2 * found.high)
    words = {"share": share, "tp": case.setting.tp}
    return case.cause("exchanges", [tp, case.load.running], (found, why), **words)


def weights_wide(case: Case) -> Cause | None:
    """Reading weights of 16 bits is most of the step."""
    held, lines, share = (
        weights_of(case.readings),
        case.lines or (),
        case.share(PRODUCTS),
    )
    binds = any(x.name == PRODUCTS and MEMORY in x.family.split("/") for x in lines)
    wide = way_of(case.setting.model, case.setting.dtype).name in ("bf16", "fp16")
    if share < 2 * LARGE or not binds or held is None or not wide:
        return None
    brings = case.changed(dtype=NARROW)
    return case.cause("weights", [held, case.load.running], brings, share=share)


def host_gaps(case: Case) -> Cause | None:
    """Steps take longer than the estimate and its band allow."""
    load = case.load
    if case.lines is None or load.tpot is None:
        return None
    ours = seconds(case.lines) / (1 - (case.prompt_share or 0.0))
    if load.tpot <= ours * case.factor:
        return None
    slow = (("eager", "True"), ("graph", "False"))
    read = case.readings
    eager = [read.last(name) for name, bad in slow if read.value(name) == bad]
    words = {"ms": 1e3 * load.tpot, "ours": 1e3 * ours}
    words |= {"most": 1e3 * ours * case.factor}
    graph = "; no CUDA graph is used" if eager else ""
    ratio = load.tpot / ours
    brings = (
        Gain(RATE, ratio, ratio / case.factor, ratio),
        "if all of it were the host's",
    )
    evidence = [load.timed, load.running, *eager]
    return case.cause("host", evidence, brings, graph=graph, **words)


def host_takes(case: Case) -> Cause | None:
    """Much of a step is the host's, which could work while the chip does."""
    share, lines = case.share(HOST), case.lines or ()
    if share < 2 * LARGE:
        return None
    brings = gain(RATE, lines, [x for x in lines if x.name != HOST]), "at the most"
    return case.cause("overlap", [case.load.running], brings, share=share)


def client_slow(case: Case) -> Cause | None:
    """Nothing waits and much is free."""
    load = case.load
    if load.queue or load.preempted or load.running is None or load.full >= IDLE:
        return None
    most = load.most.value if load.most else float("inf")
    if load.batch >= IDLE * most or not (load.usage or load.most):
        return None
    brings = case.changed(batch=case.filled(min(most, 16.0 * load.batch)))
    evidence = [load.running, load.waiting, load.usage, load.most]
    return case.cause("client", evidence, brings)


SEEN = (layers_outside, cache_small, places_few)
RULES: tuple[Callable[[Case], Cause | None], ...] = (
    *SEEN,
    prompts_between,
    prefixes_missed,
    exchanges_bind,
    weights_wide,
    host_gaps,
    host_takes,
    client_slow,
)


def causes_of(case: Case) -> tuple[Cause, ...]:
    """All that some reading speaks for: what was seen, then shares; each by gain."""
    found: list[tuple[bool, float, int, Cause]] = []
    for rule in RULES:
        if (cause := rule(case)) is not None:
            brings = cause.gain.ratio if cause.gain else 0.0
            found.append((rule not in SEEN, -brings, len(found), cause))
    return tuple(cause for *_, cause in sorted(found))
