"""Drawings of section 6.2: what each chip holds in ring and tree; a sum in a switch."""

from collections.abc import Callable
from functools import cache
from typing import Any

from stacklib.interconnect.schedules.algorithms import all_reduce
from stacklib.interconnect.schedules.schedule import Schedule
from stacklib.pages.interconnect import collectives as page
from stacklib.plots import drawing as d
from stacklib.plots.drawing.edges import Joined
from stacklib.plots.drawing.parts import machine
from stacklib.quantity import Quantity, chosen, counting

__all__ = ["ring_and_tree", "through_the_switch"]

FEW = 4  # chips drawn: as many as the loop of the page has
CHIPS = [f"chip {name}" for name in "ABCD"]
CHIP, WIRE, SWITCH = "layer-3", "layer-2", "layer-2"
Held = tuple[tuple[int, ...], ...]  # of each chip and chunk, the contributions in it


@cache
def held(schedule: Schedule) -> list[Held]:
    """What every chip holds before the first step and after each: a bit a rank."""
    now = [[1 << rank] * schedule.chunks for rank in range(schedule.ranks)]
    found = [tuple(map(tuple, now))]
    for sends in schedule.by_step():
        before = [list(row) for row in now]
        for send in sends:
            there = now[send.destination][send.chunk] if send.reduce else 0
            came = before[send.source][send.chunk]
            now[send.destination][send.chunk] = there | came
        found.append(tuple(map(tuple, now)))
    return found


def _chip(rank: int, chunks: tuple[int, ...], busy: bool) -> d.Box:
    """A column a part of the array, a row for each chip that may be summed in it."""
    name = CHIPS[rank]
    lit = {
        row * len(chunks) + at
        for at, mask in enumerate(chunks)
        for row in range(FEW)
        if mask >> row & 1
    }
    cells = d.Cells(
        f"sums of {name}",
        FEW * len(chunks),
        len(chunks),
        side=(18.0, 8.0),
        role=CHIP,
        lit=frozenset(lit),
        words="a column a part of the array, lit for each chip summed in it",
    )
    return d.Box(name, d.line(name, bold=True), cells, role=CHIP, lit=busy, grow=0)


def _frame(schedule: Schedule, after: int) -> d.Node:
    """All chips after a step; lit, who sent in it, and what."""
    now = {(s.source, s.destination): s for s in schedule.by_step()[after - 1]}
    busy, state = {one for one, _ in now}, held(schedule)[after]
    chips = [_chip(rank, state[rank], rank in busy) for rank in range(FEW)]

    def edge(one: int, other: int) -> d.Edge:
        """A line, from the chip that sends over it."""
        send = now.get((one, other)) or now.get((other, one))
        if send is None:
            return d.Edge(CHIPS[one], CHIPS[other], role=WIRE)
        what = f"part {'abcd'[send.chunk]}" if schedule.chunks > 1 else "all of it"
        told = d.line(f"{what}, {'added' if send.reduce else 'copied'}")
        ends = CHIPS[send.source], CHIPS[send.destination]
        return d.Edge(*ends, told, arrow="end", role=WIRE, lit=True)

    if schedule.chunks > 1:
        lines = (edge(rank, (rank + 1) % FEW) for rank in range(FEW))
        scene = d.joined(d.ring(*chips, gap=34.0), *lines)
    else:
        scene = _tree(chips, schedule, edge)
    column = "a column: a part, a to d; " if schedule.chunks > 1 else ""
    foot = d.line(f"{column}lit: a chip that is summed in it", role="muted")
    return d.below(scene, d.Words([foot]), gap=8)


def _tree(
    chips: list[d.Box], schedule: Schedule, edge: Callable[[int, int], d.Edge]
) -> Joined:
    """The chips as they add up, the last of all at the top."""
    adds = {s.source: s.destination for s in schedule.sends if s.reduce}

    def under(rank: int) -> Joined:
        below = sorted(one for one, to in adds.items() if to == rank)
        joins = {CHIPS[one]: edge(rank, one) for one in below}
        branches = (under(o) if o in adds.values() else chips[o] for o in below)
        return d.tree(chips[rank], *branches, edge=lambda _, to: joins[to], gap=34.0)

    (root,) = set(adds.values()) - set(adds)
    return under(root)


