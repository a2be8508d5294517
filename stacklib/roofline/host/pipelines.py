"""Two cores for one program: one built for latency, one built for throughput.

The latency core runs one thread and refuses to wait. It guesses branches (a counter
of two bits each), looks ahead through a window of instructions and starts whatever
has its inputs, and keeps what it loaded in a cache.

The throughput core guesses nothing, looks at one instruction, and has no cache. It
holds many warps; where one waits, it issues from another. The lanes of a warp share
an instruction: where they disagree on a branch, each side is issued for its own
lanes, those with the lowest position first, until they meet again.

Both execute: the memory they leave is that of ``programs.interpret``. Left out:
limits on execution units, on outstanding misses and on bandwidth, stores that miss,
instruction fetch, and energy. ``pipelines`` counts cycles, not seconds.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import asdict, dataclass

from stacklib.quantity.bounds import whole

from .programs import Instruction, Memory, Step, Thread, trace

LINE = 8  # elements of a cache line


class Predictor:
    """Two bits a branch: above 1 means taken; each outcome moves it by one."""

    def __init__(self) -> None:
        self.counters: dict[int, int] = {}
        self.misses = 0

    def guess(self, at: int, taken: bool) -> bool:
        """Whether the branch at this position was guessed right; learns from it."""
        counter = self.counters.get(at, 1)
        self.counters[at] = min(3, counter + 1) if taken else max(0, counter - 1)
        right = (counter > 1) == taken
        self.misses += not right
        return right


class Cache:
    """Lines by last use; all of them may hold any address."""

    def __init__(self, lines: int) -> None:
        self.lines, self.hits, self.misses = lines, 0, 0
        self.held: OrderedDict[tuple[str, int], None] = OrderedDict()

    def hit(self, address: tuple[str, int]) -> bool:
        """Whether the line of (array, index) was held; it is now."""
        line = (address[0], address[1] // LINE)
        found = line in self.held
        self.hits, self.misses = self.hits + found, self.misses + (not found)
        self.held[line] = None
        self.held.move_to_end(line)
        if len(self.held) > self.lines:
            self.held.popitem(last=False)
        return found


@dataclass(frozen=True, slots=True)
class LatencyCore:
    """What a latency core is built of; latencies in cycles."""

    width: int = 4  # instructions it takes in a cycle
    window: int = 128  # instructions it keeps in sight; 1 is in order
    hit: int = 4  # latency of a load from the cache
    miss: int = 300  # from memory
    lines: int = 512  # lines of the cache
    refill: int = 12  # cycles lost after a wrong guess

    def __post_init__(self) -> None:
        whole(0, refill=self.refill)
        whole(
            width=self.width,
            window=self.window,
            hit=self.hit,
            miss=self.miss,
            lines=self.lines,
        )


@dataclass(frozen=True, slots=True)
class ThroughputCore:
    """What a throughput core is built of; latencies in cycles."""

    warps: int = 32  # warps it holds
    lanes: int = 32  # threads in a warp
    arithmetic: int = 4  # cycles until a result, and a loaded value, can be used
    load: int = 500

    def __post_init__(self) -> None:
        whole(**asdict(self))


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a core did with a program."""

    cycles: int  # until the last instruction is done
    instructions: int
    memory: Memory  # arrays as the program left them
    wrong_guesses: int = 0
    missed: int = 0
    idle: int = 0  # cycles in which every warp waited (throughput core)
    lanes_used: float = 1.0


def run_latency(
    program: list[Instruction], memory: Memory, core: LatencyCore | None = None
) -> Outcome:
    """One thread on the latency core.

    An instruction enters when there is room in the window (oldest leave first, in
    order), starts when its inputs are there, and ends after its latency. After a
    wrong guess nothing enters until the branch has ended and the pipe is refilled.
    """
    core = core or LatencyCore()
    copy = {name: list(array) for name, array in memory.items()}
    predictor, cache = Predictor(), Cache(core.lines)
    ready: dict[object, int] = {}  # register or address -> cycle of its value
    left: list[int] = []  # cycle in which each instruction leaves the window
    enters, entered_now = 0, 0
    for number, step in enumerate(trace(program, copy)):
        room = left[number - core.window] if number >= core.window else 0
        if room > enters or entered_now == core.width:
            enters, entered_now = max(enters + (entered_now == core.width), room), 0
        entered_now += 1
        inputs: list[object] = [*step.reads, *([step.address] if step.address else [])]
        starts = max([enters, *(ready.get(i, 0) for i in inputs)])
        ends = starts + _latency(step, core, cache)
        if step.writes:
            ready[step.writes] = ends
        if step.op in ("store", "atomic"):
            ready[step.address] = ends
        if step.op == "branch" and not predictor.guess(step.at, step.taken):
            enters, entered_now = ends + core.refill, 0
        left.append(max(ends, left[-1] if left else 0))
    return Outcome(
        left[-1] if left else 0, len(left), copy, predictor.misses, cache.misses
    )


