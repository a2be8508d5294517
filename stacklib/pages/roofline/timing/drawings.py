"""Drawings of section 1.7: what three timers see of a launch, and a loop that warms."""

from stacklib.pages.roofline import timing as page
from stacklib.plots import drawing as d
from stacklib.quantity import Quantity, chosen

__all__ = ["cold_and_warm", "three_timers"]
CALLS = "ABCDE"


def three_timers() -> d.Drawing:
    """Host and device on one line of time, and what each timer reads of it."""
    steps = [
        ("clock only", _timer(_zero(), _launched(), "your timer")),
        ("synchronise first", _timer(_zero(), _done(), "your timer")),
        ("events", _timer(_launched(), _done(), "a timer by marks")),
    ]
    title = "A launch is a note in a queue; the timer decides what it sees of the work."
    return d.draw(steps, name="timing-timers", title=title, devices=["h100-sxm"])


def _zero() -> Quantity:
    return chosen(0, "s", "begin")


def _launched() -> Quantity:
    return page.case().launch.named("end of the launch")


def _done() -> Quantity:
    return (page.case().launch + page.case().seconds).named("end of the kernel")


def _timer(begin: Quantity, end: Quantity, who: str) -> d.Node:
    read = (end - begin).named(f"reading of {who}")
    return d.below(
        _clip("host: launches", _zero(), _launched(), "layer-6"),
        _clip("device: multiplies", _launched(), _done(), "layer-3"),
        d.Clip(
            who,
            begin,
            end,
            _done(),
            [d.line(who, " reads ", d.Shown(read, "µs"), bold=True)],
            role="layer-4",
            grow=0,
        ),
        d.Words("time goes to the right"),
        gap=10,
    )


def _clip(words: str, begin: Quantity, end: Quantity, role: str) -> d.Clip:
    took = (end - begin).named(f"time: {words}")
    told = [(f"{words}, ", d.Shown(took, "µs"))]
    return d.Clip(words, begin, end, _done(), told, role=role, grow=0)


def cold_and_warm() -> d.Drawing:
    """Calls on one matrix beside the calls of a model: boxes as long as they take."""
    cold, warm = page.case().cold, page.case().warm
    loop = [("memory", cold), *[("L2", warm)] * 4]
    model = [("memory", cold)] * 5
    scene = d.below(
        d.Words([d.line("a loop on one matrix", bold=True)]),
        _calls(loop, "loop"),
        d.Words([d.line("a model: each layer has a matrix of its own", bold=True)]),
        _calls(model, "layer"),
        gap=8,
    )
    title = "A loop on one matrix is cold once; a model is cold at every layer."
    return d.draw(scene, name="timing-cold", title=title, devices=["h100-sxm"])


def _calls(calls: list[tuple[str, Quantity]], name: str) -> d.Node:
    boxes = []
    for letter, (where, time) in zip(CALLS, calls, strict=True):
        took = time.named(f"time of a call, matrix in {where}")
        role = "layer-2" if where == "memory" else "layer-3"
        label = [where, d.Shown(took, "µs", 2)]
        boxes.append(d.Box(f"{name} {letter}", label, role=role, grow=time.si * 1e6))
    whole = sum(float(time.si) for _, time in calls)
    rest = 5 * float(page.case().cold.si) - whole  # so that both rows have one scale
    return d.right_of(*boxes, d.Nothing(grow=rest * 1e6), gap=2)