def ring_and_tree() -> d.Drawing:
    """Frames of a ring of four chips, then of a tree."""
    ring, tree = all_reduce(FEW), all_reduce(FEW, "tree")
    frames = [
        ("ring, first step", _frame(ring, 1)),
        ("ring, half its steps", _frame(ring, FEW - 1)),
        ("ring, the last", _frame(ring, ring.steps)),
        ("tree, first step", _frame(tree, 1)),
        ("tree, half its steps", _frame(tree, tree.steps // 2)),
        ("tree, one more", _frame(tree, tree.steps // 2 + 1)),
    ]
    title = (
        "A ring keeps every chip busy with one part of the array. "
        "A tree moves all of it at once, and most chips wait."
    )
    return d.draw(frames, name="collectives-ring-tree", title=title)


@counting(
    lambda way: {
        "up": "arrays that a chip sends, sum in the switch",
        "down": "arrays that a chip receives, from the switch",
    }[way]
)
def sends(way: str) -> int:
    """Chunks that a chip sends or receives for an array of one: to its switch."""
    made = all_reduce(page.TP, "in_switch")
    mine = [s for s in made.sends if (s.source if way == "up" else s.destination) == 0]
    return len(mine)


def through_the_switch() -> d.Drawing:
    """One array up from each chip, one down to each: the switch adds."""
    up, down = sends("up"), sends("down")
    chips = chosen(page.TP, label="chips that take part")
    wait = page.wait("in_switch")

    def frame(does: str, told: str, going: bool) -> d.Node:
        gpus = [d.Box(f"GPU {n}", role=CHIP, lit=going) for n in "ABCDEFGH"]
        words = [d.line("switch", bold=True), does]
        adds = d.Box("switch", words, role=SWITCH, lit=True, grow=0)

        def edge(switch: str, gpu: str) -> d.Edge:
            ends = (switch, gpu) if going else (gpu, switch)
            return d.Edge(*ends, arrow="end", role=WIRE, lit=True)

        head = d.Words([d.line(chips, " GPUs: ", told, bold=True)])
        return d.below(head, machine.around_switch(adds, gpus, edge))

    waits = d.line("each step waits ", d.Shown(wait, "ns"), role="muted")
    frames = [
        (
            "up",
            d.below(
                frame("adds what arrives", "each sends its array", False),
                d.Words([d.line("each chip sends ", up, " array", bold=True), waits]),
            ),
        ),
        (
            "down",
            d.below(
                frame("copies the sum", "each receives the sum", True),
                d.Words(
                    [d.line("each chip receives ", down, " array", bold=True), waits]
                ),
            ),
        ),
        ("beside a ring", d.flow(*_ways(up), gap=16, even=True)),
    ]
    title = "A switch that adds takes each array once and gives the sum back once."
    return d.draw(frames, name="collectives-switch", title=title)


def _ways(up: Quantity) -> list[d.Node]:
    """Eight chips in a ring, and around a switch that adds."""

    def way(name: str, told: list[Any], centre: d.Box | None) -> d.Box:
        chips = [d.Box(one, role=CHIP, grow=0) for one in "ABCDEFGH"]
        names = [f"{name}/{chip.name}" for chip in chips]
        placed = list(zip(chips, d.ring(*chips).spots[0], strict=True))
        if centre is None:
            edges = d.around_ring(names, arrow="end", role=WIRE)
        else:
            placed.append((centre, (0.5, 0.5)))
            ends = [f"{name}/{centre.name}"] * len(names)
            edges = tuple(
                d.Edge(one, to, arrow="both", straight=True, role=WIRE)
                for one, to in zip(names, ends, strict=True)
            )
        inside = d.joined(d.board(*placed, gap=14.0), *edges)
        return d.Box(name, told, inside, role=SWITCH if centre else CHIP)

    ring = [
        d.line("around a ring", bold=True),
        d.line("each chip sends ", d.Shown(page.share("ring")), " arrays"),
        d.line("in ", page.steps("ring"), " steps"),
    ]
    through = [
        d.line("through the switch", bold=True),
        d.line("each chip sends ", up, " array"),
        d.line("in ", page.steps("in_switch"), " steps of half the way"),
    ]
    middle = d.Box("adds", role=SWITCH, lit=True, grow=0)
    return [way("ring", ring, None), way("in the switch", through, middle)]
