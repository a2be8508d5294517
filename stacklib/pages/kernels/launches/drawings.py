"""Drawings of section 4.1: a launch's way to the chip and a graph's; who waits."""

from stacklib.kernels.launch.launches import Launches, run_launches
from stacklib.pages.kernels import launches as page
from stacklib.plots import drawing as d
from stacklib.plots.drawing.marks import then
from stacklib.plots.drawing.parts import gpu

__all__ = ["way_to_the_chip", "who_waits"]

HOST, DOWN = "layer-5", (True, True)
SLOTS = 24  # of time, drawn
LEAVE = 52.0  # between host and device, for lines
LANES = {
    "a short kernel": Launches(6, 1.0, 3.0),
    "a long kernel": Launches(6, 3.0, 1.0),
    "a graph": Launches(1, 1.0, 1.0, nodes=6),
}


def way_to_the_chip() -> d.Drawing:
    """Who touches a kernel before it runs: each for itself, and all as a graph."""
    eager = page.cost("eager", "low").named("host's time for an operator")
    replay = page.cost("replay", "low").named("host's time for a graph")
    node = page.cost("node", "low").named("from one node to the next")
    many = page.kernels()
    steps = [
        (
            "one by one",
            _way(
                [d.line("host: ", many, " times ", d.Shown(eager, "µs"), bold=True)],
                [
                    ("Python", "calls an operator", True),
                    ("dispatcher", "checks, allocates", True),
                    ("driver", "writes a command", True),
                ],
                [d.line("device", bold=True)],
                [("front end", "fetches a command", False), ("SMs", "run it", False)],
            ),
        ),
        (
            "as a graph",
            _way(
                [d.line("host: once ", d.Shown(replay, "µs"), bold=True)],
                [
                    ("Python", "calls replay", False),
                    ("driver", "submits the graph", False),
                ],
                [d.line("device: ", many, " times ", d.Shown(node, "µs"), bold=True)],
                [
                    ("nodes", "lie in its memory", True),
                    ("front end", "goes to the next", True),
                    ("SMs", "run it", False),
                ],
            ),
        ),
    ]
    title = "One by one, the host handles every kernel. A graph is handed over once."
    return d.draw(steps, name="launch-way", title=title)


Stop = tuple[str, str, bool]


def _way(
    host: list[object], upper: list[Stop], device: list[object], lower: list[Stop]
) -> d.Node:
    return d.below(
        d.Box("host", host, _stops(upper, HOST), role=HOST),
        then("host", "queue", down=DOWN),
        d.Box(
            "queue", ["queue", d.line("commands, in order", role="muted")], role="muted"
        ),
        then("queue", "device", down=DOWN),
        d.Box("device", device, _stops(lower, gpu.CHIP), role=gpu.CHIP),
        gap=2,
    )


def _stops(stops: list[Stop], role: str) -> d.Node:
    boxes = [
        d.Box(name, [d.line(name, bold=True), does], role=role, lit=lit)
        for name, does, lit in stops
    ]
    return d.chain(*boxes)


def who_waits() -> d.Drawing:
    """Host and device over time, event by event, for three ways to submit."""
    steps = [(words, _lanes(words, plan)) for words, plan in LANES.items()]
    title = "Whoever takes longer for a kernel sets the pace, and the other waits."
    return d.draw(steps, name="launch-waits", title=title)


def _lanes(words: str, plan: Launches) -> d.Node:
    """A cell for each unit of time, lit at work; each submission leads to its kernel.

    The n-th submission starts the n-th kernel; a graph's only one starts the first,
    and the device goes on by itself.
    """
    run = run_launches(plan)
    spans: dict[str, list[range]] = {"submit": [], "kernel": []}
    for one in run.ran:
        what = run.commands[one.command].name
        if what in spans:
            spans[what].append(range(round(one.start), round(one.end)))
    many = len(spans["submit"])
    edges = [
        d.Edge(
            f"host, {words}[{submit[-1]}]",
            f"device, {words}[{kernel[0]}]",
            arrow="end",
            ports=("foot", "top"),
            lane=LEAVE * (many - at) / (many + 1),  # none crosses the one before
            role=HOST,
        )
        for at, (submit, kernel) in enumerate(
            zip(spans["submit"], spans["kernel"], strict=False)
        )
    ]
    wide, phone = (
        d.joined(
            d.below(
                _lane(f"host, {words}", HOST, spans["submit"], side),
                _lane(f"device, {words}", gpu.CHIP, spans["kernel"], side),
                gap=LEAVE,
            ),
            *edges,
        )
        for side in (22.0, 11.0)
    )
    host, device = (
        d.Words([d.line(name, bold=True)]) for name in ("host submits", "device runs")
    )
    told = d.Words([d.line("lit: at work; a line: its kernel starts", role="muted")])
    return d.below(host, d.Either(wide, phone), device, told, gap=6)


def _lane(name: str, role: str, spans: list[range], side: float) -> d.Cells:
    """A row of time."""
    lit = frozenset(at for span in spans for at in span if at < SLOTS)
    words = "at work where lit"
    return d.Cells(
        name, SLOTS, side=(side, 18.0), gap=2, role=role, lit=lit, words=words
    )
