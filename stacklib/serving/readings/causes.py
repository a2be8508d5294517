"""Why a server is slow or idle: each cause, what it was read from, what moves it.

A rule looks at readings and at the account of a token; where it finds nothing of its
kind it says nothing. No cause stands without a line that speaks for it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from stacklib.roofline.work.fit import Infeasible

from ..token.lines import Line
from ..token.shape import PRODUCTS
from ..token.work import EXCHANGES
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
FLAGS = toml("flags")
MEMORY = "memory"  # the cell of a product that its bytes bind
RATE, GAP = "tokens/s", "longest gap between tokens"


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
    """A server's readings beside the account of its steps."""

    readings: Readings
    load: Load
    setting: Setting
    lines: tuple[Line, ...] | None  # None: the account refuses the case
    prompt_share: float | None  # of the time that goes to prompts
    factor: float  # high end of the account's band

    def flag(self, name: str) -> str:
        """The option of this server."""
        return str(FLAGS["flags"][name].get(self.readings.engine, ""))

    def watch(self, name: str) -> str:
        """The counter of this server."""
        return str(FLAGS["watch"][name][self.readings.engine])

    def changed(self, what: str, **changes: object) -> tuple[Gain | None, str]:
        """What another setting brings, or why that cannot be told."""
        if self.lines is None:
            return None, "the account refuses the case"
        new = replace(self.setting, **changes)  # type: ignore[arg-type]
        try:
            lines = new.lines()
        except (Infeasible, ValueError, LookupError) as refused:
            return None, str(refused)
        return gain(what, self.lines, lines, new.batch / self.setting.batch), ""

    def share(self, name: str) -> float:
        """A line's share of a step."""
        lines = self.lines or ()
        mine = sum(x.time for x in lines if x.name == name and x.time is not None)
        return float(mine / seconds(lines)) if mine else 0.0


def _some(*readings: Reading | None) -> tuple[Reading, ...]:
    return tuple(one for one in readings if one is not None)


def cache_small(case: Case) -> Cause | None:
    """Preemptions, or a queue before a full cache."""
    load = case.load
    if not load.preempted and not (load.queue and load.full >= EVEN):
        return None
    half = case.setting.kv_dtype == "e4m3fn"
    most = load.most.value if load.most else float("inf")
    batch = min(2 * load.batch, max(most, load.batch))
    if load.waiting:
        batch = min(batch, load.batch + load.queue)
    brings: tuple[Gain | None, str] = (None, "the cache is in 8 bits already")
    if not half:
        brings = case.changed(RATE, kv_dtype="e4m3fn", batch=float(round(batch)))
    lost = f"{load.preempted:,.0f} times a request lost its cache; " * bool(
        load.preempted
    )
    used = f"{load.full:.1%} of the cache in use" if load.usage else "the cache is full"
    return Cause(
        "the KV cache is too small",
        _some(load.lost, load.usage, load.waiting),
        f"{lost}{used} by {load.batch:,} requests of {case.setting.context:,.0f} "
        "tokens each; who loses its blocks is computed again",
        f"admit a fifth fewer requests: {case.watch('preempted')} stands still, and "
        "tokens/s does not rise",
        case.flag("cache"),
        *brings,
    )


def places_few(case: Case) -> Cause | None:
    """A queue before a cache that has room."""
    load = case.load
    if not load.queue or load.full >= EVEN or not load.usage:
        return None
    if load.most and not load.no_place:
        return None
    room = int(load.batch / max(load.full, 0.01) * FULL)
    batch = float(max(min(load.batch + load.queue, room), load.batch))
    limit = f"of {load.most.value:,.0f}" if load.most else "(of how many is not said)"
    return Cause(
        "too few requests may run",
        _some(load.running, load.waiting, load.usage, load.most),
        f"{load.queue:,.0f} wait while {load.batch:,} run {limit} and "
        f"{1 - load.full:.0%} of the cache is free",
        f"raise the limit: {case.watch('waiting')} stays where it is",
        case.flag("places"),
        *case.changed(RATE, batch=float(round(batch))),
    )


