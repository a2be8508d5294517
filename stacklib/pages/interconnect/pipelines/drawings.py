"""Drawings of section 6.14: who reads when, and the lanes of a training step."""

from functools import cache

from stacklib.interconnect.pipelines.order import FORWARD, pipeline
from stacklib.interconnect.pipelines.run import PipelineRun, run_pipeline
from stacklib.pages.interconnect import pipelines as page
from stacklib.plots import drawing as d
from stacklib.plots.drawing.parts import gpu, machine, model
from stacklib.quantity import counting, one_of

__all__ = ["lanes", "who_reads"]

STAGES, MICROBATCHES, SLOTS = 4, 4, 54  # drawn; a slot is half of a forward
LAST = "a slow last stage"
SCHEDULES = {
    "GPipe": ("gpipe", 1),
    "1F1B": ("1f1b", 1),
    "in chunks": ("1f1b", 2),
    "zero bubble": ("zb-h1", 1),
    LAST: ("1f1b", 1),
}
LETTERS = "ABCDEFGH"


def who_reads() -> d.Drawing:
    """Which of eight GPUs reads weights, from one token's time to the next."""
    many = page.STAGES
    ways = {
        "layers split": frozenset(range(0, many * many, many)),
        "one token, stages": frozenset(n * many + n for n in range(many)),
        "eight tokens, stages": frozenset(range(many * many)),
    }
    steps = [(words, _reading(words, lit)) for words, lit in ways.items()]
    title = "A token in a pipeline keeps one stage busy, and the others wait for it."
    return d.draw(steps, name="pipeline-reading", title=title, devices=["h100-sxm"])


def _reading(words: str, lit: frozenset[int]) -> d.Node:
    many = page.STAGES
    wide, phone = (
        d.Cells(
            "GPUs",
            many * many,
            many,
            side=(side, 12.0),
            gap=3.0,
            role=gpu.CHIP,
            lit=lit,
            dark=frozenset(range(many * many)) - lit,
            words="a row for each GPU, lit where it reads",
        )
        for side in (54.0, 30.0)
    )
    told = {
        "layers split": ("each reads its part of every layer: ", page.split()),
        "one token, stages": ("each reads its own layers in turn: ", page.token()),
        "eight tokens, stages": ("a token leaves every ", page.stage()),
    }[words]
    text, time = told
    alone = one_of("", "tokens in work, one")
    tokens = page.stages() if words.startswith("eight") else alone
    label = [
        d.line("a row: a GPU", bold=True),
        d.line("a column: time in which a stage reads; lit: it reads", role="muted"),
    ]
    foot = d.flow(
        d.Box("tokens", d.line("tokens in work: ", tokens), role=model.TOKEN),
        d.Box("time", d.line(text, d.Shown(time, "ms"), bold=True), role="muted"),
        gap=6,
    )
    grid = d.Either(wide, phone, stretch=False)
    return d.below(d.Box("machine", label, grid, role=machine.NODE), foot)


def lanes() -> d.Drawing:
    """Forwards and backwards of a small step over time, a lane for each stage."""
    steps = [(words, _step(words)) for words in SCHEDULES]
    title = "The faint cells are the bubble: a stage waits for the others."
    return d.draw(steps, name="pipeline-lanes", title=title)


@cache
def _ran(words: str) -> PipelineRun:
    """A schedule run; of the slow stage a forward takes half as long again."""
    made = pipeline(STAGES, MICROBATCHES, *SCHEDULES[words])
    if words != LAST:
        return run_pipeline(made)
    forward = [1.0] * (STAGES - 1) + [1.5]
    return run_pipeline(made, forward=forward, backward=[2 * f for f in forward])


def _run(words: str) -> tuple[list[set[int]], list[set[int]]]:
    """Slots of forwards and of other work, by stage."""
    ahead: list[set[int]] = []
    rest: list[set[int]] = []
    for row in _ran(words).spans:
        ahead.append(set())
        rest.append(set())
        for span in row:
            slots = range(round(2 * span.start), round(2 * span.end))
            (ahead if span.work.kind == FORWARD else rest)[-1].update(slots)
    return ahead, rest


@counting("waiting over work, {words}")
def waiting(words: str) -> float:
    """The bubble of a schedule that is drawn."""
    return round(_ran(words).bubble, 9)


def _step(words: str) -> d.Node:
    ahead, rest = _run(words)
    rows = [
        d.right_of(
            d.Words([d.line(f"stage {LETTERS[n]}")], "start", grow=0),
            _lane(f"stage {LETTERS[n]}, {words}", ahead[n], rest[n]),
            gap=8,
            grow=0,
        )
        for n in range(STAGES)
    ]
    foot = d.line("waiting over work: ", d.Shown(waiting(words), "%"), bold=True)
    key = d.line("full: forward; pale: backward; faint: waits", role="muted")
    return d.below(
        d.Box("pipeline", None, d.below(*rows, gap=4)), d.Words([foot, key]), gap=6
    )


def _lane(name: str, ahead: set[int], rest: set[int]) -> d.Node:
    waits = frozenset(range(SLOTS)) - ahead - rest
    wide, phone = (
        d.Cells(
            name,
            SLOTS,
            side=(side, 15.0),
            gap=gap,
            role=gpu.CHIP,
            lit=frozenset(ahead),
            dark=waits,
            words="forward where full, backward where pale",
        )
        for side, gap in ((8.0, 0.9), (4.0, 0.5))
    )
    return d.Either(wide, phone)
