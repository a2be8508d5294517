"""Drawings of section 6.16: how rates add; what is done twice between checkpoints."""

from stacklib.pages.interconnect import failures as page
from stacklib.plots import drawing as d
from stacklib.plots.drawing.parts import gpu

__all__ = ["rates_add", "time_twice"]

UNITS = 36  # of time, drawn
SAVE, START = 1, 3
FAIL = (15, 29)
WORK, SAVING, AGAIN, STARTING = "new work", "checkpoint", "done again", "restart"
WAYS = {"seldom": 24, "in between": 5, "all the time": 1}
ROLES = {WORK: gpu.CHIP, SAVING: "layer-5", AGAIN: "muted", STARTING: "layer-6"}


def rates_add() -> d.Drawing:
    """From one GPU to a cluster: the mean time between failures shrinks as 1 / N."""
    one = (1 / page.per_gpu()).named("between failures, one GPU").to("year")
    boxes = [
        d.Box(
            "one GPU",
            ["one GPU", d.line("and its share of the rest", role="muted")],
            d.below(d.Words([d.line(d.Shown(one, "year"), bold=True)])),
            role=gpu.CHIP,
        ),
        d.Box(
            "a server",
            ["a server", d.line(page.per_host(), " GPUs, all needed", role="muted")],
            d.below(
                d.Words(
                    [d.line(d.Shown(page.between(page.PER_HOST), "day"), bold=True)]
                )
            ),
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
            d.Box(
                name,
                [name, d.line(size, " GPUs, all needed", role="muted")],
                d.below(
                    d.Words([d.line(d.Shown(mean, unit), bold=True)]),
                    d.Words(
                        [d.line(d.Shown(page.broken(number), ""), " hosts in repair")]
                    ),
                ),
                role="layer-6",
            )
        )
    title = "Every part that all others wait for brings its own failures along."
    return d.draw(d.chain(*boxes), name="failures-add", title=title)


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


def time_twice() -> d.Drawing:
    """The same two failures, with three intervals between checkpoints."""
    steps = [(name, _lanes(name, every)) for name, every in WAYS.items()]
    title = "Rare checkpoints are paid for in work done again, frequent ones at once."
    return d.draw(steps, name="failures-twice", title=title)


def _lanes(name: str, every: int) -> d.Node:
    """A row for each thing that can be done; lit where it is."""
    doing = spent(every)
    rows: list[d.Node] = []
    for what, role in ROLES.items():
        on = frozenset(at for at, now in enumerate(doing) if now == what)
        rows += [
            d.Words([d.line(what, bold=True)]),
            d.Cells(
                f"{what}, {name}",
                UNITS,
                side=(6.5, 8.0),
                gap=1.5,
                role=role,
                lit=on,
                words=f"{what} where lit",
            ),
        ]
    told = d.Words([d.line("time to the right; two failures", role="muted")])
    return d.below(*rows, told, gap=5)