def _latency(step: Step, core: LatencyCore, cache: Cache) -> int:
    if step.op in ("load", "atomic") and step.address:
        return core.hit if cache.hit(step.address) else core.miss
    if step.op == "store" and step.address:
        cache.hit(step.address)  # buffered: nobody waits for it
    return 1


class _Warp:
    """Threads that share an instruction, and when each register has its value."""

    def __init__(self, threads: list[Thread]) -> None:
        self.threads = threads
        self.arrives: dict[str, int] = {}
        self.free = 0

    def group(self) -> list[Thread]:
        """The lanes whose turn it is: those at the lowest position, not yet done."""
        running = [t for t in self.threads if not t.done]
        at = min((t.at for t in running), default=-1)
        return [t for t in running if t.at == at]

    def ready(self, group: list[Thread]) -> int:
        """First cycle in which their instruction can be issued: inputs and output."""
        line = group[0].program[group[0].at]
        named = [self.arrives.get(w, 0) for w in line[1:] if isinstance(w, str)]
        return max([self.free, *named])


def run_throughput(
    program: list[Instruction],
    memory: Memory,
    core: ThroughputCore | None = None,
    threads: int | None = None,
) -> Outcome:
    """Many threads on the throughput core, one instruction a cycle."""
    core = core or ThroughputCore()
    most = core.warps * core.lanes
    number = most if threads is None else threads
    whole(threads=number)
    if number > most:
        raise ValueError(f"threads = {number}: this core holds one to {most}")
    copy = {name: list(array) for name, array in memory.items()}
    every = [Thread(program, tid, number) for tid in range(number)]
    warps = [_Warp(every[i : i + core.lanes]) for i in range(0, number, core.lanes)]
    cycle = issued = used = idle = end = 0
    waiting = [(w, w.group()) for w in warps]
    while waiting := [(w, g) for w, g in waiting if g]:
        times = [w.ready(group) for w, group in waiting]
        soonest = min(times)
        idle, cycle = idle + max(0, soonest - cycle), max(cycle, soonest)
        chosen = times.index(soonest)  # the one that has been ready longest
        warp, group = waiting[chosen]
        end = max(end, _issue(warp, group, cycle, copy, core))
        waiting[chosen] = (warp, warp.group())
        issued, used, cycle = issued + 1, used + len(group), cycle + 1
    share = used / (issued * core.lanes) if issued else 1.0
    return Outcome(end, issued, copy, idle=idle, lanes_used=share)


def _issue(
    warp: _Warp, group: list[Thread], cycle: int, memory: Memory, core: ThroughputCore
) -> int:
    """Execute one instruction for its lanes; the cycle in which its result is there."""
    steps = [thread.step(memory) for thread in group]
    first, slots = steps[0], 1
    if first.op == "atomic":
        slots = len(group)  # one after the other: they are for the same element
    elif first.address:
        slots = len({(s.address[0], s.address[1] // LINE) for s in steps if s.address})
    waits = core.load if first.op == "load" else core.arithmetic
    end = cycle + slots - 1 + (1 if first.op in ("store", "atomic") else waits)
    if first.writes:
        warp.arrives[first.writes] = end
    warp.free = cycle + (core.arithmetic if first.op in ("branch", "jump") else slots)
    return end


def compare(n: int = 1024, seed: int = 0) -> dict[str, tuple[Outcome, Outcome]]:
    """Each program of ``programs.PROGRAMS`` on both cores."""
    from .programs import PROGRAMS, inputs

    found = {}
    for name, make in PROGRAMS.items():
        program, memory = make(n), inputs(n, seed)
        found[name] = (run_latency(program, memory), run_throughput(program, memory))
    return found
