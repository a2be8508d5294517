"""The engine's log, live: step by step, who reads what, and every block."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from stacklib.paged_kv import BlockView
from stacklib.pages.serving.batching import scene
from stacklib.pages.serving.batching.scene import NAMES, Run
from stacklib.plots.live import choices
from stacklib.plots.live.parts import counted
from stacklib.plots.marks import FAINT, Mark, Spec, axis, cells, chart, down, rule
from stacklib.plots.spec import readout
from stacklib.serving.engine.delay import PARTS, Rows

STEPS = range(1, 61)
WORDS = {
    "fcfs": "who came first",
    "shortest": "the shortest prompt first",
    "static": "static batches",
}
KINDS = {  # of rows: colour, shade
    "recomputed": (3, 0.9),
    "prompt": (0, 0.45),
    "decode": (0, 0.2),
}
SAID = {"recomputed": "computed again", "prompt": "prompt", "decode": "decode"}


def controls() -> list[dict[str, Any]]:
    """The step, the request that is explained, the policy and the pool."""
    return [
        choices.slider("step", "Step", STEPS, 4),
        choices.select("who", "Explain request", {n: n for n in NAMES}, "C"),
        choices.select("policy", "Who is let in", WORDS, "fcfs"),
        choices.slider("blocks", "Blocks of the pool", range(5, 17), scene.BLOCKS),
        choices.slider("slots", "Slots of a batch", range(1, 7), scene.SLOTS),
    ]


def explore(*, step: int, who: str, policy: str, blocks: int, slots: int) -> Spec:
    """The whole run as rows of requests over steps; blocks after one of them."""
    found = scene.run(policy=policy, blocks=blocks, slots=slots)
    last = len(found.moments)
    at = min(step, last)
    told = found.delays[who]
    parts = [
        readout(cause, PARTS[cause].capitalize(), counted(time, PARTS[cause]))
        for cause, time in told.parts.items()
        if time
    ]
    return chart(
        _title(found, at),
        x=axis("Step", limits=[0.4, last + 0.6]),
        y=axis("Request", limits=down(6), ticks=range(6), names=NAMES),
        marks=[*_marks(found), rule(f"step {at}", "simulated", x=at, at="none")],
        readouts=[
            *parts,
            readout("total", f"{who} in all", counted(told.total, "units of work")),
            readout("missed", "Its prefix", _missed(told.missed)),
        ],
        table=_table(found, at),
    )


def _missed(why: str) -> str:
    """The reason, with the name of whom a block was given to."""
    before, to, number = why.rpartition(" for ")
    return f"{before}{to}{NAMES[int(number)]}" if number.isdigit() else why


def _title(found: Run, at: int) -> str:
    moment = found.moments[at - 1]
    said = [f"{name} reads {rows.all}" for name, rows in moment.rows.items()]
    said += [f"{name} loses its blocks" for name in moment.preempted]
    return f"Step {at}: {', '.join(said)}."


def _kind(rows: Rows) -> str:
    """What most tells of a piece: that some of it was read before."""
    return next((kind for kind in KINDS if getattr(rows, kind)), "")


def _marks(found: Run) -> Iterator[Mark]:
    read = [
        (x, y, moment.rows[name])
        for x, moment in enumerate(found.moments, 1)
        for y, name in enumerate(NAMES)
        if name in moment.rows
    ]
    for kind, (series, shade) in KINDS.items():
        mine = [(x, y, rows.all) for x, y, rows in read if _kind(rows) == kind]
        yield cells(
            [(x, y) for x, y, _ in mine],
            SAID[kind],
            "simulated",
            shade=shade,
            texts=[str(count) for *_, count in mine],
            series=series,
        )
    line = [
        (x, NAMES.index(name))
        for x, moment in enumerate(found.moments, 1)
        for name in moment.waiting
    ]
    yield cells(line, "in line", "simulated", shade=FAINT, series=5)


def _table(found: Run, at: int) -> dict[str, Any]:
    """Every block after the step."""
    return {
        "caption": f"The pool after step {at}.",
        "head": ["Block", "State", "Owner", "Tokens", "Hash", "Age in steps"],
        "rows": [_row(block) for block in found.moments[at - 1].blocks],
    }


def _row(block: BlockView) -> dict[str, Any]:
    owner = ", ".join(NAMES[each] for each in block.owners)
    texts = [
        block.state,
        owner or "nobody",
        str(len(block.tokens)) if block.owners or block.hash is not None else "0",
        "none" if block.hash is None else f"{block.hash:08x}"[-8:],
        str(block.age),
    ]
    return {"head": str(block.block), "cells": [{"text": text} for text in texts]}
