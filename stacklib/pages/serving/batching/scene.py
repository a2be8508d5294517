"""Six requests, three slots and too few blocks: what the page steps through."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from stacklib.paged_kv import BlockView
from stacklib.pages.chain.posts import DRAWN
from stacklib.serving.engine.delay import Delay, Rows, rows_of
from stacklib.serving.engine.dry import DryRun
from stacklib.serving.engine.latency import Latency, latency
from stacklib.serving.engine.metrics import Metrics
from stacklib.serving.engine.place import Place

if TYPE_CHECKING:
    from stacklib.serving.engine.replay import Replay

SLOTS, CHUNK, BLOCKS, SIZE = 3, 8, 8, DRAWN
# Prompt and answer in tokens; E begins as A does.
ASKED = {
    "A": (9, 12),
    "B": (3, 10),
    "C": (14, 4),
    "D": (2, 6),
    "E": (13, 4),
    "F": (5, 8),
}
SHARED = 8  # tokens with which E begins as A does
NAMES = tuple(ASKED)


@dataclass(frozen=True)
class Moment:
    """One step: who read what, who waited, and the blocks after it."""

    rows: Mapping[str, Rows]
    waiting: tuple[str, ...]
    preempted: tuple[str, ...]
    blocks: tuple[BlockView, ...]


@dataclass(frozen=True)
class Run:
    """A whole run: its steps, and what became of each request."""

    moments: tuple[Moment, ...]
    delays: Mapping[str, Delay]
    latency: Mapping[str, Latency]
    metrics: Metrics


def prompt(name: str) -> list[int]:
    """Tokens of a request: its own, but for a shared beginning."""
    own = 100 * (1 + NAMES.index(name))
    length = ASKED[name][0]
    first = prompt("A")[:SHARED] if name == "E" else []
    return first + [own + at for at in range(length - len(first))]


@cache
def run(
    *, policy: str = "fcfs", blocks: int = BLOCKS, slots: int = SLOTS, only: str = ""
) -> Run:
    """All six, or one alone, from the first step to the last."""
    engine = DryRun(
        blocks=blocks, block_size=SIZE, max_batch=slots, chunk=CHUNK, policy=policy
    )
    names = (only,) if only else NAMES
    asked = {name: engine.submit(prompt(name), most=ASKED[name][1]) for name in names}
    moments = []
    while engine.busy:
        moments.append(_stepped(engine, asked))
    return Run(
        tuple(moments),
        {name: engine.explain(each.id) for name, each in asked.items()},
        {
            name: latency(each.submitted, each.times, each.finished or 0.0)
            for name, each in asked.items()
        },
        engine.metrics(),
    )


def _stepped(engine: DryRun, asked: Mapping[str, Place]) -> Moment:
    before = {name: each.highest for name, each in asked.items()}
    out = {name: len(each.ledger.evictions) for name, each in asked.items()}
    alive = [name for name, each in asked.items() if not each.done]
    computed = {name: asked[name].computed for name in alive}
    admitted = len(engine.log)
    engine.step()
    # Who is let in begins behind what was found computed.
    for event in list(engine.log)[admitted:]:
        if event.what == "admitted" and event.request is not None:
            computed[_name(asked, event.request)] = event.detail["cached"]
    rows = {}
    for name in alive:
        each, start = asked[name], computed[name]
        if each.computed > start:
            count, known = each.computed - start, len(each.tokens)
            rows[name] = rows_of(start, count, known, max(before[name], start))
    gone = [n for n, each in asked.items() if len(each.ledger.evictions) > out[n]]
    line = tuple(_name(asked, each.id) for each in engine.waiting)
    return Moment(rows, line, tuple(gone), engine.blocks())


def _name(asked: Mapping[str, Place], id: int) -> str:
    return next(name for name, each in asked.items() if each.id == id)


@cache
def replayed() -> tuple[Replay, ...]:
    """Answers of the tiny model served together, each against the model alone."""
    from stacklib import tinylm
    from stacklib.serving import Engine
    from stacklib.serving.engine.replay import replay

    model = tinylm.load()
    engine = Engine(model, blocks=14, block_size=8, max_batch=4, chunk=24)
    starts = ("def f(", "The token", "import ", "A warp is", "class Cache", "It is")
    asked = [
        engine.submit(
            [model.tokenizer.end, *model.tokenizer.encode(text)],
            tinylm.Sampling(0.0 if n % 2 else 0.8),
            most=32,
        )
        for n, text in enumerate(starts)
    ]
    while engine.busy:
        engine.step()
    return tuple(replay(model, each) for each in asked)
