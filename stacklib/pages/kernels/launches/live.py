"""Launch against replay, live: which of host and device sets the pace of a step."""

from __future__ import annotations

from typing import Any

from stacklib.kernels.launch.launches import cost, launch_time, replay_time
from stacklib.plots.live import choices
from stacklib.plots.live.parts import counted, here
from stacklib.plots.marks import Spec, axis, chart, line, rule
from stacklib.plots.spec import readout

KERNELS = (10, 30, 100, 300, 840, 1680, 3360, 6720)
WORK = (0.5, 1, 1.56, 2, 3, 5, 8, 12, 20, 30, 50, 100, 200)
SUBMIT = (1, 2, 4, 6, 10, 15, 20, 30, 50)
NODE = (0, 0.25, 0.5, 0.75, 1, 1.5, 2)
REPLAY = 1e6 * cost("replay").si  # µs, to submit a straight graph of any length


def controls() -> list[dict[str, Any]]:
    """How many kernels, how long each, and what a submission and a node cost."""
    return [
        choices.slider("kernels", "Kernels of a step", KERNELS, 3360),
        choices.slider("work", "A kernel (µs)", WORK, 1.56),
        choices.slider("submit", "A submission (µs)", SUBMIT, 20),
        choices.slider("node", "From node to node (µs)", NODE, 0.5),
    ]


def times(kernels: int, work: float, submit: float, node: float) -> tuple[float, float]:
    """Milliseconds of a step: submitted one by one, and replayed."""
    apart = launch_time(kernels, work, submit_s=submit)
    graph = replay_time(kernels, work, replay_s=REPLAY, node_s=node)
    return apart / 1e3, graph / 1e3


def explore(*, kernels: int, work: float, submit: float, node: float) -> Spec:
    """Time of a step against the time of its kernels."""
    both = [times(kernels, w, submit, node) for w in WORK]
    apart, graph = times(kernels, work, submit, node)
    alone = kernels * work / 1e3
    limit = "host" if submit > work else "device"
    told = [
        ("apart", "One by one", counted(apart, "one by one", "ms"), "ms"),
        ("graph", "As a graph", counted(graph, "as a graph", "ms"), "ms"),
        ("alone", "Kernels alone", counted(alone, "kernels alone", "ms"), "ms"),
    ]
    share = counted(alone / apart, "share in which the device works")
    return chart(
        f"One by one, the {limit} sets the pace of these kernels.",
        x=axis("A kernel (µs)", log=True),
        y=axis("A step (ms)", log=True),
        marks=[
            line(WORK, [a for a, _ in both], "one by one", "predicted", at="key"),
            line(WORK, [g for _, g in both], "as a graph", "predicted", at="key"),
            line(
                WORK,
                [kernels * w / 1e3 for w in WORK],
                "kernels alone",
                "predicted",
                at="key",
            ),
            rule("a submission", "predicted", x=submit),
            here(work, apart, "your kernels"),
        ],
        readouts=[
            *(readout(key, words, q, unit=unit) for key, words, q, unit in told),
            readout("busy", "Device busy, one by one", share, "share", unit="%"),
        ],
    )
