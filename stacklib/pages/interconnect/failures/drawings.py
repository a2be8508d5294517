"""Drawings of section 6.16: how rates add; what is done twice between checkpoints."""

from __future__ import annotations

from stacklib.pages.interconnect import failures as page
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
from stacklib.plots.drawing.parts import gpu

__all__ = ["rates_add", "time_twice"]

UNITS = 36  # of time, drawn
SAVE, START = 1, 3
FAIL = (15, 29)
WORK, SAVING, AGAIN, STARTING = "new work", "checkpoint", "done again", "restart"
WAYS = {"seldom": 24, "in between": 5, "all the time": 1}
ROLES = {WORK: gpu.CHIP, SAVING: "layer-5", AGAIN: "muted", STARTING: "layer-6"}


def rates_add() -> Drawing:
    """From one GPU to a cluster: the mean time between failures shrinks as 1 / N."""
    one = (1 / page.per_gpu()).named("between failures, one GPU").to("year")
    boxes = [
        Box(
            "one GPU",
            ["one GPU", line("and its share of the rest", role="muted")],
            below(Words([line(Shown(one, "year"), bold=True)])),
            role=gpu.CHIP,
        ),
        Box(
            "a server",
            ["a server", line(page.per_host(), " GPUs, all needed", role="muted")],
            below(Words([line(Shown(page.between(page.PER_HOST), "day"), bold=True)])),
            role=gpu.CHIP,
        ),
    ]
    for name, number, unit in (
        ("a cluster", 0, "h"),
        ("a larger one", page.LARGE, "min"),
    ):
        mean = page.between(number)
        size = page.gpus(number)
        boxes.append(
            Box(
                name,
                [name, line(size, " GPUs, all needed", role="muted")],
                below(
                    Words([line(Shown(mean, unit), bold=True)]),
                    Words([line(Shown(page.broken(number), ""), " hosts in repair")]),
                ),
                role="layer-6",
            )
        )
    title = "Every part that all others wait for brings its own failures along."
    return draw(chain(*boxes), name="failures-add", title=title)


def spent(every: int) -> list[str]:
    """What a cluster does in each unit of time, with failures at fixed moments.

    ``every``: units of work between two checkpoints.
    """
    doing: list[str] = []
    done = reached = saved = 0
    pending: list[str] = []
    for now in range(UNITS):
        if now in FAIL:
            done, pending = saved, [STARTING] * START
        if not pending and done > saved and (done - saved) % every == 0:
            pending = [SAVING] * SAVE
        if pending:
            doing.append(pending.pop(0))
            if doing[-1] == SAVING and not pending:
                saved = done
            continue
        done += 1
        doing.append(AGAIN if done <= reached else WORK)
        reached = max(reached, done)
    return doing


def time_twice() -> Drawing:
    """The same two failures, with three intervals between checkpoints."""
    steps = [(name, _lanes(name, every)) for name, every in WAYS.items()]
    title = "Rare checkpoints are paid for in work done again, frequent ones at once."
    return draw(steps, name="failures-twice", title=title)


def _lanes(name: str, every: int) -> Node:
    """A row for each thing that can be done; lit where it is."""
    doing = spent(every)
    rows: list[Node] = []
    for what, role in ROLES.items():
        on = frozenset(at for at, now in enumerate(doing) if now == what)
        rows += [
            Words([line(what, bold=True)]),
            Cells(
                f"{what}, {name}",
                UNITS,
                side=(6.5, 8.0),
                gap=1.5,
                role=role,
                lit=on,
                words=f"{what} where lit",
            ),
        ]
    told = Words([line("time to the right; two failures", role="muted")])
    return below(*rows, told, gap=5)
