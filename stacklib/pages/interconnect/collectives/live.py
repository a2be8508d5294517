"""A collective that the reader can break: written, proved, priced, its links lit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stacklib.interconnect.best.known import line_of, ring_of, switch_of
from stacklib.interconnect.networks.shapes_scaleup import CUBE_MESH
from stacklib.interconnect.networks.simulate import Run, simulate
from stacklib.interconnect.networks.topology import Topology
from stacklib.interconnect.schedules.algorithms import all_reduce
from stacklib.interconnect.schedules.schedule import COLLECTIVES, Schedule
from stacklib.interconnect.schedules.text import from_text, to_text
from stacklib.interconnect.schedules.verify import Proof, verify
from stacklib.plots.live import choices
from stacklib.plots.live.parts import counted
from stacklib.plots.marks import Spec, across, axis, cells, chart, down
from stacklib.plots.spec import readout

from . import faults

GBPS, WAIT, KIB = 25e9, 500e-9, 1024  # one cable of NVLink, one direction
SIZES = (1, 4, 16, 64, 256, 1024, 4096, 16384, 65536)  # KiB
MOST = 16  # chips whose links are drawn
NETWORKS = {
    "switch": "one port each to a switch",
    "mesh": "a cable between any two",
    "ring": "a cable to each neighbour",
    "line": "a row, no way round",
    "cube": "the cube mesh of a DGX-1 (eight)",
}


def programs() -> dict[str, str]:
    """What the reader begins from: right ones, and ones with a fault planted."""
    return {
        "ring of four": to_text(all_reduce(4)),
        **{words: to_text(made) for words, made in faults.planted().items()},
        "tree of eight": to_text(all_reduce(8, "tree")),
        "ring of eight": to_text(all_reduce(8)),
        "halving and doubling, eight": to_text(all_reduce(8, "halving_doubling")),
        "all at once, four": to_text(all_reduce(4, "direct")),
        "empty": "# a line a step: rank>rank, chunk, + adds, = copies\n0>1 c0 +\n",
    }


def controls() -> list[dict[str, Any]]:
    """Network, size and text."""
    some = programs()
    return [
        choices.select("network", "Joined by", NETWORKS, "switch"),
        choices.slider("size", "Array of each chip (KiB)", SIZES, 16),
        choices.program("program", "The schedule", some, some["ring of four"]),
    ]


def network_of(name: str, ranks: int) -> Topology:
    """Chips joined by cables of NVLink; ValueError where the shape has another size."""
    if name == "cube":
        if ranks != 8:
            raise ValueError(f"the cube mesh joins 8 chips, the text names {ranks}")
        return Topology.nvlink_mesh(8, CUBE_MESH, link=GBPS, latency=WAIT)
    if ranks < 3 and name == "ring":
        name = "line"
    plain = {"switch": switch_of, "ring": ring_of, "line": line_of}
    if name not in plain:
        return Topology.nvlink_mesh(ranks, link=GBPS, latency=WAIT)
    made = plain[name](ranks)
    share = WAIT / (2 if name == "switch" else 1)
    links = (one._replace(bandwidth=GBPS, latency=share) for one in made.links)
    return Topology(made.name, made.ranks, made.nodes, tuple(links))


def explore(*, program: str, network: str, size: float) -> Spec:
    """The text's schedule on chips joined so."""
    try:
        made = from_text(program)
        topology = network_of(network, made.ranks)
        proof = verify(made)
        run = simulate(made, topology, size * KIB)
        free = simulate(made, topology, size * KIB, barrier=False)
    except ValueError as fault:
        return _refused(str(fault))
    return _drawn(made, topology, proof, run, free.time)


def _refused(why: str) -> Spec:
    """A text that is no schedule gets the line and the reason, and no number."""
    return chart(
        "This is no schedule that could be run.",
        x=axis("To", limits=[0, 1], ticks=()),
        y=axis("From", limits=[0, 1], ticks=()),
        marks=[],
        message=why[:1].upper() + why[1:] + ("" if why.endswith("`") else "."),
    )


def _drawn(
    made: Schedule, topology: Topology, proof: Proof, run: Run, free: float
) -> Spec:
    """Links as cells, a row a sender: the busier, the darker."""
    nodes = min(topology.nodes, MOST + 1)
    most = max(run.busy.values(), default=1.0) or 1.0
    there = [pair for pair in topology.capacity if max(pair) < nodes]
    used = [pair for pair in there if run.busy.get(pair, 0.0) > 0]
    idle = [pair for pair in there if pair not in set(used)]
    names = [str(at) if at < topology.ranks else "S" for at in range(nodes)]
    ticks = list(range(nodes))
    title = (
        f"Proved: {COLLECTIVES[made.collective].replace('rank', 'chip')}."
        if proof.holds
        else f"Wrong, first at {proof.faults[0].split(':')[0]}."
    )
    return chart(
        title,
        x=axis("Link to", limits=across(nodes), ticks=ticks, names=names),
        y=axis("Link from", limits=down(nodes), ticks=ticks, names=names),
        marks=[
            cells(
                [(b, a) for a, b in used],
                "the busier, the darker",
                "simulated",
                shade=[0.25 + 0.75 * run.busy[pair] / most for pair in used],
                at="key",
            ),
            cells([(b, a) for a, b in idle], "not used", "simulated", shade=0.06)
            | {"label_at": "key"},
        ],
        readouts=_readouts(made, topology, run, free),
        message=_told(proof),
        table=_table(made, topology, run),
        square=True,
    )


def _told(proof: Proof) -> str | None:
    """The first fault, or of a right schedule the first thing that is wasted."""
    found = proof.faults or proof.notes
    if not found:
        return None
    first, more = found[0], len(found) - 1
    rest = f" Then {more} more." if more else ""
    return f"{first[:1].upper()}{first[1:]}.{rest}"


def _readouts(
    made: Schedule, topology: Topology, run: Run, free: float
) -> list[dict[str, Any]]:
    idle = 1 - len(run.busy) / len(topology.capacity)
    told = counted(1e6 * run.time, "time of the schedule", "us")
    pace = counted(1e6 * free, "time without a barrier", "us")
    busy = counted(1e6 * max(run.busy.values(), default=0.0), "busiest link", "us")
    return [
        readout("steps", "Steps", counted(made.steps, "steps written")),
        readout("sends", "Sends", counted(len(made.sends), "sends written")),
        readout("time", "Time, step by step", told, unit="µs"),
        readout("pace", "Each at its own pace", pace, unit="µs"),
        readout("busy", "Busiest link at work", busy, "part", unit="µs"),
        readout("idle", "Links never used", counted(idle, "links idle"), unit="%"),
    ]


def _table(made: Schedule, topology: Topology, run: Run) -> Mapping[str, Any]:
    """A row a step, of the first sixteen."""
    rows = []
    for at, (step, sends) in enumerate(zip(run.steps, made.by_step(), strict=True)):
        time = counted(1e6 * step.time, f"step {at}", "us")
        many = counted(len(sends), f"sends of step {at}")
        ends = [str(n) if n < topology.ranks else "S" for n in step.busiest or ()]
        link = " to ".join(ends)
        words = [
            {"text": many.text(), "tree": many.tree()},
            {"text": time.text("µs"), "tree": time.tree()},
            {"text": link},
        ]
        rows.append({"head": f"step {at}", "cells": words})
    head = ["Step", "Sends", "Time", "Busiest link"]
    return {"caption": "The steps one by one", "head": head, "rows": rows[:MOST]}
