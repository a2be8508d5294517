"""One sub-core of a GPU, cycle by cycle: a scheduler, its warps, their scoreboards.

The replay of a multiprocessor (``replay``) with one sub-core that has no ports: each
instruction takes the time of its kind, global memory has a queue of so many entries and
a port that takes a request every so many cycles, this sub-core's part of the bandwidth.
A profiler charges every cycle of every warp to a reason, and so does this.

Left out: ports, operand collectors, instruction fetch, caches (a load takes the time of
its kind), and the other three sub-cores, which are like this one.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from .machine import Machine, Way
from .replay import POLICIES, Replayed, replay
from .streams import NEEDS, Recorder, Streams
from .sub_core import KINDS, Issued, Program, SubCore, Trace

# Kinds of a sub-core's instructions as streams call them.
_KIND = {
    "math": "fp32",
    "shared": "load_shared",
    "global": "load_global",
    "store": "store_global",
}
# What a profiler calls the states of a warp, and what the replay's reasons are here.
_STATES = {
    "issues": "selected",
    "not picked": "not_selected",
    "arithmetic result": "wait",
    "shared memory": "short_scoreboard",
    "global memory": "long_scoreboard",
    "queue full": "lg_throttle",
}


def _checked(programs: Sequence[Program], policy: str) -> None:
    if policy not in POLICIES:
        raise ValueError(f"policy = {policy!r}: one of {', '.join(POLICIES)}")
    if not programs:
        raise ValueError("no programs: give one a warp")
    # Warps that share a program are checked once.
    for warp, program in {id(p): (n, p) for n, p in enumerate(programs)}.values():
        for at, op in enumerate(program):
            if op.kind not in KINDS:
                raise ValueError(f"kind = {op.kind!r}: one of {', '.join(KINDS)}")
            if any(not 0 <= need < at for need in op.needs):
                raise ValueError(
                    f"warp {warp}, instruction {at} needs {op.needs}: earlier ones only"
                )
            if len(op.needs) > NEEDS:
                raise ValueError(
                    f"warp {warp}, instruction {at} needs {op.needs}: at most {NEEDS}"
                )
        if not program:
            raise ValueError(f"warp {warp} has no instructions")


def machine_of_core(core: SubCore) -> Machine:
    """A sub-core as a multiprocessor of one: its queue counts a load as a sector."""
    far, full = "long_scoreboard", "lg_throttle"
    return Machine(
        "a sub-core",
        {
            "fp32": Way(latency=core.math),
            "load_shared": Way(latency=core.shared, why="short_scoreboard"),
            "load_global": Way(route="global", why=far, full=full, counted=True),
            "store_global": Way(route="store", why=far),
        },
        sub_cores=1,
        slots=core.issue,
        misses=core.queue,
        memory_sector=core.interval,
        memory_latency=core.memory,
        tick=Fraction(core.interval).denominator,
    )


def streams_of(programs: Sequence[Program]) -> Streams:
    """Programs as streams: one block, a sector for each request of global memory."""
    tape = Recorder()
    sector = tape.ask(memory=1)
    for program in programs:
        tape.warp()
        for op in program:
            asks = {"request": sector} if op.kind in ("global", "store") else {}
            tape.add(_KIND[op.kind], op.needs, **asks)
    return tape.streams()


def run(
    programs: Sequence[Program], core: SubCore | None = None, *, policy: str = "gto"
) -> Trace:
    """Issue every instruction of every warp, and say who waited for what."""
    _checked(programs, policy)
    core = core or SubCore()
    done = replay(
        streams_of(programs), machine_of_core(core), resident=1, policy=policy
    )
    return _trace(programs, core, done)


def _trace(programs: Sequence[Program], core: SubCore, done: Replayed) -> Trace:
    """What was done up to the last instruction."""
    first, cycles = done.streams.first, int(max(done.when)) + 1
    listed = [
        (int(done.serial[first[warp] + at]), int(done.when[first[warp] + at]), warp, at)
        for warp, program in enumerate(programs)
        for at in range(len(program))
    ]
    issued = tuple(Issued(*one) for _, *one in sorted(listed))
    stalls = done.stalls
    states = {name: stalls[reason] for name, reason in _STATES.items()}
    ends = [int(done.when[end - 1]) + 1 for end in first[1:]]
    states["done"] = sum(cycles - end for end in ends)
    return Trace(tuple(programs), core, cycles, issued, states)
