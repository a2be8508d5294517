"""Drawings of section 6.9: a frame through two switches, flows over spines, notices."""

from itertools import pairwise

from stacklib.interconnect.switches import closed
from stacklib.pages.interconnect import lossless as page
from stacklib.plots.drawing import (
    Box,
    Cells,
    Drawing,
    Edge,
    Either,
    Node,
    Shown,
    Words,
    below,
    chain,
    draw,
    joined,
    line,
    right_of,
)
from stacklib.quantity import chosen, quoted

__all__ = ["notices", "spines", "two_switches"]

WIRE, HOST, SWITCH = "layer-6", "layer-5", "layer-4"
SLOTS, FRAME, HEADER, PIPELINE = 30, 8, 1, 2  # of time
LANES = ("sender's wire", "after one switch", "after two switches")


def starts(forwarding: str) -> list[int]:
    """When each wire begins with the frame, in slots of time."""
    found = []
    for hops in range(len(LANES)):
        if forwarding == "cut":
            end = closed.cut_through_time(
                FRAME, rate=1, hops=hops, latency=PIPELINE, header=HEADER
            )
        else:
            end = closed.stored_time(FRAME, rate=1, hops=hops, latency=PIPELINE)
        found.append(round(end) - FRAME)
    return found


def two_switches() -> Drawing:
    """Which wire carries the frame when: place downwards, time to the right."""
    steps = [
        ("cut-through", _lanes("cut", "its head goes on while its tail still comes")),
        ("store and forward", _lanes("store", "each switch waits for the whole frame")),
    ]
    title = "A switch that stores a frame adds the frame's time on the wire, each time."
    return draw(steps, name="lossless-hops", title=title)


def _lanes(forwarding: str, words: str) -> Node:
    rows: list[Node] = [Words([line(words, bold=True)]), _path()]
    for name, start in zip(LANES, starts(forwarding), strict=True):
        lit = frozenset(range(start, start + FRAME))
        cells = Cells(
            f"{name}, {forwarding}",
            SLOTS,
            side=(8.0, 16.0),
            gap=2.0,
            role=WIRE,
            lit=lit,
            words=f"{name}: lit while it carries the frame",
        )
        rows += [Words([line(name, role="muted")]), cells]
    rows.append(Words([line("time to the right", role="muted")]))
    return below(*rows, gap=4)


def _path() -> Node:
    """What the wires of the lanes join."""
    names = ("sender", "first switch", "second switch", "receiver")
    boxes = [
        Box(name, name.split()[-1], role=SWITCH if "switch" in name else HOST, grow=0)
        for name in names
    ]
    wires = [
        Edge(one, two, arrow="end", role=WIRE, words=lane)
        for (one, two), lane in zip(pairwise(names), LANES, strict=True)
    ]
    return joined(right_of(*boxes, gap=30), *wires)


def spines() -> Drawing:
    """Flows from one leaf to another, hashed onto spines and sprayed over them."""
    loads = page.hashed_loads()
    steps = [
        ("hashed", _spines(loads, "a flow, a spine")),
        ("sprayed", _spines([1] * page.SPINES, "every frame, the next spine")),
    ]
    title = "Hashing leaves some spines idle and gives others several flows."
    return draw(steps, name="lossless-spines", title=title)


def _spines(loads: list[int], words: str) -> Node:
    """Two leaves and the spines between them; a line is as wide as what flows in it."""
    most = chosen(5, label="flows of the widest line")
    told = [line("leaf of the senders", bold=True), words]
    left = Box("left leaf", told, role=HOST)
    right = Box("right leaf", [line("leaf of the receivers", bold=True)], role=HOST)
    spines, edges = [], []
    for name, load in zip("ABCDEFGH", loads, strict=True):
        spine = f"spine {name}"
        cells = Cells(
            f"flows over {name}",
            max(4, *loads),
            2,
            side=8.0,
            gap=2.0,
            role=WIRE,
            lit=frozenset(range(load)),
            words="lit: flows over it",
        )
        spines.append(Box(spine, name, cells, role=SWITCH, lit=load > 1))
        rate = chosen(load, label="flows") if load else None
        for start, end in (("left leaf", spine), (spine, "right leaf")):
            edges.append(
                Edge(
                    start,
                    end,
                    rate=rate,
                    full=most,
                    arrow="end" if load else "",
                    role=WIRE,
                    lit=load > 0,
                )
            )
    row = right_of(*spines, gap=6.0, even=True)
    foot = Words([line("between them spines; a cell: a flow", role="muted")])
    return below(joined(below(left, row, right, gap=36), *edges), foot, gap=6)


def notices() -> Drawing:
    """Who marks, who tells, and who changes a rate."""
    queue = Cells(
        "queue of its port",
        12,
        side=(9.0, 14.0),
        gap=2.0,
        role=WIRE,
        lit=frozenset(range(4, 12)),
        words="lit: frames of a long queue, which are marked as they leave",
    )
    every = Shown(quoted("dcqcn.notice"), "us")
    way = chain(
        Box(
            "sender",
            [line("sender", bold=True), "cuts its rate when told,", "and raises it"],
            role=HOST,
        ),
        Box("switch", [line("switch", bold=True), "marks frames"], queue, role=SWITCH),
        Box(
            "receiver",
            [
                line("receiver", bold=True),
                "tells of marks, at most",
                line("once in ", every),
            ],
            role=HOST,
        ),
    )
    wide, phone = (
        joined(
            way,
            Edge(
                "receiver",
                "sender",
                "notice",
                arrow="end",
                ports=(side, side),
                role=WIRE,
                lit=True,
            ),
            margin=room,
        )
        for side, room in (("top", (0.0, 40.0)), ("right", (66.0, 0.0)))
    )
    title = "A mark reaches the sender by way of the receiver; nobody else is slowed."
    return draw(Either(wide, phone), name="lossless-notices", title=title)