def too_cautious(case: Case) -> Cause | None:
    """A queue, places and blocks: SGLang keeps room for answers that end early."""
    load, flag = case.load, case.flag("caution")
    if not flag or not load.queue or load.full >= EVEN or not load.usage:
        return None
    if not load.most or load.no_place:
        return None
    room = float(round(min(load.batch + load.queue, load.batch / load.full * FULL)))
    return Cause(
        "room is kept for answers that end early",
        _some(load.waiting, load.usage, load.most),
        f"{load.queue:,.0f} wait, {1 - load.full:.0%} of the cache and "
        f"{load.most.value - load.batch:,.0f} places are free",
        f"{case.watch('waiting')} does not fall once the flag is lower",
        flag,
        *case.changed(RATE, batch=max(room, case.setting.batch)),
    )


def prompts_between(case: Case) -> Cause | None:
    """Prompts take a large part of the time in which tokens could be made."""
    share, chunk = case.prompt_share, case.readings.value("chunk")
    if share is None or share < LARGE or case.lines is None:
        return None
    found: tuple[Gain | None, str] = (None, "the log names no chunk")
    if chunk and chunk >= 2:
        step, half, all_ = (
            case.lines,
            *(case.setting.lines(prompt=int(n)) for n in (chunk // 2, chunk)),
        )
        better = gain(GAP, (*step, *half), (*step, *all_))
        found = better, ""
    return Cause(
        "prompts stand between the tokens",
        _some(case.load.prompt_rate, case.readings.last("chunk")),
        f"prompts take {share:.0%} of the time by the account, and a step with a "
        "chunk of one is that much longer for everybody in it",
        f"{case.watch('gap')} keeps its 90th percentile with chunks half as long",
        case.flag("prompts"),
        *found,
    )


def prefixes_missed(case: Case) -> Cause | None:
    """Prompts are computed although the cache could have them."""
    load, share = case.load, case.prompt_share
    if load.hit_rate is None or load.hit_rate >= RARE or load.found is None:
        return None
    if share is None or share < LARGE / 2:
        return None
    block = case.readings.value("block", 0)
    why = ""
    if block >= LONG:
        why = f"; a block has {block:,.0f} tokens, and shorter prompts never fill one"
    less = share / 2
    band = Gain(RATE, 1 / (1 - less), 1.0, 1 / (1 - min(less * case.factor, 0.9)))
    return Cause(
        "prompts are not found in the cache",
        _some(load.found, load.prompt_rate),
        f"{load.hit_rate:.1%} of the prompts' tokens were found, and computing the "
        f"others takes {share:.0%} of the time{why}",
        f"send one long prompt twice: {case.watch('hits')} does not move",
        case.flag("prefix"),
        band,
        "if half of the tokens were found",
    )


def exchanges_bind(case: Case) -> Cause | None:
    """Chips wait for each other."""
    share, tp = case.share(EXCHANGES), case.readings.last("tp")
    if share < LARGE or tp is None or case.setting.tp < 2:
        return None
    batch = float(max(case.load.batch // 2, 1))
    found, why = case.changed(RATE, tp=case.setting.tp // 2, batch=batch)
    if found:  # two servers of half the size
        two = (2 * x for x in (found.ratio, found.low, found.high))
        found = Gain(RATE, *two)
    return Cause(
        "exchanges between the chips",
        _some(tp, case.load.running),
        f"{share:.0%} of a step of {case.load.batch:,} on {case.setting.tp} chips",
        "a profile of one step: all-reduce kernels take less than a tenth of it",
        case.flag("exchanges"),
        found,
        why,
    )


def weights_wide(case: Case) -> Cause | None:
    """Reading weights of 16 bits is most of the step."""
    held, lines = weights_of(case.readings), case.lines or ()
    binds = any(x.name == PRODUCTS and MEMORY in x.family.split("/") for x in lines)
    if case.share(PRODUCTS) < 2 * LARGE or not binds or held is None:
        return None
    if case.setting.dtype not in ("bf16", "fp16"):
        return None
    return Cause(
        "weights of 16 bits",
        _some(held, case.load.running),
        f"reading them is {case.share(PRODUCTS):.0%} of a step of {case.load.batch:,}",
        "twice as many requests at once take twice as long a step",
        case.flag("weights"),
        *case.changed(RATE, dtype=NARROW),
    )


def host_gaps(case: Case) -> Cause | None:
    """Steps take longer than the account and its band allow."""
    load = case.load
    if case.lines is None or load.tpot is None or load.timed is None:
        return None
    ours = seconds(case.lines) / (1 - (case.prompt_share or 0.0))
    if load.tpot <= ours * case.factor:
        return None
    graph = case.readings.last("graph")
    eager = [case.readings.last("eager"), graph]
    eager = [o for o, bad in zip(eager, ("True", "False"), strict=True)
             if o is not None and o.value == bad]  # fmt: skip
    ratio = load.tpot / ours
    return Cause(
        "steps wait for the host",
        _some(load.timed, load.running, *eager),
        f"{1e3 * load.tpot:.3g} ms between two tokens, where the account has "
        f"{1e3 * ours:.3g} and at most {1e3 * ours * case.factor:.3g}"
        + ("; no CUDA graph is used" if eager else ""),
        "a trace of one step: no gaps between its kernels",
        case.flag("host"),
        Gain(RATE, ratio, ratio / case.factor, ratio),
        "if all of the difference were the host's",
    )


def layers_outside(case: Case) -> Cause | None:
    """Part of the model lies in the host's memory."""
    there, whole = (case.readings.last(f"layers_{w}") for w in ("there", "all"))
    if there is None or whole is None or there.value >= whole.value:
        return None
    return Cause(
        "layers lie in the host's memory",
        (there,),
        f"{whole.value - there.value:.0f} of {whole.value:.0f} layers are computed "
        "where the memory is slow",
        "the 'offloaded' line says that all layers are on the GPU",
        case.flag("layers"),
        None,
        "it depends on the host's memory, which the log does not name",
    )


def client_slow(case: Case) -> Cause | None:
    """Nothing waits and much is free."""
    load = case.load
    if load.queue or load.preempted or load.running is None or load.full >= IDLE:
        return None
    if load.most and load.batch >= IDLE * load.most.value:
        return None
    if not load.usage and not load.most:
        return None
    room = load.batch / load.full * FULL if load.full else float("inf")
    most = load.most.value if load.most else float("inf")
    batch = min(room, most, 16.0 * load.batch)
    return Cause(
        "the client asks for too little",
        _some(load.running, load.waiting, load.usage, load.most),
        f"{load.batch:,} run, none waits, and {1 - load.full:.0%} of the cache is free",
        f"twice as many requests at once: {case.watch('waiting')} rises",
        "more requests at once",
        *case.changed(RATE, batch=float(round(batch))),
    )


RULES: tuple[Callable[[Case], Cause | None], ...] = (
    layers_outside,
    cache_small,
    places_few,
    too_cautious,
    prompts_between,
    prefixes_missed,
    exchanges_bind,
    weights_wide,
    host_gaps,
    client_slow,
)
SEEN = (layers_outside, cache_small, places_few, too_cautious)


def causes_of(case: Case) -> tuple[Cause, ...]:
    """All that some reading speaks for: what was seen, then shares; each by gain."""
    found: list[tuple[bool, float, int, Cause]] = []
    for rule in RULES:
        if (cause := rule(case)) is not None:
            brings = cause.gain.ratio if cause.gain else 0.0
            found.append((rule not in SEEN, -brings, len(found), cause))
    return tuple(cause for *_, cause in sorted(found))
