"""A message across switches, live: load, frames, hops, hashing or spraying."""

from __future__ import annotations

from functools import lru_cache
from statistics import mean
from typing import Any

from stacklib.interconnect.switches import closed, shapes
from stacklib.interconnect.switches.engine import run_fabric
from stacklib.interconnect.switches.fabric import Flow, Rules, Wire
from stacklib.plots.live import choices
from stacklib.plots.live.parts import counted, here
from stacklib.plots.marks import Spec, axis, chart, dots, line, rule
from stacklib.plots.spec import readout

RATE, DELAY, SIZE, HEADER = 50e9, 50e-9, 16_384, 64  # B/s one way, s, bytes, bytes
LOADS = (0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
UNTIL, EVERY, SPINES = 120e-6, 6e-6, 8


def controls() -> list[dict[str, Any]]:
    """What others send, how frames are cut and forwarded, and how paths are chosen."""
    return [
        choices.slider("load", "Load of every port", LOADS, 0.8),
        choices.slider("frame", "Bytes of a frame", (512, 1024, 4096, 8192), 4096),
        choices.slider("hops", "Switches on the way", (1, 2, 3, 4, 5), 3),
        choices.slider("latency", "A switch's pipeline (ns)", (50, 100, 250, 500), 100),
        choices.select(
            "forwarding", "Switches", {"cut": "cut-through", "store": "store"}, "cut"
        ),
        choices.select(
            "routing",
            "Eight flows, eight spines",
            {"hash": "ECMP", "spray": "spray"},
            "hash",
        ),
    ]


def quiet(frame: int, hops: int, latency: float, forwarding: str) -> float:
    """Seconds while nobody else sends."""
    given = {"rate": RATE, "hops": hops, "latency": latency, "cable": DELAY}
    if forwarding == "cut":
        return float(closed.cut_through_time(SIZE, header=HEADER, **given))
    return float(closed.stored_time(SIZE, frame=frame, **given))


# Both runs are kept: of six controls, each changes one of them.
@lru_cache(maxsize=32)
def run(
    load: float, frame: int, hops: int, latency: float, forwarding: str
) -> tuple[float, ...]:
    """Seconds of some messages behind others, frame by frame."""
    wire = Wire(RATE, DELAY)
    wires, way, others = shapes.row(hops, wire, sources=16)
    crowd = shapes.crowd(
        others, load=load, rate=RATE, size=SIZE, until=UNTIL, seed=2, frame=frame
    )
    mine = [Flow((way,), SIZE, at * EVERY, frame) for at in range(2, 19)]
    made = run_fabric(wires, mine + crowd, Rules(forwarding, latency, HEADER))
    return tuple(e - f.start for e, f in zip(made.ended, mine, strict=False) if e)


@lru_cache(maxsize=32)
def last(frame: int, latency: float, forwarding: str, routing: str) -> float:
    """Seconds until the last of eight flows over eight spines has ended."""
    wires, paths = shapes.two_tiers(SPINES, SPINES, Wire(RATE, DELAY))
    rules = Rules(forwarding, latency, routing=routing, order="any order")
    flows = [Flow(path, 4 * SIZE, frame=frame) for path in paths]
    return run_fabric(wires, flows, rules).time


def explore(
    *, load: float, frame: int, hops: int, latency: float, forwarding: str, routing: str
) -> Spec:
    """Time of a message against the load of the ports, and one run at this load."""
    pipeline, service = latency * 1e-9, SIZE / RATE
    base = quiet(frame, hops, pipeline, forwarding)
    told = [base + hops * closed.mean_wait(at, service) for at in LOADS]
    found = run(max(load - SIZE / (EVERY * RATE), 0), frame, hops, pipeline, forwarding)
    mine = base + hops * closed.mean_wait(load, service)
    ended = last(frame, pipeline, forwarding, routing)
    us, top = 1e6, max(*found, *told)
    words = "hashed" if routing == "hash" else "sprayed"
    waits = f"for {(mine - base) / mine:.0%} of its time"
    return chart(
        f"At a load of {load:.0%} a message waits "
        f"{'for nobody' if mine - base < 1e-9 else waits}.",
        x=axis("Load of every port", limits=[-0.02, 1.0]),
        y=axis("A message (µs)", log=True, limits=[0.6 * us * base, 1.4 * us * top]),
        marks=[
            line(
                LOADS, [us * t for t in told], "predicted mean", "predicted", at="key"
            ),
            rule("quiet", "predicted", y=us * base),
            dots(
                [load] * len(found),
                [us * t for t in found],
                "messages of a run",
                "simulated",
                at="key",
            ),
            here(load, us * mine, "your load"),
        ],
        readouts=[
            readout("quiet", "Quiet", counted(us * base, "quiet", "µs")),
            readout("told", "Predicted", counted(us * mine, "predicted mean", "µs")),
            readout("run", "The run", counted(us * mean(found), "mean of run", "µs")),
            readout("worst", "Its slowest", counted(us * max(found), "slowest", "µs")),
            readout(
                "spines", f"Eight flows, {words}", counted(us * ended, words, "µs")
            ),
        ],
    )
