"""Drawings of section 4.1: a launch's way to the chip and a graph's; who waits."""

from __future__ import annotations

from stacklib.kernels.launch.launches import Launches, run_launches
from stacklib.pages.kernels import launches as page
from stacklib.plots.drawing import (
    Box,
    Cells,
    Drawing,
    Node,
    Shown,
    Words,
    below,
    chain,
    draw,
    line,
)
from stacklib.plots.drawing.marks import then
from stacklib.plots.drawing.parts import gpu

__all__ = ["way_to_the_chip", "who_waits"]

HOST, DOWN = "layer-5", (True, True)
SLOTS = 24  # of time, drawn
LANES = {
    "a short kernel": Launches(6, 1.0, 3.0),
    "a long kernel": Launches(6, 3.0, 1.0),
    "a graph": Launches(1, 1.0, 1.0, nodes=6),
}


def way_to_the_chip() -> Drawing:
    """Who touches a kernel before it runs: each for itself, and all as a graph."""
    eager = page.cost("eager", "low").named("host's time for an operator")
    replay = page.cost("replay", "low").named("host's time for a graph")
    node = page.cost("node", "low").named("from one node to the next")
    many = page.kernels()
    steps = [
        (
            "one by one",
            _way(
                [line("host: ", many, " times ", Shown(eager, "µs"), bold=True)],
                [
                    ("Python", "calls an operator", True),
                    ("dispatcher", "checks, allocates", True),
                    ("driver", "writes a command", True),
                ],
                [line("device", bold=True)],
                [("front end", "fetches a command", False), ("SMs", "run it", False)],
            ),
        ),
        (
            "as a graph",
            _way(
                [line("host: once ", Shown(replay, "µs"), bold=True)],
                [
                    ("Python", "calls replay", False),
                    ("driver", "submits the graph", False),
                ],
                [line("device: ", many, " times ", Shown(node, "µs"), bold=True)],
                [
                    ("nodes", "lie in its memory", True),
                    ("front end", "goes to the next", True),
                    ("SMs", "run it", False),
                ],
            ),
        ),
    ]
    title = "One by one, the host handles every kernel. A graph is handed over once."
    return draw(steps, name="launch-way", title=title)


Stop = tuple[str, str, bool]


def _way(
    host: list[object], upper: list[Stop], device: list[object], lower: list[Stop]
) -> Node:
    return below(
        Box("host", host, _stops(upper, HOST), role=HOST),
        then("host", "queue", down=DOWN),
        Box("queue", ["queue", line("commands, in order", role="muted")], role="muted"),
        then("queue", "device", down=DOWN),
        Box("device", device, _stops(lower, gpu.CHIP), role=gpu.CHIP),
        gap=2,
    )


def _stops(stops: list[Stop], role: str) -> Node:
    boxes = [
        Box(name, [line(name, bold=True), does], role=role, lit=lit)
        for name, does, lit in stops
    ]
    return chain(*boxes)


def who_waits() -> Drawing:
    """Host and device over time, event by event, for three ways to submit."""
    steps = [(words, _lanes(words, plan)) for words, plan in LANES.items()]
    title = "Whoever takes longer for a kernel sets the pace, and the other waits."
    return draw(steps, name="launch-waits", title=title)


def _lanes(words: str, plan: Launches) -> Node:
    """A cell for each unit of time; lit where host or device is at work."""
    run = run_launches(plan)
    lit: dict[str, set[int]] = {"submit": set(), "kernel": set()}
    for one in run.ran:
        what = run.commands[one.command].name
        if what in lit:
            lit[what] |= set(range(round(one.start), round(one.end)))
    rows: list[Node] = []
    for what, name, role in (
        ("submit", "host submits", HOST),
        ("kernel", "device runs", gpu.CHIP),
    ):
        on = frozenset(at for at in lit[what] if at < SLOTS)
        cells = Cells(
            f"{name}, {words}",
            SLOTS,
            side=(10.0, 14.0),
            gap=2.0,
            role=role,
            lit=on,
            words=f"{name} where lit",
        )
        rows += [Words([line(name, bold=True)]), cells]
    told = Words([line("lit: at work; time to the right", role="muted")])
    return below(*rows, told, gap=5)
