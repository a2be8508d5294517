"""Drawings of section 6.2: what each chip holds in ring and tree; a sum in a switch."""

from functools import cache

from stacklib.interconnect.schedules.algorithms import all_reduce
from stacklib.interconnect.schedules.schedule import Schedule
from stacklib.pages.interconnect import collectives as page
from stacklib.plots import drawing as d
from stacklib.plots.drawing.marks import then
from stacklib.quantity import chosen, counting

__all__ = ["ring_and_tree", "through_the_switch"]

FEW = 5  # chips drawn
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


def _chip(rank: int, chunks: tuple[int, ...], told: str, busy: bool) -> d.Box:
    """A column a chunk, a row a contribution."""
    name = f"chip {'ABCDE'[rank]}"
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
        side=(15.0, 8.0),
        role=CHIP,
        lit=frozenset(lit),
        words="a column a chunk, lit for each chip whose part is in it",
    )
    words = [d.line(name, bold=True), d.line(told, role="ink")]
    return d.Box(name, words, cells, role=CHIP, lit=busy)


def _frame(schedule: Schedule, after: int) -> d.Node:
    """All chips after a step, and who sent in it."""
    state = held(schedule)[after]
    sends = schedule.by_step()[after - 1] if after else ()
    boxes: list[d.Node] = []
    for rank in range(FEW):
        to = sorted({s.destination for s in sends if s.source == rank})
        told = " and ".join("ABCDE"[one] for one in to)
        words = f"sent to {told}" if told else "sent nothing" if after else "its own"
        boxes.append(_chip(rank, state[rank], words, bool(to)))
    foot = d.line("a column a chunk, lit for each chip summed in it", role="muted")
    return d.below(d.grid(boxes, (5, 2)), d.Words([foot]), gap=6)


def ring_and_tree() -> d.Drawing:
    """Frames of a ring of four chips, then of a tree."""
    ring, tree = all_reduce(FEW), all_reduce(FEW, "tree")
    frames = [
        ("ring, first step", _frame(ring, 1)),
        ("ring, half its steps", _frame(ring, FEW - 1)),
        ("tree, half its steps", _frame(tree, tree.steps // 2)),
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
    ring = page.share("ring")
    wait = page.wait("in_switch")

    def frame(switch: str, told: str, going: bool) -> d.Node:
        cells = d.Cells(
            "arrays of the chips",
            page.TP,
            side=(26.0, 14.0),
            gap=5.0,
            role=CHIP,
            lit=frozenset(range(page.TP)) if going else frozenset(),
            words="one a chip; lit where it holds the sum",
        )
        chips_ = d.Box(
            "chips", [d.line(chips, " chips", bold=True), told], cells, role=CHIP
        )
        adds = d.Box(
            "switch", [d.line("switch", bold=True), switch], role=SWITCH, lit=True
        )
        ways = (then("chips", "switch", down=(True, True)), adds)
        if going:
            ways = (then("switch", "chips", down=(True, True)), chips_)
            return d.below(adds, *ways, gap=2)
        return d.below(chips_, *ways, gap=2)

    waits = d.line("each step waits ", d.Shown(wait, "ns"), role="muted")
    frames = [
        (
            "up",
            d.below(
                frame("adds what arrives, keeps one sum", "", False),
                d.Words([d.line("each chip sends ", up, " array", bold=True), waits]),
            ),
        ),
        (
            "down",
            d.below(
                frame("copies the sum to every port", "each holds the sum", True),
                d.Words(
                    [d.line("each chip receives ", down, " array", bold=True), waits]
                ),
            ),
        ),
        (
            "beside a ring",
            d.below(
                d.Box(
                    "ring",
                    [
                        d.line("around a ring", bold=True),
                        d.line("each chip sends ", d.Shown(ring), " arrays"),
                        d.line("in ", page.steps("ring"), " steps"),
                    ],
                    role=CHIP,
                ),
                d.Box(
                    "in the switch",
                    [
                        d.line("through the switch", bold=True),
                        d.line("each chip sends ", up, " array"),
                        d.line(
                            "in ", page.steps("in_switch"), " steps of half the way"
                        ),
                    ],
                    role=SWITCH,
                    lit=True,
                ),
            ),
        ),
    ]
    title = "A switch that adds takes each array once and gives the sum back once."
    return d.draw(frames, name="collectives-switch", title=title)
